"""The lines that the secret scan gets are all that a commit adds, whatever they look like."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent.repository.changes import added_lines
from agent.repository.create import create
from agent.repository.repo import Repo

ODD = (
    "++ x",
    "++ b/other",
    "-- y",
    "--- a/y",
    "+++ b/y",
    "@@ -1 +1 @@",
    "@@ -0,0 +1,9 @@",
    "\\ No newline at end of file",
    "diff --git a/a b/a",
    "",
    " ",
    "\r",
    "x\u2028y",
    "é",
)
lines = st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\0"), max_size=5)
contents = st.builds(lambda parts, end: "\n".join(parts) + end, st.lists(lines, max_size=8), st.sampled_from(["", "\n"]))
NAMES = ("a", "b b", "ü", 'q"u\\o', "tab\tname", "new\nline", "-- c")
trees = st.dictionaries(st.sampled_from(NAMES), contents, max_size=4)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    return create(tmp_path_factory.mktemp("added"), name="Test User", email="test@example.invalid")


def _tree(repo: Repo, files: dict[str, str]) -> str:
    made = [(name, repo.git.run("hash-object", "-w", "--stdin", stdin=text.encode()).decode().strip()) for name, text in files.items()]
    return repo.git.run("mktree", "-z", stdin=b"".join(f"100644 blob {blob}\t{name}\0".encode() for name, blob in made)).decode().strip()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(old={}, new={"a": "++ x\nkey\n", "tab\tname": "key"})
@example(old={"a": "one\ntwo"}, new={"a": "one\n++ b/x\n@@ -1 +1 @@\nkey\ntwo"})
@given(old=trees, new=trees)
def test_the_added_lines_are_the_new_ones_without_what_was_there(repo: Repo, old: dict[str, str], new: dict[str, str]) -> None:
    before, after = _tree(repo, old), _tree(repo, new)
    told = added_lines(repo, before, after)
    assert set(told) <= set(new)
    counts = {name: int(count) for count, name in _counts(repo, before, after)}
    for name, text in new.items():
        added = dict(told.get(name, ()))
        whole = _lines(text)
        assert [whole[number - 1] for number in added] == list(added.values())
        assert len(added) == counts.get(name, 0)
        kept = [line for number, line in enumerate(whole, 1) if number not in added]
        assert _runs_through(kept, _lines(old.get(name, "")))


def _counts(repo: Repo, before: str, after: str) -> list[tuple[str, str]]:
    out = repo.git.run("diff-tree", "-r", "-z", "--no-renames", "--numstat", before, after).decode()
    return [(field.split("\t", 2)[0], field.split("\t", 2)[2]) for field in out.split("\0") if field]


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _runs_through(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether `part` stands in `whole` in its order, with gaps."""
    rest = iter(whole)
    return all(line in rest for line in part)


def test_a_key_after_a_line_that_looks_like_a_header_is_seen(repo: Repo) -> None:
    after = _tree(repo, {"a": "x = 1\n++ b/elsewhere\nkey\n"})
    assert added_lines(repo, _tree(repo, {"a": "x = 1\n"}), after) == {"a": [(2, "++ b/elsewhere"), (3, "key")]}
