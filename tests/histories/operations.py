"""What can happen to a repository, each by plain git or by agentctl; `a` and `b` choose among what there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from agent.actions.outcome import Means, asked, failed, landed
from agent.domain.config import Config
from agent.domain.memory import Memory
from agent.domain.names import Outcome, next_step_id
from agent.domain.progress import Proposed, Remembered
from agent.domain.todo import Item
from agent.domain.usage import Usage
from agent.gate.protocol import CheckResult, Verdict
from agent.ledger import Call, Ledger
from agent.repository.landing import commit_tree
from agent.store import memory_path, write_memory
from agent.worker.protocol import Ending, Report
from tests.histories.world import COUNTS, World
from tests.project import call, finish, reply

_T = TypeVar("_T")
Operation = Callable[[World, int, int], None]

WORDS = ("", "ok", "fixed it", "done", "Use ports above 1024.\n\nThe others are taken.", "The tests want a free port: they start a server each, " * 4)
TITLES = ("Fix it", "Fix that", "Add a test", "Tidy", "Convert the fixtures of the tests to functions")
NOTHING_KNOWN = Memory("", Config(), "", (), (), ())


def pick(among: Sequence[_T], which: int) -> _T:
    return among[which % len(among)]


# --- steps --------------------------------------------------------------------------------------------------------


def _items(world: World) -> list[str]:
    return sorted(path.removeprefix("todo/").removesuffix(".md") for path in world.files() if path.startswith("todo/"))


def _report(a: int, b: int, ending: Ending = Ending.FINISHED) -> Report:
    """What a session hands in: the shortest, or with letter, lessons and proposals."""
    lessons = (Remembered(pick(TITLES, a), pick(WORDS, b)),) if b % 3 == 0 else ()
    proposals = (Proposed(pick(TITLES, b), pick(WORDS, a), "sh check.sh" if a % 2 else ""),) if a % 3 == 0 else ()
    return Report(ending, pick(WORDS, a) or "ok", pick(WORDS, b), lessons, proposals, Usage(0.25, 1000, 0, 50, 3))


def _write_code(world: World, a: int, b: int) -> str:
    """A file of its own, or one more line in one that others write too."""
    path = f"src/{pick('xyz', b)}.txt" if a % 3 == 0 else f"src/{len(world.oracle.points)}.txt"
    file = world.project.root / path
    before = file.read_text() if file.exists() else ""
    world.project.write(path, f"{before}line {len(world.oracle.points)} of it\n")
    return path


def _commit_step(world: World, a: int, b: int, kind: str, *, here: bool) -> None:
    """A step's commit by the very functions that a step ends with, without its loop and its gate."""
    items = _items(world)
    if not items:
        return
    item = Item(pick(items, a), "Fix it")
    step = next_step_id(item.id, world.tick(), None)
    report = _report(a, b)
    code: list[str] = []
    if kind == "done":
        code = [_write_code(world, a, b)]
        writing = landed(step, item, report, report.usage, Means("scripted:x"), ("sh check.sh: ok",), NOTHING_KNOWN)
    elif kind == "failed":
        red = Verdict((CheckResult("sh check.sh", ok=False, summary="exit 1", output="AssertionError\n", seconds=0.1),))
        writing = failed(
            step, Outcome.BLOCKED if b == 7 else Outcome.FAILED, item, report, report if a % 2 else None, red, report.usage, Means("scripted:x")
        )
    else:
        writing = asked(step, item, report, report.usage, Means("scripted:x"))
    write_memory(world.repo, writing.files)
    made = commit_tree(world.repo, world.repo.head(), None, [*code, *(memory_path(world.repo, path) for path, _ in writing.files)], writing.message)
    assert made.commit, made.said
    note = world.take_in()
    assert note == writing.name.path
    world.costs[note] = 0.25
    if here:
        Ledger(world.repo.shared).add(Call(f"{step.at:%Y-%m-%dT%H:%M:%SZ}", str(step), item.id, "scripted:x", report.usage))
        world.ledgered.add(note)


def step_lands(world: World, a: int, b: int) -> None:
    _commit_step(world, a, b, "done", here=True)


def step_lands_elsewhere(world: World, a: int, b: int) -> None:
    """As a step of another clone: nothing of it is in this ledger."""
    _commit_step(world, a, b, "done", here=False)


def attempt_fails(world: World, a: int, b: int) -> None:
    _commit_step(world, a, b, "failed", here=b % 2 == 0)


