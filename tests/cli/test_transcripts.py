"""Transcripts: nowhere by default, in the git directory, or encrypted in the step's commit."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.domain.chat import Message, Request
from agent.model.protocol import Endpoint, Task
from agent.model.scripted import open_scripted
from agent.model.transcribed import TranscribedModel
from tests.project import ADDS, SOURCE, Project, call, edit, finish, reply

pyrage = pytest.importorskip("pyrage", reason="the extra `age` isn't installed")

MARK = "the-marked-word"
ROUND = [
    reply(call("run", command="printf 'the-%s-word-in-output' marked"), text="I look first."),
    reply(ADDS, finish("Done.")),
]  # the output says it, the call doesn't


def settings(project: Project, *lines: str) -> None:
    project.write(".agent/config.yaml", "\n".join(["checks:", "  - sh check.sh", *lines, ""]))
    project.commit("settings")


@pytest.fixture
def identity(tmp_path: Path) -> Path:
    """An age identity file as age-keygen writes it."""
    key = pyrage.x25519.Identity.generate()
    file = tmp_path / "key.txt"
    file.write_text(f"# created: 2026-01-01T00:00:00Z\n# public key: {key.to_public()}\n{key}\n")
    return file


def public(identity: Path) -> str:
    return identity.read_text().splitlines()[1].removeprefix("# public key: ")


@pytest.fixture
def encrypted(project: Project, identity: Path) -> Project:
    settings(project, "transcripts: encrypted", f"recipients: [{public(identity)}]")
    project.items("First")
    project.record({"first": [ROUND]})
    return project


def objects(project: Project) -> str:
    """Everything that git keeps, reachable or not."""
    return project.git("cat-file", "--batch-all-objects", "--batch", "--unordered")


def files_with(word: str, folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


def test_by_default_nothing_is_kept(project: Project) -> None:
    project.items("First")
    project.record({"first": [ROUND]})
    assert project.agentctl("step").code == 0
    assert files_with(MARK, project.root) == []
    assert MARK not in objects(project)
    ran = project.agentctl("transcript", "first")
    assert (ran.code, "no transcript of" in ran.err, "transcripts: is off" in ran.err) == (1, True, True)


def test_a_local_transcript_holds_all_that_was_said_and_only_its_owner_can_read_it(project: Project) -> None:
    settings(project, "transcripts: local")
    project.items("First")
    project.record({"first": [ROUND]})
    step = project.agentctl("step", "--json").json["step"]
    file = project.root / ".git/agentctl/transcripts" / f"{step}.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    said = project.agentctl("transcript", "first", "--json").json
    assert [line.get("role", line["kind"]) for line in said] == ["system", "user", "reply", "tool", "reply"]
    assert said[2]["usage"]["input"] == 1000
    shown = project.agentctl("transcript", step).out
    assert "I look first." in shown
    assert f"{MARK}-in-output" in shown
    assert MARK not in objects(project)
    assert project.status() == ""


def test_what_was_said_before_a_kill_is_kept_locally(project: Project) -> None:
    settings(project, "transcripts: local")
    project.items("First")
    project.record({"first": [[reply(call("run", command="sleep 60"), text=f"{MARK}-said")]]})
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen([sys.executable, "-m", "agent", "step"], cwd=project.root, env=environment, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not files_with(f"{MARK}-said", project.root / ".git/agentctl") and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
    (file,) = (project.root / ".git/agentctl/transcripts").iterdir()
    assert f"{MARK}-said" in project.agentctl("transcript", file.stem).out


def test_an_encrypted_transcript_lands_with_its_step_and_only_its_recipient_can_read_it(encrypted: Project, identity: Path, tmp_path: Path) -> None:
    ran = encrypted.agentctl("step", "--json")
    step = ran.json["step"]
    assert f".agent/transcripts/{step}.age" in encrypted.git("show", "--name-only", "--format=", ran.json["commit"]).split()
    assert f"{MARK}-in-output" in encrypted.agentctl("transcript", "first", "--identity", str(identity)).out
    stranger = tmp_path / "stranger.txt"
    stranger.write_text(str(pyrage.x25519.Identity.generate()))
    refused = encrypted.agentctl("transcript", "first", "--identity", str(stranger))
    assert (refused.code, "can't be decrypted with" in refused.err) == (1, True)
    missing = encrypted.agentctl("transcript", "first")
    assert (missing.code, "there is no identity" in missing.err) == (1, True)


def test_the_plaintext_of_an_encrypted_transcript_is_nowhere(encrypted: Project) -> None:
    assert encrypted.agentctl("step").code == 0
    assert files_with(MARK, encrypted.root) == []
    assert MARK not in objects(encrypted)


def test_a_failed_attempt_leaves_its_transcript_too_and_a_step_that_asks(encrypted: Project, identity: Path) -> None:
    encrypted.items("Second")
    wrong = [reply(edit("calc.py", "a - b", "a * b"), finish("I am sure.")), *[reply(text=f"{MARK}-no")] * 4]
    encrypted.record({"first": [wrong], "second": [[reply(call("ask", question="Red or blue?"), text=f"{MARK}-asks")]]})
    assert encrypted.agentctl("step", "first").code == 4
    assert encrypted.agentctl("step", "second").code == 6
    assert f"{MARK}-no" in encrypted.agentctl("transcript", "first", "--identity", str(identity)).out
    assert f"{MARK}-asks" in encrypted.agentctl("transcript", "second", "--identity", str(identity)).out


def test_a_plan_has_one_as_well(encrypted: Project, identity: Path) -> None:
    encrypted.record({}, plan=[{"replies": [reply(call("propose", title="Do it", text="Done when done."), finish(), text=f"{MARK}-plans")]}])
    assert encrypted.agentctl("plan").code == 0
    assert f"{MARK}-plans" in encrypted.agentctl("transcript", "plan", "--identity", str(identity)).out


def test_undoing_a_step_takes_its_transcript_away_with_it(encrypted: Project, identity: Path) -> None:
    encrypted.agentctl("step")
    assert list((encrypted.root / ".agent/transcripts").iterdir())
    assert encrypted.agentctl("undo", "first", "--because", "No.").code == 0
    assert not (encrypted.root / ".agent/transcripts").exists()
    assert MARK in encrypted.agentctl("transcript", "first", "--identity", str(identity)).out  # history still has it


def test_it_is_read_with_the_key_in_the_person_s_own_folder_and_with_an_ssh_key(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "id")], check=True)
    settings(project, "transcripts: encrypted", f"recipients: [{(tmp_path / 'id.pub').read_text().strip()}]")
    project.items("First")
    project.record({"first": [ROUND]})
    project.agentctl("step")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config/agentctl").mkdir(parents=True)
    (tmp_path / "id").rename(tmp_path / "config/agentctl/identity.txt")
    assert MARK in project.agentctl("transcript", "first").out


def test_the_brief_the_list_and_doctor_read_past_transcripts(encrypted: Project) -> None:
    encrypted.agentctl("step")
    assert [one for one in encrypted.agentctl("doctor", "--json").json if "transcript" in one["text"]] == []
    assert "AGE ENCRYPTED" not in encrypted.agentctl("context", "--item", "first").out
    assert encrypted.agentctl("todo", "--json").json[0]["state"] == "done"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["transcripts: encrypted"], "recipients"),
        (["transcripts: sometimes"], "off, local or encrypted"),
        (["transcripts: encrypted", "recipients: [bob]"], "bob is no recipient"),
        (["transcripts: encrypted", "recipients: [age1nonsense]"], "is no age recipient"),
    ],
)
def test_a_config_that_could_not_keep_them_is_refused_before_anything_is_said(project: Project, lines: list[str], said: str) -> None:
    project.items("First")
    project.record({"first": [ROUND]})
    settings(project, *lines)
    ran = project.agentctl("step")
    assert (ran.code, said in ran.err) == (1, True), ran.err
    assert said in project.agentctl("doctor").out
    assert not (project.root / ".git/agentctl/ledger.jsonl").exists()


def test_without_pyrage_it_is_said_what_to_type(encrypted: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyrage", None)
    ran = encrypted.agentctl("step")
    assert (ran.code, "pip install 'agentctl-git[age]'" in ran.err) == (1, True)
    assert "pip install 'agentctl-git[age]'" in encrypted.agentctl("doctor").out


def test_keys_are_in_no_transcript(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct-horse-battery")
    settings(project, "transcripts: local")
    project.items("First")
    project.record({"first": [[reply(call("run", command="echo correct-horse-battery"), text="correct-horse-battery"), reply(ADDS, finish())]]})
    project.agentctl("step")
    assert files_with("correct-horse-battery", project.root / ".git/agentctl") == []


def test_each_message_is_written_once_and_one_that_was_shortened_again(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(yaml.safe_dump({"items": {"x": [{"replies": [reply(call("read", path="a"), text="look")] * 3}]}}))
    said: list[Mapping[str, Any]] = []
    model = TranscribedModel(open_scripted("scripted:r.yaml", endpoint=Endpoint(), task=Task("x"), root=tmp_path), said.extend)
    first = (Message("system", "how"), Message("user", "go on"))
    answer = model.complete(Request(first, (), 1))
    longer = (*first, Message("assistant", answer.text, answer.calls), Message("tool", "x" * 500, call_id="1"), Message("user", "go on"))
    model.complete(Request(longer, (), 1))
    shortened = (*longer[:3], Message("tool", "left out", call_id="1"), longer[4])
    model.complete(Request(shortened, (), 1))
    model.close()
    told = [line["text"] if line["kind"] == "message" else line["kind"] for line in said]
    assert told == ["how", "go on", "reply", "x" * 500, "go on", "reply", "left out", "reply"]
