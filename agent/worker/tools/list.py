"""`list`: a folder's tree in short."""

from __future__ import annotations

import stat
from collections.abc import Iterator

from msgspec import Struct, field

from agent.beneath import Beneath
from agent.domain.chat import ToolSpec
from agent.domain.text import left_out, one_line, plain
from agent.worker.files import Refusal
from agent.worker.tools.base import NUMBER, TEXT, Args, Desk, Result, number, schema, text
from agent.worker.tools.orient import orientation
from agent.worker.workspace import Place, Workspace

_DEPTH = 2
_ENTRIES = 60
_LINES = 250
_COMMITS = 40  # that "changed lately" is read from
_ROOM = 3_000  # characters of the root's tree, about 1,000 tokens
_SHAPES = ((2, 60), (2, 25), (2, 12), (1, 60), (1, 25))  # levels, and entries of each folder: the first that fits


class List:
    """Over what git tracks or doesn't ignore; what is deeper is counted."""

    spec = ToolSpec(
        "list",
        f"Show a folder's files as a tree, with sizes. depth: levels, default {_DEPTH}",
        schema({}, {"path": TEXT, "depth": NUMBER}),
    )

    def brief(self, args: Args) -> str:
        return one_line(text(args, "path") or ".")

    def run(self, args: Args, desk: Desk) -> Result:
        place = desk.workspace.readable(text(args, "path") or ".")
        if desk.workspace.root.is_file(place.path):
            raise Refusal(f"{text(args, 'path')} is a file.", "Use read.")
        tree = _tree(desk.workspace, place)
        if not tree.total and place.path:
            raise _nothing(desk.workspace, place, text(args, "path"))
        if not place.path and "depth" not in args:
            return _first_look(tree, place, desk.workspace)
        lines = list(_lines(tree, _here(desk.workspace, place), number(args, "depth", _DEPTH), "", _ENTRIES))
        cut = [left_out(f"{len(lines) - _LINES} more lines") + " List a folder by itself."] if len(lines) > _LINES else []
        return Result("\n".join([f"{plain(place.path) or '.'}/ {_files(tree.total)}", *lines[:_LINES], *cut]), shown=_files(tree.total))


def _first_look(tree: _Folder, place: Place, workspace: Workspace) -> Result:
    """The root in less than 2,000 tokens, whatever it holds, and in a few hundred where it is small."""
    here = _here(workspace, place)
    shapes = ("\n".join(_lines(tree, here, depth, "", entries)) for depth, entries in _SHAPES)
    shown = next((text for text in shapes if len(text) <= _ROOM), None)
    if shown is None:
        shown = "\n".join(_lines(tree, here, *(_SHAPES[-1][0], "", _SHAPES[-1][1])))[:_ROOM] + "\n" + left_out("More") + " List a folder by itself."
    told = orientation(workspace.repo.files(), workspace.repo.lately(_COMMITS))
    return Result("\n".join([f"./ {_files(tree.total)}", *told, "", shown]), shown=_files(tree.total))


class _Folder(Struct):
    folders: dict[str, _Folder] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    submodules: list[str] = field(default_factory=list)
    total: int = 0


def _tree(workspace: Workspace, place: Place) -> _Folder:
    tree = _Folder()
    start = place.path + "/" if place.path else ""
    for path in workspace.repo.files(place.path):
        if path.startswith(start):
            _folder(tree, path[len(start) :], 1).files.append(path.rpartition("/")[2])
    for path in sorted(workspace.repo.gitlinks()):
        if path.startswith(start):
            _folder(tree, path[len(start) :], 0).submodules.append(path.rpartition("/")[2])
    return tree


def _folder(tree: _Folder, path: str, files: int) -> _Folder:
    tree.total += files
    for part in path.split("/")[:-1]:
        tree = tree.folders.setdefault(part, _Folder())
        tree.total += files
    return tree


def _nothing(workspace: Workspace, place: Place, path: str) -> Refusal:
    if not workspace.root.is_folder(place.path):
        near = workspace.nearest(place.path)
        return Refusal(f"{path} doesn't exist.", f"Near it: {', '.join(near)}" if near else "List its parent.")
    rule = workspace.repo.ignored([place.path]).get(place.path) if place.path not in workspace.repo.gitlinks() else "a submodule"
    return Refusal(f"{path} holds nothing that git would keep{f' ({rule})' if rule else ''}.", "`run` with ls shows it all the same.")


def _here(workspace: Workspace, place: Place) -> Beneath:
    return workspace.root.below(f"{place.path}/" if place.path else "")


def _lines(tree: _Folder, here: Beneath, depth: int, indent: str, most: int) -> Iterator[str]:
    entries = [*sorted(tree.folders), *sorted(tree.submodules), *sorted(tree.files)]
    for name in entries[:most]:
        shown = indent + plain(name).replace("\t", "\\u0009").replace("\n", "\\u000a")
        if name in tree.submodules:
            yield f"{shown}/ (a submodule)"
        elif name not in tree.folders:
            yield f"{shown} {_size(here, name)}"
        elif depth > 1:
            yield f"{shown}/"
            yield from _lines(tree.folders[name], here.below(f"{name}/"), depth - 1, indent + "  ", most)
        else:
            yield f"{shown}/ {_files(tree.folders[name].total)}"
    if len(entries) > most:
        yield indent + left_out(f"{len(entries) - most} more entries")


def _size(here: Beneath, name: str) -> str:
    told = here.look(name)
    if told is None:
        return "(deleted)"
    if stat.S_ISLNK(told.st_mode):
        return _target(here, name)
    size = told.st_size
    if size < 1000:  # noqa: PLR2004 - three digits
        return str(size)
    return f"{size / 1000:.1f}k" if size < 1_000_000 else f"{size / 1_000_000:.1f}M"  # noqa: PLR2004 - six digits


def _target(here: Beneath, name: str) -> str:
    try:
        return f"-> {plain(here.link(name))}"
    except OSError:
        return "(deleted)"


def _files(total: int) -> str:
    return f"({total:,} file{'' if total == 1 else 's'})"
