from __future__ import annotations

import pytest

from agent.model.tokens import count

from .bench import Bench


def test_case_41_read_shows_tabs_as_tabs_behind_an_unmistakable_sign(bench: Bench) -> None:
    bench.file("m.go", "package m\n\nfunc f() int {\n\treturn 1\n}\n")
    assert bench.call("read", path="m.go").text == "m.go: 5 lines\n1│package m\n2│\n3│func f() int {\n4│\treturn 1\n5│}"


@pytest.mark.parametrize(
    ("data", "nature"),
    [
        (b"", "empty"),
        (b"a\r\nb\r\n", "2 lines, CRLF"),
        (b"a\r\nb\n", "2 lines, CRLF and LF mixed"),
        (b"a", "1 line, no newline at its end"),
        (b"\xef\xbb\xbfa\n", "1 line, UTF-8 with BOM"),
        (b"caf\xe9\n", "1 line, Latin-1"),
        ("é\n".encode("utf-16"), "1 line, UTF-16"),
    ],
)
def test_read_says_what_cannot_be_seen(bench: Bench, data: bytes, nature: str) -> None:
    bench.file("x", data)
    assert bench.call("read", path="x").text.split("\n")[0] == f"x: {nature}"


def test_read_goes_on_where_it_left_off_until_the_end(bench: Bench) -> None:
    bench.file("long.txt", "".join(f"line {number}\n" for number in range(1, 2501)))
    first = bench.call("read", path="long.txt").text
    assert first.endswith("1000│line 1000\n⟦1500 more lines left out⟧ read(long.txt, offset=1001)")
    last = bench.call("read", path="long.txt", offset=2499, limit=10).text
    assert last == "long.txt: 2500 lines\n2499│line 2499\n2500│line 2500"
    bench.refused("read", "2500 lines", path="long.txt", offset=2501)
    bench.refused("read", "`offset` must be at least 1", path="long.txt", offset=0)


def test_read_has_a_budget_of_characters_and_cuts_endless_lines(bench: Bench) -> None:
    bench.file("wide.txt", ("x" * 900 + "\n") * 200)
    wide = bench.call("read", path="wide.txt").text
    assert len(wide) < 25_000
    assert "more lines left out⟧ read(wide.txt, offset=" in wide
    bench.file("min.js", "^" * 1_000_000)
    endless = bench.call("read", path="min.js").text
    assert len(endless) < 1500
    assert "999,000 characters left out" in endless
    assert "cut -c1001-2000" in endless


def test_control_and_hidden_characters_are_visible_and_can_be_quoted_back(bench: Bench) -> None:
    bench.file("odd.txt", "a\x1b[31mb\u202ec\n")
    assert "1│a\\u001b[31mb\\u202ec" in bench.call("read", path="odd.txt").text
    bench.edits("odd.txt", "a\x1b[31mb\u202ec", "plain")
    assert (bench.root / "odd.txt").read_text() == "plain\n"


def test_case_8_binary_files_and_lfs_pointers_are_named_not_shown(bench: Bench) -> None:
    bench.file("logo.png", b"\x89PNG\0\0secret-bytes")
    bench.file("model.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n")
    bench.refused("read", "logo.png is binary (18 bytes)", path="logo.png")
    assert "sha256" not in bench.refused("read", "git-LFS pointer", "12,345 bytes", "git lfs pull --include=model.bin", path="model.bin")
    bench.refused("edit", "git-LFS pointer", path="model.bin", old="12345", new="1")


def test_a_missing_file_brings_the_nearest_names(bench: Bench) -> None:
    bench.file("src/deep/settings.py", "x\n")
    assert "src/deep/settings.py" in bench.refused("read", "doesn't exist", path="settings.py")
    assert "src/deep/settings.py" in bench.refused("edit", "doesn't exist", path="src/setings.py", old="a", new="b")
    assert "src/deep/settings.py" in bench.refused("search", "doesn't exist", pattern="x", path="src/setings.py")


def test_a_file_too_large_to_read_whole_says_what_to_use(bench: Bench) -> None:
    with (bench.root / "huge.bin").open("wb") as file:
        file.truncate(30_000_000)
    bench.refused("read", "too large", "30,000,000 bytes", "search", path="huge.bin")


