"""What commands may see of the machine: the work tree, the programs that the environment points to, and what the settings name."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from agent.domain.config import SandboxSettings
from agent.errors import AgentctlError
from agent.worker.sandbox.inside import SYSTEM, is_below
from agent.worker.sandbox.protocol import Confines, Limits

# Below the home folder: where version managers, languages and package managers keep programs and what was fetched, and no more.
_TOOLS = (
    ".pyenv", ".rbenv", ".nodenv", ".nvm", ".volta", ".fnm", ".local/share/fnm", ".asdf", ".local/share/mise", ".sdkman", ".jenv", ".goenv",
    ".cargo", ".rustup", "go/bin", "go/pkg/mod", "sdk", ".bun", ".deno", ".nix-profile", ".local/state/nix/profiles", ".local/bin", ".local/lib",
    ".local/share/uv", ".local/share/pipx", ".local/pipx", ".local/share/virtualenvs", ".local/share/pnpm", ".virtualenvs", ".poetry", ".pixi",
    "miniconda3", "anaconda3", "miniforge3", "mambaforge", ".m2/repository", ".gradle/wrapper", ".ivy2/cache", ".coursier/cache", ".dotnet",
    ".nuget/packages", ".gem/ruby", ".bundle/cache", ".opam", ".ghcup", ".cabal/packages", ".stack/programs", ".julia", ".juliaup", ".swiftly",
    ".composer/vendor", ".config/composer/vendor", ".elan", ".hex", ".mix",
)  # fmt: skip
# Variables that name a folder of programs, or a list of them.
_FOLDERS = [
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "PYENV_ROOT",
    "CONDA_PREFIX",
    "NVM_DIR",
    "NVM_BIN",
    "VOLTA_HOME",
    "FNM_DIR",
    "PNPM_HOME",
    "BUN_INSTALL",
    "NODE_PATH",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "GOMODCACHE",
    "JAVA_HOME",
    "M2_HOME",
    "MAVEN_HOME",
    "GRADLE_HOME",
    "KOTLIN_HOME",
    "SDKMAN_DIR",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "DOTNET_ROOT",
    "RBENV_ROOT",
    "GEM_HOME",
    "GEM_PATH",
    "BUNDLE_PATH",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "LD_LIBRARY_PATH",
    "PKG_CONFIG_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "NIX_SSL_CERT_FILE",
]
_PROGRAMS = ("bin", "sbin", "shims", "condabin")
# Where such a folder holds a key beside its programs.
_KEYS = ("credentials", "credentials.toml", ".npmrc", ".pypirc", "settings.xml", "settings-security.xml", "gradle.properties", "hex.config")


def confine(tree: Path, kept: Iterable[Path], scratch: Path, settings: SandboxSettings, environment: Mapping[str, str]) -> Confines:
    """The confines of commands that work in `tree`, whose existing paths `kept` they may only read.

    `environment` is this process's own. Raises AgentctlError for a path of `settings` that isn't there.
    """
    home = _home(environment)
    tree = tree.resolve()
    named = tuple(_named(path, "read", home, environment) for path in settings.read)
    write = tuple(_named(path, "write", home, environment) for path in settings.write)
    whole = {path.resolve() for path in kept if path.exists()}
    spelled = [*_programs(home, environment), *_interpreters(tree, environment)]
    there = (tree, *map(Path, SYSTEM))
    above = (home.resolve(), tree)
    needed = [path for path in {one.resolve() for one in spelled} if not is_below(path, there) and not _too_much(path, above)]
    read = _topmost({*needed, *named, *(path for path in whole if not is_below(path, (tree,)))})
    return Confines(
        tree=tree,
        kept=tuple(sorted(path for path in whole if is_below(path, (tree, *write)))),
        read=read,
        write=write,
        hidden=tuple(path for folder in read for name in _KEYS if folder not in named and (path := folder / name).is_file()),
        links=_links([home, *spelled], (*read, *there)),
        home=above[0],
        scratch=scratch,
        limits=Limits(settings.processes, settings.file_bytes, settings.memory_bytes),
    )


def _topmost(paths: Collection[Path]) -> tuple[Path, ...]:
    return tuple(sorted(path for path in paths if not any(is_below(path.parent, (other,)) for other in paths)))


def _home(environment: Mapping[str, str]) -> Path:
    """Where the home folder is; one that the machine's own folders lie in is none."""
    home = Path(environment.get("HOME") or "/nonexistent")
    usable = home.is_absolute() and not _too_much(home.resolve(), (Path(one).resolve() for one in SYSTEM)) and not is_below(home, map(Path, SYSTEM))
    return home if usable else Path("/home/nobody")


