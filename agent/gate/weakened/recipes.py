"""What a check's runner finds its commands in: rules of make and just, scripts of package.json, and files that are a recipe as a whole."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from agent.domain.shellwords import shell_words
from agent.gate.weakened.protocol import Mark, Read, Tests

_Find = Callable[[str, Collection[str]], Tests]
_Line = tuple[int, str]
_Lines = dict[str, list[_Line]]
_RULE = r"([^\s#:=@-][^#:=]*?)\s*(?<![:?+!]):{1,2}(?!=)\s*([^=]*)$"
_VARIABLE = r"\s*(?:(?:export|override|private|define)\s+)*([\w.]+)\s*(?:[:?+!]*=|$)"
_BRANCH = r"\s*(?:ifn?(?:eq|def)|else|endif)\b"
_USED = r"\$[({](\w+)[)}]|\{\{\s*(\w+)\s*\}\}"
_WORD = r"[\w./-]+"
# What bears on every rule, by no name that a rule has: how make starts commands, other files, and variables for a target alone.
_ALWAYS = (
    r"(?:(?:export|override)\s+)*(?:SHELL|\.SHELLFLAGS|MAKEFLAGS|GNUMAKEFLAGS|PATH|BASH_ENV|ENV|NODE_OPTIONS|PYTHON\w+)\s*[:?+!]*=|-?include\b|import\b|set\s+shell\b"
    r"|\.(?:IGNORE|ONESHELL|DEFAULT_GOAL)\b|[^\s#:=][^#:=]*:\s*(?:(?:export|override|private)\s+)*\w+\s*[:?+!]*="
)
_FIRST = frozenset({"GNUmakefile", "makefile"})  # make takes them before a Makefile
_LIFE = ("", "pre", "post")  # of a script in package.json


def recipe_reader(path: str, commands: Sequence[str]) -> Read | None:
    """The reader of a file in which a check's runner finds what to do: a line of it that a check comes to may not go, nor be told anew; None for any other."""
    name = posixpath.basename(path)
    words = [posixpath.basename(word) for command in commands for word in shell_words(command)]
    for runners, names, find in _RECIPES:
        if name in names and not runners.isdisjoint(words):
            return lambda text: find(text, words)
    return None


def _rules(text: str, words: Collection[str]) -> Tests:
    """What of a makefile or justfile the targets among `words` come to, or its first one."""
    rules, variables, always = _parsed(text)
    wanted = [word for word in words if word in rules] or [name for name in rules if not name.startswith(".")][:1]
    reached = _reached(wanted, rules)
    told = [one for lines in reached.values() for one in lines]
    used = _reached((match[1] or match[2] for _, line in told for match in re.finditer(_USED, line)), variables)
    again = [one for lines in reached.values() for one in [one for one in lines if not one[1][0].isspace()][1:]]
    again += [one for lines in used.values() for one in lines[1:]]
    marks = tuple(Mark(number, " ".join(line.split())) for number, line in sorted({*always, *again}))
    needed = [
        f"{name}: {word}" for name, lines in reached.items() for _, line in lines if (rule := re.match(_RULE, line)) for word in rule[2].split()
    ]
    recipes = [line for _, line in sorted({*told}) if line[0].isspace()]
    return _kept([*needed, *(" ".join(line.split()) for line in (*recipes, *(line for lines in used.values() for _, line in lines)))], marks)


def _parsed(text: str) -> tuple[_Lines, _Lines, list[_Line]]:
    """The lines of each rule, its head first, those that set each variable, and those that bear on every rule."""
    rules: _Lines = {}
    variables: _Lines = {}
    always: list[_Line] = []
    targets: list[str] = []
    for one in _whole_lines(text):
        line = one[1]
        if line[0].isspace() and targets:
            for target in targets:
                rules[target].append(one)
        elif re.match(_ALWAYS, line):
            always.append(one)
        elif rule := re.match(_RULE, line):
            targets = rule[1].split()
            for target in targets:
                rules.setdefault(target, []).append(one)
        elif not re.match(_BRANCH, line):
            targets = []
            if named := re.match(_VARIABLE, line):
                variables.setdefault(named[1], []).append(one)
    return rules, variables, always


def _whole_lines(text: str) -> Iterator[_Line]:
    """The lines that are neither empty nor comments, each after its number, with those that continue it."""
    begun, parts = 1, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        begun = begun if parts else number
        parts.append(line.removesuffix("\\"))
        if line.endswith("\\"):
            continue
        whole = " ".join(parts)
        parts = []
        if whole.strip() and not whole.startswith("#"):
            yield begun, whole


def _reached(names: Iterable[str], known: _Lines) -> _Lines:
    """The lines of `names`, and of all that these lines name."""
    found: _Lines = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in known and name not in found:
            found[name] = known[name]
            waiting += [word for _, line in known[name] for word in re.findall(_WORD, line)]
    return found


def _scripts(text: str, words: Collection[str]) -> Tests:
    """What of a package.json's scripts those among `words` come to."""
    try:
        scripts = {str(name): str(script) for name, script in json.loads(text)["scripts"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Tests()
    waiting, found = ["test" if word in ("t", "tst") else word for word in words], dict[str, str]()
    while waiting:
        name = waiting.pop()
        for whole in (f"{when}{name}" for when in _LIFE):
            if whole in scripts and whole not in found:
                found[whole] = scripts[whole]
                waiting += re.findall(r"[\w:./-]+", scripts[whole])
    return _kept([f'"{name}": {json.dumps(script, ensure_ascii=False)}' for name, script in sorted(found.items())])


def _whole(text: str, _: Collection[str]) -> Tests:
    return _kept([" ".join(line.split()) for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")])


def _before_others(text: str, words: Collection[str]) -> Tests:
    """As `_rules`; that there is such a file is a mark."""
    found = _rules(text, words)
    return Tests(found.asserted, (Mark(1, "a makefile that make takes before others"), *found.marks))


def _kept(lines: Sequence[str], marks: tuple[Mark, ...] = ()) -> Tests:
    return Tests({line: (line,) * lines.count(line) for line in lines}, marks)


_MAKE, _NPM = frozenset({"make", "gmake"}), frozenset({"npm", "pnpm", "yarn", "bun"})
_RECIPES: tuple[tuple[frozenset[str], frozenset[str], _Find], ...] = (
    # Which runners, in which files, found how.
    (_MAKE, _FIRST, _before_others),
    (_MAKE, frozenset({"Makefile"}), _rules),
    (frozenset({"just"}), frozenset({"justfile", "Justfile", ".justfile"}), _rules),
    (_NPM, frozenset({"package.json"}), _scripts),
    (frozenset({"tox"}), frozenset({"tox.ini"}), _whole),
    (frozenset({"nox"}), frozenset({"noxfile.py"}), _whole),
    (frozenset({"task"}), frozenset({"Taskfile.yml", "Taskfile.yaml"}), _whole),
)
