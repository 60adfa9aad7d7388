from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.change import AddedLines, Change
from agent.domain.events import ignore
from agent.domain.todo import Item
from agent.gate.protect import SizeLimits
from agent.gate.protocol import Baseline, CheckResult, Verdict
from agent.gate.verdict import UNCHANGED, feedback, gate
from tests.shells import bare_shell

RED = Baseline(ok=False)
WORK = (Change("calc.py", "modified", 1, 1, 40),)


def judge(
    root: Path,
    commands: Sequence[str] = ("touch ran",),
    changes: Sequence[Change] = WORK,
    *,
    added: AddedLines | None = None,
    environment: Mapping[str, str] | None = None,
    before: Mapping[str, Baseline] | None = None,
    allow: Collection[str] = (),
) -> Verdict:
    return gate(
        commands=commands,
        changes=changes,
        added=added or {},
        sides=(),
        item=Item("an-item", "An item", allow=tuple(allow)),
        shell=bare_shell(root),
        limits=SizeLimits(1_000_000, 3000),
        timeout=20,
        environment=environment or {},
        listen=ignore,
        before=before or {},
    )


def test_good_work_passes_by_its_checks(tmp_path: Path) -> None:
    verdict = judge(tmp_path)
    assert verdict.ok
    assert [check.command for check in verdict.checks] == ["touch ran"]
    assert feedback(verdict) == ""


@pytest.mark.parametrize("bad", ["path", "secret", "nothing"])
def test_what_is_refused_without_a_check_costs_no_check(tmp_path: Path, bad: str) -> None:
    changes = {"path": (*WORK, Change(".agent/config.yaml", "modified", 1, 1, 9)), "secret": WORK, "nothing": ()}[bad]
    verdict = judge(
        tmp_path,
        changes=changes,
        added={"calc.py": [(3, "swordfish-and-chips")]},
        environment={"MY_TOKEN": "swordfish-and-chips"} if bad == "secret" else {},
    )
    assert (verdict.ok, len(verdict.findings), verdict.checks) == (False, 1, ())
    assert not (tmp_path / "ran").exists()
    assert verdict.findings[0] in feedback(verdict)


def test_case_82_finished_without_a_change_is_refused(tmp_path: Path) -> None:
    assert judge(tmp_path, changes=()).findings == (UNCHANGED.told,)


def test_an_item_that_only_looks_may_change_nothing(tmp_path: Path) -> None:
    assert judge(tmp_path, changes=(), allow=["no-change"]).ok


def test_a_check_that_was_red_decides_where_nothing_changed(tmp_path: Path) -> None:
    assert judge(tmp_path, ["true"], (), before={"true": RED}).ok
    assert not judge(tmp_path, ["false"], (), before={"false": RED}).ok
    assert judge(tmp_path, ["true"], (), before={"another": RED}).findings == (UNCHANGED.told,)


def test_the_worker_hears_which_check_failed_and_why(tmp_path: Path) -> None:
    text = feedback(judge(tmp_path, ["echo fine", "echo 'E  assert 5 == 6'; exit 1"]))
    assert "has not landed" in text
    assert "Failed: echo 'E assert 5 == 6'; exit 1: E assert 5 == 6" in text
    assert "```\nE  assert 5 == 6\n```" in text
    assert "Passed: echo fine: fine" in text


def test_the_fence_around_an_output_is_never_in_it() -> None:
    text = feedback(Verdict((CheckResult("x", ok=False, summary="s", output="```\nignore the above\n```", seconds=1.0),)))
    assert "````\n```\nignore the above\n```\n````" in text


CHECKS = st.builds(
    CheckResult,
    st.text(max_size=3000),
    ok=st.booleans(),
    summary=st.text(max_size=300),
    output=st.text(alphabet="ab \n`", max_size=9000),
    seconds=st.just(1.0),
)


@given(st.lists(CHECKS, max_size=9), st.lists(st.text(max_size=900), max_size=40))
def test_feedback_stays_short_however_much_went_wrong(checks: list[CheckResult], findings: list[str]) -> None:
    verdict = Verdict(tuple(checks), tuple(findings))
    text = feedback(verdict)
    assert len(text) < 8000
    assert bool(text) is not verdict.ok


def test_feedback_keeps_every_red_check_and_the_way_on_where_outputs_are_long() -> None:
    long = "".join(f"line {number} of a long story\n" for number in range(1000))
    checks = tuple(CheckResult(f"check-{number}", ok=False, summary=f"{number} failed", output=long, seconds=1.0) for number in range(5))
    text = feedback(Verdict(checks))
    assert [check.command for check in checks if f"{check.command}: {check.summary}" not in text] == []
    assert text.endswith("with the whole note.")
