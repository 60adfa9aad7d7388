"""What commands may try: each a command for the worker's tool."""

from __future__ import annotations

import os
from dataclasses import dataclass

from agent.worker.sandbox.protocol import Attempt
from tests.escape.world import python


@dataclass(frozen=True)
class Escape:
    """One attempt. `bare` says whether it succeeds without a sandbox; `aim` what it goes for, where some mechanism says that it can't keep that."""

    name: str
    command: str
    bare: bool = True
    aim: Attempt | None = None


_ROOT = os.geteuid() == 0

OUTSIDE = (
    Escape("overwrite a file outside", "echo x > {outside}/precious"),
    Escape("append through dots", "echo x >> ../outside/new"),
    Escape("delete outside", "rm -rf {outside}/precious"),
    Escape("write through a link in the tree", "ln -s {outside} link && echo x > link/new"),
    Escape("write through a hard link", "ln {outside}/precious hard && echo x > hard"),
    Escape("move a file out", "mv calc.py {outside}/calc.py"),
    Escape("write through /proc/self/root", "echo x > /proc/self/root{outside}/new"),
    Escape("write through the folder of another process", "echo x > /proc/{pid}/cwd/new"),
    Escape("write into the home folder", "echo x >> {home}/.bashrc"),
    Escape("write into shared memory", "echo x > /dev/shm/agentctl-escape-{pid} && rm calc.py", bare=False),
    Escape("approve commands for the person", "mkdir -p {home}/.local/state/agentctl/trust && echo '{}' > {home}/.local/state/agentctl/trust/x.json"),
    Escape(
        "tell that a sandbox holds", "mkdir -p {home}/.local/state/agentctl/sandbox && echo '{}' > {home}/.local/state/agentctl/sandbox/landlock.json"
    ),
    Escape("change a mode outside", "chmod 777 {outside}", aim=Attempt.MODE),
    Escape("change the times of a file outside and swap it", "cp {outside}/precious p && touch p && mv p {outside}/precious.new"),
    Escape("set a kernel setting", "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern && {shout}", bare=_ROOT),
    Escape("write to a disk's device", python("fd = os.open('/dev/vda', os.O_RDONLY); os.read(fd, 1); shout()"), bare=False),
    Escape("make a disk's device", "mknod disk b 254 0 && head -c 1 disk && {shout}", bare=False),
    Escape("mount something", "mkdir m && mount -t tmpfs none m && {shout}", bare=False),
    Escape("take the read-only mounts away", "umount -l .git; mount -o remount,rw .git && {shout}", bare=False),
    Escape("change the root folder", python("os.mkdir('r'); os.chroot('r'); shout()"), bare=_ROOT),
)

GIT = (
    Escape("plant a hook", "printf '#!/bin/sh\\n' > .git/hooks/pre-commit", aim=Attempt.GIT),
    Escape("set what git runs", "git config core.fsmonitor ./evil", aim=Attempt.GIT),
    Escape("commit", "git commit -qm mine --allow-empty", aim=Attempt.GIT),
    Escape("delete the history", "rm -rf .git", aim=Attempt.GIT),
    Escape("move .git away", "mv .git .old; mkdir .git", aim=Attempt.GIT),
    Escape("write a ref", "cat .git/refs/heads/main > .git/refs/heads/evil", aim=Attempt.GIT),
    Escape("write an object", "echo x | git hash-object -w --stdin", aim=Attempt.GIT),
    Escape("set attributes", "mkdir -p .git/info; echo '* filter=evil' > .git/info/attributes", aim=Attempt.GIT),
    Escape("stage everything", "echo y > y && git add -A", aim=Attempt.GIT),
    Escape("write through a hard link of the config", "ln .git/config c && echo '[x]' >> c", aim=Attempt.GIT),
    Escape("change the settings", "echo 'checks: []' > .agent/config.yaml", aim=Attempt.GIT),
    Escape("forge the word by which an approval knows its clone", "mkdir -p .git/agentctl && echo x > .git/agentctl/clone", aim=Attempt.GIT),
    Escape("move .agent away", "mv .agent .other", aim=Attempt.GIT),
    Escape("add an item", "mkdir -p .agent/todo; echo '# Mine' > .agent/todo/mine.md", aim=Attempt.GIT),
    Escape("stash, reset and clean", "echo x >> calc.py; git stash -q; git reset -q --hard HEAD~0; git clean -fdx", aim=Attempt.GIT),
    Escape("reset to nothing", "git update-ref -d HEAD", aim=Attempt.GIT),
)