def session_asks(world: World, a: int, b: int) -> None:
    _commit_step(world, a, b, "asked", here=True)


def whole_step(world: World, a: int, b: int) -> None:
    """`agentctl step` itself; every third one fails since it changes nothing."""
    calls = [call("write", path=f"src/{len(world.oracle.points)}.txt", content=f"{pick(WORDS, b)}\n")] if a % 3 else []
    calls += [call("propose", title=pick(TITLES, b), text=pick(WORDS, a))] if b % 2 else []
    calls += [call("remember", title=pick(TITLES, a), text=pick(WORDS, b))] if b % 3 == 0 else []
    world.project.record({"*": [[reply(*calls, finish(pick(WORDS, a) or "ok", pick(WORDS, b) or "ok"), usd=0.25)]]})
    ran = world.agentctl("step", "--json")
    assert ran.code in (0, 3, 4, 5, 6), ran.err
    if ran.code in (0, 4, 5):
        told = ran.json
        note = max(path for path in world.files() if path.startswith("notes/"))
        assert told["step"] in note.replace("/", "-")
        world.costs[note] = told["spent"]["usd"]
        world.ledgered.add(note)
        COUNTS["whole steps"] += 1


# --- people -------------------------------------------------------------------------------------------------------


def add_item(world: World, a: int, b: int) -> None:  # noqa: ARG001 - the operations' common shape
    assert world.agentctl("todo", "add", pick(TITLES, a)).code == 0


def say(world: World, a: int, b: int) -> None:
    items = _items(world)
    if items:
        verb = pick(("done", "reopen", "drop"), b)
        assert world.agentctl("todo", verb, pick(items, a), "--because", pick(WORDS, b)).code in (0, 1)


def letter(world: World, a: int, b: int) -> None:
    assert world.agentctl("note", f"Mind this: {pick(WORDS, a)} {pick(WORDS, b)}").code == 0


def person_codes(world: World, a: int, b: int) -> None:
    world.project.commit("By hand", _write_code(world, a, b))
    world.take_in()


def person_edits_item(world: World, a: int, b: int) -> None:
    items = _items(world)
    if not items:
        return
    path = f"todo/{pick(items, a)}.md"
    world.edited.add(path)
    world.project.write(f".agent/{path}", world.project.read(f".agent/{path}") + f"\n{pick(WORDS, b)} {len(world.oracle.points)}\n")
    world.project.commit("Say more", f".agent/{path}")
    world.take_in()


def person_configures(world: World, a: int, b: int) -> None:
    world.edited.add("config.yaml")
    world.project.write(".agent/config.yaml", f"limits:\n  attempts: {2 + a}\n# {b}\n")
    world.project.commit("Set a limit", ".agent/config.yaml")
    world.take_in()


# --- git ----------------------------------------------------------------------------------------------------------


def branch(world: World, a: int, b: int) -> None:  # noqa: ARG001 - the operations' common shape
    """A branch from one of the last commits."""
    if len(world.branches) < 5:
        world.branches.append(f"b{len(world.branches)}")
        world.project.git("switch", "--quiet", "-c", world.branches[-1], pick([*world.commits("-4"), world.head()], a))


def switch(world: World, a: int, b: int) -> None:  # noqa: ARG001 - the operations' common shape
    world.project.git("switch", "--quiet", pick(world.branches, a))


def _other(world: World, a: int) -> str:
    """Another branch; one that has something new, if there is one."""
    others = [name for name in world.branches if name != world.branch()]
    fresh = [name for name in others if world.project.git("rev-list", "--max-count=1", f"HEAD..{name}")]
    return pick(fresh or others, a)


def merge(world: World, a: int, b: int) -> None:
    other = _other(world, a)
    theirs = world.project.git("rev-parse", other).strip()
    if theirs in world.oracle.above(world.head()):
        return
    files = world.oracle.merged(world.head(), theirs)
    done = world.git("merge", "--no-edit", *(["--no-ff"] if b % 2 else []), other)
    if done.returncode != 0:
        files = world.as_head(files, world.mend(done))
        world.project.git("commit", "--quiet", "--no-edit")
    COUNTS["merges"] += 1
    world.derive(files)


