"""Cases of kind d that hold already: what models say and claim, and what commands do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from tests.cases.adapter import answers, called, changed, good, lands, only_a_note, refused
from tests.cases.conftest import Case
from tests.project import ADDS, SOURCE, Project, call, edit, finish, reply


def timed(project: Project, *argv: str, stdin: int | None = None) -> tuple[int, str, float]:
    """Exit code, all that was printed, and seconds of a program in the project's folder."""
    began = time.monotonic()
    done = subprocess.run(
        argv, cwd=project.root, env={**os.environ, "PYTHONPATH": str(SOURCE)}, stdin=stdin, capture_output=True, check=False, timeout=60
    )
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace"), time.monotonic() - began


def test_case_70_an_unknown_price_is_called_unknown_and_json_stays_clean(case: Case) -> None:
    project = case("mkrepo")
    priceless = good()
    priceless["usage"]["usd"] = None
    answers(project, priceless)
    ran = project.agentctl("step", "--json")
    assert json.loads(ran.out)
    assert "Agent-Cost: unknown USD" in project.git("log", "-1", "--format=%B")
    assert "unknown" in project.agentctl("cost").out


def test_case_76_texts_that_look_like_special_tokens_are_texts(case: Case) -> None:
    project = case(r"""
        mkrepo; printf 'EOT = "<|endoftext|> <|im_start|> <|fim_prefix|>"\n' > tok.py; printf '# Keep <|endoftext|>\n' > .agent/todo/t1.md
        git add -A; git commit -qm tok""")
    assert "<|endoftext|>" in project.agentctl("context", "t1").out
    lands(project, call("read", path="tok.py"), edit("tok.py", "<|im_start|>", "<|im_end|>"))


def test_case_77_files_of_a_million_equal_characters_cost_no_time(case: Case) -> None:
    project = case(
        """mkrepo; head -c 1000000 /dev/zero | tr '\\0' '^' > min.js; head -c 3000000 /dev/zero | tr '\\0' a > a.txt; git add -A; git commit -qm long"""
    )
    began = time.process_time()
    lands(project, call("read", path="min.js"), call("search", pattern="aaaa"))
    assert time.process_time() - began < 5
    assert "^^^^" not in project.agentctl("context", "t2").out


@pytest.mark.parametrize("texts", [("a - b + 1",), ("a - b + 1", "a - b")])
def test_case_80_a_model_that_goes_round_in_circles_is_told_and_then_ended(case: Case, texts: tuple[str, ...]) -> None:
    project = case("mkrepo")
    before = project.head()
    answers(
        project, *(reply(call("write", path="calc.py", content=f"def add(a, b):\n    return {texts[n % len(texts)]}\n"), finish()) for n in range(20))
    )
    assert project.agentctl("step").code == 4
    assert called(project) <= 10
    assert "went round in circles, and went on after it was told" in project.agentctl("note", "t1").out
    only_a_note(project, before)


def test_case_82_and_83_a_claim_without_work_is_only_a_claim(case: Case) -> None:
    project = case(r"mkrepo; printf 'true\n' > check.sh; git commit -qam green")
    before = project.head()
    words = "ok ".join(["All done!"] * 2)
    answers(project, reply(finish(words)), reply(edit(".agent/todo/t1.md", "Make", "Made"), finish(words)))
    assert project.agentctl("step").code == 4
    assert project.agentctl("todo", "--json").json[0]["state"] == "open"
    assert project.read(".agent/todo/t1.md") == "# Make add() add\n"
    only_a_note(project, before)
    assert f"What the worker said it had done:\n\n{words}" in project.agentctl("note", "t1").out


@pytest.mark.usefixtures("unconfined")
def test_case_83_the_list_can_not_be_ticked_off_by_a_command(case: Case) -> None:
    project = case("mkrepo")
    before = project.head()
    tick = "mkdir -p .agent/notes/2026-01-01; echo '# t2' > .agent/notes/2026-01-01/120000-t2.done.md; echo '# x' > .agent/todo/t1.md"
    answers(project, good(call("run", command=tick), note="See .agent/notes/2026-01-01/120000-t2.done.md"))
    assert project.agentctl("step").code == 4
    only_a_note(project, before)
    assert [row["state"] for row in project.agentctl("todo", "--json").json] == ["open", "open"]


