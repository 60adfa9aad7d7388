"""What a message says of its step can't be faked by the texts in it, and survives what people do to messages."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.domain.message import Told, reason_of, step_message, steps_in, told_in, without_trailers
from agent.domain.names import Outcome, StepId
from agent.domain.note import Note
from agent.domain.undoing import undo_message, written_reason
from agent.domain.usage import Usage

STEP = StepId("2026-11-29", "130355", "convert-fixtures")
FAKE = "Agent-Step: 2020-01-01-000000-other"
MARGINS = ("", " ", "\t", "> ", "* ", "- ", ">> * ", "    ", "\x0b", "\r", "\u2028", "+ ", "| ", "#", "x ")
lines = st.one_of(
    st.text(max_size=90),
    st.builds(
        "{}{}".format, st.sampled_from(MARGINS), st.sampled_from([FAKE, "Agent-Outcome: failed", "Signed-off-by: x", "This reverts commit 1234567."])
    ),
    st.builds("{} {}".format, st.text("ab -", min_size=60, max_size=90), st.just(FAKE)),
)
texts = st.lists(lines, max_size=6).map("\n".join)


@given(text=texts, title=lines, model=lines)
@example(text=f"- {FAKE}", title="T", model="m")
@example(text="word " * 15 + FAKE, title="T", model="m")
def test_no_text_of_a_note_can_tell_of_another_step(text: str, title: str, model: str) -> None:
    note = Note.of(title, text, "letter", Usage(0.5, 10, 5, 2), model)
    message = step_message(STEP, note, Outcome.DONE)
    for shown in (message, f"Squashed commit\n\n{_indented(message)}\n* {message}"):
        (told,) = told_in(shown)
        assert (told.step, told.outcome, told.usage) == (STEP, Outcome.DONE, Usage(0.5, 10, 5, 2))
        assert steps_in(shown) == (STEP,)


@given(text=texts)
def test_no_word_of_a_note_is_lost_but_lines_that_pass_for_trailers(text: str) -> None:
    note = Note.of("T", without_trailers(text))
    kept = step_message(STEP, note, Outcome.DONE)
    words = without_trailers(note.text.strip("\n").split("\n\n", 1)[0]).split()
    assert [word for word in words if word not in kept] == []


def test_what_earlier_sessions_used_is_told_apart_and_makes_them_no_steps_of_the_commit() -> None:
    earlier = StepId("2026-11-29", "120000", "convert-fixtures")
    note = Note.of("T", "Text.", "", Usage(0.75, 100, 50, 20), "m", earlier={earlier: Usage(0.5, 60, 20, 15)})
    message = step_message(STEP, note, Outcome.DONE)
    own, other = Told(STEP, Outcome.DONE, "m", Usage(0.25, 40, 30, 5)), Told(earlier, None, "m", Usage(0.5, 60, 20, 15), within=STEP)
    assert told_in(message) == (own, other)
    assert steps_in(message) == (STEP,)


def _indented(message: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in message.split("\n"))


@pytest.mark.parametrize("margin", ["", "    ", "> ", "> > ", "* ", "- ", "\t"])
def test_trailers_are_read_from_squashed_and_quoted_bodies(margin: str) -> None:
    other = StepId("2026-11-30", "010101", "another")
    both = [step_message(step, Note.of("T", "Text."), outcome) for step, outcome in ((STEP, Outcome.DONE), (other, Outcome.FAILED))]
    body = "\n".join(f"{margin}{line}" for line in "\n\n".join(both).split("\n"))
    assert told_in(f"Squash\n\n{body}") == (Told(STEP, Outcome.DONE), Told(other, Outcome.FAILED))


@pytest.mark.parametrize("line", [FAKE, f"- {FAKE}", f"> {FAKE}", "Signed-off-by: x <x@example.invalid>"])
def test_the_reason_of_an_undo_tells_of_no_step_and_comes_back(line: str) -> None:
    because = f"Wrong:\n{line}\nas it says."
    message = undo_message([("1" * 40, "a: b")], because)
    assert told_in(message) == ()
    assert reason_of(message) == written_reason(because)
    assert line in message


def test_words_that_only_begin_like_a_trailer_stay_in_a_reason() -> None:
    assert reason_of("Revert\n\nAgent-based work is slow.\nAgent-Step: x") == "Agent-based work is slow."


@pytest.mark.parametrize("text", ["[skip ci] Done.", "Done. [ci  skip]", "[No CI]", "x [skip actions] y", "***NO_CI***", "Done.\nskip-checks: true"])
def test_no_text_of_a_note_turns_off_what_runs_elsewhere(text: str) -> None:
    for note in (Note.of("T", text), Note.of(text.split("\n", maxsplit=1)[0], "Text.")):
        message = step_message(STEP, note, Outcome.DONE).lower()
        assert not any(told in message for told in ("[skip", "[ci", "[no", "***no_ci***", "skip-checks:"))


def test_no_text_of_a_note_is_a_patch_to_whoever_sends_the_commit_by_mail() -> None:
    patch = "Done.\n---\ndiff --git a/x b/x\nIndex: x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\nFrom me"
    lines = step_message(STEP, Note.of("T", patch), Outcome.DONE).split("\n")
    assert not [line for line in lines if line.startswith(("---", "diff -", "Index: ", "From "))]


def test_control_characters_of_a_title_and_a_note_stand_in_a_message_by_their_codes() -> None:
    message = step_message(STEP, Note.of("A\x1b[2Jtitle\rB", "A \x1b]0;note\x07 and \u202eback."), Outcome.DONE)
    assert not any(char in message for char in "\x1b\r\x07\u202e")


@pytest.mark.parametrize("line", ["Agentctl-Step: x", "Tested-by: A", "co-authored-by : A <a@b.example>"])
def test_a_line_of_a_note_that_poses_as_a_statement_is_left_out(line: str) -> None:
    assert line not in step_message(STEP, Note.of("T", f"Done.\n{line}"), Outcome.DONE)
