"""A file is taken for as it was seen only where nobody can have been at it."""

from __future__ import annotations

from agent.repository.repo import discover
from agent.repository.untouched import surely_as_seen
from tests.project import Project


def test_only_what_nobody_changed_or_staged_is_surely_as_seen(project: Project) -> None:
    repo = discover(project.root)
    blob = project.git("rev-parse", "HEAD:calc.py").strip()
    other = project.git("rev-parse", "HEAD:check.sh").strip()
    seen = repo.look()
    assert surely_as_seen(repo, "calc.py", (blob, 0o100644), seen)
    assert surely_as_seen(repo, "new.py", (blob, 0o100644), seen)
    for held in (None, (other, 0o100644), (blob, 0o100755), (blob, 0o120777)):
        assert not surely_as_seen(repo, "calc.py", held, seen), held
    project.git("update-index", "--cacheinfo", f"100644,{other},calc.py")
    project.git("update-index", "--cacheinfo", f"100644,{blob},calc.py")
    assert not surely_as_seen(repo, "calc.py", (blob, 0o100644), seen), "somebody was at the index"
    project.git("update-index", "--cacheinfo", f"100644,{other},calc.py")
    assert not surely_as_seen(repo, "calc.py", (blob, 0o100644), repo.look()), "it was staged before"
    project.git("update-index", "--cacheinfo", f"100644,{blob},calc.py")
    seen = repo.look()
    project.git("commit", "--quiet", "--allow-empty", "-m", "on")
    assert not surely_as_seen(repo, "calc.py", (blob, 0o100644), seen), "HEAD has moved"
