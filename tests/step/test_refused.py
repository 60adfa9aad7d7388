"""Secrets and unseen characters in what a step adds, through real steps: refused with file and line, unless a person allowed just that."""

from __future__ import annotations

from tests.project import ADDS, Project, call, finish, reply

ITEM = "make-add-add"
RANDOM = "q8Zr2Vn5Kx9Lw4Tj7Hc3Bf6Md"  # no key of anybody
SETTINGS = call("write", path="settings.py", content=f'x = 1\nSECRET_KEY = "{RANDOM}"\n')


def test_a_secret_that_attributes_hide_from_diffs_is_refused_by_file_and_line(project: Project) -> None:
    project.items("Make add() add")
    hide = call("write", path=".gitattributes", content="*.py -diff\n")
    project.record({ITEM: [[reply(ADDS, hide, SETTINGS, finish())]]})
    ran = project.agentctl("step")
    assert ran.code == 4
    assert "settings.py:2 holds what looks like a key or password that is assigned" in project.git("show", "HEAD")
    assert RANDOM not in project.git("show", "HEAD") + ran.out + ran.err


def test_a_text_that_is_no_secret_lands_once_a_person_has_allowed_its_fingerprint(project: Project) -> None:
    project.items("Make add() add")
    project.record({ITEM: [[reply(ADDS, SETTINGS, finish())]] * 2})
    assert project.agentctl("step").code == 4
    word = project.git("show", "HEAD").partition("allow: [")[2].partition("]")[0]
    assert word.startswith("no-secret-")
    project.write(f".agent/todo/{ITEM}.md", f"---\nallow: [{word}]\n---\n# Make add() add\n")
    project.commit("It is a public key")
    ran = project.agentctl("step")
    assert ran.code == 0, ran.err
    assert f"allowed by {word}: settings.py:2" in project.agentctl("note").out


def test_a_character_that_reorders_code_is_refused_and_shown_by_its_code(project: Project) -> None:
    project.items("Make add() add")
    trojan = call("write", path="access.py", content='if level != "user\u202e \u2066// Check if admin\u2069 \u2066":\n    grant()\n')
    project.record({ITEM: [[reply(ADDS, trojan, finish())]]})
    ran = project.agentctl("step")
    assert ran.code == 4
    shown = " ".join(project.git("show", "HEAD").replace("\n+", " ").split())
    assert "access.py:1" in shown
    assert "U+202E (right-to-left override)" in shown
    assert "\u202e" not in shown + ran.out + ran.err


def test_unseen_characters_land_where_a_person_allows_them(project: Project) -> None:
    project.agentctl("todo", "add", "Make add() add", "--allow", "hidden-characters")
    project.record({ITEM: [[reply(ADDS, call("write", path="data.py", content="ZERO = '\u200b'\n"), finish())]]})
    ran = project.agentctl("step")
    assert ran.code == 0, ran.err
    assert "allowed by hidden-characters: data.py:1" in project.agentctl("note").out
