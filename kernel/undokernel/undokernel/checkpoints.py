"""The front's side of checkpoints: how they are made, restored and dropped."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import hazards, linux
from .channel import pair, send_fds
from .frozen import PATIENCE
from .hazards import Finding

if TYPE_CHECKING:
    from .front import Front

LEAST_FREE = 256 << 20  # bytes that must be available before another copy is made
LOST = "Linux has ended its copy, as memory was short"
IDLE = 0.05  # seconds before a copy is readied, so as not to delay the next request

Message = dict[str, Any]


@dataclass
class Checkpoint:
    pid: int  # 0 from when the copy is readied until its replacement is known
    line: socket.socket
    execution_count: int
    files: list[hazards.File]
    # pid and channel of a copy that can resume at once
    readied: tuple[int, socket.socket] | None = None

    def answers(self) -> bool:
        """Whether the copy answers: the OOM killer may have killed it although it has not ended
        yet."""
        if not self.settle():
            return self.readied is not None  # then that is the last copy
        try:
            self.line.send(b"there?")
            return self._heard() == b"here"
        except OSError:
            return False

    def ready(self) -> None:
        """Makes the copy fork its replacement and get ready to resume: see frozen.py."""
        if self.readied or not self.settle():
            return
        mine, theirs = pair()
        with theirs:
            try:
                send_fds(self.line, b"ready", [theirs.fileno()])
                self.readied, self.pid = (self.pid, mine), 0
            except OSError:
                mine.close()

    def settle(self) -> bool:
        """Returns whether the copy, or its replacement, is alive."""
        self.line.settimeout(PATIENCE / 4)
        if not self.pid:
            with contextlib.suppress(OSError, ValueError):
                pid = int(self._heard() or 0)
                ends = time.monotonic() + PATIENCE / 4
                while pid and not linux.is_child(pid) and time.monotonic() < ends:
                    time.sleep(0.0005)  # its helper ends soon
                # If it is not a child, it was reaped, and its id may have been reused.
                self.pid = pid if linux.is_child(pid) else 0
        return self.pid != 0

    def _heard(self) -> bytes:
        """The next message of the copy, apart from the `frozen` that every new copy sends."""
        while (said := self.line.recv(32)) == b"frozen":
            pass
        return said

    def pids(self) -> set[int]:
        return {pid for pid in (self.pid, self.readied[0] if self.readied else 0) if pid}

    def calm(self) -> None:
        """Ends the readied copy, unless it is the last."""
        if self.readied and self.settle():
            self._end_ready()

    def _end_ready(self) -> None:
        if self.readied:
            (pid, channel), self.readied = self.readied, None
            channel.close()
            linux.kill(pid)
            linux.wait(pid)

    def kill(self, by: Callable[[int], None] = linux.kill) -> set[int]:
        """Ends the copies without waiting for it. Returns their ids."""
        self.settle()
        pids = self.pids()
        self.line.close()
        for pid in pids:
            by(pid)
        if self.readied:
            self.readied[1].close()
        self.pid, self.readied = 0, None
        return pids

    def end(self) -> None:
        for pid in self.kill():
            linux.wait(pid)


class Asked:
    """A pending request for a checkpoint or a rollback, and what is done with its result."""

    folders: tuple[str, ...] = ()  # whose files are restored with the checkpoint
    aborts = True  # a rollback answers waiting cells with "aborted"

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.again = False  # this is the second attempt

    def made(self, name: str, info: Message) -> None:
        """Handles the new checkpoint."""

    def resumed(self, info: Message) -> None:
        """Handles the end of a rollback."""

    def fail(self, name: str, why: str, findings: list[Finding]) -> None:
        """Handles an error."""

    def refuse(self, findings: list[Finding]) -> None:
        reasons = "; ".join(f"{f['kind']}: {f['detail']}" for f in findings)[:500]
        self.fail("Refused", reasons, findings)


class Checkpoints:
    def __init__(self, front: Front) -> None:
        self.front = front
        self.kept: dict[str, Checkpoint] = {}
        self.dying: set[int] = set()  # copies that have been killed and not waited for
        self._made = 0
        self.resuming: tuple[Asked, str] | None = None
        self.due = 0.0  # when the next copy is to be readied
        self._next = ""

    def pids(self) -> set[int]:
        """All processes of checkpoints. Drops checkpoints without processes."""
        for name, checkpoint in list(self.kept.items()):
            if not checkpoint.settle() and not checkpoint.readied:
                self.kept.pop(name).end()
        kept = {pid for checkpoint in self.kept.values() for pid in checkpoint.pids()}
        return kept | self.dying

    # ---- checkpoint

    def made(self, info: Message, line: int | None) -> None:
        """Handles the worker's reply: it made a copy, or could not."""
        request, self.front.running = self.front.running, None
        sock = socket.socket(fileno=line) if line is not None else None
        if request is None or request.checkpoint is None:
            if sock:
                sock.close()
            return
        asked: Asked = request.checkpoint
        if "failed" in info:
            asked.fail("Failed", info["failed"], [])
            return
        findings = info["findings"] or self._daemons(info["pid"])
        if findings or sock is None:
            if sock:
                sock.close()
                linux.kill(info["pid"])
            asked.refuse(findings)
            return
        self._made += 1
        name = f"{os.getpid()}-{self._made}"
        self.kept[name] = Checkpoint(info["pid"], sock, info["execution_count"], info["files"])
        asked.made(name, info)

    def expect(self, name: str, after: float = IDLE) -> None:
        """Has a copy of this checkpoint readied, as it is probably the next to be resumed."""
        self._next, self.due = name, time.monotonic() + after

    def _daemons(self, new: int) -> list[Finding]:
        """The user's processes that were re-parented to the front."""
        known = {new, *self.pids(), self.front.live.pid if self.front.live else 0}
        for _ in range(20):
            strays = [
                p
                for p in linux.children(os.getpid())
                if p not in known and linux.state(p) not in ("Z", "X", "")
            ]
            if not strays:
                break
            time.sleep(0.005)  # it may be the helper of a copy that has just been given up
        return [Finding(kind="process", detail=linux.command(p)) for p in strays]

    # ---- rollback

    def changed(self, name: str, folders: Sequence[str] = ()) -> list[Finding]:
        """What has changed since a checkpoint so that it cannot be restored."""
        checkpoint = self.kept[name]
        checkpoint.settle()
        pids = checkpoint.pids()
        return hazards.changed(min(pids), checkpoint.files, folders) if pids else []

    def restore(self, asked: Asked, name: str) -> None:
        """Restores a checkpoint, or refuses to."""
        checkpoint = self.kept.get(name)
        if checkpoint is None or not checkpoint.answers():
            asked.fail("NoCheckpoint", f"there is no checkpoint {name}", [])
            return
        if findings := self.changed(name, asked.folders):
            asked.refuse(findings)
            return
        if self.resuming:
            self.resuming[0].fail("Failed", "another roll-back has come", [])
        self.resuming = (asked, name)
        self._resume(checkpoint)

    def _resume(self, checkpoint: Checkpoint) -> None:
        """Resumes a copy in place of the current worker."""
        front = self.front
        assert self.resuming
        unnoticed = not self.resuming[0].aborts and self._alone(checkpoint)
        checkpoint.ready()
        self._end_others(unnoticed)
        if front.live:
            front.disconnect()
        if self.resuming[0].aborts:
            front.read_shell()  # what was sent before is not for the copy
            front.give_up("RolledBack", "the kernel was rolled back while this ran")
        if checkpoint.readied:
            front.connect(*checkpoint.readied)
            checkpoint.readied = None
        else:
            self._failed("the copy did not answer")

    def _alone(self, checkpoint: Checkpoint) -> bool:
        """Whether there is only an idle worker, and it does not matter to the copy when it ends."""
        live, children = self.front.live, set(linux.children(os.getpid()))
        if not live or not children <= {live.pid, *self.pids()}:
            return False
        return not hazards.lingers(live.pid, min(checkpoint.pids()))

    def _end_others(self, unnoticed: bool = False) -> None:
        """Kills the worker and all other processes except those of checkpoints, and waits for their
        end, which takes long if there is much memory to free; unless it goes unnoticed."""
        if self.front.live:  # by its id, in case processes cannot be listed
            pid = self.front.live.pid
            if unnoticed:
                linux.retire(pid)
                self.dying.add(pid)
                return
            linux.kill(pid)
            linux.wait(pid)
        linux.end_all(os.getpid(), self.pids())

    def resumed(self, info: Message) -> None:
        """Handles the message that the resumed worker is ready."""
        if self.resuming:
            (asked, _), self.resuming = self.resuming, None
            asked.resumed(info)

    def resume_failed(self, how: str) -> bool:
        """Handles the end of a worker. Returns whether it was being resumed."""
        if not self.resuming:
            return False
        asked, name = self.resuming
        checkpoint = self.kept.get(name)
        if checkpoint and not asked.again and checkpoint.answers():
            asked.again = True  # the readied copy was killed, perhaps by the OOM killer
            self._resume(checkpoint)
        else:
            self._failed(f"the copy ended when it was resumed: {how}")
        return True

    def check(self) -> None:
        """Gives up a roll-back that takes too long, and readies the copy most likely to be resumed
        next."""
        now = time.monotonic()
        self.front.client.check()
        if self.front.policy:
            self.front.policy.check()
        if self.resuming and now > self.resuming[0].began + PATIENCE:
            self._failed("the copy did not go on")
        if self.due and now > self.due:
            self.due = 0.0
            for name, checkpoint in self.kept.items():
                if name == self._next:
                    checkpoint.ready()
                else:
                    checkpoint.calm()

    def _failed(self, why: str) -> None:
        assert self.resuming
        (asked, name), self.resuming = self.resuming, None
        if checkpoint := self.kept.pop(name, None):
            checkpoint.end()
        self._end_others()
        if self.front.live:
            self.front.disconnect()
        self.front.obituary = f"the kernel died: {why}"
        asked.fail("Failed", why, [])
        self.front.next()

    # ---- drop

    def drop(self, names: Iterable[str]) -> None:
        """Drops checkpoints. It takes a while until their memory is free."""
        for name in names:
            if self.resuming and self.resuming[1] == name:
                continue
            if checkpoint := self.kept.pop(name, None):
                self.dying |= checkpoint.kill(linux.retire)

    def lost(self, pid: int) -> None:
        """Removes the checkpoint or the readied copy whose process pid has ended."""
        self.dying.discard(pid)
        for name, checkpoint in list(self.kept.items()):
            if checkpoint.pid == pid:
                checkpoint.pid = 0
                self.kept.pop(name).end()
            elif checkpoint.readied and checkpoint.readied[0] == pid:
                checkpoint.readied[1].close()
                checkpoint.readied = None
