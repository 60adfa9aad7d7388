"""What git would start for a repository: found in its own config and hooks, kept from starting until a person has approved it."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from agent.approvals import Approvals
from agent.domain.trust import Runs
from agent.errors import AgentctlError, Exit
from agent.repository.git import Git
from agent.repository.locks import Place
from agent.repository.stamp import stamp

# Settings of a repository that name a program, as git-config(1) and git-lfs-config(5) list them, but for those that no call of ours heeds.
_STARTS = re.compile(
    r"filter\..*\.(?:clean|smudge|process)|diff\.external|diff\..*\.(?:command|textconv)|core\.(?:hookspath|sshcommand|askpass|gitproxy|alternaterefscommand)"
    r"|gpg\.(?:.*\.)?(?:program|defaultkeycommand)|credential\.(?:.*\.)?helper|remote\..*\.(?:uploadpack|receivepack|vcs)|protocol\.(?:.*\.)?allow"
    r"|hook\..*\.command|trailer\..*\.(?:cmd|command)|lfs\.(?:customtransfer\..*|extension\..*|standalonetransferagent|.*\.standalonetransferagent)",
    re.IGNORECASE | re.DOTALL,
)
_FILTER = re.compile(r"filter\.(.*)\.(?:clean|smudge|process|required)", re.IGNORECASE | re.DOTALL)
_MERGE = re.compile(r"merge\.(.*)\.driver", re.IGNORECASE | re.DOTALL)
# What git does where no driver is set; a driver of an empty text would take our side without a word.
_PLAIN_MERGE = "git merge-file --quiet --marker-size=%L %A %O %B || exit 1"
_HOOK = re.compile(r"hook\..*\.command", re.IGNORECASE | re.DOTALL)
_OFF = ("false", "no", "off", "0")  # a setting without a value is on, one with an empty value off: here they look alike
_REPOSITORY = ("local", "worktree")


class Untrusted(AgentctlError):  # noqa: N818 - said of a repository
    """Something would run that nobody has approved on this machine: `runs` are all such things that are known, for `approvals`."""

    def __init__(self, runs: tuple[Runs, ...], approvals: Approvals) -> None:
        what = ", ".join(dict.fromkeys(one.kind for one in runs))
        super().__init__(
            f"this repository would run what nobody has approved on this machine yet: {what}",
            "look at it and approve it: agentctl trust",
            Exit.PERSON_NEEDED,
        )
        self.runs = runs
        self.approvals = approvals


class _Setting(NamedTuple):
    scope: str
    origin: str
    key: str
    value: str


class Programs:
    """The programs of the clone at `place`, whose config `git` reads."""

    def __init__(self, place: Place, git: Git) -> None:
        self._place = place
        self._git = git
        self._seen: object = None
        self._known: tuple[_Setting, ...] = ()
        self.approvals = Approvals(place.common_dir, place.top, os.environ)

    def runs(self) -> tuple[Runs, ...]:
        """What the repository's own config and its hooks would start."""
        own = [one for one in self._settings() if one.scope in _REPOSITORY]
        named = [Runs(one.key, one.value, "git config") for one in own if _STARTS.fullmatch(one.key)]
        return (*dict.fromkeys(named), *self._hooks(own))

    def own_settings(self) -> list[tuple[str, str]]:
        """Key and value of each setting of the repository's own that starts no program, in their order."""
        return [(one.key, one.value) for one in self._settings() if one.scope in _REPOSITORY and not _STARTS.fullmatch(one.key)]

    def tells_authors_apart(self) -> bool:
        """Whether the config names an author or a committer that isn't just the user."""
        return any(one.key.lower().startswith(("author.", "committer.")) for one in self._settings())

    def refuse(self) -> None:
        """Raise Untrusted where something of it isn't approved."""
        runs = self.runs()
        lacking = self.approvals.lacking(one.digest for one in runs)
        if lacking:
            raise Untrusted(tuple(one for one in runs if one.digest in lacking), self.approvals)

    def shield(self) -> Mapping[str, str]:
        """Variables under which git starts no merge driver, and a filter only where all that the repository starts is approved.

        They are variables and not `-c`, which a driver with `=` in its name would escape.
        """
        settings = self._settings()
        drivers = {match[1] for one in settings if (match := _MERGE.fullmatch(one.key))}
        names = {match[1] for one in settings if (match := _FILTER.fullmatch(one.key))}
        filters = names if names and self.approvals.lacking(one.digest for one in self.runs()) else frozenset()
        pairs = [(f"merge.{name}.driver", _PLAIN_MERGE) for name in sorted(drivers)]
        pairs += [(f"filter.{name}.{key}", "") for name in sorted(filters) for key in ("clean", "smudge", "process")]
        pairs += [(f"filter.{name}.required", "false") for name in sorted(filters)]
        told = {f"GIT_CONFIG_{word}_{place}": text for place, pair in enumerate(pairs) for word, text in zip(("KEY", "VALUE"), pair, strict=True)}
        return {"GIT_CONFIG_COUNT": str(len(pairs)), **told} if pairs else {}

    def _settings(self) -> tuple[_Setting, ...]:
        """The whole config, read again when a file of it has changed; each time where files include others, as what they name may appear later."""
        now = self._state()
        if self._seen is None or now != self._seen:
            words = os.fsdecode(self._git.run("config", "--list", "--show-scope", "--show-origin", "-z")).split("\0")[:-1]
            found = (_setting(*words[place : place + 3]) for place in range(0, len(words), 3))
            self._known = tuple(one for one in found if one.scope != "command")  # those are ours
            includes = any(one.scope in _REPOSITORY and one.key.lower().startswith(("include.", "includeif.")) for one in self._known)
            self._seen = None if includes else self._state()
        return self._known

    def _state(self) -> object:
        origins = {one.origin for one in self._known}
        files = {
            self._place.git_dir / "config.worktree",
            self._place.common_dir / "config",
            *(self._place.top / origin for origin in origins if origin),
        }
        return sorted((str(file), stamp(file)) for file in files)

    def hooks_folder(self) -> Path:
        """Where git looks for hooks: the repository's own, or the person's for all of their repositories."""
        named = [one.value for one in self._settings() if one.key.lower() == "core.hookspath"]
        return self._place.top / Path(named[-1]).expanduser() if named else self._place.common_dir / "hooks"

    def hook_files(self) -> list[Path]:
        """The hooks there that git would start."""
        try:
            return sorted(file for file in self.hooks_folder().iterdir() if file.suffix != ".sample" and file.is_file() and os.access(file, os.X_OK))
        except OSError:
            return []

    def see_commits(self) -> bool:
        """Whether any program, of the repository or the person's own, is started when a commit is made: a hook, or one that signs."""
        signs = any(one.key.lower() == "commit.gpgsign" and one.value.lower() not in _OFF for one in self._settings())
        return signs or any(_HOOK.fullmatch(one.key) for one in self._settings()) or self._has_hooks()

    def _has_hooks(self) -> bool:
        folder = self.hooks_folder()
        return bool(self.hook_files()) or (folder.exists() and not os.access(folder, os.R_OK))  # git starts what it can't list

    def _hooks(self, own: list[_Setting]) -> list[Runs]:
        """The hooks of the repository: files that git would start, each by its name and its bytes."""
        moved = [one.value for one in self._settings() if one.key.lower() == "core.hookspath"]
        mine = [one.value for one in own if one.key.lower() == "core.hookspath"]
        if moved and moved[-1:] != mine[-1:]:
            return []  # the person's own, for all of their repositories
        try:
            digests = [(file, hashlib.sha256(file.read_bytes()).hexdigest()[:16]) for file in self.hook_files()]
        except OSError:
            return []
        return [Runs("git hook", f"{file.name} {digest}", str(file.parent)) for file, digest in digests]


def _setting(scope: str, origin: str, text: str) -> _Setting:
    key, _, value = text.partition("\n")
    return _Setting(scope, origin.removeprefix("file:") if origin.startswith("file:") else "", key, value)
