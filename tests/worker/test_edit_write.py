from __future__ import annotations

import difflib
import os
import re
import resource
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.beneath import Beneath
from agent.worker import files
from agent.worker.files import Refusal, decode, save, written
from agent.worker.tools.mismatch import alike
from agent.worker.tools.placeholders import placeholder

from .bench import Bench, git


def test_case_25_mode_bits_survive_an_edit(bench: Bench) -> None:
    script = bench.file("run.sh", "#!/bin/sh\necho old\n")
    script.chmod(0o755)
    bench.edits("run.sh", "old", "new")
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert bench.call("write", path="run.sh", content="#!/bin/sh\necho newer\n").ok
    assert stat.S_IMODE(script.stat().st_mode) == 0o755


def test_case_35_several_matches_are_counted_and_located(bench: Bench) -> None:
    before = 'white = {\n    "used": 1,\n}\nblack = {\n    "used": 1,\n}\n'
    bench.file("stats.py", before)
    bench.refused("edit", "2 matches", "lines 2, 5", path="stats.py", old='    "used": 1,', new='    "used": 2,')
    assert (bench.root / "stats.py").read_text() == before
    assert bench.call("edit", path="stats.py", old='"used": 1', new='"used": 2', all=True).ok
    assert (bench.root / "stats.py").read_text() == before.replace("1", "2")


def test_matches_that_overlap_are_several(bench: Bench) -> None:
    bench.file("x", "aXaXa\n")
    bench.refused("edit", "2 matches", path="x", old="aXa", new="b")
    assert bench.call("edit", path="x", old="aXa", new="b", all=True).ok
    assert (bench.root / "x").read_text() == "bXa\n"


def test_case_37_a_failed_match_touches_nothing_and_shows_the_nearest_line(bench: Bench) -> None:
    file = bench.file("Gemfile", 'source "x"\ngem "a",  "1"\n')
    os.utime(file, (1, 1))
    before = (file.read_bytes(), file.stat())
    bench.refused("edit", '2│gem "a",  "1"', "blanks", path="Gemfile", old='gem "a", "1"', new='gem "a", "2"')
    bench.refused("edit", '2│gem "a",  "1"', path="Gemfile", old='gem "b", "1.0"', new="x")
    bench.refused("edit", "Nothing in it comes near", path="Gemfile", old="zzzzzzzzzzzzzz qqqqqqqqq", new="x")
    assert (file.read_bytes(), file.stat()) == before
    assert bench.kept == []


def test_case_38_edits_come_in_any_order(bench: Bench) -> None:
    bench.file("o.py", "import os\n\n\ndef f():\n    return 1\n")
    bench.edits("o.py", "return 1", "return 2")
    bench.edits("o.py", "import os", "import sys")
    assert (bench.root / "o.py").read_text() == "import sys\n\n\ndef f():\n    return 2\n"


def test_case_40_marks_of_patch_formats_are_plain_text(bench: Bench) -> None:
    bench.file("FORMAT.md", "Heading\n=======\n\n*** Begin Patch\n text\n*** End Patch\nlast line\n")
    bench.edits("FORMAT.md", "=======\n\n*** Begin Patch", "=======\n<<<<<<< SEARCH\n\n*** Begin Patch")
    lines = (bench.root / "FORMAT.md").read_text().split("\n")
    assert lines == ["Heading", "=======", "<<<<<<< SEARCH", "", "*** Begin Patch", " text", "*** End Patch", "last line", ""]


def test_replacements_are_not_patterns(bench: Bench) -> None:
    bench.edits("calc.py", "a - b", r"\1 $1 \g<0> {0} %s")
    assert r"return \1 $1 \g<0> {0} %s" in (bench.root / "calc.py").read_text()


def test_case_41_spaces_for_tabs_are_told_and_never_mixed(bench: Bench) -> None:
    before = "package m\n\nfunc f() int {\n\treturn 1\n}\n"
    bench.file("m.go", before)
    bench.refused("edit", "indented with a tab, `old` with spaces", "4│\treturn 1", path="m.go", old="    return 1", new="    return 2")
    assert (bench.root / "m.go").read_text() == before
    bench.edits("m.go", "\treturn 1", "\treturn 2")
    bench.refused("edit", "indented with spaces, `old` with a tab", path="calc.py", old="\treturn a - b", new="\treturn a + b")


@pytest.mark.parametrize(
    ("data", "old", "reason"),
    [
        ("a = 1   \nb = 2\n", "a = 1\nb = 2", "trailing blanks"),
        ("a = 1\nb = 2\n", "a = 1  \nb = 2", "`old` has trailing blanks"),
        ("f(a, b)\n", "f(a,\n  b)", "lines break elsewhere"),
    ],
)
def test_other_white_space_is_told_too(bench: Bench, data: str, old: str, reason: str) -> None:
    bench.file("x", data)
    bench.refused("edit", reason, path="x", old=old, new="y")


