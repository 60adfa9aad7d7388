from __future__ import annotations

import subprocess
import sys
import unicodedata
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.domain.output import fold_output
from agent.domain.text import cut_marks, left_out, one_line, plain

NOISY = st.text(st.sampled_from(list("ab \n\r\t\b\x1b[]0123;mKHJ\x07\x9b\x00é界\u202e")), max_size=400)


@given(NOISY | st.text(max_size=300), st.integers(0, 300))
def test_folded_output_never_passes_its_budget_and_has_no_control_characters(raw: str, budget: int) -> None:
    folded = fold_output(raw, budget)
    assert len(folded) <= budget + 100
    assert not [char for char in folded if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"]
    assert "\u202e" not in folded


@given(st.lists(st.text("abc é", max_size=40), max_size=60), st.text("xyz", min_size=1, max_size=40), st.integers(100, 400))
def test_the_last_line_is_kept_however_long_the_rest_is(lines: list[str], last: str, budget: int) -> None:
    assert fold_output("\n".join([*lines, last, "", ""]), budget).split("\n")[-1] == last


def test_output_within_the_budget_and_without_noise_is_as_it_was() -> None:
    text = "one\n\n  two\tthree\nfour"
    assert fold_output(text + "\n", 1000) == text


def test_case_92_progress_bars_and_colours_leave_what_a_person_would_have_seen(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        'for i in range(60000): sys.stdout.write("\\r\\x1b[32m%5d%%|####      | it/s\\x1b[0m" % i)\n'
        'print(); print("LAST LINE: 1 failed"); sys.exit(1)\n'
    )
    (tmp_path / "noisy.py").write_text(script)
    raw = subprocess.run([sys.executable, "noisy.py"], cwd=tmp_path, capture_output=True, check=False).stdout.decode()
    assert len(raw) > 1_500_000
    assert fold_output(raw, 8000) == "59999%|####      | it/s\nLAST LINE: 1 failed"


def test_titles_links_and_clipboard_sequences_are_gone() -> None:
    assert fold_output("\x1b]0;title\x07a\x1b]52;c;ZXZpbA==\x1b\\b\x1b]8;;http://x\x1b\\c\x1b]8;;\x1b\\\x1b(B\x1b7d", 100) == "abcd"


def test_a_rewritten_line_shows_its_last_state_also_with_windows_line_ends() -> None:
    assert fold_output("10%\r50%\rdone\r\nnext\r\n", 100) == "done\nnext"


def test_repeated_lines_are_told_once_with_their_number() -> None:
    assert fold_output("a\n" + "warn\n" * 500 + "b", 1000) == "a\nwarn\n⟦the same line 499 times more, left out⟧\nb"


def test_long_output_keeps_head_and_tail_and_says_how_much_is_missing() -> None:
    folded = fold_output("\n".join(f"line {number}" for number in range(5000)), 600).split("\n")
    assert folded[0] == "line 0"
    assert folded[-1] == "line 4999"
    assert sum("left out" in line for line in folded) == 1


def test_one_endless_line_is_cut_in_its_middle() -> None:
    folded = fold_output("x" * 1_000_000 + "END", 4000)
    assert folded.endswith("END")
    assert len(folded) < 1100


@given(st.text(max_size=200), st.integers(0, 130))
def test_one_line_is_one_line_of_the_width_at_most_and_safe(text: str, width: int) -> None:
    line = one_line(text, width)
    assert "\n" not in line
    assert sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line) <= width
    assert not [char for char in line if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")]


def test_hidden_characters_are_spelled_as_json_spells_them() -> None:
    assert plain("a\tb\n\x1b[0m\u202egpj.exe \udce9") == "a\tb\n\\u001b[0m\\u202egpj.exe \\udce9"
    assert one_line("echo a\n  rm -rf /\t x") == "echo a ⏎ rm -rf / x"


def test_a_cut_is_known_again_as_a_cut() -> None:
    assert cut_marks(f"x {left_out('12 lines')} y") == {"⟦12 lines left out⟧"}
    assert not cut_marks("we left out ⟦this⟧")