def _named(path: str, key: str, home: Path, environment: Mapping[str, str]) -> Path:
    spelled = os.path.join(environment.get("HOME") or str(home), path[2:]) if path.startswith("~/") else path  # noqa: PTH118 - as it is spelled
    real = Path(os.path.realpath(spelled))
    if not os.path.isabs(spelled):  # noqa: PTH117 - as it is spelled
        raise AgentctlError(f"sandbox: {key}: {path} is not a whole path", "begin it with / or ~/, in .agent/config.yaml")
    if not real.exists():
        raise AgentctlError(f"sandbox: {key}: {path} isn't there", "make it, or take it out of .agent/config.yaml")
    return real


def _too_much(path: Path, above: Iterable[Path]) -> bool:
    """Whether `path` holds one of `above`: nobody names his whole home folder by naming a tool in it."""
    return any(is_below(folder, (path,)) for folder in above)


def _programs(home: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """What there is of programs besides the system's, as it is spelled."""
    named = [entry for name in _FOLDERS for entry in environment.get(name, "").split(os.pathsep)]
    own = [sys.prefix, sys.base_prefix, *sys.path[1:]]  # the first is the folder that a person happens to be in
    for entry in (*named, *own, *(str(home / tool) for tool in _TOOLS)):
        if os.path.isabs(entry) and os.path.exists(entry):  # noqa: PTH110, PTH117 - a string from the environment
            yield Path(entry)
    for entry in environment.get("PATH", "").split(os.pathsep):
        if os.path.isabs(entry) and os.path.isdir(entry):  # noqa: PTH112, PTH117 - as above
            yield from _installation(Path(entry), home)


def _installation(folder: Path, home: Path) -> Iterator[Path]:
    """A folder of PATH, and what it belongs to where that looks like an installation and not like somebody's work."""
    yield folder
    for one in {folder, folder.resolve()}:
        whole = one.parent
        if one.name in _PROGRAMS and whole.resolve() != home.resolve() / ".local" and not _holds_repository(whole):
            yield whole


def _interpreters(tree: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """Where the Python of a virtual environment is installed (its pyvenv.cfg tells, see Python's venv)."""
    for place in (Path(environment.get("VIRTUAL_ENV") or tree), tree / ".venv", tree / "venv"):
        try:
            told = (place / "pyvenv.cfg").read_text("utf-8", "replace")
        except OSError:
            continue
        yield from (Path(value.strip()).parent for key, _, value in (line.partition("=") for line in told.splitlines()) if key.strip() == "home")


def _links(spelled: Iterable[Path], there: Sequence[Path]) -> tuple[tuple[Path, Path], ...]:
    """Links on the way along `spelled` paths, each with where it leads, but for those in folders that are `there` anyway."""
    found = {}
    for path in spelled:
        place = Path("/")
        for part in path.parts[1:]:
            place /= part
            if place.is_symlink():
                if len(place.parts) > 2 and not is_below(place, there):  # noqa: PLR2004 - those at the root are the system's
                    found[place] = place.resolve()
                place = place.resolve()
    return tuple(sorted(found.items()))


def _holds_repository(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(os.path.lexists(os.path.join(entry.path, ".git")) for entry in entries) or (folder / ".git").exists()  # noqa: PTH118
    except OSError:
        return True
