"""Whatever a person's git config says, agentctl reads the same from a repository, and computes the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent.repository.changes import added_lines, changes_between
from agent.repository.repo import discover
from agent.repository.revert import without
from tests.project import Project

HOSTILE = """
[user]
	name = Test User
	email = test@example.invalid
[init]
	defaultBranch = main
[i18n]
	logOutputEncoding = ISO-8859-1
	commitEncoding = ISO-8859-1
[diff]
	orderFile = ~/order
	renames = copies
	renameLimit = 1
	algorithm = patience
	mnemonicPrefix = true
	noprefix = true
	interHunkContext = 9
	context = 9
	relative = true
	suppressBlankEmpty = true
	submodule = log
	indentHeuristic = false
	wsErrorHighlight = all
	colorMoved = zebra
[log]
	showRoot = false
	follow = true
	diffMerges = first-parent
	mailmap = true
	abbrevCommit = true
	decorate = full
	showSignature = true
	date = relative
[mailmap]
	file = ~/mailmap
[core]
	abbrev = 5
	quotePath = true
[format]
	pretty = oneline
	notes = *
[notes]
	displayRef = refs/notes/*
[color]
	ui = always
	diff = always
	grep = always
	status = always
	branch = always
[column]
	ui = always
[status]
	showStash = true
	short = true
	renames = copies
	submoduleSummary = true
	showUntrackedFiles = no
[grep]
	column = true
	patternType = fixed
	fullName = false
	heading = true
[merge]
	renames = false
	renameLimit = 1
	directoryRenames = true
	conflictStyle = diff3
	verbosity = 5
[branch]
	sort = -committerdate
[submodule]
	recurse = true
"""


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    home = tmp_path / "hostile"
    home.mkdir()
    (home / ".gitconfig").write_text(HOSTILE)
    (home / "order").write_text("z*\n*.md\n")
    (home / "mailmap").write_text("Somebody Else <else@example.invalid> <test@example.invalid>\n")
    return home


def _root_only(project: Project) -> None:
    """Make the first commit one that brings a note and a letter, with all that there is."""
    path = ".agent/notes/2026-11-28/100000-first.letter.md"
    project.write(path, "# A letter from a person\n\n## Handoff\n\nWrite Grüße, not Gruesse.\n")
    shutil.rmtree(project.root / ".git")
    project.git("init", "--quiet", ".")
    project.commit("seed")


def _history(project: Project) -> None:
    _root_only(project)
    project.items("Mend the sum", "Größe messen")
    project.write("lib/ä.py", "one = 1\n" * 30)
    project.write("lib/b.py", "two = 2\n" * 30)
    project.commit("Ein Commit mit Umlauten: Grüße\n\nUnd noch ein Satz.")
    project.git("mv", "lib", "src")
    project.write("src/z.md", "last\n")
    project.write("src/a.md", "first\n")
    project.commit("Rename the folder")
    project.git("switch", "--quiet", "-c", "side", "HEAD~1")
    project.write("side.md", "side\n")
    project.commit("Beside it")
    project.git("switch", "--quiet", "main")
    project.git("merge", "--quiet", "--no-ff", "-m", "Merge", "side")
    project.git("notes", "add", "-m", "a note of git's", "HEAD")


def _told(project: Project) -> list[str]:
    shutil.rmtree(project.root / ".git/agentctl", ignore_errors=True)
    commands = (("context",), ("todo", "--json"), ("log", "--json"), ("show", "--json", "2026-11-28-100000-first"))
    return [f"{ran.code} {ran.out} {ran.err}" for ran in (project.agentctl(*command) for command in commands)]


def test_brief_list_and_log_are_the_same_to_the_byte(project: Project, hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _history(project)
    plain = _told(project)
    assert "Grüße" in plain[0]
    monkeypatch.setenv("HOME", str(hostile))
    assert _told(project) == plain


def test_searches_diffs_and_the_tree_of_an_undo_are_the_same(project: Project, hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _history(project)
    project.write("src/ä.py", "one = 1\n" * 10 + "extra = 0\n" + "one = 1\n" * 20)
    commit = project.commit("Change what was renamed")
    project.git("mv", "src", "source")
    project.write("calc.py", "\n\ndef add(a, b):\n\n    return a + b\n")
    project.commit("Rename again")
    project.write("untracked.md", "one\n")
    project.git("stash", "push", "--quiet", "--include-untracked")
    project.write("untracked.md", "one\n")
    repo = discover(project.root)

    def computed() -> tuple[object, ...]:
        head = project.head()
        base = repo.git.run("rev-list", "--max-parents=0", "HEAD").decode().strip()
        undone = without(repo, commit, f"{head}^{{tree}}")
        return repo.grep("one", glob="*.md"), added_lines(repo, base, head), changes_between(repo, base, head), undone, repo.status(), repo.files()

    plain = computed()
    monkeypatch.setenv("HOME", str(hostile))
    assert computed() == plain


def test_what_is_committed_under_such_a_config_is_utf_8(project: Project, hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (item,) = project.items("Größe messen")
    monkeypatch.setenv("HOME", str(hostile))
    assert project.agentctl("todo", "done", item, "--because", "Sie ist 5 µm: schön.").code == 0
    written = project.git("cat-file", "commit", "HEAD")
    assert "Größe messen" in written
    assert "encoding" not in written.split("\n\n", 1)[0]
