"""`python -m benchmarks.commits [ROUNDS]`: a step in a repository of 50,000 files and 100,000 commits, and in a small one, beside git's own commit."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.measure import ADDS, AGENTCTL, Case, Took, environment, rounds, table, workshop

_FILES, _COMMITS = 50_000, 100_000
_SMALL = 10
_SHELL = "sed -i 's/a - b/a + b/' calc.py && git commit --quiet -a -m 'add() adds'"
_GIT, _STEP = "git commit -a", "agentctl step"
_OWN = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    ".agent/config.yaml": "checks:\n  - grep -q 'a + b' calc.py\n",
    ".agent/goal.md": "A calculator that is right.\n",
    ".agent/todo/add.md": "# Make add() add\n",
}


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with workshop() as folder:
        env = environment(folder / "home")
        (folder / "replies.yaml").write_text(ADDS)
        cases: list[Case] = []
        for size, files, commits in (("small", _SMALL, _SMALL), ("large", _FILES, _COMMITS)):
            root = _repository(folder / size, env, files, commits)

            def afresh(root: Path = root) -> None:
                subprocess.run(["git", "reset", "--quiet", "--hard", "start"], cwd=root, env=env, check=True)

            step = (*AGENTCTL, "step", "--model", f"scripted:{folder / 'replies.yaml'}")
            cases += [Case(f"{_GIT}, {size}", ("sh", "-c", _SHELL), root, env, afresh), Case(f"{_STEP}, {size}", step, root, env, afresh)]
        took = rounds(cases, count)
        print(f"\n### {_FILES:,} files and {_COMMITS:,} commits ({count} rounds)\n")
        print(table(took, f"{_GIT}, large"))
        for measure in ("wall", "cpu"):
            print(f"\n{_told(took, measure)}")


def _told(took: Mapping[str, Sequence[Took]], measure: str) -> str:
    middle = {what: statistics.median(getattr(one, measure) for one in runs) for what, runs in took.items()}
    added = {what: middle[f"{what}, large"] - middle[f"{what}, small"] for what in (_GIT, _STEP)}
    times = added[_STEP] / middle[f"{_GIT}, large"]
    return (
        f"{measure}: the size adds {added[_GIT]:.2f} s to git's commit and {added[_STEP]:.2f} s to a step, {times:.1f} times what git's takes there."
    )


def _repository(root: Path, env: dict[str, str], files: int, commits: int) -> Path:
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(root)], env=env, check=True)
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, env=env, input=b"".join(_stream(files, commits)), check=True)
    for args in (("checkout", "--quiet", "--force", "main"), ("tag", "start")):
        subprocess.run(["git", *args], cwd=root, env=env, check=True)
    return root


def _stream(files: int, commits: int) -> Iterator[bytes]:
    yield _commit(0)
    for path, text in _OWN.items():
        yield _file(path, text.encode())
    for number in range(files):
        yield _file(f"src/package_{number % 50}/part_{number % 700}/module_{number}.py", b"def function_%d(value):\n    return value\n" % number)
    for number in range(1, commits):
        yield _commit(number) + _file("docs/count.md", b"%d\n" % number)


def _commit(number: int) -> bytes:
    return b"commit refs/heads/main\ncommitter Bench <bench@example.invalid> %d +0000\ndata 5\nmore\n\n" % (1767600000 + number)


def _file(path: str, data: bytes) -> bytes:
    return b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data)


if __name__ == "__main__":
    main()
