"""`agentctl transcript`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from agent.actions.conversation import conversation
from agent.actions.scene import open_scene
from agent.cli.common import print_json, repository, with_json
from agent.personal import identity_file
from agent.render.transcript import transcript_text


@click.command()
@click.argument("step")
@click.option(
    "--identity", metavar="FILE", type=click.Path(path_type=Path), help="The age or SSH key to decrypt with; else ~/.config/agentctl/identity.txt."
)
@with_json
def transcript(step: str, identity: Path | None, as_json: bool) -> None:
    """Print the whole conversation of STEP: what the model was told, its replies, what tools answered.

    STEP is a step's id, an item's id (its latest step) or a commit. Conversations are kept only where `transcripts:` in
    .agent/config.yaml says so: in the git directory (`local`), or encrypted in the step's commit (`encrypted`).
    """
    said = conversation(open_scene(repository()), step, identity or identity_file(os.environ))
    if as_json:
        print_json(said)
        return
    click.echo(transcript_text(said))
