"""The check-up names what is wrong with what to type, mends what is safe, and never falls over what it finds."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.actions.doctor import Finding, doctor, fix_all, mismatches
from agent.actions.findings.reading import trouble
from agent.actions.preflight import recover, refuse_unsafe
from agent.actions.scene import open_scene
from agent.domain.caps import Amount
from agent.domain.config import Limits
from agent.domain.progress import Unfinished, render_unfinished
from agent.domain.usage import Usage
from agent.errors import AgentctlError
from agent.journal import Entry, Journal
from agent.ledger import Call, Ledger, Purse
from agent.lock import Predecessor, locked
from agent.repository import snapshot
from agent.repository.trees import tree_of_work
from tests.actions.undo_fixtures import RIGHT, Work, new_work
from tests.project import SOURCE

_DYING = "2026-11-29-150000-add-sub"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Work:
    return new_work(tmp_path, monkeypatch)


def _found(work: Work, **more: str) -> list[Finding]:
    """All findings, with a key in the environment, but for what depends on this machine's control groups; looking has changed nothing."""
    before = work.everything()
    found = doctor(work.repo, {**os.environ, "ANTHROPIC_API_KEY": "none", **more})
    assert work.everything() == before
    return _anywhere(found)


def _anywhere(found: Iterable[Finding]) -> list[Finding]:
    """Those that every machine gives."""
    return [one for one in found if not one.text.startswith("nothing keeps a command from starting processes")]


def _one(found: list[Finding], text: str) -> Finding:
    """The only finding that says `text`."""
    matching = [finding for finding in found if text in finding.text]
    assert len(matching) == 1, [finding.text for finding in found]
    return matching[0]


def _type(work: Work, mend: str) -> None:
    """Type what a finding says, as far as it is a command."""
    subprocess.run(["sh", "-c", mend], cwd=work.top, check=True, capture_output=True, env={**os.environ, "GIT_EDITOR": "echo mended >"})


def test_a_healthy_repository_has_no_findings(work: Work) -> None:
    assert _found(work) == []


def test_a_repository_where_work_was_done_and_undone_is_healthy_too(work: Work) -> None:
    work.step("add-works", {"calc.py": RIGHT})
    work.step("add-sub", {"sub.py": "1\n"})
    work.undo("add-sub")
    work.step("add-sub", {"sub.py": "1\n"})
    assert [finding.text for finding in _found(work)] == ["this clone has no ledger: costs are those that notes and commits tell"]
    assert mismatches(work.scene) == []


def test_the_worst_comes_first(work: Work) -> None:
    work.step("gone", {".agent/config.yaml": "checks: [\n", ".agent/.gitattributes": None})
    levels = [finding.level for finding in _found(work)]
    assert levels == sorted(levels, key=("error", "warning", "info").index)
    assert set(levels) == {"error", "warning", "info"}


# --- git --------------------------------------------------------------------------------------------------------------


def test_case_2_a_detached_head_is_an_error(work: Work) -> None:
    work.git("switch", "--quiet", "--detach")
    found = _one(_found(work), "HEAD is detached")
    assert found.level == "error"
    assert found.mend == "git switch -c NAME"


def test_case_10_no_identity_is_an_error(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work.git("config", "user.useConfigOnly", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "git config user.email" in _one(_found(work), "who you are").mend


def test_case_14_in_a_work_tree_of_a_bare_repository_all_is_well(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "clone", "--quiet", "--bare", str(work.top), str(tmp_path / "p.git")], check=True)
    subprocess.run(["git", "worktree", "add", "--quiet", str(tmp_path / "tree"), "main"], check=True, cwd=tmp_path / "p.git", capture_output=True)
    assert _anywhere(doctor(Work(tmp_path / "tree", monkeypatch).repo, {**os.environ, "ANTHROPIC_API_KEY": "none"})) == []


def test_a_merge_under_way_and_files_in_conflict_are_errors(work: Work) -> None:
    work.git("switch", "--quiet", "-c", "other")
    work.commit({"calc.py": "theirs\n"}, "theirs")
    work.git("switch", "--quiet", "main")
    work.commit({"calc.py": "ours\n"}, "ours")
    subprocess.run(["git", "merge", "--quiet", "other"], cwd=work.top, check=False, capture_output=True)
    found = _found(work)
    assert "git merge --abort" in _one(found, "a merge is under way").mend
    assert _one(found, "in conflict: calc.py").level == "error"


def test_a_repository_without_a_commit_or_memory_is_told_how_to_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "new")], check=True)
    found = list(doctor(Work(tmp_path / "new", monkeypatch).repo))
    assert _one(found, "no commit here yet").level == "error"
    assert _one(found, "no .agent/ here yet").mend == "agentctl init"


