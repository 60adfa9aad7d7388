"""`python -m benchmarks.step [ROUNDS]`: a whole step of one call, beside the same edit, check and commit from a shell script.

The model is a recording, or a loopback server: asked directly, or through litellm, loaded for this step alone or warm since an earlier one.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent.model.warm import MINUTES
from benchmarks.measure import ADDS, AGENTCTL, IMPORTS, Case, Took, environment, rounds, table, workshop
from tests.model.chat_server import ChatServer, calls

_FLOOR = "shell: edit, check, git commit"
_IMPORTS = "imports only"
_LONG = 3  # seconds
_CHECK = "grep -q 'a + b' calc.py"
_SHELL = f"sed -i 's/a - b/a + b/' calc.py && {_CHECK} && git commit --quiet -a -m 'add() adds'"
_REPLY = calls(("edit", {"path": "calc.py", "old": "a - b", "new": "a + b"}), ("finish", {"note": "add() adds now.", "letter": "Nothing is left."}))


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    with workshop() as folder, ChatServer() as server:
        server.says(_REPLY)
        env = environment(folder / "home")
        root, slow = _repository(folder / "repo", env, _CHECK), _repository(folder / "slow", env, f"sleep {_LONG}")
        step = (*AGENTCTL, "step", "--model", f"scripted:{folder / 'replies.yaml'}")
        direct = (*AGENTCTL, "step", "--model", "openai/local", "--api-base", server.url)
        asked = (*AGENTCTL, "step", "--model", "openai/gpt-4o", "--api-base", server.url)
        (folder / "replies.yaml").write_text(ADDS)

        def afresh() -> None:
            _git(root, env, "reset", "--quiet", "--hard", "start")

        def unchecked() -> None:
            _git(slow, env, "reset", "--quiet", "--hard", "start")
            shutil.rmtree(slow / ".git/agentctl/cache", ignore_errors=True)  # what the checks said of this tree

        cases = [
            Case(_FLOOR, ("sh", "-c", _SHELL), root, env, afresh),
            Case(_IMPORTS, IMPORTS, root, env),
            Case("agentctl step, recorded", step, root, env, afresh),
            Case("agentctl step, asking the server itself", direct, root, env, afresh),
            Case("agentctl step, litellm warm", asked, root, env, afresh),
            Case("agentctl step, litellm loaded anew", asked, root, env | {MINUTES: "0"}, afresh),
        ]
        took = rounds(cases, count)
        print(f"\n### A step of one call, its check without a cost of its own ({count} rounds)\n")
        print(table(took, _FLOOR))
        print(f"\nBeside a process that only imports click, yaml and git:\n\n{table(took, _IMPORTS)}")
        first = [
            Case("asking the server itself", direct, slow, env, unchecked),
            Case("through litellm, loaded for it", asked, slow, env | {MINUTES: "0"}, unchecked),
        ]
        print(f"\n### A first step whose check takes {_LONG} s, before the work and again in the gate\n\n{_own(rounds(first, max(3, count // 3)))}")


def _own(took: Mapping[str, Sequence[Took]]) -> str:
    lines = ["| | wall s | less both checks |", "|---|---|---|"]
    for name, runs in took.items():
        wall = statistics.median(one.wall for one in runs)
        lines.append(f"| {name} | {wall:.2f} | {wall - 2 * _LONG:.2f} |")
    return "\n".join(lines)


def _repository(root: Path, env: dict[str, str], check: str) -> Path:
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(root)], env=env, check=True)
    (root / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (root / ".agent" / "todo").mkdir(parents=True)
    (root / ".agent" / "config.yaml").write_text(f'checks:\n  - "{check}"\n')
    (root / ".agent" / "goal.md").write_text("A calculator that is right.\n")
    (root / ".agent" / "todo" / "add.md").write_text("# Make add() add\n")
    _git(root, env, "add", ".")
    _git(root, env, "commit", "--quiet", "-m", "start")
    _git(root, env, "tag", "start")
    return root


def _git(root: Path, env: dict[str, str], *args: str) -> None:
    subprocess.run(["git", *args], cwd=root, env=env, check=True)


if __name__ == "__main__":
    main()