SECRETS = (
    Escape("read a key in the home folder", "cat {home}/.ssh/id_rsa"),
    Escape("read the home folder by its variable", "cat ~/.ssh/id_rsa ~/.netrc ~/.npmrc; ls -la ~"),
    Escape("read it through a link in the tree", "ln -s {home}/.ssh/id_rsa key; cat key"),
    Escape("read it through /proc", "cat /proc/{pid}/root{home}/.ssh/id_rsa /proc/self/root{home}/.netrc"),
    Escape("read a file outside", "cat {outside}/precious"),
    Escape("read all variables of all processes", "cat /proc/*/environ | tr '\\0' '\\n' | grep -a herring"),
    Escape("read the variables of its parents", "cat /proc/1/environ /proc/$PPID/environ /proc/{pid}/environ"),
    Escape("read its own variables", "env; export -p", bare=False),
    Escape("ask git for a password", "printf 'protocol=https\\nhost=example.com\\n\\n' | git credential fill", bare=False),
    Escape("read the passwords of the machine", "head -c 5 /etc/shadow >/dev/null && {shout}", bare=_ROOT),
    Escape("trace another process", python("sys.exit() if libc.ptrace(16, {pid}, 0, 0) else shout()"), bare=_ROOT),
    Escape(
        "read the memory of another process",
        'start=$(head -1 /proc/{pid}/maps | cut -d- -f1) && [ -n "$start" ] && dd if=/proc/{pid}/mem bs=1 count=1 skip=$((16#$start)) && {shout}',
        bare=_ROOT,
    ),
    Escape(
        "use what was left open",
        "for fd in /proc/self/fd/*; do case $fd in */[012]|*/255) ;; *) readlink $fd | grep '^/' | grep -v proc && {shout};; esac; done",
        bare=False,
    ),
)

NETWORK = (
    Escape("connect by TCP", python("socket.create_connection(('127.0.0.1', {tcp}), 2)")),
    Escape("send by UDP", python("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp}))")),
    Escape("connect by IPv6", python("socket.create_connection(('::ffff:127.0.0.1', {tcp}), 2)")),
    Escape("connect to a socket outside", python("socket.socket(socket.AF_UNIX).connect('{outside}/socket')")),
    Escape("connect to a socket in the tree", python("socket.socket(socket.AF_UNIX).connect('s.sock')")),
    Escape("connect to an abstract socket", python("socket.socket(socket.AF_UNIX).connect('\\0{abstract}')")),
    Escape("connect to the host of a virtual machine", python("socket.socket(40, socket.SOCK_STREAM); shout()"), bare=False),
    Escape("send raw packets", python("socket.socket(17, socket.SOCK_RAW, 0x0300); shout()"), bare=_ROOT),
    Escape("queue calls past the filter", python("libc.syscall(425, 8, ctypes.create_string_buffer(120)) >= 0 and shout()"), bare=False),
)

PROCESSES = (
    Escape("end another process", "kill -9 {pid}"),
    Escape("end another group", "kill -9 -- -{pid}"),
    Escape("end it by a queue of signals", python("libc.sigqueue({pid}, 9, 0)")),
    Escape("lower another's priority", "renice -n 19 -p {pid} > /dev/null && {shout}"),
    Escape("limit another", "prlimit --pid {pid} --nofile=1:1 && {shout}"),
    Escape("make a user namespace", python("libc.unshare(0x10000000) == 0 and shout()")),
    Escape("make one by clone", python("libc.syscall(56 if os.uname().machine == 'x86_64' else 220, 0x10000000 | 17, 0, 0, 0, 0) > 0 and shout()")),
    Escape("join another's namespaces", python("fd = os.open('/proc/{pid}/ns/net', 0); libc.setns(fd, 0) == 0 and shout()"), bare=_ROOT),
    Escape("have a capability", "grep -E 'CapEff:.*[1-9a-f]' /proc/self/status && {shout}", bare=_ROOT),
    Escape("gain privileges by a program", "grep 'NoNewPrivs:.*0' /proc/self/status && {shout}"),
    Escape(
        "keep a key in the kernel", python("libc.syscall(248 if os.uname().machine == 'x86_64' else 217, b'user', b'a', b'b', 1, -3) > 0 and shout()")
    ),
    Escape(
        "type into the terminal",
        python("import fcntl\nfor fd in (0, 1, 2, os.open('/dev/tty', 2)): fcntl.ioctl(fd, 0x5412, b'x'); shout()"),
        bare=False,
    ),
    Escape("dump a core", "ulimit -c unlimited && {shout}", bare=False),
    Escape(
        "load a program into the kernel",
        python(
            "libc.syscall(321 if os.uname().machine == 'x86_64' else 280, 0, ctypes.create_string_buffer(b'\\x02\\0\\0\\0\\x04\\0\\0\\0\\x04\\0\\0\\0\\x01' + b'\\0' * 60), 72) >= 0 and shout()"
        ),
        bare=_ROOT,
    ),
)

ESCAPES = (*OUTSIDE, *GIT, *SECRETS, *NETWORK, *PROCESSES)