def test_list_shows_the_tree_to_a_depth_with_sizes_and_counts(bench: Bench) -> None:
    bench.file("src/a.py", "x" * 1500)
    bench.file("src/deep/b.py", "x")
    bench.file("src/deep/er/c.py", "x")
    (bench.root / "link").symlink_to("src/a.py")
    bench.file(".gitignore", "build/\n")
    bench.file("build/out.o", "x")
    text = bench.call("list").text
    assert text == (
        "./ (7 files)\nkinds: 4 .py, 1 .gitignore, 1 link\nchanged lately: calc.py\n\n.agent/\n  goal.md 18\nsrc/\n  deep/ (2 files)\n  a.py 1.5k\n.gitignore 7\ncalc.py 32\nlink -> src/a.py"
    )
    assert bench.call("list", path="src", depth=3).text == "src/ (3 files)\ndeep/\n  er/\n    c.py 1\n  b.py 1\na.py 1.5k"
    bench.refused("list", "holds nothing", ".gitignore:1 build/", path="build")
    bench.refused("list", "is a file", path="calc.py")
    bench.refused("list", "doesn't exist", path="nope")


def test_the_first_look_tells_kinds_entry_points_and_what_changed(bench: Bench) -> None:
    for path in ("README.md", "pyproject.toml", "src/app/main.py", "src/app/deep/util.py", "web/index.ts", "old.py"):
        bench.file(path, "x\n")
    bench.commit()
    bench.file("src/app/main.py", "y\n")
    (bench.root / "old.py").unlink()
    bench.file(".agent/goal.md", "Another.\n")
    bench.commit()
    lines = bench.call("list").text.split("\n")
    assert lines[0] == "./ (7 files)"
    assert "kinds: 3 .py, 1 .md, 1 .toml, 1 .ts" in lines
    assert "begin at: README.md, pyproject.toml, web/index.ts, src/app/main.py" in lines
    assert "changed lately: src/app/main.py, README.md, pyproject.toml, src/app/deep/util.py, web/index.ts, calc.py" in lines
    assert "kinds:" not in bench.call("list", path="src").text
    assert "kinds:" not in bench.call("list", depth=1).text


def test_the_first_look_is_of_the_folder_that_agentctl_works_in(bench: Bench) -> None:
    bench.file("part/.agent/goal.md", "A part.\n")
    bench.file("part/main.py", "x\n")
    bench.file("README.md", "x\n")
    bench.commit()
    text = Bench.at(bench.root / "part").call("list").text
    assert "begin at: main.py\nchanged lately: main.py\n" in text
    assert "README" not in text


@pytest.mark.parametrize("shape", ["wide", "deep", "long names", "many kinds"])
def test_the_first_look_at_any_repository_costs_less_than_two_thousand_tokens(bench: Bench, shape: str) -> None:
    for number in range(1500):
        name = {
            "wide": f"{number % 300}/{number}/README.md",
            "deep": f"a/b/{number % 7}/{number % 11}/{number}/main.py",
            "long names": f"{number}-{'long' * 30}/README-{'x' * 90}.md",
            "many kinds": f"folder {number % 40}/file.{'k' * 80}{number}",
        }[shape]
        bench.file(name, "")
    bench.commit()
    text = bench.call("list").text
    assert count(text) < 2_000
    assert "left out" in text


def test_list_of_a_huge_folder_is_short_and_says_how_much_is_missing(bench: Bench) -> None:
    for number in range(30):
        for other in range(20):
            bench.file(f"data/{number}/{other}.txt", "x")
    for number in range(100):
        bench.file(f"flat/{number:03}.txt", "x")
    text = bench.call("list", depth=3).text
    assert len(text.split("\n")) <= 252
    assert "more lines left out" in text
    assert "⟦40 more entries left out⟧" in bench.call("list", path="flat").text


def test_search_groups_lines_by_file_and_knows_path_and_glob(bench: Bench) -> None:
    bench.file("src/a.py", "one\ntwo = 1\n")
    bench.file("src/b.txt", "two = 2\r\n")
    assert bench.call("search", pattern="two = [0-9]").text == "src/a.py\n2│two = 1\nsrc/b.txt\n1│two = 2"
    assert bench.call("search", pattern="two", glob="*.py").text == "src/a.py\n2│two = 1"
    assert bench.call("search", pattern="two", path="src/b.txt").text == "src/b.txt\n1│two = 2"
    assert bench.call("search", pattern="nowhere").text == "No line matches."
    assert "two = 1" in bench.call("search", pattern=r"two = \d").text


def test_search_explains_a_bad_pattern_and_bounds_what_it_finds(bench: Bench) -> None:
    bench.refused("search", "The search failed", "regular expression", pattern="(")
    bench.refused("search", "line break", pattern="a\nb")
    bench.refused("search", "outside", pattern="x", path="../")
    bench.file("many.txt", ("match " + "x" * 500 + "\n") * 3000)
    text = bench.call("search", pattern="match").text
    assert len(text) < 40_000
    assert "Narrow the search" in text


def test_search_treats_a_leading_dash_as_part_of_the_pattern(bench: Bench) -> None:
    bench.file("a.txt", "--help me\n")
    assert bench.call("search", pattern="--help").text == "a.txt\n1│--help me"
