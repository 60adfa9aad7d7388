"""A command's output comes folded, with what failed in it, without keys, and the whole of it is one read away."""

from __future__ import annotations

import re

import pytest

from agent.gate.runners import failing_part
from tests.worker.bench import Bench

LONG = "i=1; while [ $i -le 3000 ]; do echo line $i of many; i=$((i+1)); done"


def test_the_whole_of_a_long_output_is_one_read_away(bench: Bench) -> None:
    told = bench.call("run", command=LONG).text
    assert len(told) < 9_000
    assert "line 1500 of many" not in told
    (name,) = re.findall(r"read\((@output/\d+)\)", told)
    assert "1500│line 1500 of many" in bench.call("read", path=name, offset=1500, limit=1).text


def test_a_short_output_is_whole_as_it_is(bench: Bench) -> None:
    assert "@output" not in bench.call("run", command="echo one").text


def test_only_the_newest_outputs_are_kept(bench: Bench) -> None:
    for _ in range(14):
        bench.call("run", command=LONG)
    assert "Run the command again" in bench.call("read", path="@output/1").text
    assert "1│line 1 of many" in bench.call("read", path="@output/14").text
    assert "Run the command again" in bench.call("read", path="@output/15").text


def test_of_a_red_test_run_the_failures_are_shown(bench: Bench) -> None:
    bench.desk.condense = failing_part
    bench.file(
        "test_many.py", "import pytest\n@pytest.mark.parametrize('n', range(400))\ndef test_n(n):\n    print('noise ' * 5)\n    assert n != 7\n"
    )
    told = bench.call("run", command="python3 -m pytest -v -p no:cacheprovider test_many.py; r=$?; " + LONG + "; exit $r").text
    assert "assert 7 != 7" in told
    assert len(told) < 9_000


def test_a_key_in_the_output_reaches_the_model_neither_way(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-0123456789abcdef0123456789")
    told = bench.call("run", command=f"echo sk-proj-0123456789abcdef0123456789; {LONG}").text
    assert "0123456789abcdef" not in told + bench.call("read", path="@output/1", limit=3).text
    assert "[redacted]" in told


def test_a_file_of_such_a_name_is_read_as_any_other(bench: Bench) -> None:
    bench.file("@output/file", "here\n")
    assert "1│here" in bench.call("read", path="@output/file").text
