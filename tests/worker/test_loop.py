"""What is sent when a session grows: the same beginning, within the window, with everything that matters."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.domain.chat import Message, Reply, Request, ToolCall
from agent.domain.progress import Proposed, Remembered
from agent.domain.usage import NOTHING
from agent.model.errors import Facts, ModelError, Origin, error_for
from agent.model.tokens import count
from agent.worker.compaction import ASK, Compaction
from agent.worker.conversation import Conversation
from agent.worker.gauge import Gauge
from agent.worker.protocol import Ending
from agent.worker.tools.base import Desk
from agent.worker.workspace import Workspace
from tests.worker.bench import Bench
from tests.worker.talker import Talker, says, session

TASK = "# The task\n\nConvert everything, " + "and keep it small. " * 40
THOUGHTS = "This one is like the one before, so the same should do. " * 20
NOTE = json.dumps({"note": "It is all converted, and tested by hand.", "letter": "Next."})


def prompt(request: Request) -> str:
    """The request as the bytes that a provider's cache sees."""
    tools = [[spec.name, spec.description, dict(spec.parameters)] for spec in request.tools]
    return json.dumps(
        [tools, *([message.role, message.text, [[call.id, call.name, call.args] for call in message.calls]] for message in request.messages)]
    )


def shared(one: Request, other: Request) -> float:
    """How much of the first request is the beginning of the second, in bytes."""
    first, second = prompt(one)[:-1], prompt(other)
    same = next((place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second)))
    return same / len(first)


def assert_sound(messages: Sequence[Message]) -> None:
    """Each call is answered by the messages right after it, and nothing else is."""
    awaited: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert message.call_id == awaited.pop(0)
        else:
            assert awaited == []
            awaited = [call.id for call in message.calls]
    assert awaited == []


def reads(bench: Bench, files: int, lines: int) -> None:
    for number in range(files):
        bench.file(f"f{number}.py", "".join(f"value_{number}_{line} = {line}\n" for line in range(lines)))


def reader(last: int, paragraph: str = "I read many files.", final: str = NOTE) -> Talker:
    """Reads file after file, noting a lesson and an item at the beginning, and finishes; asked for a paragraph it writes one."""

    def answer(n: int) -> Reply:
        if talker.requests[-1].messages[-1].text == ASK:
            return says(text=paragraph, finish="stop")
        done = len([request for request in talker.requests if request.messages[-1].text != ASK])
        if done == 1:
            lesson, item = {"title": "Ports are taken", "text": "Ask the system for one."}, {"title": "Mend the docs", "text": "They are old."}
            return says(("remember", json.dumps(lesson)), ("propose", json.dumps(item)))
        return says(("finish", final)) if done > last else says(("read", json.dumps({"path": f"f{n % 60}.py"})), text=THOUGHTS)

    talker = Talker(answer, window=20_000)
    return talker


def test_each_request_begins_with_the_whole_of_the_one_before(bench: Bench) -> None:
    reads(bench, 12, 40)
    talker = reader(12)
    assert session(talker, bench.desk, TASK).work(None).ending is Ending.FINISHED
    pairs = list(pairwise(talker.requests))
    assert len(pairs) > 10
    assert min(shared(one, other) for one, other in pairs) >= 0.999


def test_a_session_longer_than_the_window_keeps_task_notes_and_last_turns_and_breaks_the_beginning_seldom(bench: Bench) -> None:
    reads(bench, 60, 150)
    talker = reader(55)
    talker.true_window = talker.window
    report = session(talker, bench.desk, TASK).work(None)
    assert report.ending is Ending.FINISHED, report.note
    assert [lesson.title for lesson in report.lessons] == ["Ports are taken"]
    assert [item.title for item in report.proposals] == ["Mend the docs"]
    for request in talker.requests:
        assert talker.tokens(request) + request.max_output <= talker.window
        assert request.messages[0].text == "How to work."
        assert request.messages[1].text.startswith(TASK)
        assert_sound(request.messages)
    pairs = [pair for pair in pairwise(talker.requests) if ASK not in (pair[0].messages[-1].text, pair[1].messages[-1].text)]
    broken = [pair for pair in pairs if shared(*pair) < 0.95]
    assert len(broken) <= len(pairs) / 3  # a turn is a tenth of this small window
    summed = [request for request in talker.requests if "I read many files." in request.messages[1].text]
    assert summed
    assert "Lessons noted: Ports are taken.\n\nItems proposed: Mend the docs." in summed[0].messages[1].text