def test_case_43_a_bom_is_kept_and_unseen(bench: Bench) -> None:
    file = bench.file("s.ps1", b'\xef\xbb\xbfWrite-Host "h\xc3\xa9"\nexit 0\n')
    bench.edits("s.ps1", "Write-Host", "Write-Output")
    assert file.read_bytes() == b'\xef\xbb\xbfWrite-Output "h\xc3\xa9"\nexit 0\n'
    assert bench.call("write", path="s.ps1", content="exit 1\n").ok
    assert file.read_bytes() == b"\xef\xbb\xbfexit 1\n"


def test_case_44_bytes_of_another_encoding_stay(bench: Bench) -> None:
    file = bench.file("old.py", b"x = 1\n# caf\xe9 \xd6\xd0\n")
    bench.edits("old.py", "x = 1", "x = 2")
    assert file.read_bytes() == b"x = 2\n# caf\xe9 \xd6\xd0\n"
    bench.edits("old.py", "café", "thé")
    assert file.read_bytes() == b"x = 2\n# th\xe9 \xd6\xd0\n"
    bench.refused("edit", "Latin-1", "→", path="old.py", old="x = 2", new="x → 2")
    bench.refused("write", "Latin-1", path="old.py", content="→\n")
    assert file.read_bytes() == b"x = 2\n# th\xe9 \xd6\xd0\n"


def test_a_stray_byte_in_a_utf8_file_stays(bench: Bench) -> None:
    file = bench.file("x", "é\n".encode() + b"\xff\nend\n")
    bench.edits("x", "end", "ünd")
    assert file.read_bytes() == "é\n".encode() + b"\xff\n" + "ünd\n".encode()


def test_utf16_is_edited_as_utf16(bench: Bench) -> None:
    file = bench.file("x.rc", "one\r\ntwo é\r\n".encode("utf-16"))
    bench.edits("x.rc", "one\ntwo", "1\n2")
    assert file.read_bytes().decode("utf-16") == "1\r\n2 é\r\n"


def test_line_ends_are_kept(bench: Bench) -> None:
    crlf = bench.file("t.txt", b"one\r\ntwo\r\nthree")
    bench.edits("t.txt", "two\nthree", "two\nand\nthree")
    assert crlf.read_bytes() == b"one\r\ntwo\r\nand\r\nthree"
    bench.edits("t.txt", "three", "three\nfour")
    assert crlf.read_bytes() == b"one\r\ntwo\r\nand\r\nthree\r\nfour"
    assert bench.call("write", path="t.txt", content="a\nb\n").ok
    assert crlf.read_bytes() == b"a\r\nb\r\n"
    mixed = bench.file("m.txt", b"one\r\ntwo\nthree\r\n")
    bench.edits("m.txt", "two", "2\n2")
    bench.edits("m.txt", "one", "1\n1")
    assert mixed.read_bytes() == b"1\r\n1\r\n2\n2\nthree\r\n"


def test_case_7_with_autocrlf_an_added_line_is_one_line_of_the_diff(bench: Bench) -> None:
    git("config", "core.autocrlf", "true", cwd=bench.root)
    file = bench.file("t.txt", b"one\r\ntwo\r\nthree\r\n")
    bench.commit()
    bench.edits("t.txt", "three", "three\nfour")
    assert file.read_bytes() == b"one\r\ntwo\r\nthree\r\nfour\r\n"
    assert git("diff", "--numstat", cwd=bench.root) == "1\t0\tt.txt\n"


@pytest.mark.parametrize(
    "line",
    [
        "# ... rest of file unchanged ...",
        "// ... existing code ...",
        "    # … rest of the function remains the same …",
        "/* ... other methods ... */",
        "<!-- rest of the content -->",
        "# rest of the code unchanged",
        "...[truncated]",
        "[... truncated ...]",
        "... (unchanged)",
        "{/* ... existing code ... */}",
        "-- ... same as before",
        "⟦1,234 lines left out⟧",
    ],
)
def test_case_46_a_placeholder_is_not_written(bench: Bench, line: str) -> None:
    before = "".join(f"value_{number} = 0\n" for number in range(1, 31))
    bench.file("big.py", before)
    bench.refused("write", "would stand in the file", path="big.py", content=f"value_1 = 1\n{line}\n" + before)
    bench.refused("edit", "would stand in the file", path="big.py", old="value_1 = 0", new=f"value_1 = 1\n{line}")
    assert (bench.root / "big.py").read_text() == before
    bench.file("doc.md", f"{line}\n")
    assert bench.call("write", path="doc.md", content=f"{line}\nmore\n").ok