@pytest.mark.parametrize(("version", "wanted"), [("2.30.2", ["2.36", "2.38"]), ("2.37.1 (Apple Git-137.1)", ["2.38"]), ("2.38.0", []), ("3.0.0", [])])
def test_an_old_git_is_a_warning(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, wanted: list[str]) -> None:
    real = subprocess.run(["sh", "-c", "command -v git"], check=True, capture_output=True, text=True).stdout.strip()
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin" / "git"
    shim.write_text(f'#!/bin/sh\ncase "$*" in *" version") echo "git version {version}";; *) exec {real} "$@";; esac\n', "utf-8")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert [finding.mend for finding in _found(work)] == [f"install git {number} or newer" for number in wanted]


# --- the folder -------------------------------------------------------------------------------------------------------


def test_case_19_a_folder_that_git_ignores_is_an_error_with_the_rule(work: Work) -> None:
    work.commit({".gitignore": "*.log\n.agent/\n"}, "ignore")
    found = [finding for finding in _found(work) if "git ignores" in finding.text]
    assert len(found) == 3
    assert all("(.gitignore:2 .agent/)" in finding.text and finding.level == "error" for finding in found)


def test_case_19_an_ignored_folder_of_which_nothing_is_committed_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "new")], check=True)
    work = Work(tmp_path / "new", monkeypatch)
    work.commit({".gitignore": ".agent\n"}, "ignore")
    work.write({".agent/goal.md": "x\n"})
    assert _one(_found(work), "nothing in .agent/ is committed").level == "error"


@pytest.mark.parametrize("link", [".agent/todo/x.md", ".agent/lessons", ".agent/config.yaml"])
def test_links_are_errors_committed_or_not(work: Work, tmp_path: Path, link: str) -> None:
    (tmp_path / "elsewhere").write_text("checks: [true]\n", "utf-8")
    (work.top / link).unlink(missing_ok=True)
    (work.top / link).symlink_to(tmp_path / "elsewhere")
    assert _one(_found(work), f"{link} is a link").level == "error"
    work.git("add", ".agent")
    work.git("commit", "--quiet", "-m", "link")
    assert _one(_found(work), f"{link} is a link").level == "error"


def test_the_folder_itself_may_not_be_a_link(work: Work, tmp_path: Path) -> None:
    (work.top / ".agent").rename(tmp_path / "elsewhere")
    (work.top / ".agent").symlink_to(tmp_path / "elsewhere")
    assert _one(_found(work), ".agent is a link").level == "error"


