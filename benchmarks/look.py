"""`python -m benchmarks.look [ROUNDS]`: the tools that look around in a repository of 50,000 files, beside git itself."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from agent.model.tokens import count
from agent.repository.repo import discover
from agent.worker.tools.base import Desk
from agent.worker.tools.list import List
from agent.worker.workspace import Workspace
from benchmarks.measure import Case, environment, rounds, table, workshop

_FILES = 50_000
_FLOOR = "git grep, a word that one file has"
_RARE, _COMMON = "function_31415", "import"
_LOOK = """
import json, sys
from pathlib import Path
from agent.repository.repo import discover
from agent.worker.tools.list import List
from agent.worker.tools.search import Search
root = Path.cwd()
from agent.worker.tools.base import Desk
from agent.worker.workspace import Workspace
tool = {"list": List, "search": Search}[sys.argv[1]]()
print(tool.run(json.loads(sys.argv[2]), Desk(Workspace(root, discover(root), print))).text)
"""


def main() -> None:
    count_of_rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with workshop() as folder:
        env = environment(folder / "home")
        root = folder / "large"
        subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(root)], env=env, check=True)
        subprocess.run(["git", "fast-import", "--quiet"], cwd=root, env=env, input=b"".join(_stream()), check=True)
        subprocess.run(["git", "checkout", "--quiet", "--force", "main"], cwd=root, env=env, check=True)
        python = (sys.executable, "-P", "-c", _LOOK)
        cases = [
            Case(_FLOOR, ("git", "grep", "-n", _RARE), root, env),
            Case("git ls-files, tracked and not", ("git", "ls-files", "--cached", "--others", "--exclude-standard"), root, env),
            Case("search, the same word", (*python, "search", f'{{"pattern": "{_RARE}"}}'), root, env),
            Case("search, a word of every file", (*python, "search", f'{{"pattern": "{_COMMON}"}}'), root, env),
            Case("list, the root", (*python, "list", "{}"), root, env),
        ]
        print(f"\n### {_FILES:,} files ({count_of_rounds} rounds)\n")
        print(table(rounds(cases, count_of_rounds), _FLOOR))
        repo = discover(root)
        shown = List().run({}, Desk(Workspace(repo.work, repo, print))).text
        print(f"\nThe first look costs {count(shown):,} tokens.")


def _stream() -> Iterator[bytes]:
    """One commit for `git fast-import`."""
    yield b"commit refs/heads/main\ncommitter Bench <bench@example.invalid> 1767600000 +0000\ndata 5\nfiles\n"
    for number in range(_FILES):
        text = b"import os\n\n\ndef function_%d(value):\n    return value + %d\n" % (number, number)
        yield b"M 100644 inline src/package_%d/part_%d/module_%d.py\ndata %d\n%s\n" % (number % 50, number % 700, number, len(text), text)


if __name__ == "__main__":
    main()