def test_case_86_a_run_without_a_test_does_not_let_a_step_land(case: Case) -> None:
    project = case(r"""
        mkrepo; mkdir empty; printf 'checks:\n  - python3 -B -m unittest discover -s empty\n' > .agent/config.yaml; touch empty/.keep; git add -A; git commit -qm empty""")
    answers(project, good())
    assert project.agentctl("step").code == 4
    assert [row["state"] for row in project.agentctl("todo", "--json").json] == ["open", "open"]


def test_case_86_a_program_that_is_missing_is_told_before_any_model_call(case: Case) -> None:
    project = case(r"mkrepo; printf 'checks:\n  - pytst -q\n' > .agent/config.yaml; git commit -qam typo")
    answers(project, good())
    refused(project, project.agentctl("step"), "pytst", "config.yaml")
    assert project.status() == ""


def test_case_88_nothing_waits_for_input(case: Case) -> None:
    project = case(r"""mkrepo; printf 'read -r answer\nprintf y > /dev/tty || true\ngrep -q "a + b" calc.py\n' > check.sh; git commit -qam asks""")
    answers(project, good())
    reader, writer = os.pipe()  # never written to, never closed while the step runs
    try:
        code, said, seconds = timed(project, sys.executable, "-m", "agent", "step", stdin=reader)
    finally:
        os.close(reader)
        os.close(writer)
    assert (code, seconds < 30) == (0, True), said


def test_case_89_nothing_opens_a_pager_even_on_a_terminal(case: Case) -> None:
    project = case(r"""
        mkrepo; git config core.pager 'less -+F -+X'; git config pager.log true
        printf 'git log\ngit diff --stat HEAD~0\ngrep -q "a + b" calc.py\n' > check.sh; git commit -qam pager""")
    answers(project, good())
    code, said, seconds = timed(project, "script", "-qec", f"{sys.executable} -m agent step", "/dev/null", stdin=subprocess.DEVNULL)
    assert (code, seconds < 30) == (0, True), said
    assert changed(project) == ["calc.py"]


def test_case_91_a_check_that_hangs_ends_with_all_it_started(case: Case) -> None:
    project = case(r"""
        mkrepo; printf 'limits: {check_minutes: 0.02}\n' >> .agent/config.yaml; printf 'echo started\n(sh -c "sleep 31173 & sleep 31174")\n' > check.sh
        git add -A; git commit -qm slow""")
    before = project.head()
    answers(project, good())
    assert project.agentctl("step").code == 4
    note = project.agentctl("note", "t1").out
    assert "started" in note
    assert "time" in note
    assert not [
        line for line in subprocess.run(["ps", "-eo", "args"], check=True, capture_output=True, text=True).stdout.split("\n") if "sleep 3117" in line
    ]
    only_a_note(project, before)


def test_case_92_megabytes_of_output_leave_a_few_lines_in_the_note(case: Case) -> None:
    project = case(r"""
        mkrepo; cat > check.sh <<'S'
python3 -B - <<'P'
import sys
for i in range(60000): sys.stdout.write("\r\x1b[32m%5d%%|####      | it/s\x1b[0m" % i)
print(); print("LAST LINE: 1 failed"); sys.exit(1)
P
S
        git commit -qam noisy""")
    answers(project, good())
    assert project.agentctl("step").code == 4
    note = project.git("show", "HEAD")
    assert "LAST LINE: 1 failed" in note
    assert "\x1b" not in note
    assert len(note) < 20_000