def test_the_paragraph_is_asked_for_with_the_same_beginning_and_few_times(bench: Bench) -> None:
    reads(bench, 60, 150)
    talker = reader(55)
    session(talker, bench.desk, TASK).work(None)
    asked = [place for place, request in enumerate(talker.requests) if request.messages[-1].text == ASK]
    assert 1 <= len(asked) <= 6
    for place in asked:
        assert talker.requests[place].max_output <= 1_000
        assert talker.requests[place].tools == talker.requests[0].tools
    assert all(later - earlier > 3 for earlier, later in pairwise(asked))


@pytest.mark.parametrize("paragraph", ["", "long " * 5_000])
def test_a_paragraph_that_is_empty_or_endless_does_no_harm(bench: Bench, paragraph: str) -> None:
    reads(bench, 60, 150)
    talker = reader(50, paragraph)
    assert session(talker, bench.desk, TASK).work(None).ending is Ending.FINISHED
    before = [request.messages[1].text.partition("# Earlier in this session")[2] for request in talker.requests]
    assert max(map(len, before)) < 6_000
    assert any(before)


def test_case_73_what_the_provider_finds_too_long_is_sent_again_shorter_with_task_and_last_turn(bench: Bench) -> None:
    reads(bench, 40, 150)
    talker = reader(20)
    talker.window, talker.true_window = 200_000, 20_000  # as where nobody knows what the model really holds
    report = session(talker, bench.desk, TASK).work(None)
    assert report.ending is Ending.FINISHED, report.note
    sizes = [talker.tokens(request) for request in talker.requests]
    over = [place for place, size in enumerate(sizes) if size > talker.true_window]
    assert over
    for place in over:
        assert sizes[place + 1] < talker.true_window
        assert talker.requests[place + 1].messages[1].text.startswith(TASK)
        assert talker.requests[place + 1].messages[-1] == talker.requests[place].messages[-1]


def test_case_73_what_stays_too_long_ends_the_step_with_the_advice_to_split(bench: Bench) -> None:
    reads(bench, 9, 150)

    def answer(n: int) -> Reply:
        if n > 8:
            raise error_for("talker/x", Facts(Origin.ANSWER, "prompt is too long", 400))
        return says(("read", json.dumps({"path": f"f{n}.py"})))

    talker = Talker(answer)
    report = session(talker, bench.desk, TASK).work(None)
    assert (report.ending, report.limit, len(talker.requests)) == (Ending.LIMIT, "window", 10)
    assert "Split the item" in report.note

    hopeless = Talker(lambda _: says(("list", "{}")), true_window=100)
    report = session(hopeless, bench.desk, TASK).work(None)
    assert (report.limit, len(hopeless.requests)) == ("window", 1)


@pytest.mark.parametrize("finish", ["length", "tool_calls", "stop"])
def test_case_74_a_call_that_was_cut_off_is_neither_run_nor_sent_back(bench: Bench, finish: str) -> None:
    """Arguments that don't parse, whatever the server calls them; with "length" not even those that do."""
    whole = json.dumps({"path": "calc.py", "content": "def add(a, b):\n    ret\n"})
    cut = (whole if finish == "length" else whole[:-6], whole[:-9])
    talker = Talker(lambda n: says(("write", cut[0]), ("write", cut[1]), finish=finish) if n == 1 else says(("finish", NOTE)))
    before = bench.root.joinpath("calc.py").read_bytes()
    assert session(talker, bench.desk).work(None).ending is Ending.FINISHED
    assert bench.root.joinpath("calc.py").read_bytes() == before
    sent = talker.requests[1].messages
    assert_sound(sent)
    if finish == "length":
        assert not any(message.calls for message in sent)
        assert "cut off" in sent[-1].text
    else:
        assert "not valid JSON" in sent[-1].text


@pytest.mark.parametrize(
    "useless",
    [
        lambda: says(("reed", "{}")),
        lambda: says(("read", "[1]")),
        lambda: says(("read", '{"path": 3}')),
        lambda: says(text="Let me see.", finish="stop"),
        lambda: says(text="And th", finish="length"),
    ],
)
def test_useless_replies_are_told_to_the_model_and_three_of_them_end_the_session(bench: Bench, useless: object) -> None:
    assert callable(useless)
    talker = Talker(lambda n: says(("finish", NOTE)) if n == 3 else useless())
    assert session(talker, bench.desk).work(None).ending is Ending.FINISHED
    assert len({talker.requests[n].messages[-1].text for n in range(3)}) >= 2
    forever = Talker(lambda _: useless())
    assert (session(forever, bench.desk).work(None).ending, len(forever.requests)) == (Ending.GAVE_UP, 3)