@pytest.mark.parametrize(
    ("path", "text", "place"),
    [
        ("config.yaml", "checks: []\nmodle: x\n", "config.yaml:2"),
        ("config.yaml", "checks: []\nchecks: []\n", "config.yaml:2"),
        ("goal.md", "one\n<<<<<<< HEAD\ntwo\n", "goal.md:2"),
        ("todo/add-sub.md", "---\norder: first\n---\n# Add\n", "todo/add-sub.md:2"),
        ("todo/Add Sub.md", "# Add\n", "todo/Add Sub.md:1"),
        ("lessons/ports.md", "---\na: [\n---\n", "lessons/ports.md:3"),
        ("notes/2026-11-29/130355-add-sub.done.md", "---\nspent: much\n---\n# Add\n", "130355-add-sub.done.md:2"),
        ("notes/2026-11-29/130355-add-sub.done.md", "# Add\n\nDone.\n>>>>>>> other\n", "130355-add-sub.done.md:"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_with_its_line(work: Work, path: str, text: str, place: str) -> None:
    work.commit({f".agent/{path}": text}, "break it")
    found = _one(_found(work), f".agent/{path.partition('/')[0]}")
    assert place in found.text
    assert found.level == "error"
    assert found.mend


@pytest.mark.parametrize("left", ["---\norder: 1\n", "---\norder: [1\n---\n# x\n", "\0" * 40, "", "\n"])
def test_case_107_a_half_written_copy_is_an_error_and_the_mend_brings_it_back(work: Work, left: str) -> None:
    path = ".agent/todo/add-sub.md"
    whole = work.read(path)
    work.write({path: left})
    found = _one(_found(work), path)
    assert found.level == "error"
    assert found.mend == f"git restore --staged --worktree -- {path}"
    _type(work, found.mend)
    assert work.read(path) == whole
    assert _found(work) == []


def test_case_107_a_copy_that_mends_what_is_committed_only_wants_committing(work: Work) -> None:
    work.commit({".agent/config.yaml": "checks: [\n"}, "break it")
    work.write({".agent/config.yaml": "checks: [sh check.sh]\nmodel: anthropic/x\n"})
    found = _one(_found(work), "config.yaml:2")
    assert found.level == "warning"
    _type(work, found.mend)
    assert _found(work) == []


def test_changes_that_are_not_committed_are_named_with_the_command_that_keeps_them(work: Work) -> None:
    work.write({".agent/goal.md": "More.\n", ".agent/todo/a-new-one.md": "# A new one\n"})
    found = _found(work)
    assert [finding.level for finding in found] == ["warning", "warning"]
    _one(found, ".agent/goal.md differs from HEAD")
    _type(work, _one(found, "a-new-one.md is not remembered until committed").mend)
    _type(work, _one(_found(work), "goal.md differs").mend)
    assert _found(work) == []


def test_a_deleted_file_is_named_with_both_ways_on(work: Work) -> None:
    (work.top / ".agent/todo/add-sub.md").unlink()
    found = _one(_found(work), "add-sub.md is deleted")
    assert "git restore -- .agent/todo/add-sub.md" in found.mend
    assert "git commit -- .agent/todo/add-sub.md" in found.mend


def test_files_that_nobody_reads_are_named(work: Work) -> None:
    work.commit(
        {
            ".agent/notes/ideas.md": "x\n",
            ".agent/notes/2026-02-31/130355-x.done.md": "x\n",
            ".agent/todo/later/x.md": "x\n",
            ".agent/todo/list.txt": "x\n",
        },
        "files",
    )
    found = _found(work)
    assert {finding.level for finding in found} == {"warning"}
    _one(found, ".agent/notes/ideas.md has no note's name")
    _one(found, ".agent/notes/2026-02-31/130355-x.done.md has no note's name")
    _one(found, ".agent/todo/later/x.md isn't read")
    _one(found, ".agent/todo/list.txt isn't read")


def test_names_that_differ_only_in_case_are_an_error(work: Work) -> None:
    work.commit({".agent/lessons/Ports.md": "# One\n", ".agent/lessons/ports.md": "# Two\n"}, "lessons")
    assert _one(_found(work), "differ only in case").level == "error"


def test_missing_attributes_are_written_and_committed_alone(work: Work) -> None:
    before = work.git("rev-parse", "HEAD^{tree}")
    work.commit({".agent/.gitattributes": None}, "away")
    work.write({"mine.txt": "mine"})
    work.git("add", "mine.txt")
    found = doctor(work.repo, {**os.environ, "ANTHROPIC_API_KEY": "none"})
    assert [fixed.ok for fixed in fix_all(found)] == [True]
    assert work.git("rev-parse", "HEAD^{tree}") == before
    assert work.git("status", "--porcelain") == "A  mine.txt\n"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.dictionaries(
        st.sampled_from(
            ["config.yaml", "goal.md", "todo/x.md", "todo/X y.md", "lessons/x.md", "notes/2026-99-99/999999-x.done.md", "notes/x", ".gitattributes"]
        ),
        st.binary(max_size=40)
        | st.sampled_from(
            [b"---\n", b"[" * 5000, b"---\nafter: [x, nowhere]\n---\n", b"\xef\xbb\xbf---\r\n---\r\n", b"checks: ['']\n", b"checks: [' ']\n"]
        ),
        max_size=4,
    ),
    committed=st.booleans(),
)
def test_it_never_falls_over_whatever_the_folder_holds(work: Work, data: dict[str, bytes], committed: bool) -> None:
    for path, content in data.items():
        file = work.top / ".agent" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    if committed:
        work.git("add", ".agent")
        work.git("commit", "--quiet", "--allow-empty", "-m", "whatever")
    assert isinstance(doctor(work.repo), tuple)
    work.git("reset", "--quiet", "--hard", work.git("rev-list", "--max-parents=0", "HEAD").strip())
    work.git("clean", "-fdq")


def test_a_lock_that_a_dead_git_left_is_an_error(work: Work) -> None:
    lock = work.top / ".git" / "index.lock"
    lock.touch()
    assert "rm " in _one(list(doctor(work.repo)), "index.lock is there").mend
    assert [one.ok for one in fix_all(doctor(work.repo)) if "index.lock stays" in one.told] == [False]
    assert lock.exists()


def test_a_lock_that_the_git_of_a_dead_agentctl_left_is_taken_away(work: Work) -> None:
    code = "import os, sys; from pathlib import Path; from agent.lock import locked\nwith locked(Path(sys.argv[1])): os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code, str(work.repo.private)], env={**os.environ, "PYTHONPATH": str(SOURCE)}, check=False)
    lock = work.top / ".git" / "index.lock"
    lock.touch()
    assert [one.ok for one in fix_all(doctor(work.repo)) if "index.lock is taken away" in one.told] == [True]
    assert not lock.exists()


def test_a_broken_index_is_one_finding(work: Work) -> None:
    (work.top / ".git" / "index").write_bytes(b"garbage")
    found = doctor(work.repo)
    assert sum("index" in finding.text for finding in found) >= 1
    assert all(finding.level == "error" for finding in found if "index" in finding.text)


@given(st.binary(max_size=200))
def test_any_bytes_are_readable_or_named_with_a_line(data: bytes) -> None:
    for path in ("config.yaml", "goal.md", "todo/x.md", "lessons/x.md", "notes/2026-11-29/130355-x.done.md"):
        found = trouble(f".agent/{path}", data)
        assert found is None or found.message.startswith(f".agent/{path}:{found.line}: ")
    assert trouble(".agent/README.md", data) is None


# --- the list ---------------------------------------------------------------------------------------------------------


def test_unknown_items_and_circles_are_errors(work: Work) -> None:
    work.commit({".agent/todo/a.md": "---\nafter: [b]\n---\n# A\n", ".agent/todo/b.md": "---\nafter: [a, nowhere]\n---\n# B\n"}, "items")
    found = _one(_found(work), "can't be worked off")
    assert "b needs nowhere" in found.text
    assert "a -> b -> a" in found.text


def test_an_item_that_cannot_be_read_is_still_known_to_those_that_wait_for_it(work: Work) -> None:
    work.commit({".agent/todo/a.md": "---\nafter: [b]\n---\n# A\n", ".agent/todo/b.md": "---\norder: [\n"}, "items")
    assert [finding.level for finding in _found(work)] == ["error"]
    _one(_found(work), "todo/b.md:")


def test_notes_whose_item_is_gone_are_told(work: Work) -> None:
    work.step("elsewhere", {"x.py": "1\n"})
    assert _one(_found(work), "elsewhere").level == "info"


def test_no_checks_at_all_are_a_warning(work: Work) -> None:
    work.commit({".agent/config.yaml": "model: anthropic/x\n"}, "none")
    assert _one(_found(work), "there are no checks").level == "warning"
    work.commit({".agent/todo/add-sub.md": "---\nchecks: ['true']\n---\n# Add\n"}, "one")
    assert _found(work) == []


@pytest.mark.parametrize("command", ["no-such-program -q", "./no-such-script", "sh/../no"])
def test_a_check_whose_program_is_missing_is_an_error(work: Work, command: str) -> None:
    work.commit({".agent/config.yaml": f"model: anthropic/x\nchecks: ['{command}']\n"}, "check")
    found = _one(_found(work), f"the check `{command}` can't be run")
    assert found.level == "error"
    assert ".agent/config.yaml" in found.mend


@pytest.mark.parametrize(
    "command", ["cd sub && make", "FOO=1 no-such", "[ -f x ]", "! false", "(no-such)", "$TOOL x", "test -f x", "sh check.sh", '"no such" x', "'' x"]
)
def test_what_only_the_shell_can_tell_is_not_judged(work: Work, command: str) -> None:
    work.commit(
        {".agent/config.yaml": f"model: anthropic/x\nchecks: [{command!r}]\n" if "'" not in command else "model: anthropic/x\nchecks: [\"'' x\"]\n"},
        "check",
    )
    assert _found(work) == []


def test_a_check_of_an_item_counts_while_the_item_is_open(work: Work) -> None:
    work.commit({".agent/todo/add-sub.md": "---\nchecks: [no-such-program]\n---\n# Add\n"}, "one")
    assert ".agent/todo/add-sub.md" in _one(_found(work), "no-such-program").mend
    work.step("add-sub", {"x.py": "1\n"})
    assert not [finding for finding in _found(work) if "no-such-program" in finding.text]


# --- the machine ------------------------------------------------------------------------------------------------------


def test_no_model_anywhere_is_a_warning_and_any_place_will_do(work: Work, tmp_path: Path) -> None:
    work.commit({".agent/config.yaml": "checks: [sh check.sh]\n"}, "none")
    assert _one(_found(work), "no model is named").level == "warning"
    assert _found(work, AGENTCTL_MODEL="anthropic/x") == []
    (tmp_path / "own" / "agentctl").mkdir(parents=True)
    (tmp_path / "own" / "agentctl" / "config.yaml").write_text("model: anthropic/x\n", "utf-8")
    assert _found(work, XDG_CONFIG_HOME=str(tmp_path / "own")) == []


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("openai/gpt-5", "OPENAI_API_KEY"),
        ("gpt-5", "OPENAI_API_KEY"),
        ("gemini/x", "GEMINI_API_KEY"),
    ],
)
def test_a_missing_key_is_a_warning_with_its_name(work: Work, name: str, key: str) -> None:
    found = _one(_found(work, AGENTCTL_MODEL=name, ANTHROPIC_API_KEY=""), f"there is no key for {name}")
    assert found.level == "warning"
    assert found.mend == f"export {key}=…"
    assert _found(work, **{"AGENTCTL_MODEL": name, "ANTHROPIC_API_KEY": "", key: "x"}) == []


