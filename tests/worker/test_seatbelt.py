"""The profile for macOS' sandbox-exec, as a text: whatever paths are called, each rule says what it is meant to, in the order that decides."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.worker.sandbox.protocol import Confines
from agent.worker.sandbox.seatbelt import Seatbelt, profile

TREE = Path("/Users/me/work")
USUAL = Confines(
    tree=TREE,
    kept=(TREE / ".git", TREE / "apps/web/.agent"),
    read=(Path("/Users/me/.pyenv"),),
    write=(Path("/Users/me/.cache/go-build"),),
    hidden=(Path("/Users/me/.pyenv/credentials"),),
    links=(),
    home=Path("/Users/me"),
    scratch=Path("/private/var/folders/x"),
)
Rule = list["str | Rule"]


def rules(text: str) -> list[Rule]:
    """The rules of a profile as lists, strings with a quote in front; raises where a bracket or a quote is left open."""
    found: list[Rule] = [[]]
    for word in _tokens(text):
        if word == "(":
            found.append([])
        elif word == ")":
            inner = found.pop()
            found[-1].append(inner)
        else:
            found[-1].append(word)
    [top] = found
    assert all(isinstance(rule, list) for rule in top)
    return [rule for rule in top if isinstance(rule, list)]


def _tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        char = text[at]
        end = at + 1
        if char == '"':
            said = '"'
            while text[end] != '"':
                end += text[end] == "\\"
                said += text[end]
                end += 1
            end += 1
            yield said
        elif char in "()":
            yield char
        elif not char.isspace():
            while text[end] not in "() \n":
                end += 1
            yield text[at:end]
        at = end


def decision(confines: Confines, operation: str, path: Path) -> str:
    """What the last rule that fits says of `operation` on `path`."""
    said = "deny"
    for verdict, *words in rules(profile(confines)):
        operations = [word for word in words if isinstance(word, str)]
        filters = [word for word in words if isinstance(word, list)]
        if any(operation.startswith(one.rstrip("*")) for one in operations) and (not filters or any(_fits(one, path) for one in filters)):
            said = str(verdict)
    return said


def _fits(one: Rule, path: Path) -> bool:
    kind, *values = one
    places = [Path(str(value)[1:]) for value in values]
    return any(path == place or (kind == "subpath" and place in path.parents) for place in places)


@pytest.mark.parametrize(
    ("operation", "path", "said"),
    [
        ("file-write-data", "/Users/me/work/src/x", "allow"),
        ("file-write-create", "/Users/me/work/new/x", "allow"),
        ("file-write-data", "/Users/me/work/.git/config", "deny"),
        ("file-write-unlink", "/Users/me/work/.git", "deny"),
        ("file-write-create", "/Users/me/work/apps/web/.agent/todo/x.md", "deny"),
        ("file-write-unlink", "/Users/me/work/apps/web", "deny"),
        ("file-write-unlink", "/Users/me/work/apps", "deny"),
        ("file-write-unlink", "/Users/me/work/apps/other", "allow"),
        ("file-read-data", "/Users/me/work/.git/config", "allow"),
        ("file-read-data", "/Users/me/.ssh/id_rsa", "deny"),
        ("file-read-data", "/Users/me/.pyenv/bin/python", "allow"),
        ("file-read-data", "/Users/me/.pyenv/credentials", "deny"),
        ("file-write-data", "/Users/me/.pyenv/bin/python", "deny"),
        ("file-write-data", "/Users/me/.cache/go-build/x", "allow"),
        ("file-write-data", "/private/etc/hosts", "deny"),
        ("file-write-data", "/private/tmp/x", "deny"),
        ("file-write-mode", "/Users/me/other", "deny"),
        ("network-outbound", "/private/var/run/docker.sock", "deny"),
    ],
)
def test_the_last_rule_that_fits_decides_as_it_is_meant_to(operation: str, path: str, said: str) -> None:
    assert decision(USUAL, operation, Path(path)) == said


def test_the_network_is_there_only_where_it_is_allowed_and_without_socket_files() -> None:
    without = [rule for rule in rules(profile(USUAL)) if any(str(word).startswith("network") for word in rule)]
    assert [rule[:2] for rule in without] == [["allow", "network-bind"], ["allow", "network-inbound"]]
    assert ["allow", "network*"] in rules(profile(replace(USUAL, network=True)))
    assert rules(profile(replace(USUAL, network=True)))[-1] == ["deny", "network*", ["remote", "unix-socket"]]


@given(st.text(st.characters(exclude_characters="\0/"), min_size=1, max_size=30).filter(lambda name: name not in (".", "..")))
def test_no_name_of_a_folder_can_end_its_rule(name: str) -> None:
    tree = Path("/Users/me", name)
    found = rules(profile(replace(USUAL, tree=tree, kept=(tree / ".git",))))
    assert ["allow", "file-write*", ["subpath", f'"{tree}']] in found
    assert ["deny", "file-write*", ["subpath", f'"{tree}/.git']] in found
    assert len(found) == len(rules(profile(replace(USUAL, kept=(TREE / ".git",)))))


def test_it_is_chosen_on_macos_alone() -> None:
    assert bool(Seatbelt().absent()) == (sys.platform != "darwin")
