from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.beneath import Beneath
from agent.worker.files import Refusal
from agent.worker.workspace import Found, Workspace

from .bench import Bench, git


def test_case_16_files_of_a_submodule_are_not_listed_and_not_edited(bench: Bench, tmp_path: Path) -> None:
    lib = Bench.make(tmp_path / "lib")
    git("submodule", "add", "-q", str(lib.root), "vendor", cwd=bench.root)
    bench.commit()
    listed = bench.call("list").text
    assert "vendor/ (a submodule)" in listed
    before = (bench.root / "vendor/calc.py").read_bytes()
    bench.refused("edit", "vendor", "submodule", path="vendor/calc.py", old="a - b", new="a + b")
    bench.refused("write", "vendor", path="vendor", content="x\n")
    git("submodule", "deinit", "-q", "-f", "vendor", cwd=bench.root)
    bench.refused("write", "submodule", path="vendor/new.py", content="x\n")
    assert not (bench.root / "vendor/new.py").exists()
    assert before == (lib.root / "calc.py").read_bytes()
    assert bench.kept == []


def test_a_repository_inside_the_work_tree_is_not_written(bench: Bench) -> None:
    inner = bench.root / "scratch"
    inner.mkdir()
    git("init", "-q", cwd=inner)
    bench.refused("write", "scratch", "repository of its own", path="scratch/x.py", content="x\n")


def test_case_20_a_file_that_git_ignores_is_refused_before_writing(bench: Bench) -> None:
    bench.file(".gitignore", "local.json\n")
    bench.commit()
    local = bench.file("local.json", '{"a": 1}\n')
    bench.refused("edit", "local.json is ignored by git (.gitignore:1 local.json), so a step can't commit it", path="local.json", old="1", new="2")
    assert local.read_text() == '{"a": 1}\n'
    assert bench.call("read", path="local.json").ok


def test_a_tracked_file_under_an_ignore_rule_is_edited(bench: Bench) -> None:
    bench.file("kept.log", "one\n")
    git("add", "kept.log", cwd=bench.root)
    bench.file(".gitignore", "*.log\n")
    bench.commit()
    bench.edits("kept.log", "one", "two")


def test_case_22_names_with_blanks_quotes_umlauts_and_tabs_are_listed_and_edited(bench: Bench) -> None:
    names = ["fänny file.py", 'quo"te.py', "-dash.py", "tab\tin.py"]
    for name in names:
        bench.file(f"dö c/{name}", "x = 1\n")
    bench.commit()
    listed = bench.call("list", path="dö c").text
    for name in (*names[:3], "tab\\u0009in.py"):
        assert name in listed
    for name in names:
        bench.edits(f"dö c/{name}", "1", "2")
        assert (bench.root / "dö c" / name).read_text() == "x = 2\n"
    bench.edits("dö c/tab\\u0009in.py", "2", "3")
    assert (bench.root / "dö c/tab\tin.py").read_text() == "x = 3\n"


def test_case_23_a_name_that_is_not_utf8_is_listed_found_and_edited(bench: Bench) -> None:
    name = os.fsencode(str(bench.root)) + b"/caf\xe9.txt"
    Path(os.fsdecode(name)).write_text("one\n")
    bench.commit()
    assert "caf\\udce9.txt" in bench.call("list").text
    assert "caf\\udce9.txt" in bench.call("search", pattern="one").text
    bench.edits("caf\\udce9.txt", "one", "two")
    assert Path(os.fsdecode(name)).read_text() == "two\n"


