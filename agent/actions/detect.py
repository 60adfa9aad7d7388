"""Which commands check a repository, found by reading its files: nothing is ever run."""

from __future__ import annotations

import os
import re
from pathlib import Path

from msgspec import Struct

from agent.actions.detect_files import Candidate, broken_manifests, nearest, read_manifest, read_text, table, upwards
from agent.actions.detect_python import python_check

__all__ = ["Found", "broken_manifests", "detect_checks"]

_MOST = 2
_DOCUMENTS = ("README.md", "README.rst", "README.txt", "README", "CONTRIBUTING.md", "CONTRIBUTING.rst", "AGENTS.md", "CLAUDE.md")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # the order in which make looks
_NODE_LOCKS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
)
_NODE_TEST = {"npm": "npm test", "pnpm": "pnpm test", "yarn": "yarn test", "bun": "bun run test"}


class Found(Struct, frozen=True):
    """A command that probably checks the repository, and what speaks for it in half a sentence."""

    command: str
    why: str


def detect_checks(root: Path, top: Path) -> tuple[Found, ...]:
    """At most two commands that check the code in `root`, best first; empty where nothing tells.

    `top` is the repository's top folder, where a monorepo keeps its lock files and wrappers. Files are only read; those that
    can't be are left aside (`broken_manifests` names them). What the repository's own documents name comes first, then
    `make test`, then each language's own runner; a runner that `make test` plainly calls isn't listed beside it.
    """
    runners = (python_check(root, top), _node(root, top), _cargo(root), _go(root), _gradle(root, top), _maven(root, top))
    candidates = [candidate for candidate in runners if candidate]
    documents = "\n".join(read_text(root / name) for name in _DOCUMENTS)
    rules = _make_rules(root)
    if "test" in rules:
        candidates = _with_make(candidates, _recipe(rules, "test"), documents)
    candidates.sort(key=lambda candidate: not re.search(candidate.tool, documents))
    return tuple(Found(candidate.command, candidate.why) for candidate in candidates[:_MOST])


def _with_make(candidates: list[Candidate], recipe: str, documents: str) -> list[Candidate]:
    make = Candidate("make test", "the Makefile has a `test` target", r"\bmake (?:\w+ )*test\b")
    called = [candidate for candidate in candidates if re.search(candidate.tool, recipe)]
    others = [candidate for candidate in candidates if candidate not in called]
    direct = [candidate for candidate in called if re.search(candidate.tool, documents)]
    if direct and not re.search(make.tool, documents):
        return candidates
    names = ", ".join(candidate.command for candidate in called)
    return [Candidate(make.command, f"{make.why}, which runs what `{names}` would" if names else make.why, make.tool), *others]


class _Rule(Struct, frozen=True):
    needs: list[str]
    recipe: list[str]


def _make_rules(root: Path) -> dict[str, _Rule]:
    """The Makefile's rules by target."""
    text = next((text for name in _MAKEFILES if (text := read_text(root / name))), "")
    rules: dict[str, _Rule] = {}
    open_: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("\t"):
            for target in open_:
                rules[target].recipe.append(line)
        elif line.strip() and not line.startswith("#"):
            open_ = _add_rule(rules, line)
    return rules


def _add_rule(rules: dict[str, _Rule], line: str) -> list[str]:
    """The targets of `line`, now in `rules`; none where it is an assignment or anything else but a rule."""
    head, colon, rest = line.partition(":")
    rest = rest.removeprefix(":")
    if not colon or rest.startswith("=") or "=" in head or "#" in head:
        return []
    needs, _, inline = rest.partition(";")
    for target in head.split():
        rule = rules.setdefault(target, _Rule([], []))
        rule.needs.extend(needs.split())
        rule.recipe.append(inline)
    return head.split()


def _recipe(rules: dict[str, _Rule], target: str) -> str:
    """The recipes of `target` and of all that it needs."""
    reached, waiting = {target}, [target]
    while waiting:
        needs = [need for need in rules[waiting.pop()].needs if need in rules and need not in reached]
        reached.update(needs)
        waiting += needs
    return "\n".join(line for name in sorted(reached) for line in rules[name].recipe)


def _node(root: Path, top: Path) -> Candidate | None:
    script = table(read_manifest(root / "package.json"), "scripts").get("test")
    # A script that watches never ends; npm's own default only fails.
    if not isinstance(script, str) or not script.strip() or "no test specified" in script or re.search(r"--watch(?:All)?\b(?!=false)", script):
        return None
    manager, why = _node_manager(root, top)
    return Candidate(
        _NODE_TEST[manager], f"package.json has a script `test`{why}", r"\b(?:npm|pnpm|yarn|bun)(?: run)? test\b|\b(?:jest|vitest|mocha)\b"
    )


def _node_manager(root: Path, top: Path) -> tuple[str, str]:
    for folder in upwards(root, top):
        named = read_manifest(folder / "package.json").get("packageManager")
        manager = named.split("@", 1)[0] if isinstance(named, str) else ""
        if manager in _NODE_TEST:
            return manager, f", and packageManager is {manager}"
        for lock, manager in _NODE_LOCKS:
            if (folder / lock).is_file():
                return manager, f", and there is {lock}"
    return "npm", ""


def _cargo(root: Path) -> Candidate | None:
    manifest = read_manifest(root / "Cargo.toml")
    if not manifest:
        return None
    whole = " --workspace" if "package" in manifest and "workspace" in manifest else ""
    return Candidate(f"cargo test{whole}", "there is Cargo.toml", r"\bcargo (?:\+\S+ )?(?:test|nextest)\b")


def _go(root: Path) -> Candidate | None:
    return Candidate("go test ./...", "there is go.mod", r"\bgo test\b") if (root / "go.mod").is_file() else None


def _gradle(root: Path, top: Path) -> Candidate | None:
    build = next((name for name in ("build.gradle.kts", "build.gradle") if (root / name).is_file()), None)
    if not build:
        return None
    return Candidate(f"{_wrapper(root, top, 'gradlew') or 'gradle'} test", f"there is {build}", r"\b(?:gradle|gradlew)\b.*\b(?:test|check)\b")


def _maven(root: Path, top: Path) -> Candidate | None:
    if not (root / "pom.xml").is_file():
        return None
    # Without -q: a quiet green run doesn't say how many tests ran, and none at all must not pass.
    return Candidate(f"{_wrapper(root, top, 'mvnw') or 'mvn'} -B test", "there is pom.xml", r"\b(?:mvn|mvnw)\b.*\b(?:test|verify|install)\b")


def _wrapper(root: Path, top: Path, name: str) -> str:
    """The wrapper script in `root` or above it, as the shell in `root` calls it."""
    script = nearest(root, top, name)
    if not script:
        return ""
    path = Path(os.path.relpath(script, root)).as_posix()
    return path if path.startswith("../") else f"./{path}"