def test_a_key_variable_of_the_persons_own_is_the_one_that_counts(work: Work) -> None:
    assert "MY_KEY is not set" in _one(_found(work, AGENTCTL_KEY_ENV="MY_KEY"), "no key").text
    assert _found(work, AGENTCTL_KEY_ENV="MY_KEY", MY_KEY="x") == []


def test_a_local_endpoint_or_an_unknown_provider_is_not_judged(work: Work) -> None:
    assert _found(work, AGENTCTL_MODEL="openai/local", AGENTCTL_API_BASE="http://localhost:8000") == []
    assert _found(work, AGENTCTL_MODEL="somebody/model") == []


def test_a_recording_that_is_not_there_is_an_error(work: Work) -> None:
    assert _one(_found(work, AGENTCTL_MODEL="scripted:nowhere.yaml"), "isn't there").level == "error"
    assert _found(work, AGENTCTL_MODEL="scripted:calc.py") == []


def test_a_broken_file_of_the_persons_own_settings_is_a_finding(work: Work, tmp_path: Path) -> None:
    (tmp_path / "own" / "agentctl").mkdir(parents=True)
    (tmp_path / "own" / "agentctl" / "config.yaml").write_text("modle: x\n", "utf-8")
    assert "config.yaml:1" in _one(_found(work, XDG_CONFIG_HOME=str(tmp_path / "own")), "modle").text