def test_case_26_a_link_inside_is_kept_and_its_target_edited(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("secret")
    bench.file("real.txt", "a\n")
    (bench.root / "link.txt").symlink_to("real.txt")
    (bench.root / "out.txt").symlink_to("../outside.txt")
    (bench.root / "cfg.txt").symlink_to(".git/config")
    (bench.root / "folder").symlink_to("..")
    bench.commit()
    config = (bench.root / ".git/config").read_bytes()
    bench.edits("link.txt", "a", "b")
    assert str((bench.root / "link.txt").readlink()) == "real.txt"
    assert (bench.root / "real.txt").read_text() == "b\n"
    assert bench.kept == ["real.txt"]
    bench.refused("edit", "outside", path="out.txt", old="secret", new="x")
    bench.refused("read", "outside", path="out.txt")
    bench.refused("edit", ".git", path="cfg.txt", old="bare", new="x")
    bench.refused("read", ".git", path="cfg.txt")
    for path in ("../outside.txt", "folder/outside.txt", "folder/new.txt", str(tmp_path / "outside.txt"), "/etc/agentctl-test"):
        bench.refused("write", "outside", path=path, content="x")
    for path in (".git/hooks/post-commit", ".GIT/config", "sub/.git/config", "x/../.git/config", ".git", "git~1/config", ".git./x", ".g\u200cit/x"):
        bench.refused("write", ".git", path=path, content="x")
    assert (tmp_path / "outside.txt").read_text() == "secret"
    assert (bench.root / ".git/config").read_bytes() == config
    assert not (tmp_path / "new.txt").exists()


def test_an_absolute_path_inside_is_the_same_file(bench: Bench) -> None:
    assert bench.edits(str(bench.root / "calc.py"), "a - b", "a + b").ok
    assert bench.kept == ["calc.py"]


def test_agents_own_folder_is_read_and_never_written(bench: Bench) -> None:
    assert "Add and subtract." in bench.call("read", path=".agent/goal.md").text
    (bench.root / "way").symlink_to(".agent")
    for path in (".agent/goal.md", ".agent/todo/x.md", ".AGENT/x", "way/x.md", "apps/web/.agent/x.md"):
        bench.refused("write", ".agent", path=path, content="x\n")
    assert sorted(path.name for path in (bench.root / ".agent").iterdir()) == ["goal.md"]


@pytest.mark.parametrize(
    "path",
    [
        "src/aux.py",
        "nul",
        "CON",
        "com1.txt",
        "lpt¹",
        "a/prn.tar.gz",
        "end.",
        "end ",
        "a:b",
        "a<b",
        "a|b",
        "what?",
        "st*r",
        "back\\slash",
        "new\nline",
        "gpj.\u202eexe",
    ],
)
def test_case_34_names_that_windows_cannot_check_out_are_refused(bench: Bench, path: str) -> None:
    bench.refused("write", "can't be made", path=path, content="x = 1\n")
    assert git("status", "--porcelain", cwd=bench.root) == ""
    assert bench.kept == []


@pytest.mark.parametrize("path", ["console.py", "auxiliary/com10.py", ".env.example", "nul_test.py", "a b.py", "ünïcode.py"])
def test_names_that_only_look_like_reserved_ones_are_fine(bench: Bench, path: str) -> None:
    assert bench.call("write", path=path, content="x = 1\n").ok
    assert (bench.root / path).read_text() == "x = 1\n"


def test_a_new_name_may_not_differ_only_in_case_from_one_that_is_there(bench: Bench) -> None:
    bench.file("src/Main.py", "x\n")
    bench.refused("write", "only in case", "Main.py", path="src/main.py", content="y\n")
    bench.refused("write", "only in case", "src", path="SRC/other.py", content="y\n")


def test_devices_fifos_and_circles_of_links_are_refused_at_once(bench: Bench) -> None:
    os.mkfifo(bench.root / "pipe")
    (bench.root / "one").symlink_to("two")
    (bench.root / "two").symlink_to("one")
    for path in ("pipe", "one"):
        for tool, args in (("read", {}), ("write", {"content": "x"}), ("edit", {"old": "a", "new": "b"})):
            bench.refused(tool, "neither a file nor a folder", path=path, **args)


def test_a_path_that_cannot_be_a_file_is_one_sentence(bench: Bench) -> None:
    bench.refused("write", "empty", path="", content="x")
    bench.refused("write", "folder", path="new/", content="x")
    bench.refused("write", "folder", path=".", content="x")
    bench.refused("write", "calc.py is a file, not a folder", path="calc.py/x.py", content="x")
    bench.refused("write", "longer than 255", path="x" * 300, content="x")
    bench.refused("read", "calc.py", path="clac.py")
    bench.refused("read", "folder", "list", path=".agent")


def test_a_root_below_the_top_is_a_wall_towards_the_rest_of_the_repository(bench: Bench) -> None:
    bench.file("apps/web/.agent/goal.md", "web\n")
    bench.file("apps/web/.gitignore", "*.tmp\n")
    bench.file("apps/web/page.html", "one\n")
    bench.commit()
    web = Bench.at(bench.root / "apps/web")
    web.edits("page.html", "one", "two")
    assert web.kept == ["page.html"]
    web.refused("edit", "outside", path="../../calc.py", old="a", new="b")
    web.refused("write", "ignored by git", path="x.tmp", content="x")
    assert "calc.py" not in web.call("list").text
    assert "page.html\n1│two" in web.call("search", pattern="two").text


class NoGit:
    """A tree about which git has nothing to say."""

    def lately(self, commits: int) -> list[str]:
        del commits
        return []

    def files(self, under: str = "") -> list[str]:
        return [under][:0]

    def ignored(self, paths: Sequence[str]) -> Mapping[str, str]:
        return dict.fromkeys(paths[:0], "")

    def gitlinks(self) -> frozenset[str]:
        return frozenset()

    def is_hidden(self, path: str) -> bool:
        return not path

    def grep(self, pattern: str, path: str = "", glob: str = "", limit: int = 200) -> Sequence[Found]:
        raise AssertionError(pattern, path, glob, limit)


PART = st.sampled_from(
    ["..", ".", "", "in", "up", "far", "out.txt", "git", "dot", ".git", ".GIT", ".agent", "a", "nul", "loop", "é", "x\udce9", " "]
) | st.text(max_size=4)


@settings(deadline=None, max_examples=80)
@given(st.lists(PART, min_size=1, max_size=6), st.sampled_from(["", "/", "ABS/"]))
def test_no_path_writes_outside_the_root_or_into_git_or_agent(parts: list[str], start: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        outer = Path(name).resolve()
        root = outer / "root"
        for folder in ("root/in", "root/.git/hooks", "root/.agent", "far"):
            (outer / folder).mkdir(parents=True)
        (outer / "secret").write_text("secret")
        for link, target in {
            "up": "..",
            "far": "../far",
            "out.txt": "../secret",
            "git": ".git",
            "dot": ".agent",
            "in/up": "../..",
            "loop": "loop",
        }.items():
            (root / link).symlink_to(target)
        kept: list[str] = []
        workspace = Workspace(Beneath(root), NoGit(), kept.append)
        path = (f"{root}/" if start == "ABS/" else start) + "/".join(parts)
        with contextlib.suppress(Refusal):
            workspace.save(workspace.writable(path), b"written")
        changed = [
            Path(folder, file).relative_to(outer).as_posix()
            for folder, _, files in os.walk(outer)
            for file in files
            if not Path(folder, file).is_symlink() and Path(folder, file).read_bytes() == b"written"
        ]
        assert len(changed) <= 1
        for one in changed:
            assert one.startswith("root/")
            assert not {".git", ".agent"} & {part.casefold() for part in one.split("/")}
            assert kept == [one.removeprefix("root/")]
        assert (outer / "secret").read_text() == "secret"


def test_keep_is_called_once_and_before_the_first_write(bench: Bench) -> None:
    seen: list[str] = []
    workspace = Workspace(bench.desk.workspace.root, bench.desk.workspace.repo, lambda path: seen.append((bench.root / path).read_text()))
    place = workspace.writable("calc.py")
    before = (bench.root / "calc.py").read_text()
    workspace.save(place, b"one\n")
    workspace.save(place, b"two\n")
    assert seen == [before]


def test_nothing_is_written_where_the_old_bytes_could_not_be_kept(bench: Bench) -> None:
    def full(path: str) -> None:
        raise OSError(28, f"No space left on device: {path}")

    before = (bench.root / "calc.py").read_bytes()
    bench.desk.workspace = Workspace(bench.desk.workspace.root, bench.desk.workspace.repo, full)
    bench.refused("edit", "No space left", path="calc.py", old="a - b", new="a + b")
    assert (bench.root / "calc.py").read_bytes() == before


def test_git_sees_the_edit_as_one_changed_line(bench: Bench) -> None:
    bench.edits("calc.py", "a - b", "a + b")
    shown = subprocess.run(["git", "diff", "--numstat"], cwd=bench.root, check=True, capture_output=True, text=True).stdout
    assert shown == "1\t1\tcalc.py\n"