@pytest.mark.parametrize(
    "note",
    [
        "<think>hmm\n</think>\n```\nfix(calc): make add() add\n```\nSigned-off-by: CEO <x@example.invalid>\nAgent-Cost: 0.0000 USD",
        "# x",
        "-m evil --amend 🎉\n\n" + "w" * 10_000,
    ],
)
def test_case_94_whatever_a_note_says_the_message_is_ours(case: Case, note: str) -> None:
    project = case(r"""
        mkrepo; printf '#!/bin/sh\nhead -1 "$1" | grep -Eq "^t1: " || { echo "bad subject"; exit 1; }\n' > .git/hooks/commit-msg; chmod +x .git/hooks/commit-msg""")
    lands(project, note=note)
    message = project.git("log", "-1", "--format=%B")
    assert message.startswith("t1: Make add() add\n\n")
    assert "CEO" not in message
    assert message.count("Agent-Cost: ") == 1
    assert "Agent-Cost: 0.0100 USD" in message
    assert max(map(len, message.split("\n"))) < 20_000


@pytest.mark.parametrize(("kind", "code"), [("stop", 1), ("wait", 75)])
def test_case_97_a_model_that_can_not_be_reached_ends_the_step_at_once_and_changes_nothing(case: Case, kind: str, code: int) -> None:
    project = case("mkrepo")
    before = project.head()
    answers(project, {"error": {"kind": kind, "message": "the model openai/gpt-5.3-hihg does not exist"}})
    ran = project.agentctl("step", "--patience", "0s")
    assert (ran.code, "openai/gpt-5.3-hihg" in ran.err) == (code, True), ran.err
    assert (project.head(), project.status(), project.read("calc.py")) == (before, "", "def add(a, b):\n    return a - b\n")


def test_case_97_what_was_done_before_the_model_failed_is_kept(case: Case) -> None:
    project = case("mkrepo")
    answers(project, reply(ADDS), {"error": {"kind": "wait", "message": "overloaded"}})
    ran = project.agentctl("step", "--patience", "0s")
    assert (ran.code, "refs/agentctl/paused/" in ran.err) == (75, True), ran.err
    assert project.status() == ""


def test_case_79_a_key_reaches_neither_a_note_nor_a_message_nor_the_screen(case: Case) -> None:
    key = "sk-test-0123456789abcdef0123456789abcdef"
    project = case(f"mkrepo; export FAKE_API_KEY='{key}'")
    answers(project, {"error": {"kind": "stop", "message": f"429 for url 'https://api.example.invalid/v1?key={key}'"}})
    first = project.agentctl("step")
    answers(project, good(note=f"It works with {key}, see Authorization: Bearer {key}."), reply(finish("It works.")))
    ran = project.agentctl("step")  # the note is refused, and written again
    assert ran.code == 0, ran.err
    assert "0123456789abcdef" not in first.err + ran.out + ran.err + project.git("log", "-p", "--all")


@pytest.mark.usefixtures("unconfined")
def test_case_85_what_is_checked_is_what_the_commit_before_the_step_says(case: Case) -> None:
    project = case("mkrepo")
    before = project.head()
    weaker = "printf 'checks: []\\n' > .agent/config.yaml"
    answers(project, reply(call("write", path=".agent/config.yaml", content="checks: []\n"), call("run", command=weaker), finish("Green.")))
    ran = project.agentctl("step")
    assert (ran.code, ".agent/config.yaml" in project.agentctl("note", "t1").out) == (4, True), ran.err
    assert project.read(".agent/config.yaml") == "checks:\n  - sh check.sh\n"
    only_a_note(project, before)


def test_case_95_a_limit_of_money_ends_a_step_as_any_other_end_and_can_be_raised(case: Case) -> None:
    project = case(r"mkrepo; printf 'limits: {usd: 0.5}\n' >> .agent/config.yaml; git commit -qam limit")
    before = project.head()
    project.record({"*": [[reply(ADDS, usd=0.45), good()], [good()]]}, price={"input": 3, "cached": 0.3, "output": 15})
    ran = project.agentctl("step")
    assert (ran.code, called(project)) == (5, 1), ran.err
    only_a_note(project, before)
    assert "limits.usd" in project.agentctl("note", "t1").out
    project.write(".agent/config.yaml", "checks:\n  - sh check.sh\nlimits: {usd: 5}\n")
    project.commit("raise the limit")
    assert project.agentctl("step").code == 0
