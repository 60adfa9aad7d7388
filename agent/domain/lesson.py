"""Durable facts about the repository that cost something to learn."""

from __future__ import annotations

from msgspec import Struct

from agent.domain.fingerprint import stand_apart
from agent.domain.frontmatter import split
from agent.domain.todo import tidy_text, tidy_title, title_and_text


class Lesson(Struct, frozen=True):
    """One lesson; `name` is its file's name without the ending."""

    name: str
    title: str
    text: str

    @property
    def path(self) -> str:
        """The lesson's path inside `.agent/`."""
        return f"lessons/{self.name}.md"


def parse_lesson(text: str, path: str) -> Lesson:
    """The lesson in the file at `path`. Raises BadFileError."""
    title, rest = title_and_text(split(text, path).body)
    name = path.rpartition("/")[2].removesuffix(".md")
    return Lesson(name, title or name, rest)


def render_lesson(lesson: Lesson) -> str:
    """The lesson's file, unlike that of the same lesson learnt on another branch; `parse_lesson` gives a lesson back whose texts are tidy."""
    text = tidy_text(lesson.text)
    return stand_apart(lesson.path, f"# {tidy_title(lesson.title)}\n" + (f"\n{text}\n" if text else ""))