@pytest.mark.parametrize(
    ("version", "poisoned"), [("1.82.7", True), ("1.82.8", True), ("1.107.0", True), ("1.107.3", True), ("1.82.6", False), ("1.108.1", False)]
)
def test_a_poisoned_release_of_litellm_is_an_error(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, poisoned: bool) -> None:
    info = tmp_path / "site" / f"litellm-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: litellm\nVersion: {version}\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert [finding.level for finding in _found(work)] == (["error"] if poisoned else [])


# --- what a crash left ------------------------------------------------------------------------------------------------


def _die(work: Work) -> None:
    """As a step dies: its journal, its work in progress and a half-changed tree are left."""
    base = work.head
    Journal(work.repo.private).write(Entry(_DYING, "add-sub", base))
    work.write({"calc.py": "half\n"})
    snapshot.keep(work.repo, f"{snapshot.WIP}{_DYING}", tree_of_work(work.repo, base, ()), [base], render_unfinished(Unfinished(_DYING, "add-sub")))


def test_case_110_a_journal_without_its_process_is_picked_up_and_the_work_kept(work: Work) -> None:
    _die(work)
    work.write({"mine.txt": "untracked\r\n"})
    found = _found(work)
    assert _one(found, f"died during {_DYING}").level == "warning"
    assert [fixed.ok for fixed in fix_all(found)] == [True]
    assert work.read("calc.py").endswith("a - b\n")
    assert (work.top / "mine.txt").read_bytes() == b"untracked\r\n"
    assert work.git("show", f"{snapshot.PAUSED}{_DYING}:calc.py") == "half\n"
    assert "the next step at add-sub goes on from there" in _one(_found(work), _DYING).text


