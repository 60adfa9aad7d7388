"""Whether a step's changes weaken tests: new marks that skip, tests and assertions that are gone, other values expected."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from agent.domain.allow import WEAKER_TESTS
from agent.domain.text import one_line
from agent.domain.todo import Item
from agent.gate.protocol import Objection
from agent.gate.weakened.lines import GO, JAVASCRIPT, JVM, RUST, reader
from agent.gate.weakened.protocol import Read, Sides, Tests
from agent.gate.weakened.pulled import pulled
from agent.gate.weakened.python import read_hooks, read_python
from agent.gate.weakened.settings import settings_reader

_WIDTH = 90
_PATH_WIDTH = 100
_LITERAL = r"(?:[rbfu]{1,2})?(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`)|(?<![\w.])-?\d[\w.]*|\b(?:True|False|None|true|false|null|nil)\b"
_TEST_FOLDERS = frozenset({"test", "tests", "testing", "__tests__", "spec", "specs", "e2e"})
_KINDS: tuple[tuple[str, bool, Read], ...] = (
    # By the file's name, whether only where it is a test's, how it is read.
    (r"\.pyi?$", True, read_python),
    (r"\.[cm]?[jt]sx?$", True, reader(JAVASCRIPT)),
    (r"_test\.go$", False, reader(GO)),
    (r"\.rs$", False, reader(RUST)),
    (r"\.(?:java|kt|kts|groovy|scala)$", True, reader(JVM)),
)
_TEST_NAME = r"(?i)(?:^|[._-])(?:test|tests|spec|conftest)(?:[._-]|$)|(?:Test|Tests|IT|Spec)\.\w+$"


def weakens(path: str, commands: Sequence[str]) -> bool:
    """Whether a change of the file at `path` can weaken tests: it is a test's, a test runner's settings, or a script of the checks (`commands`)."""
    return bool(_readers(path, commands))


def weakened(changes: Sequence[Sides], commands: Sequence[str], item: Item) -> tuple[Objection, ...]:
    """One objection for each mark, test and assertion that the changes weaken in a file that `item` doesn't name.

    `commands` are all checks of the step; among `changes` may be settings of a test runner that stayed as they were, for what they name. What stands elsewhere after the changes was moved; a value that the item's text holds may be expected.
    """
    first = pulled(changes, [side.path for side in changes])
    read = ((side, read) for side in changes for read in ([reader(JAVASCRIPT)] if side.path in first else _readers(side.path, commands)))
    pairs = [(side.path, _tests(side.before, how), _tests(side.after, how)) for side, how in read]
    known = [(path, before, after) for path, before, after in pairs if before is not None and after is not None]
    elsewhere = _Elsewhere([(before, after) for _, before, after in known])
    told = f"{item.title}\n{item.text}"
    found: list[str] = []
    for path, before, after in known:
        if not _named(path, told, item.checks):
            found += _new_marks(path, after, elsewhere)
            found += _less_asserted(path, before, after, elsewhere, told)
    return tuple(Objection(f"{text}.", WEAKER_TESTS) for text in dict.fromkeys(found))


class _Elsewhere:
    """What stands somewhere in the changed files, each to be taken once: assertions that are new under their test's name, and the marks that were there.

    `tests` are those that are new in a file, with their assertions.
    """

    def __init__(self, sides: Sequence[tuple[Tests, Tests]]) -> None:
        self._assertions = Counter[str]()
        self._marks = Counter(mark.text for before, _ in sides for mark in before.marks)
        self.tests: dict[str, tuple[str, ...]] = {}
        for before, after in sides:
            for name, told in after.asserted.items():
                self._assertions += Counter(told) - Counter(before.asserted.get(name, ()))
                if name not in before.asserted:
                    self.tests[name] = self.tests.get(name, ()) + told

    def took_assertion(self, assertion: str) -> bool:
        """Whether an assertion that is gone stands at another place."""
        self._assertions[assertion] -= 1
        return self._assertions[assertion] >= 0

    def took_mark(self, text: str) -> bool:
        """Whether a mark was there before, here or at another place."""
        self._marks[text] -= 1
        return self._marks[text] >= 0


def _readers(path: str, commands: Sequence[str]) -> list[Read]:
    pure = PurePosixPath(path)
    in_tests = not _TEST_FOLDERS.isdisjoint(part.lower() for part in pure.parts[:-1]) or bool(re.search(_TEST_NAME, pure.name))
    found = [read for pattern, only_tests, read in _KINDS if re.search(pattern, path) and (in_tests or not only_tests)]
    settings = settings_reader(path, commands)
    hooks = read_hooks if path.endswith(".py") and not in_tests else None
    return [*found, *(read for read in (settings, hooks) if read)]


def _tests(text: str | None, read: Read) -> Tests | None:
    return Tests() if text is None else read(text)


def _named(path: str, told: str, checks: Sequence[str]) -> bool:
    """Whether an item names the file: by its path or its name, or in its text by a folder that it lies in (`tests/`)."""
    pure = PurePosixPath(path)
    own = "|".join(re.escape(name) for name in {path, pure.name})
    folders = "|".join(re.escape(f"{folder}/") for folder in pure.parents if str(folder) != ".")
    if any(re.search(rf"(?<![\w/-])(?:\./)?(?:{own})(?![\w-])", text) for text in (told, *checks)):
        return True
    return bool(folders) and bool(re.search(rf"(?<![\w/-])(?:\./)?(?:{folders})(?![\w*])", told))


def _new_marks(path: str, after: Tests, elsewhere: _Elsewhere) -> list[str]:
    return [
        f"{_path(path)}:{mark.line} is new and keeps tests from running or counting: `{one_line(mark.text, _WIDTH)}`"
        for mark in after.marks
        if not elsewhere.took_mark(mark.text)
    ]


def _less_asserted(path: str, before: Tests, after: Tests, elsewhere: _Elsewhere, told: str) -> list[str]:
    found = []
    for name, had in before.asserted.items():
        has = after.asserted.get(name, elsewhere.tests.get(name))
        new = list((Counter(has or ()) - Counter(had)).elements())
        gone = [assertion for assertion in (Counter(had) - Counter(has or ())).elements() if not elsewhere.took_assertion(assertion)]
        what = f"`{one_line(name, _WIDTH)}`" if name else "the file"
        if has is None and (had == (name,) or _is_test(name)) and (gone or not had):
            found.append(f"{_path(path)}: {what} is gone")
        elif len(gone) > len(new):
            found.append(f"{_path(path)}: {what} asserts less, {len(had)} → {len(has or ())} (gone: `{one_line(gone[0], _WIDTH)}`)")
        elif changed := _other_value(gone, new, told):
            found.append(f"{_path(path)}: {what} expects something else: `{one_line(changed[0], _WIDTH)}` → `{one_line(changed[1], _WIDTH)}`")
    return found


def _other_value(gone: Sequence[str], new: Sequence[str], told: str) -> tuple[str, str] | None:
    """An assertion that differs from one before in nothing but a value, which the item doesn't tell; None where there is none."""
    by_shape: dict[str, list[str]] = {}
    for other in new:
        by_shape.setdefault(_shape(other), []).append(other)
    for old in gone:
        for other in by_shape.get(_shape(old), ()):
            if not any(_holds(told, value) for value in _fresh(old, other)):
                return old, other
    return None


def _is_test(name: str) -> bool:
    return name.lower().startswith(("test", "'", '"', "`", "fuzz", "example"))


def _shape(assertion: str) -> str:
    return re.sub(_LITERAL, "…", assertion)


def _fresh(old: str, new: str) -> list[str]:
    """The values of an assertion that it hadn't before, without quotes."""
    return [value.strip("'\"`") for value in (Counter(re.findall(_LITERAL, new)) - Counter(re.findall(_LITERAL, old))).elements()]


def _holds(told: str, value: str) -> bool:
    return bool(value) and bool(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", told))


def _path(path: str) -> str:
    return one_line(path, _PATH_WIDTH)
