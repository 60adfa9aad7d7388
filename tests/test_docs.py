"""The generated pages are current, and what README shows is what happens."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType

import pytest

from tests.project import SOURCE


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", SOURCE / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_commands_is_current(generate: ModuleType) -> None:
    assert (SOURCE / "docs/commands.md").read_text("utf-8") == generate.commands_page(), "run: make docs"


def test_the_session_in_readme_is_what_happens(generate: ModuleType) -> None:
    shown = generate.session_in((SOURCE / "README.md").read_text("utf-8"))
    assert generate.steady(shown).splitlines() == generate.steady(generate.session()).rstrip().splitlines(), "run: make docs"


@pytest.mark.parametrize("page", sorted(path.relative_to(SOURCE).as_posix() for path in [*SOURCE.glob("*.md"), *SOURCE.glob("docs/**/*.md")]))
def test_every_link_to_a_file_leads_somewhere(page: str) -> None:
    text = (SOURCE / page).read_text("utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link]
    assert [link for link in links if not (SOURCE / page).parent.joinpath(link).exists()] == []