@pytest.mark.parametrize(
    "line",
    [
        "# Other imports",
        "* [existing code](docs/code.md)",
        "def f(*args, **rest): ...",
        "# The rest of the file is generated by make.",
        "print('... and more')",
        "raise ValueError('output truncated')",
        "    ...",
        "# ...",
        "x = [*existing, *other]",
        "The existing code is kept",
        "# Remaining items are kept.",
        "- [ ] other tests",
    ],
)
def test_ordinary_lines_are_no_placeholders(line: str) -> None:
    assert placeholder(f"a\n{line}\nb\n", "") == ""


def test_case_46_a_file_does_not_shrink_to_a_fragment(bench: Bench) -> None:
    before = "".join(f"value_{number} = 0\n" for number in range(200))
    file = bench.file("big.py", before)
    bench.refused("write", "from 200 lines to 2", "rm big.py", path="big.py", content="value_1 = 1\nvalue_2 = 1\n")
    assert file.read_text() == before
    assert bench.call("run", command="rm big.py").ok
    assert bench.call("write", path="big.py", content="value_1 = 1\n").ok


def test_case_47_a_file_is_not_emptied_in_place_of_being_deleted(bench: Bench) -> None:
    file = bench.file("sub page.html", "1\n")
    bench.refused("edit", "would be empty", "rm 'sub page.html'", path="sub page.html", old="1\n", new="")
    bench.refused("write", "would be empty", "rm 'sub page.html'", path="sub page.html", content="")
    assert file.read_text() == "1\n"
    assert bench.call("write", path="pkg/__init__.py", content="").ok
    assert bench.call("write", path="pkg/__init__.py", content="x = 1\n").ok


def test_case_49_a_change_in_between_is_kept(bench: Bench) -> None:
    file = bench.file("f.py", "x=1\ny = 2\nz = 3\n")
    assert bench.call("read", path="f.py").ok
    file.write_text("x = 1\ny = 2\nz = 3\n")
    bench.edits("f.py", "z = 3", "z = 4")
    assert file.read_text() == "x = 1\ny = 2\nz = 4\n"


def test_case_50_an_edit_that_is_there_already_is_no_failure(bench: Bench) -> None:
    bench.edits("calc.py", "a - b", "a + b")
    os.utime(bench.root / "calc.py", (1, 1))
    assert "Already applied" in bench.edits("calc.py", "a - b", "a + b").text
    assert "line 2" in bench.edits("calc.py", "    return a - b\n", "    return a + b\n").text
    content = (bench.root / "calc.py").read_text()
    assert "holds just that already" in bench.call("write", path="calc.py", content=content).text
    assert (bench.root / "calc.py").stat().st_mtime == 1
    assert bench.kept == ["calc.py"]


def test_an_insertion_sent_twice_is_made_once(bench: Bench) -> None:
    bench.file("x.py", "import os\nprint(1)\n")
    bench.edits("x.py", "import os", "import os\nimport sys")
    assert "Already applied" in bench.edits("x.py", "import os", "import os\nimport sys").text
    assert (bench.root / "x.py").read_text() == "import os\nimport sys\nprint(1)\n"


def test_a_text_that_looks_like_the_new_one_does_not_hide_a_mismatch(bench: Bench) -> None:
    bench.file("x.py", "def f():\n\treturn 1\n\nreturn 2\n")
    bench.refused("edit", "tab", path="x.py", old="    return 1", new="return 2")


def test_case_52_fences_inside_a_file_are_content(bench: Bench) -> None:
    content = "# Title\n\n```bash\ngit clone <repo>\nnpm run dev\n```\n\ntext\n\n````\n```\n````\n\nlast line\n"
    before = git("ls-files", "--others", "--cached", cwd=bench.root).split("\n")
    assert bench.call("write", path="README.md", content=content).ok
    after = git("ls-files", "--others", "--cached", cwd=bench.root).split("\n")
    assert set(after) - set(before) == {"README.md"}
    assert (bench.root / "README.md").read_text() == content


def test_senseless_edits_are_refused(bench: Bench) -> None:
    bench.refused("edit", "`old` is empty", path="calc.py", old="", new="x")
    bench.refused("edit", "are the same", path="calc.py", old="a", new="a")
    bench.refused("edit", "doesn't exist", path="new.py", old="a", new="b")
    bench.file("logo.png", b"\x89PNG\0")
    bench.refused("edit", "binary", path="logo.png", old="P", new="Q")
    bench.refused("write", "binary", path="logo.png", content="x")


