"""The conversation of a step, as it was kept."""

from __future__ import annotations

from pathlib import Path

from agent.actions.scene import Scene, find_record
from agent.domain.names import StepId
from agent.errors import AgentctlError
from agent.repository.repo import FOLDER
from agent.transcripts import Line, committed_path, decrypt, read_local


def conversation(scene: Scene, word: str, identity: Path) -> list[Line]:
    """What was said in the step that `word` names: by its id, its item or its commit; undone ones too, and in the git directory broken-off ones.

    Raises AgentctlError where none was kept, or the key in the file `identity` can't read it.
    """
    repo = scene.repo
    record = find_record(scene, word)
    step = record.name.step if record else StepId.parse(word)
    if step is None:
        raise AgentctlError(f"{word!r} is no step, item or commit with a note", "agentctl log")
    said = read_local(repo.shared, step)
    if said is not None:
        return said
    blobs = repo.blobs([f"{record.commit}:{repo.prefix}{FOLDER}/{committed_path(step)}"]) if record and record.commit else [None]
    if blobs[0] is None:
        kept = scene.memory.config.transcripts
        raise AgentctlError(
            f"no transcript of {step} was kept", f"transcripts: is {kept} in .agent/config.yaml; local or encrypted keeps those of steps to come"
        )
    return decrypt(blobs[0], identity)