def test_case_110_where_head_has_moved_the_tree_stays_and_a_step_may_begin_again(work: Work) -> None:
    _die(work)
    work.commit({"other.py": "1\n"}, "mine")
    with pytest.raises(AgentctlError):
        recover(work.repo, Predecessor())
    fixed = fix_all(_found(work))
    assert [one.ok for one in fixed] == [True]
    assert f"{snapshot.ATTEMPTS}{_DYING}" in fixed[0].told
    assert work.read("calc.py") == "half\n"
    assert work.git("for-each-ref", snapshot.WIP) == ""
    assert work.git("show", f"{snapshot.ATTEMPTS}{_DYING}:calc.py") == "half\n"
    assert recover(work.repo, Predecessor()) == ""
    work.git("restore", "calc.py")
    refuse_unsafe(work.repo)


def test_while_an_agentctl_is_at_work_nothing_is_taken_for_a_leftover(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.lock._PATIENCE", 0.0)
    _die(work)
    left = _found(work)
    with locked(work.repo.private):
        found = _found(work)
        assert [finding.level for finding in found] == ["info"]
        assert f"process {os.getpid()}" in found[0].text
        assert [fixed.ok for fixed in fix_all(left)] == [False]
    assert Journal(work.repo.private).read() is not None


def test_a_broken_journal_is_a_finding(work: Work) -> None:
    work.repo.private.mkdir(parents=True, exist_ok=True)
    (work.repo.private / "journal.json").write_text("{", "utf-8")
    assert "rm " in _one(_found(work), "journal.json can't be read").mend


def test_work_in_progress_that_nobody_goes_on_with_is_kept_as_an_attempt(work: Work) -> None:
    _die(work)
    work.git("restore", "calc.py")
    Journal(work.repo.private).clear()
    found = _found(work)
    assert _one(found, f"{snapshot.WIP}{_DYING}").level == "info"
    fix_all(found)
    assert work.git("show", f"{snapshot.ATTEMPTS}{_DYING}:calc.py") == "half\n"
    assert _found(work) == []


def test_torn_lines_of_the_ledger_are_counted(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    ledger = work.repo.shared / "ledger.jsonl"
    Ledger(work.repo.shared).add(Call("2026-11-29T13:00:00Z", str(step), "add-works", "x", Usage()))
    assert _found(work) == []
    with ledger.open("a", encoding="utf-8") as file:
        file.write('{"at": "2026-11-29T13:0\n{}\n')
    assert _one(_found(work), "2 lines of the ledger").level == "info"


def test_calls_that_nobody_settled_are_told_and_one_that_the_ledger_has_is_not(work: Work) -> None:
    purse = Purse(work.repo.shared, Limits())
    purse.place("s", "i", "m", Amount(0.25, 100))
    found = _one(_found(work), "count against the caps with the most that they can cost, 0.2500 USD")
    _type(work, found.mend[found.mend.index("rm ") :])
    assert _found(work) == []
    purse.place("s", "i", "m", Amount(0.5, 100))
    Ledger(work.repo.shared).add(Call("2026-11-29T13:00:00Z", "s", "i", "m", Usage(), next(hold.stem for hold in work.repo.shared.glob("holds/*"))))
    assert _found(work) == []


def test_a_shallow_clone_is_told_what_it_lacks(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work.step("add-works", {"calc.py": RIGHT})
    work.commit({"calc.py": "def add(a, b):\n    return a - b\n"}, "code back by hand")
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{work.top}", str(tmp_path / "clone")], check=True)
    found = _found(Work(tmp_path / "clone", monkeypatch))
    assert _one(found, "shallow").mend == "git fetch --unshallow"
    assert not [finding for finding in found if finding.level != "info"]


# --- code and notes ---------------------------------------------------------------------------------------------------


def test_case_103_code_that_was_taken_back_without_its_note_is_told(work: Work) -> None:
    work.step("add-sub", {"sub.py": "1\n"})
    step = work.step("add-works", {"calc.py": RIGHT, "new.py": "1\n"})
    work.git("revert", "--no-commit", "HEAD")
    work.git("restore", "--staged", "--worktree", "--source=HEAD", ".agent")
    work.tick()
    work.git("commit", "--quiet", "-m", "Take only the code back")
    found = _one(_found(work), "its code is gone but its note says done")
    assert str(step) in found.text
    assert found.level == "warning"
    assert mismatches(work.scene) == [f'{step}: its code is gone but its note says done: agentctl todo reopen add-works --because "…"']


def test_a_note_that_was_taken_away_without_its_code_is_told(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    commit = work.head
    work.commit({f".agent/{work.steps[-1].path}": None}, "Not done at all")
    found = _one(_found(work), "it was undone but its code is still there")
    assert str(step) in found.text
    work.tick()
    _type(work, shlex.join(["git", "revert", "--no-edit", commit]))
    assert not [finding for finding in _found(work) if finding.level != "info"]


def test_where_a_shallow_clone_is_cut_off_no_commit_is_taken_to_have_brought_everything(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = work.step("add-works", {})
    work.undo(str(step))
    subprocess.run(["git", "clone", "--quiet", "--depth=2", f"file://{work.top}", str(tmp_path / "clone")], check=True)
    assert mismatches(Work(tmp_path / "clone", monkeypatch).scene) == []


@pytest.mark.parametrize("again", ["reopened", "done again", "changed on"])
def test_what_explains_itself_is_no_mismatch(work: Work, again: str) -> None:
    work.step("add-works", {"calc.py": RIGHT})
    if again == "changed on":
        work.commit({"calc.py": RIGHT + "# more\n"}, "mine")
    else:
        work.commit({"calc.py": "def add(a, b):\n    return a - b\n"}, "code back by hand")
        now = work.tick().strftime("%H%M%S")
        word = "reopened" if again == "reopened" else "done"
        work.commit({f".agent/notes/2026-11-29/{now}-add-works.{word}.md": "# Add\n\nSaid by hand.\n"}, "say so")
    assert mismatches(work.scene) == []


def test_a_glance_looks_at_the_last_three_steps_and_the_check_up_further_back(work: Work) -> None:
    step = work.step("add-works", {"calc.py": RIGHT})
    work.commit({"calc.py": "def add(a, b):\n    return a - b\n"}, "code back by hand")
    for number in range(3):
        work.step(f"later-{number}", {f"later{number}.py": "1\n"})
    assert mismatches(work.scene) == []
    _one(_found(work), str(step))


def test_a_glance_takes_two_git_calls_however_many_steps_there_are(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        work.step(f"later-{number}", {f"later{number}.py": "1\n"})
    scene = open_scene(work.repo)
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(tmp_path / "trace"))
    mismatches(scene)
    assert (tmp_path / "trace").read_text("utf-8").count('"event":"start"') <= 2


def test_fixes_are_taken_one_by_one_and_a_failing_one_keeps_no_other() -> None:
    def refuse() -> str:
        raise AgentctlError("not today", "try tomorrow")

    fixes: list[Callable[[], str] | None] = [refuse, None, lambda: "mended"]
    fixed = fix_all([Finding("info", str(number), "", fix) for number, fix in enumerate(fixes)])
    assert [(one.told, one.ok) for one in fixed] == [("not today: try tomorrow", False), ("mended", True)]