def test_a_hard_link_to_a_file_elsewhere_is_not_written_through(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("secret\n")
    os.link(outside, bench.root / "hard.txt")
    bench.edits("hard.txt", "secret", "changed")
    assert outside.read_text() == "secret\n"


@contextmanager
def little_room(size: int) -> Iterator[None]:
    """No file of this process can grow beyond `size` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_case_116_a_write_that_fails_half_way_leaves_the_old_file_and_no_trace(bench: Bench) -> None:
    before = (bench.root / "calc.py").read_bytes()
    with little_room(4096):
        bench.refused("write", "can't be written", "It is as it was", path="calc.py", content="x = 1\n" * 20_000)
    assert (bench.root / "calc.py").read_bytes() == before
    assert git("status", "--porcelain", cwd=bench.root) == ""


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        save(Beneath(tmp_path), "deep/new.txt", b"x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "deep/new.txt").stat().st_mode) == 0o640


PIECES = [b"a", b"b", b"\r\n", b"\n", b"\r", b"\t", b"\xc3\xa9", b"\xe9", b"\xff", b"\xf0\x9f\x98\x80", b"\xc3", b" ", b"\x80"]
ANY_BYTES = st.binary(min_size=1, max_size=60) | st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map(b"".join)
EIGHT_BIT = st.tuples(st.sampled_from([b"", b"\xef\xbb\xbf"]), ANY_BYTES.map(lambda data: data.replace(b"\0", b"a"))).map(b"".join)
UTF16 = st.text("ab\r\né😀", min_size=1, max_size=20)
TEXTS = EIGHT_BIT | UTF16.map(lambda text: text.encode("utf-16")) | UTF16.map(lambda text: b"\xfe\xff" + text.encode("utf-16-be"))


@given(st.sampled_from([b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"]), ANY_BYTES)
def test_any_bytes_that_are_taken_for_text_are_written_back_the_same(mark: bytes, rest: bytes) -> None:
    content = decode(mark + rest)
    assert content is None or content.data == mark + rest


@given(TEXTS, st.integers(0, 60), st.integers(1, 10), st.text("ab\né", max_size=5))
def test_any_edit_leaves_all_bytes_outside_the_match(data: bytes, start: int, length: int, new: str) -> None:
    content = decode(data)
    if content is None or not content.body:
        assert data[:2] in (b"\xff\xfe", b"\xfe\xff") or data == b"\xef\xbb\xbf"  # by chance a mark, with nothing of its kind behind it
        return
    old = content.normal[start % len(content.normal) :][:length]
    begin, end = content.find(old)[0]
    head = content.codec.bom + content.body[:begin].encode(content.codec.encoding, content.codec.errors)
    tail = content.body[end:].encode(content.codec.encoding, content.codec.errors)
    changed = content.replaced([(begin, end)], new)
    assert changed.startswith(head)
    assert changed.endswith(tail)
    assert changed[len(head) : len(changed) - len(tail)].decode(content.codec.encoding).replace("\r\n", "\n") == new
    assert data.startswith(head)
    assert data.endswith(tail)
    assert content.body[begin:end].replace("\r\n", "\n") == old


@given(st.text("ab\n", max_size=20), st.text("ab\n", min_size=1, max_size=4))
def test_all_matches_are_found_and_replaced_as_a_string_would_do_it(text: str, old: str) -> None:
    content = decode(text.replace("\n", "\r\n").encode())
    assert content is not None
    spans = [span for number, span in enumerate(content.find(old)) if not number or span[0] >= content.find(old)[number - 1][1]]
    assert content.replaced(spans, "X").decode().replace("\r\n", "\n") == text.replace(old, "X")


@given(st.text(max_size=30))
def test_a_new_file_is_utf8_as_given(content: str) -> None:
    assert written(content, None) == content.encode()


def test_half_a_character_is_never_written() -> None:
    with pytest.raises(Refusal):
        written("\udce9", None)
    content = decode(b"abc")
    assert content is not None
    assert content.codec == files.UTF8
    with pytest.raises(Refusal):
        content.replaced([(0, 1)], "\udce9")


@given(st.text("ab \n\t", max_size=40), st.text("ab \n\t", min_size=1, max_size=6))
def test_a_text_is_found_by_its_words_whatever_stands_between_them(text: str, old: str) -> None:
    pattern = r"\s+".join(map(re.escape, old.split()))
    assert alike(text, old) == ([match.span() for match in re.finditer(pattern, text)] if pattern else [])


def test_in_a_large_file_only_lines_that_share_something_are_compared_well(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"    result_{number * 7919 % 99991} = compute(argument_{number}, option='{number * 104729 % 99989}')" for number in range(20_000)]
    bench.file("large.py", "\n".join(lines) + "\n")
    compared = []
    ratio = difflib.SequenceMatcher.ratio

    def counted(pair: difflib.SequenceMatcher[str]) -> float:
        compared.append(pair)
        return ratio(pair)

    monkeypatch.setattr(difflib.SequenceMatcher, "ratio", counted)
    old = lines[12_345].replace("compute", "comptue")
    bench.refused("edit", f"12346│{lines[12_345]}", path="large.py", old=old, new="x")
    assert 0 < len(compared) < 300
