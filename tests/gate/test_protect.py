from __future__ import annotations

import unicodedata
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.change import GITLINK, Change, Kind
from agent.gate.protect import SizeLimits, findings

LIMITS = SizeLimits(file_bytes=1000, changed_lines=100)


def change(path: str, kind: Kind = "added", lines: int | None = 3, size: int = 40, mode: str = "100644") -> Change:
    return Change(path, kind, lines, 0 if lines is not None else None, size, mode)


def told(*changes: Change, memory: str = ".agent") -> str:
    return "\n".join(findings(changes, LIMITS, memory))


def test_ordinary_work_is_not_refused() -> None:
    kinds: tuple[Kind, ...] = get_args(Kind)
    paths = (
        "src/app.py",
        "docs/über uns.md",
        ".github/workflows/ci.yml",
        ".gitignore",
        "src/auxiliary.py",
        "console.py",
        ".agents/x.md",
        "com10.txt",
    )
    assert told(*(change(path, kind) for path in paths for kind in kinds)) == ""


@pytest.mark.parametrize("path", [".agent/config.yaml", ".agent/todo/x.md", ".Agent/todo/x.md", ".agent"])
@pytest.mark.parametrize("kind", ["added", "modified", "deleted"])
def test_case_83_the_memory_is_changed_by_agentctl_alone(path: str, kind: Kind) -> None:
    assert path in told(change(path, kind))


def test_the_memory_of_a_package_is_where_the_caller_says() -> None:
    assert told(change("web/.agent/goal.md"), memory="web/.agent")
    assert not told(change("docs/.agent/goal.md"), memory="web/.agent")


@pytest.mark.parametrize("path", [".git/config", "a/.git/hooks/pre-commit", "a/.GIT/config", "git~1/config", ".git./x", "sub/.git"])
def test_a_git_directory_is_never_written(path: str) -> None:
    assert "git directory" in told(change(path))


def test_case_16_the_pointer_of_a_nested_repository_is_not_moved() -> None:
    assert "vendor is a repository of its own" in told(change("vendor", "modified", mode=GITLINK))


@pytest.mark.parametrize(
    "path", ["src/aux.py", "nul", "NUL", "a/Con.txt", "com1", "lpt9.log", "a./b", "trailing ", "what?.md", "a:b", "a\\b", "tab\tname"]
)
def test_case_34_a_name_that_windows_refuses_is_not_added(path: str) -> None:
    assert "Windows" in told(change(path))
    assert told(change(path, "modified"), change(path, "deleted")) == ""


def test_a_file_over_the_limit_is_named_with_its_size() -> None:
    assert "data.bin (2.0 MB) is over the limit of 1,000 bytes" in told(change("data.bin", "added", None, 2_000_000))
    assert told(change("data.bin", "deleted", None, 2_000_000)) == ""


def test_a_step_that_nobody_can_review_is_refused_but_lock_files_do_not_count() -> None:
    assert "changes 160 lines" in told(change("a.py", lines=110), change("b.py", lines=50))
    assert told(change("web/package-lock.json", lines=9000), change("a.py", lines=90)) == ""


def test_a_thousand_bad_paths_are_one_sentence() -> None:
    (finding,) = findings([change(f"d{number}/nul", lines=0) for number in range(1290)], LIMITS)
    assert "and 1285 more" in finding
    assert len(finding) < 300


@given(
    st.lists(
        st.builds(Change, st.text(min_size=1), st.sampled_from(get_args(Kind)), st.none() | st.integers(0, 9999), st.none(), st.integers(0, 10**9))
    )
)
def test_a_finding_is_always_one_line_without_control_characters(changes: list[Change]) -> None:
    shown = "".join(findings(changes, LIMITS))
    assert not [char for char in shown if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}]
