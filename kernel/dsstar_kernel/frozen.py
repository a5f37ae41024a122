"""Frozen copies: processes that wait at the point where they were made until they are dropped or resumed."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from . import linux
from .channel import Channel, receive_fds

PATIENCE = 20.0  # seconds for a copy to be made or resumed: at-fork hooks of libraries may hang
OOM = Path("/proc/self/oom_score_adj")


@dataclass
class Frozen:
    """A copy, and the line that ends it when it is closed, and resumes it."""

    pid: int
    line: socket.socket


def freeze(front: int, main: int) -> Frozen | None:
    """Makes a frozen copy of this process, a child of the front, and returns it. Returns None in a process that was
    resumed from it: that one has a new channel at descriptor main. Raises OSError if there can be no copy."""
    # Handlers of the user would run in the copy and change it, and here for the helper's end.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        return _freeze(front, main)
    finally:
        if signal.SIGCHLD not in mask:
            signal.sigtimedwait({signal.SIGCHLD}, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _freeze(front: int, main: int) -> Frozen | None:
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = os.fork()
    if child == 0:
        # Nothing may go on from here but a resumed copy.
        try:
            mine.close()
            if copy := os.fork():
                theirs.send(b"%d" % copy)
                os._exit(0)
            _wait(theirs, front, main)
            return None
        except BaseException:
            os._exit(1)
    theirs.close()
    mine.settimeout(PATIENCE)
    copy = 0
    try:
        copy = int(mine.recv(32) or 0)
        if not copy or not mine.recv(32):
            raise OSError("the copy ended at once")
    except OSError as error:
        mine.close()
        for pid in (child, copy):
            if pid:
                linux.kill(pid)
        raise OSError(f"a frozen copy could not be made: {error}") from None
    finally:
        linux.wait(child)
    return Frozen(copy, mine)


def _wait(line: socket.socket, front: int, main: int) -> None:
    """Waits to be resumed, and returns in the process that was."""
    _adopted(front)
    score = _score(500)  # to be killed for want of memory before the worker, of which this is only a copy
    # The number stays taken, and the worker's end closes when the worker does.
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, main, inheritable=False)
    os.close(null)
    line.send(b"frozen")
    while True:
        data, fds = receive_fds(line, 64)
        if not data:
            os._exit(0)
        if not fds:
            line.send(b"here")
            continue
        if child := _fork():
            for fd in fds:
                os.close(fd)
            if child > 0:
                os.waitpid(child, 0)
            continue
        if copy := os.fork():
            Channel(socket.socket(fileno=fds[0])).send(b"pid", b"%d" % copy)
            os._exit(0)
        line.close()
        os.dup2(fds[0], main, inheritable=False)
        os.close(fds[0])
        _adopted(front)
        if score is not None:
            _score(score, add=False)
        return


def _fork() -> int:
    """fork(), or -1 if there is no memory for it: the front sees that the channel closes."""
    try:
        return os.fork()
    except OSError:
        return -1


def _adopted(front: int) -> None:
    """Waits until the front is the parent of this process, and binds it to the front."""
    deadline = time.monotonic() + PATIENCE
    while os.getppid() != front:
        if time.monotonic() > deadline:
            os._exit(1)
        time.sleep(0.0002)
    linux.die_with_parent()
    if os.getppid() != front:  # it ended just now
        os._exit(1)


def _score(value: int, add: bool = True) -> int | None:
    """Sets the badness of this process when memory is short, and returns the old one."""
    with contextlib.suppress(OSError, ValueError):
        old = int(OOM.read_text())
        OOM.write_text(str(min(1000, old + value) if add else value))
        return old
    return None