def test_an_empty_answer_is_told_and_a_refused_request_is_raised_after_three(bench: Bench) -> None:
    def raising(facts: Facts) -> Talker:
        def answer(_n: int) -> Reply:
            raise error_for("talker/x", facts)

        return Talker(answer)

    empty = raising(Facts(Origin.EMPTY))
    report = session(empty, bench.desk).work(None)
    assert (report.ending, "answered with nothing" in report.note, len(empty.requests)) == (Ending.GAVE_UP, True, 3)
    with pytest.raises(ModelError):
        session(raising(Facts(Origin.ANSWER, "no such parameter", 400)), bench.desk).work(None)


def test_the_last_call_of_a_step_is_not_spent_on_a_paragraph(bench: Bench) -> None:
    reads(bench, 60, 150)
    talker = reader(55)
    session(talker, bench.desk, TASK).work(None)
    first = next(place for place, request in enumerate(talker.requests) if request.messages[-1].text == ASK)

    again = reader(55)
    assert session(again, bench.desk, TASK, calls=first + 1).work(None).limit == "calls"
    assert len(again.requests) == first + 1
    assert "# Earlier in this session" in again.requests[-1].messages[1].text
    assert "- read " in again.requests[-1].messages[1].text


# --- properties --------------------------------------------------------------------------------------------------------

said = st.sampled_from(["", "ok", "I look. " * 9, "word " * 700])
turns = st.lists(st.tuples(said, st.lists(said, max_size=3), st.booleans()), max_size=25)


@given(turns, st.integers(300, 6_000), st.sampled_from(["", "What was done.", "x " * 9_000]))
def test_for_any_conversation_what_is_sent_fits_or_is_refused_paired_and_in_order(
    script: list[tuple[str, list[str], bool]], room: int, paragraph: str
) -> None:
    talk = Conversation("How to work.", "The task.", count)
    desk = Desk(_workspace(), lessons=[Remembered("A lesson", "x")], proposals=[Proposed("An item", "y")])
    asked: list[int] = []

    def ask(messages: tuple[Message, ...]) -> str:
        assert_sound(messages)
        assert messages[-1].text == ASK
        asked.append(len(messages))
        return paragraph

    compaction = Compaction(talk, desk, ask)
    for number, (text, results, told) in enumerate(script):
        calls = tuple(ToolCall(f"{number}-{place}", "read", "{}") for place in range(len(results)))
        before = talk.messages
        talk.heard(Reply(text, calls, NOTHING, "stop"), calls)
        for call, result in zip(calls, results, strict=True):
            talk.answered(call, result)
        if told:
            talk.told("Go on.")
        turn = talk.messages[len(before) :]
        fits = compaction.fit(room)
        assert fits == (talk.tokens <= room)
        assert talk.tokens == talk.size(talk.messages)
        assert_sound(talk.messages)
        assert talk.messages[0].text == "How to work."
        assert talk.messages[1].text.startswith("The task.")
        assert talk.messages[-len(turn) :] == turn
        ids = [call.id for message in talk.messages for call in message.calls]
        assert ids == sorted(ids, key=lambda name: tuple(map(int, name.split("-"))))
        if not fits:
            break
    assert len(asked) <= 6


def _workspace() -> Workspace:
    return None  # type: ignore[return-value]  # a desk without a place: compaction reads its notes only


@given(st.integers(0, 10**6), st.integers(0, 2_000), st.floats(0.9, 1.6))
def test_after_ten_calls_the_estimate_is_within_three_percent_of_another_tokenizer(seed: int, overhead: int, factor: float) -> None:
    draw = random.Random(seed)  # noqa: S311  # a conversation, nothing secret
    counted, messages, gauge = 8_000, 2, Gauge()
    for call in range(30):
        told = int(factor * counted) + 9 * messages + overhead
        if call >= 10:
            assert abs(gauge.tokens(counted) - told) <= 0.03 * told
        gauge = gauge.learned(counted, told)
        counted += draw.randint(50, 4_000)
        messages += 2
        if call in {15, 22}:
            counted = int(counted * draw.uniform(0.4, 0.7))  # what was left out
            gauge = gauge.learned(counted, int(factor * counted) + 9 * messages + overhead)


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(0, 10**6), st.integers(1, 10**6))
def test_the_room_is_what_fits(counted: int, told: int, next_one: int, tokens: int) -> None:
    gauge = Gauge().learned(counted, told)
    room = gauge.room(tokens)
    assert gauge.tokens(room) <= tokens + 0.01
    assert (gauge.tokens(next_one) <= tokens) <= (next_one <= room + 1)
    assert Gauge().tokens(100) == pytest.approx(130)
