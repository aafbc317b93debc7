"""Run a command that is killed when its starter's process ends, in whatever way.

Usage: ``python kill_with_parent.py COMMAND...`` with a pipe on standard input whose other end only the
starter has. The command replaces this process, so signals to its pid reach it; a forked child reads the pipe
and kills the command at its end. Unlike Linux's ``PR_SET_PDEATHSIG`` this works on macOS and does not depend
on the starting thread. Run by path: it imports no other module of ours.
"""

import os
import select
import signal
import sys

_LOOK_EVERY = 1.0


def watch(pipe: int, command: int) -> None:
    """Wait for the end of ``pipe``, then kill process ``command``; return early if it has ended."""
    while os.getppid() == command:
        readable, _, _ = select.select([pipe], [], [], _LOOK_EVERY)
        if readable and not os.read(pipe, 1024):
            break
    if os.getppid() == command:
        os.kill(command, signal.SIGKILL)


def main(command: list[str]) -> None:
    """Replace this process by ``command``, with a child that watches standard input."""
    pid = os.getpid()
    if os.fork() == 0:
        watch(0, pid)
        os._exit(0)
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    os.execv(command[0], command)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(sys.argv[1:])