def squash(world: World, a: int, b: int) -> None:
    """As `git merge --squash` writes it, or as forges do: the messages one after the other."""
    other = _other(world, a)
    theirs = world.project.git("rev-parse", other).strip()
    commits = world.project.git("rev-list", "--reverse", f"HEAD..{theirs}").split()
    if not commits:
        return
    files, told = world.oracle.merged(world.head(), theirs), world.told_in(commits)
    done = world.git("merge", "--squash", other)
    if done.returncode != 0:
        files = world.as_head(files, world.mend(done))
    if world.git("diff", "--cached", "--quiet").returncode == 0:
        (world.project.root / ".git/SQUASH_MSG").unlink(missing_ok=True)
        return
    if b % 2:
        messages = "\n".join("* " + world.project.git("log", "-1", "--format=%B", commit) for commit in commits)
        world.project.git("commit", "--quiet", "-m", f"Merge {other} (#{b})\n\n{messages}")
    else:
        world.project.git("commit", "--quiet", "--no-edit")
    COUNTS["squashes"] += 1
    world.derive(files, told)


def cherry_pick(world: World, a: int, b: int) -> None:
    commits = world.project.git("rev-list", "--no-merges", f"HEAD..{_other(world, a)}").split()
    if not commits:
        return
    commit, before = pick(commits, b), world.head()
    files = world.oracle.picked(world.files(), commit)
    done = world.git("cherry-pick", *(["-x"] if a % 2 else []), commit)
    if done.returncode != 0:
        files = world.as_head(files, world.mend(done))
        world.go_on("cherry-pick")
    COUNTS["cherry-picks"] += 1
    assert world.head() != before or files == world.files()
    world.derive(files, world.oracle.points[commit].told)


def revert(world: World, a: int, b: int) -> None:
    """Any commit of this branch's: a step, what a person did, a merge, another revert."""
    commits = world.commits()
    if commits:
        revert_commit(world, pick(commits, a + 8 * b))


def revert_again(world: World, a: int, b: int) -> None:  # noqa: ARG001 - the operations' common shape
    """A revert, of those that are there."""
    commits = world.commits("--grep=^Revert ")
    if commits:
        revert_commit(world, pick(commits, a))


def revert_commit(world: World, commit: str) -> None:
    before = world.head()
    files = world.oracle.reverted(world.files(), commit)
    mainline = ["-m", "1"] if len(world.oracle.points[commit].parents) > 1 else []
    done = world.git("revert", "--no-edit", *mainline, commit)
    if done.returncode != 0:
        files = world.as_head(files, world.mend(done))
        world.go_on("revert")
    COUNTS["reverts"] += 1
    assert world.head() != before or files == world.files()
    world.derive(files)


def rebase(world: World, a: int, b: int) -> None:  # noqa: ARG001 - the operations' common shape
    onto = _other(world, a)
    world.rewritten()
    done = world.git("rebase", onto)
    kept: dict[str, frozenset[str]] = {}
    while done.returncode != 0:
        assert world.repo.operation(), done.stderr
        stopped_at = world.project.git("rev-parse", "REBASE_HEAD").strip()
        kept[stopped_at] = world.mend(done)
        nothing = world.git("diff", "--cached", "--quiet").returncode == 0
        done = world.git("rebase", "--skip" if nothing else "--continue")
    COUNTS["rebases"] += 1
    _learn(world, onto, kept)


def _learn(world: World, onto: str, kept: dict[str, frozenset[str]]) -> None:
    """The commits that a rebase made: each is its old one, picked; where that conflicted in `kept`, what was there before stayed."""
    old = world.rewritten()
    oracle = world.oracle
    for commit in world.project.git("rev-list", "--reverse", f"{onto}..HEAD").split():
        if commit in oracle.points:
            continue
        parent = world.project.git("rev-parse", f"{commit}^").strip()
        before = oracle.files(parent)
        conflicts = kept.get(old[commit], frozenset())
        files = (oracle.picked(before, old[commit]) - conflicts) | (before & conflicts)
        oracle.add(commit, [parent], files, oracle.points[old[commit]].told)
    world.derive(world.files())


OFTEN: tuple[Operation, ...] = (step_lands, step_lands, step_lands, attempt_fails, revert, revert, revert, merge, merge, switch, switch, branch)
SOMETIMES: tuple[Operation, ...] = (
    step_lands_elsewhere, session_asks, add_item, say, letter, person_codes, person_edits_item, person_configures, squash, cherry_pick, rebase, revert_again,
)  # fmt: skip
ALL = OFTEN + OFTEN + SOMETIMES
WITH_WHOLE_STEPS = (*OFTEN, *SOMETIMES, whole_step, whole_step, whole_step, whole_step)
