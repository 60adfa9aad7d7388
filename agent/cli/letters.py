"""`agentctl note` and `agentctl handoff`."""

from __future__ import annotations

import click

from agent.actions.scene import find_record, open_scene
from agent.cli.common import long_text, now, repository, with_no_commit
from agent.domain.text import plain
from agent.errors import AgentctlError
from agent.render import text
from agent.store import note_of


@click.command()
@click.argument("step_or_letter", required=False)
@with_no_commit
def note(step_or_letter: str | None, no_commit: bool) -> None:
    """Read a step's note, or leave a letter to the next session.

    With a step's id, an item's id or a commit it prints the note (of the latest step there), undone ones too. Any other
    text becomes a letter, committed as a note of its own; `-` reads it from stdin. Without an argument: the newest note.
    """
    scene = open_scene(repository())
    record = find_record(scene, step_or_letter)
    if record is not None:
        found = note_of(scene.repo, record)
        if found is None:
            raise AgentctlError(f"the note of {record.name.step} isn't in this clone's history", "git fetch --unshallow")
        click.echo(text.note_text(record.name, found))
        return
    if step_or_letter is None:
        raise AgentctlError("there is no note yet", "agentctl step")
    if step_or_letter != "-" and " " not in step_or_letter.strip():
        raise AgentctlError(
            f"{step_or_letter!r} is no step, item or commit with a note, and too short for a letter", 'agentctl log; or agentctl note "some words"'
        )
    from agent.actions.people import leave_letter

    writing, landed = leave_letter(scene, long_text(step_or_letter), now(), commit=not no_commit)
    click.echo(
        f"left a letter to the next session: .agent/{writing.name.path}" + (f" ({landed.commit[:10]})" if landed.commit else " (not committed)")
    )


@click.command()
def handoff() -> None:
    """The current letter: what the last session left for the next."""
    scene = open_scene(repository())
    if scene.letter is None:
        raise AgentctlError("no letter was left yet", 'agentctl step, or agentctl note "…"')
    name, found = scene.letter
    click.echo(f"{name.step} ({name.outcome})\n\n{plain(found.letter)}")
