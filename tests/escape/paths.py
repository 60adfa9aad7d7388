"""What the file tools may be asked for: each a call whose path leads where no step may read or write."""

from __future__ import annotations

from dataclasses import dataclass

from agent.worker.files import LARGEST
from tests.escape.world import SECRET


@dataclass(frozen=True)
class Reach:
    """One attempt. `prepare` is a command that sets it up; `bare` says whether the path leads there by its name; `sign` tells in an answer that it was reached."""

    name: str
    tool: str
    path: str
    prepare: str = ""
    bare: bool = True
    refused: bool = True
    sign: str = SECRET


_FOLDER = "ln -s {outside} way"
_FILE = "ln -s {outside}/precious link"
_INNER = "git init -q sub && git -C sub commit -q --allow-empty -m x && cp .git/config sub/.git/x"

LINKS = (
    Reach("read a link", "read", "link", _FILE),
    Reach("read through a link", "read", "way/precious", _FOLDER),
    Reach("read through a link to a link", "read", "one/precious", f"{_FOLDER}; ln -s way one"),
    Reach("read a link made of dots", "read", "up/outside/precious", "ln -s .. up"),
    Reach("write over a link", "write", "link", _FILE),
    Reach("write through a link", "write", "way/new", _FOLDER),
    Reach("write where a link leads that leads nowhere yet", "write", "link", "ln -s {outside}/new link"),
    Reach("edit a link", "edit", "link", _FILE),
    Reach("list through a link", "list", "way", _FOLDER, sign="precious"),
    Reach("search through a link", "search", "way", _FOLDER),
    Reach(
        "search a tracked file whose folder is a link now",
        "search",
        "",
        "mkdir d; echo x > d/precious; git add d; rm -r d; ln -s {outside} d",
        bare=False,
        refused=False,
    ),
    Reach(
        "list the size of a file behind a link",
        "list",
        "",
        "mkdir d; echo x > d/precious; git add d; rm -r d; ln -s {outside} d",
        bare=False,
        refused=False,
        sign=f"precious {len(SECRET)}",
    ),
    Reach("write over a hard link", "write", "hard", "ln {outside}/precious hard", refused=False),
    Reach("edit a hard link", "edit", "hard", "ln {outside}/precious hard", refused=False, sign="none"),
)

NAMES = (
    Reach("read by dots", "read", "../outside/precious"),
    Reach("read by dots behind a folder", "read", "in/../../outside/precious", "mkdir in"),
    Reach("write by dots", "write", "../outside/new"),
    Reach("edit by dots", "edit", "../outside/precious"),
    Reach("list by dots", "list", "../outside", sign="precious"),
    Reach("search by dots", "search", "../outside"),
    Reach("read an absolute path", "read", "{outside}/precious"),
    Reach("write an absolute path", "write", "{outside}/new"),
    Reach("search an absolute path", "search", "{outside}"),
    Reach("list an absolute path", "list", "{outside}", sign="precious"),
    Reach("write into the home folder by its sign", "write", "~/.bashrc", bare=False, refused=False),
    Reach("read through /proc/self/root", "read", "/proc/self/root{outside}/precious"),
    Reach("read a link to /proc/self/root", "read", "root{outside}/precious", "ln -s /proc/self/root root"),
    Reach("read through /proc/self/cwd", "read", "/proc/self/cwd/../outside/precious", bare=False),
    Reach("read a link to /proc/self/cwd", "read", "here/outside/precious", "ln -s /proc/self/cwd here", bare=False),
    Reach("read the variables of another process", "read", "/proc/{pid}/environ"),
    Reach("write through the folder of another process", "write", "/proc/{pid}/cwd/new"),
    Reach("write the settings of git", "write", ".git/config"),
    Reach("write them in other letters", "write", ".GIT/hooks/pre-commit", bare=False),
    Reach("write them by the short name of DOS", "write", "git~1/config", bare=False),
    Reach("write them by a name that Windows cuts off", "write", ".git. /config", bare=False),
    Reach("write them by a stream of NTFS", "write", ".git::$INDEX_ALLOCATION/config", bare=False),
    Reach("write them by a sign that macOS leaves out", "write", ".g\u200cit/config", bare=False),
    Reach("write them through a link", "write", "git/config", "ln -s .git git"),
    Reach("write agentctl's settings", "write", ".agent/config.yaml"),
    Reach("write them in other letters too", "write", ".Agent/config.yaml", bare=False),
    Reach("write a name that is another's in other letters", "write", "CALC.py", bare=False),
    Reach("write into a submodule", "write", "sub/new", f"{_INNER} && git add sub", bare=False),
    Reach("write into a repository inside", "write", "sub/new", _INNER, bare=False),
    Reach("write the settings of a repository inside", "write", "sub/.git/config", _INNER, bare=False),
)

KINDS = (
    Reach("read a FIFO", "read", "pipe", "mkfifo pipe", bare=False),
    Reach("write a FIFO", "write", "pipe", "mkfifo pipe", bare=False),
    Reach("edit a FIFO", "edit", "pipe", "mkfifo pipe", bare=False),
    Reach("search a FIFO", "search", "pipe", "mkfifo pipe", bare=False),
    Reach("read a socket", "read", "s.sock", bare=False),
    Reach("read a device", "read", "/dev/zero", bare=False),
    Reach("read a link to a device", "read", "zero", "ln -s /dev/zero zero", bare=False),
    Reach("write to a terminal", "write", "/dev/tty", bare=False),
    Reach("read a link to itself", "read", "loop", "ln -s loop loop", bare=False),
    Reach("read what is too large", "read", "big", f"head -c {LARGEST + 1} /dev/zero | tr '\\0' a > big", bare=False, sign="aaaa"),
    Reach("edit what is too large", "edit", "big", f"head -c {LARGEST + 1} /dev/zero | tr '\\0' a > big", bare=False),
    Reach("read a binary file", "read", "blob", "printf 'a\\0b{secret}' > blob"),
    Reach("write over a binary file", "write", "blob", "printf 'a\\0b' > blob", bare=False),
)

REACHES = (*LINKS, *NAMES, *KINDS)
