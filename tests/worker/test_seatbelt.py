"""The profile for macOS' sandbox-exec, read as macOS reads it: what it says of each path, whatever that is called and in whatever order paths come."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.worker.sandbox.nothing import Nothing
from agent.worker.sandbox.protocol import Attempt, Confines
from agent.worker.sandbox.seatbelt import Seatbelt, profile
from agent.worker.sandbox.trial import failing, try_out

TREE = Path("/Users/me/work")
CARGO = Path("/Users/me/.cargo")
SCRATCH = Path("/private/var/folders/x")
USUAL = Confines(
    tree=TREE,
    kept=(TREE / ".git", TREE / "apps/web/.agent"),
    read=(Path("/Users/me/.pyenv"), CARGO),
    write=(Path("/Users/me/.cache/go-build"), CARGO),
    hidden=(Path("/Users/me/.pyenv/credentials"), CARGO / "credentials.toml"),
    links=(),
    home=Path("/Users/me"),
    scratch=SCRATCH,
)
READS = ("file-read-data", "file-read-xattr", "file-clone")
WRITES = (
    *("file-write-data", "file-write-create", "file-write-unlink", "file-write-mode", "file-write-owner", "file-write-flags"),
    *("file-write-xattr", "file-write-times", "file-write-acl", "file-link"),
)
ELSEWHERE = [
    *("/Users/me", "/Users/me/.ssh/id_rsa", "/Users/me/workx/a", "/Users/me/.cache/other", "/Users/me/.pyenvx", "/Users/other/work/a"),
    *("/System/Volumes/Data/Users/me/.ssh/id_rsa", "/System/Volumes/Data/Users/me/work/a", "/Volumes/disk/a", "/private/tmp/a"),
    *("/private/var/folders/y", "/private/var/run/docker.sock", "/private/var/db/a", "/Library/Keychains/System.keychain"),
    *("/opt/homebrew/var/postgres/a", "/usr/local/var/a", "/dev/tty", "/dev/ttys003", "/dev/disk0", "/dev/console", "/dev/bpf0"),
]
SYSTEM = [
    "/usr/bin/git",
    "/opt/homebrew/bin/git",
    "/System/Library/x",
    "/Library/Frameworks/x",
    "/private/etc/hosts",
    "/private/var/db/xcode_select_link",
]

Rule = list["str | Rule"]
Asked = Mapping[str, str]
# What each operation belongs to. One that doesn't belong to "default" in the end is allowed where no rule is about it.
_WILDCARDS = {
    "file-read*": ("file-read-data", "file-read-metadata", "file-read-xattr"),
    "file-write*": tuple(one for one in WRITES if one.startswith("file-write")),
    "file*": ("file-read*", "file-write*", "file-ioctl", "file-mknod"),
    "network-inbound": ("network-bind",),
    "network*": ("network-inbound", "network-outbound"),
    "process-info*": ("process-info-pidinfo", "process-info-listpids"),
    "nvram*": ("nvram-get", "nvram-set"),
    "sysctl*": ("sysctl-read", "sysctl-write"),
    "mach-priv*": ("mach-priv-task-port",),
    "mach*": ("mach-lookup", "mach-priv*", "mach-register"),
    "iokit*": ("iokit-open",),
    "default": ("file*", "network*", "sysctl*", "mach*", "iokit*", "file-write-setugid", "lsopen", "appleevent-send", "job-creation", "signal"),
}
_WILDCARD = {name: wildcard for wildcard, names in _WILDCARDS.items() for name in names}


def rules(text: str, paths: Mapping[str, Path]) -> list[Rule]:
    """The rules of a profile as lists, parameters as the strings they stand for; raises where a bracket or a quote is left open."""
    found: list[Rule] = [[]]
    for word in _tokens(text):
        if word == "(":
            found.append([])
        elif word == ")":
            inner = found.pop()
            found[-1].append(str(paths[str(inner[1])]) if inner[0] == "param" else inner)
        else:
            found[-1].append(word)
    [top] = found
    assert all(isinstance(rule, list) for rule in top)
    return [rule for rule in top if isinstance(rule, list)]


def _tokens(text: str) -> Iterator[str]:
    assert "\\" not in text, "then a string may end elsewhere than here"
    for quoted, bracket, word in re.findall(r'#?"([^"]*)"|([()])|([^\s()"#]+)', text):
        yield quoted or bracket or word
    assert text.count('"') % 2 == 0


def decision(confines: Confines, operation: str, **asked: str) -> str:
    """What the last rule for the operation says that fits, or that for its wildcard where none does, and so on."""
    made = profile(confines)
    return said(rules(made.text, made.paths), operation, asked)


def said(found: list[Rule], operation: str, asked: Asked) -> str:
    asking = operation
    while True:
        for verdict, *words in reversed(found):
            filters = [word for word in words if isinstance(word, list)]
            if asking in words and (not filters or any(_fits(one, asked) for one in filters)):
                return str(verdict)
        if asking not in _WILDCARD:
            return "allow"
        asking = _WILDCARD[asking]


def _fits(one: Rule, asked: Asked) -> bool:
    kind, *values = one
    return _FILTERS[str(kind)](values, asked)


def _below(values: Rule, asked: Asked) -> bool:
    return "path" in asked and Path(str(values[0])) in (Path(asked["path"]), *Path(asked["path"]).parents)


_FILTERS: Mapping[str, Callable[[Rule, Asked], bool]] = {
    "subpath": _below,
    "literal": lambda values, asked: asked.get("path") == values[0],
    "regex": lambda values, asked: re.search(str(values[0]), asked.get("path", "")) is not None,
    "require-all": lambda values, asked: all(isinstance(one, list) and _fits(one, asked) for one in values),
    "sysctl-name-regex": lambda values, asked: re.search(str(values[0]), asked.get("sysctl", "")) is not None,
    **{
        kind: lambda values, asked, kind=kind: asked.get(kind) == values[0]  # type: ignore[misc]
        for kind in ("extension", "vnode-type", "target", "remote", "global-name")
    },
}


@pytest.mark.parametrize("confines", [USUAL, replace(USUAL, network=True)])
@pytest.mark.parametrize("path", ELSEWHERE)
def test_nothing_outside_can_be_read_written_linked_or_cloned(confines: Confines, path: str) -> None:
    assert {decision(confines, operation, path=path) for operation in (*READS, *WRITES, "file-ioctl", "file-mknod")} == {"deny"}


@pytest.mark.parametrize("path", ELSEWHERE)
def test_what_terminals_there_are_is_open_only_where_the_command_made_them(path: str) -> None:
    opened = decision(USUAL, "file-read-data", path=path, extension="com.apple.sandbox.pty")
    assert opened == ("allow" if path == "/dev/ttys003" else "deny")


@pytest.mark.parametrize("path", [*SYSTEM, "/Users/me/.pyenv/bin/python"])
def test_programs_can_be_read_and_not_changed(path: str) -> None:
    assert {decision(USUAL, operation, path=path) for operation in (*READS, "file-read-metadata")} == {"allow"}
    assert {decision(USUAL, operation, path=path) for operation in (*WRITES, "file-mknod", "file-write-setugid")} == {"deny"}


@pytest.mark.parametrize("root", [TREE, *USUAL.write, SCRATCH])
def test_where_a_command_may_write_all_can_be_done_but_moving_the_folder_itself(root: Path) -> None:
    for operation in (*READS, *WRITES, "file-read-metadata"):
        assert decision(USUAL, operation, path=str(root / "new/x")) == "allow"
    assert decision(USUAL, "file-write-create", path=str(root)) == "allow"
    assert decision(USUAL, "file-write-unlink", path=str(root)) == "deny"


@pytest.mark.parametrize("root", [TREE, *USUAL.write, SCRATCH])
def test_of_special_files_only_a_fifo_can_be_made(root: Path) -> None:
    made = {
        kind: decision(USUAL, "file-mknod", path=str(root / "x"), **{"vnode-type": kind}) for kind in ("FIFO", "BLOCK-DEVICE", "CHARACTER-DEVICE")
    }
    assert made == {"FIFO": "allow", "BLOCK-DEVICE": "deny", "CHARACTER-DEVICE": "deny"}


@pytest.mark.parametrize("path", [*USUAL.kept, TREE / ".git/hooks/pre-commit", TREE / "apps/web/.agent/todo/x.md"])
def test_what_is_kept_can_be_read_and_not_written_moved_replaced_or_linked(path: Path) -> None:
    assert {decision(USUAL, operation, path=str(path)) for operation in READS} == {"allow"}
    assert {decision(USUAL, operation, path=str(path)) for operation in WRITES} == {"deny"}
    assert decision(USUAL, "file-mknod", path=str(path), **{"vnode-type": "FIFO"}) == "deny"


def test_no_folder_above_what_is_kept_can_be_moved_and_others_can() -> None:
    moved = {name: decision(USUAL, "file-write-unlink", path=str(TREE / name)) for name in ("apps", "apps/web", "apps/other", "apps/web/src")}
    assert moved == {"apps": "deny", "apps/web": "deny", "apps/other": "allow", "apps/web/src": "allow"}


def test_no_folder_on_the_way_to_another_root_can_be_moved() -> None:
    within = replace(USUAL, tree=TREE / "a/b", kept=(), write=(TREE,))
    assert {decision(within, "file-write-unlink", path=str(path)) for path in (TREE, TREE / "a", TREE / "a/b")} == {"deny"}
    assert decision(within, "file-write-unlink", path=str(TREE / "c")) == "allow"


@pytest.mark.parametrize("path", USUAL.hidden)
def test_a_hidden_file_cannot_be_read_or_looked_at_nor_brought_to_where_it_can(path: Path) -> None:
    for operation in (*READS, *WRITES, "file-read-metadata"):
        assert decision(USUAL, operation, path=str(path)) == "deny", operation


@pytest.mark.parametrize("path", ["/", "/dev"])
def test_these_folders_can_be_listed_and_no_more(path: str) -> None:
    assert decision(USUAL, "file-read-data", path=path) == "allow"
    assert {decision(USUAL, operation, path=path) for operation in WRITES} == {"deny"}


def test_a_file_outside_can_be_looked_at_by_its_path_but_by_no_other_name_of_it() -> None:
    assert decision(USUAL, "file-read-metadata", path="/Users/me/.ssh/id_rsa") == "allow"
    assert decision(USUAL, "file-read-metadata", path="/System/Volumes/Data/Users/me/.ssh/id_rsa") == "deny"


@pytest.mark.parametrize("path", ["/dev/null", "/dev/urandom", "/dev/stderr", "/dev/fd/1"])
def test_harmless_devices_are_there(path: str) -> None:
    assert decision(USUAL, "file-read-data", path=path) == decision(USUAL, "file-write-data", path=path) == "allow"
    assert decision(USUAL, "file-ioctl", path=path) == "deny"


def test_a_command_that_makes_a_terminal_may_use_it() -> None:
    for operation in ("file-read-data", "file-write-data", "file-ioctl"):
        assert decision(USUAL, operation, path="/dev/ptmx") == "allow"
        assert decision(USUAL, operation, path="/dev/ttys003", extension="com.apple.sandbox.pty") == "allow"
        assert decision(USUAL, operation, path="/dev/ttys003x", extension="com.apple.sandbox.pty") == "deny"


@pytest.mark.parametrize("operation", ["process-info-pidinfo", "process-info-listpids", "signal", "mach-priv-task-port"])
def test_only_its_own_processes_can_be_asked_about_signalled_or_debugged(operation: str) -> None:
    assert decision(USUAL, operation, target="same-sandbox") == "allow"
    assert decision(USUAL, operation, target="others") == "deny"


def test_settings_of_the_kernel_can_be_read_but_not_the_variables_of_processes() -> None:
    assert decision(USUAL, "sysctl-read", sysctl="hw.ncpu") == "allow"
    for name in ("kern.procargs", "kern.procargs2", "kern.procargs2.17"):
        assert decision(USUAL, "sysctl-read", sysctl=name) == "deny"
    assert decision(USUAL, "sysctl-write", sysctl="hw.ncpu") == "deny"


@pytest.mark.parametrize("operation", ["nvram-get", "nvram-set", "iokit-open", "lsopen", "appleevent-send", "job-creation", "mach-register"])
def test_other_doors_are_shut(operation: str) -> None:
    assert decision(USUAL, operation) == "deny"


@pytest.mark.parametrize("name", ["com.apple.SecurityServer", "com.apple.coreservices.launchservicesd", "com.apple.pasteboard.1", "com.apple.tccd"])
def test_no_service_is_asked_that_acts_for_the_person(name: str) -> None:
    assert decision(replace(USUAL, network=True), "mach-lookup", **{"global-name": name}) == "deny"


def test_the_network_is_there_only_where_it_is_allowed() -> None:
    operations = ("network-outbound", "network-inbound", "network-bind")
    assert {decision(USUAL, operation, remote="ip") for operation in operations} == {"deny"}
    assert {decision(replace(USUAL, network=True), operation, remote="ip") for operation in operations} == {"allow"}


@pytest.mark.parametrize("confines", [USUAL, replace(USUAL, network=True)])
def test_no_program_is_reached_by_its_socket_file_but_the_one_that_knows_names(confines: Confines) -> None:
    for path in ("/private/var/run/docker.sock", str(TREE / "socket"), str(SCRATCH / "socket")):
        assert decision(confines, "network-outbound", path=path, remote="unix-socket") == "deny"
    names = decision(confines, "network-outbound", path="/private/var/run/mDNSResponder", remote="unix-socket")
    assert names == ("allow" if confines.network else "deny")


def test_a_rule_for_one_operation_is_asked_before_one_for_its_wildcard_wherever_it_stands() -> None:
    both = ('(allow file-write* (subpath "/a"))', '(deny file-write-unlink (literal "/a"))')
    for text in ("\n".join(both), "\n".join(reversed(both))):
        assert said(rules(text, {}), "file-write-unlink", {"path": "/a"}) == "deny"
        assert said(rules(text, {}), "file-write-unlink", {"path": "/a/b"}) == "allow"
        assert said(rules(text, {}), "file-write-data", {"path": "/a"}) == "allow"


def test_the_order_of_paths_decides_nothing() -> None:
    paths = [TREE, TREE / "apps", TREE / "x", CARGO, *USUAL.kept, *USUAL.hidden, *USUAL.read, *USUAL.write, SCRATCH]
    asked = [(operation, str(path)) for operation in (*READS, *WRITES, "file-read-metadata") for path in paths]
    found = set()
    for turn in itertools.product((1, -1), repeat=4):
        kept, read, write, hidden = (one[::step] for one, step in zip((USUAL.kept, USUAL.read, USUAL.write, USUAL.hidden), turn, strict=True))
        made = profile(replace(USUAL, kept=kept, read=read, write=write, hidden=hidden))
        read_rules = rules(made.text, made.paths)
        found.add(tuple(said(read_rules, operation, {"path": path}) for operation, path in asked))
    assert len(found) == 1


def test_paths_are_handed_over_beside_the_profile() -> None:
    launch = Seatbelt().wrap(["/bin/sh", "-c", "-D"], {}, TREE, USUAL)
    program, *words = launch.argv
    at = words.index("-p")
    made = profile(USUAL)
    assert program == "/usr/bin/sandbox-exec"
    assert words[at:] == ["-p", made.text, "/bin/sh", "-c", "-D"]
    assert words[:at:2] == ["-D"] * len(made.paths)
    assert {name: Path(value) for name, _, value in (word.partition("=") for word in words[1:at:2])} == made.paths


_NAMES = st.text(st.characters(exclude_characters="\0/"), min_size=1, max_size=30).filter(lambda name: name not in (".", ".."))
_ODD = st.sampled_from(
    [
        *('a"b', "a\\", '\\"', "a b", "é", "e\u0301", "a\nb", '")) (allow default)\n', "#|", ";x", '#"', "{0}", "{", "$x", "~", "*", "%s", "="),
        *("-D", "P0", "\udcff", "x" * 300),
    ]
)


def _called(name: str) -> Confines:
    """Confines in which each path has `name` in it."""
    tree, read, write, scratch = (Path(top, name) for top in ("/Users/me", "/Users/read", "/Users/write", "/private/var/folders"))
    return replace(USUAL, tree=tree, kept=(tree / name / ".git",), read=(read,), write=(write,), hidden=(read / name,), scratch=scratch)


@given(_NAMES | _ODD)
def test_no_name_of_a_folder_can_end_its_rule_or_be_too_long_for_one(name: str) -> None:
    assert re.sub(r"P\d+", "P", profile(_called(name)).text) == re.sub(r"P\d+", "P", profile(_called("x")).text)


@given(_NAMES | _ODD)
def test_whatever_folders_are_called_the_same_holds_for_them(name: str) -> None:
    confines = _called(name)
    tree, [kept], [hidden] = confines.tree, confines.kept, confines.hidden
    written = {
        path: decision(confines, "file-write-data", path=str(path)) for path in (tree / "x", kept / "config", hidden, tree.with_name(name + "x"))
    }
    assert list(written.values()) == ["allow", "deny", "deny", "deny"]
    assert {decision(confines, "file-write-unlink", path=str(path)) for path in (tree, kept.parent, kept)} == {"deny"}
    seen = {
        path: decision(confines, "file-read-data", path=str(path)) for path in (kept / "config", hidden, hidden.with_name(name + "x"), Path("/Users"))
    }
    assert list(seen.values()) == ["allow", "deny", "allow", "deny"]


def test_it_is_chosen_on_macos_alone() -> None:
    assert bool(Seatbelt().absent()) == (sys.platform != "darwin")


@pytest.mark.skipif(sys.platform != "darwin", reason="sandbox-exec is macOS'")
def test_what_is_open_without_it_is_held_in_it() -> None:
    assert Attempt.ENVIRON in try_out(Nothing()).open
    assert failing(Seatbelt(), try_out(Seatbelt())) == ""


@pytest.mark.skipif(sys.platform != "darwin", reason="sandbox-exec is macOS'")
def test_what_is_kept_is_kept_by_the_spelling_that_the_file_system_has_for_it(tmp_path: Path) -> None:
    (tmp_path / "Apps/.Git").mkdir(parents=True)
    kept = tmp_path / "apps/.git"
    launch = Seatbelt().wrap(["/bin/sh"], {}, tmp_path, replace(USUAL, tree=tmp_path, kept=(kept,) if kept.exists() else ()))
    assert not kept.exists() or any(word.endswith("Apps/.Git") for word in launch.argv)
