from __future__ import annotations

import pytest

from agent.domain.change import Change
from agent.gate.unseen import unseen


def told(line: str, *, number: int = 2) -> list[str]:
    return [one.text for one in unseen((), {"src/a.py": [(number, line)]})]


@pytest.mark.parametrize(
    "code", [0x202E, 0x2066, 0x200B, 0x200E, 0x2060, 0xFEFF, 0xE0041, 0x200D, 0x3164, 0x061C, 0xAD, 0x2028, 0xFE0F, 0xFE00, 0xE0100, 0xFFF9]
)
def test_a_character_that_nobody_sees_is_told_with_its_code_and_place(code: int) -> None:
    (found,) = told(f"access = 'user{chr(code)}'  # check")
    assert found.startswith("src/a.py:2 `access = 'user\\")
    assert f"holds U+{code:04X} (" in found
    assert chr(code) not in found


@pytest.mark.parametrize(
    "line",
    [
        "plain = 1",
        "\U0001f469\u200d\U0001f4bb and \u2764\ufe0f\u200d\U0001f525 and \U0001f3f3\ufe0f\u200d\U0001f308",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937",
        "\u05e9\u05dc\u05d5\u05dd\u200f (C++)\u200e",
        "caf\u00e9 \u65e5\u672c\u8a9e \u0416",
        "tab\there",
        "1\ufe0f\u20e3 \u26a0\ufe0f \u2139\ufe0f \u2764\ufe0e",
        "\u845b\U000e0100 \u4e0e\ufe00 \u1820\u180b",
    ],
)
def test_what_pictures_and_scripts_are_written_with_is_let_alone(line: str) -> None:
    assert told(line) == []


def test_a_byte_order_mark_is_let_alone_at_the_beginning_of_a_file_only() -> None:
    assert told("\ufeffimport os", number=1) == []
    assert told("\ufeffimport os", number=2)
    assert told("\ufeff\ufeffimport os", number=1)


def test_data_in_a_row_of_selectors_is_told_also_after_a_picture() -> None:
    hidden = "".join(chr(0xE0100 + byte) for byte in b"eval(x)")
    assert told(f"s = '\U0001f600{hidden}'")
    assert told(f"s = '\u845b{hidden}'")
    assert told("s = '\u26a0\ufe0f\ufe0e\ufe0f'")


def test_an_override_among_right_to_left_letters_is_told() -> None:
    assert told("\u05e9\u05dc\u05d5\u05dd \u202e")


def test_a_new_name_is_told_and_one_that_was_there_is_not() -> None:
    name = "doc\u202efdp.py"
    (found,) = unseen((Change(name, "added", 1, 0, 9),), {})
    assert found.text.startswith("the name `doc\\u202efdp.py` holds U+202E")
    assert unseen((Change(name, "modified", 1, 0, 9),), {}) == ()


def test_files_that_are_no_text_are_let_alone_and_of_a_text_three_lines_are_told() -> None:
    assert unseen((), {"a.png": [(1, "\u200b\0")]}) == ()
    assert [one.text for one in unseen((), {"a.py": [(n, "\u200b") for n in range(1, 9)]})][-1] == "a.py holds such characters in 5 lines more."
