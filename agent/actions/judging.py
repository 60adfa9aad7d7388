"""What agentctl itself verifies of a step: its checks before the work, and later all that would land."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from msgspec.structs import replace

from agent.actions.before import checks_before, told_as
from agent.actions.commits import ground_for
from agent.actions.own_scripts import settled_at
from agent.actions.scene import Scene
from agent.actions.told import texts_of
from agent.actions.workbench import Workbench
from agent.domain.change import Change
from agent.domain.events import Listener, Phase
from agent.domain.text import first_of, one_line
from agent.domain.todo import Item
from agent.errors import AgentctlError
from agent.gate.protect import SizeLimits
from agent.gate.protocol import Baseline, Verdict, sorted_out
from agent.gate.secrets import secrets_told
from agent.gate.verdict import gate
from agent.gate.weakened.compare import weakens
from agent.gate.weakened.protocol import Sides
from agent.gate.weakened.pulled import JAVASCRIPTS, SETTINGS, pulled
from agent.repository.changes import added_lines, both_texts, changed_between, changes_between
from agent.repository.repo import FOLDER
from agent.worker.protocol import Report
from agent.worker.shell import Shell


class Judge:
    """The gate of one step. `before` is what the checks said on the commit that the step begins from, once `look_before` has asked them."""

    def __init__(self, scene: Scene, item: Item, shell: Shell, bench: Workbench, listen: Listener) -> None:
        self._repo = scene.repo
        self._base = scene.memory.commit
        self._item = item
        self._shell = shell
        self._bench = bench
        self._listen = listen
        self._limits = scene.memory.config.limits
        self._commands = tuple(dict.fromkeys([*scene.memory.config.checks, *item.checks]))
        self._setup = scene.memory.config.setup
        self.before: dict[str, Baseline] = {}

    def look_before(self) -> None:
        """Run the checks on the commit that the step begins from. Raises AgentctlError where they change what they check."""
        self._listen(Phase("base checks", "on the commit that the step begins from"))
        self._bench.steering.before()
        tell = told_as("before the step", self._listen)
        self.before = checks_before(self._repo, self._base, self._commands, self._shell, self._seconds, tell, self._refuse_changed)

    def _refuse_changed(self) -> None:
        self._bench.steering.after()
        changed = self._bench.after_checks()
        if changed:
            raise AgentctlError(
                f"while the checks ran, tracked files changed: {shown(changed)}",
                "let checks leave tracked files alone (a formatter's --check, say); look at git status, then try again",
            )

    @property
    def _seconds(self) -> float:
        return self._limits.check_minutes * 60

    def judge(self, report: Report) -> tuple[Verdict, str]:
        """The verdict on what would land with `report`, as the worker wrote it, and that tree: nothing that changes later gets in."""
        note = report.note
        self._bench.ground = base = ground_for(self._repo, self._base, self._item.id)
        tree = self._bench.result(note)
        changes = changes_between(self._repo, base, tree)
        own = [*self._outside(changes), *self._unclaimed(note), *self._ignored(note, tree)]
        if own:
            return Verdict((), (*own, *sorted_out(secrets_told(texts_of(report), os.environ), self._item.allow)[0])), tree
        self._listen(Phase("gate", f"changed files: {len(changes)}, checks: {len(self._commands)}"))
        self._bench.steering.before()
        verdict = self._gate(changes, base, tree, texts_of(report))
        self._bench.steering.after()
        if verdict.ok:
            self._bench.after_green_checks(note)
        else:
            self._bench.after_checks()
        now = self._bench.result(note)
        if now != tree:
            self._bench.goes_on()
            changed = sorted(changed_between(self._repo, tree, now))
            told = f"while the checks ran, these files of the step changed: {shown(changed)}. Look at them, then finish again"
            verdict = replace(verdict, findings=(*verdict.findings, told))
        return verdict, tree

    def _gate(self, changes: tuple[Change, ...], base: str, tree: str, texts: Sequence[tuple[str, str]]) -> Verdict:
        return gate(
            commands=self._commands,
            changes=changes,
            added=added_lines(self._repo, base, tree),
            sides=self._sides(changes, base, tree),
            item=self._item,
            shell=self._shell,
            limits=SizeLimits(self._limits.file_bytes, self._limits.lines),
            timeout=self._seconds,
            environment=os.environ,
            listen=self._listen,
            before=self.before,
            texts=texts,
            known=settled_at(self._repo, base, [*self._commands, *self._setup], changes),
            memory=f"{self._repo.prefix}{FOLDER}",
        )

    def _sides(self, changes: tuple[Change, ...], base: str, tree: str) -> list[Sides]:
        """The texts of what can weaken tests; of a file that is too large to land anyway none are read."""
        paths = [one.path for one in changes if one.bytes <= self._limits.file_bytes]
        stayed = self._settings(base) if any(re.search(JAVASCRIPTS, path) for path in paths) else []
        changed = [
            Sides(path, *texts) for path, texts in both_texts(self._repo, base, tree, [one for one in paths if weakens(one, self._commands)]).items()
        ]
        first = pulled([*stayed, *changed], paths) - {side.path for side in changed}
        changed += [Sides(path, *texts) for path, texts in both_texts(self._repo, base, tree, first).items()]
        return [*(side for side in stayed if side.path not in paths), *changed]

    def _settings(self, base: str) -> list[Sides]:
        """The settings of test runners on the commit that the step begins from, at the top and in the list's folder."""
        paths = [under + name for under in dict.fromkeys(("", self._repo.prefix)) for name in SETTINGS]
        blobs = self._repo.blobs([f"{base}:{path}" for path in paths])
        return [
            Sides(path, text, text) for path, blob in zip(paths, blobs, strict=True) if blob is not None for text in [blob.decode("utf-8", "replace")]
        ]

    def _ignored(self, note: str, tree: str) -> list[str]:
        return [
            f"{one_line(path, 100)} is to land but git ignores it by now: take the rule out, or the file away"
            for path in self._bench.left_out(note, tree)
        ]

    def _outside(self, changes: tuple[Change, ...]) -> list[str]:
        outside = [change.path for change in changes if not change.path.startswith(self._repo.prefix)]
        return [f"{one_line(path, 100)} lies outside {self._repo.prefix}, the folder of this list: put it back" for path in outside[:5]]

    def _unclaimed(self, note: str) -> list[str]:
        paths = self._bench.unclaimed(note)
        if not paths:
            return []
        which = "name in your note what is: each path, or a folder that is new as a whole, with its /"
        return [f"commands made new files: {shown(paths)}. Delete what isn't part of the step; {which}"]


def shown(paths: Sequence[str]) -> str:
    """`paths` in one line, safe to show; of many the first."""
    return first_of(paths, 8, 100)
