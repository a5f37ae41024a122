"""The front's side of checkpoints: the messages of docs/checkpoints.md."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import hazards, linux
from .channel import pair, send_fds
from .frozen import PATIENCE
from .hazards import Finding

if TYPE_CHECKING:
    from .front import Front

LEAST_FREE = 256 << 20  # bytes that must be available before another copy is made
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

    def end(self) -> None:
        self.settle()
        self.line.close()
        if self.pid:
            linux.kill(self.pid)
            linux.wait(self.pid)
        self._end_ready()


@dataclass
class Asked:
    """A pending request."""

    checkpoints: Checkpoints
    idents: Any
    message: Message
    began: float = field(default_factory=time.monotonic)
    again: bool = False  # this is the second attempt
    folder: str = ""  # the client restores the files in it

    def __post_init__(self) -> None:
        self.folder = str(self.message["content"].get("folder") or "")

    def reply(self, content: Message) -> None:
        self.checkpoints.front.control.reply(self.idents, self.message, content)

    def fail(self, name: str, why: str, findings: list[Finding] | None = None) -> None:
        self.reply(
            {
                "status": "error",
                "ename": name,
                "evalue": why,
                "traceback": [],
                "findings": findings or [],
            }
        )

    def refuse(self, findings: list[Finding]) -> None:
        self.fail(
            "Refused", "; ".join(f"{f['kind']}: {f['detail']}" for f in findings)[:500], findings
        )

    def milliseconds(self) -> float:
        return 1e3 * (time.monotonic() - self.began)


class Checkpoints:
    def __init__(self, front: Front) -> None:
        self.front = front
        self.kept: dict[str, Checkpoint] = {}
        self._made = 0
        self._resuming: tuple[Asked, str] | None = None
        self.due = 0.0  # when the next copy is to be readied
        self._next = ""

    def handle(self, kind: str, idents: Any, message: Message) -> bool:
        """Handles a checkpoint request. Returns whether it was one."""
        do = {
            "undokernel_checkpoint_request": self._checkpoint, "undokernel_rollback_request": self._rollback,
            "undokernel_drop_request": self._drop, "undokernel_checkpoints_request": self._list,
        }.get(kind)  # fmt: skip
        if do is None:
            return False
        do(Asked(self, idents, message), message["content"])
        return True

    def pids(self) -> set[int]:
        """All processes of checkpoints. Drops checkpoints without processes."""
        for name, checkpoint in list(self.kept.items()):
            if not checkpoint.settle() and not checkpoint.readied:
                self.kept.pop(name).end()
        return {pid for checkpoint in self.kept.values() for pid in checkpoint.pids()}

    # ---- checkpoint

    def _checkpoint(self, asked: Asked, _: Message) -> None:
        if (free := linux.available()) < LEAST_FREE:
            asked.refuse([Finding(kind="memory", detail=f"only {free >> 20} MB are free")])
        else:
            self.front.enqueue(self.front.request(asked))

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
            asked.fail("Failed", info["failed"])
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
        self._next, self.due = name, time.monotonic() + IDLE
        live = self.front.live.pid if self.front.live else 0
        asked.reply({
            "status": "ok", "checkpoint": name, "execution_count": info["execution_count"],
            "resident": sum(map(linux.rss, {live, *self.pids()})),
            "milliseconds": {**info["milliseconds"], "all": asked.milliseconds()},
        })  # fmt: skip

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

    def _rollback(self, asked: Asked, content: Message) -> None:
        name = str(content.get("checkpoint"))
        checkpoint = self.kept.get(name)
        if checkpoint is None or not checkpoint.answers():
            asked.fail("NoCheckpoint", f"there is no checkpoint {name}")
            return
        if findings := hazards.changed(min(checkpoint.pids()), checkpoint.files, asked.folder):
            asked.refuse(findings)
            return
        if self._resuming:
            self._resuming[0].fail("Failed", "another roll-back has come")
        self._resuming = (asked, name)
        self._resume(checkpoint)

    def _resume(self, checkpoint: Checkpoint) -> None:
        """Resumes a copy in place of the current worker."""
        front = self.front
        checkpoint.ready()
        self._end_others()
        if front.live:
            front.disconnect()
        front.give_up("RolledBack", "the kernel was rolled back while this ran")
        if checkpoint.readied:
            front.connect(*checkpoint.readied)
            checkpoint.readied = None
        else:
            self._failed("the copy did not answer")

    def _end_others(self) -> None:
        """Kills the worker and all other processes except those of checkpoints."""
        if self.front.live:  # by its id, in case processes cannot be listed
            linux.kill(self.front.live.pid)
            linux.wait(self.front.live.pid)
        linux.end_all(os.getpid(), self.pids())

    def resumed(self, info: Message) -> None:
        """Handles the message that the resumed worker is ready."""
        if self._resuming:
            (asked, name), self._resuming = self._resuming, None
            self._next, self.due = name, time.monotonic() + IDLE
            asked.reply({"status": "ok", **info, "milliseconds": asked.milliseconds()})

    def resume_failed(self, how: str) -> bool:
        """Handles the end of a worker. Returns whether it was being resumed."""
        if not self._resuming:
            return False
        asked, name = self._resuming
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
        if self._resuming and now > self._resuming[0].began + PATIENCE:
            self._failed("the copy did not go on")
        if self.due and now > self.due:
            self.due = 0.0
            for name, checkpoint in self.kept.items():
                if name == self._next:
                    checkpoint.ready()
                else:
                    checkpoint.calm()

    def _failed(self, why: str) -> None:
        assert self._resuming
        (asked, name), self._resuming = self._resuming, None
        if checkpoint := self.kept.pop(name, None):
            checkpoint.end()
        self._end_others()
        if self.front.live:
            self.front.disconnect()
        self.front.obituary = f"the kernel died: {why}"
        asked.fail("Failed", why)
        self.front.next()

    # ---- drop, list

    def _drop(self, asked: Asked, content: Message) -> None:
        for name in content.get("checkpoints") or ():
            if self._resuming and self._resuming[1] == name:
                continue
            if checkpoint := self.kept.pop(str(name), None):
                checkpoint.end()
        asked.reply({"status": "ok"})
        if not self.front.live and not self.kept and not self._resuming:
            self.front.status = self.front.ended  # there is nothing left to resume

    def lost(self, pid: int) -> None:
        """Removes the checkpoint or the readied copy whose process pid has ended."""
        for name, checkpoint in list(self.kept.items()):
            if checkpoint.pid == pid:
                checkpoint.pid = 0
                self.kept.pop(name).end()
            elif checkpoint.readied and checkpoint.readied[0] == pid:
                checkpoint.readied[1].close()
                checkpoint.readied = None

    def _list(self, asked: Asked, _: Message) -> None:
        def process(pid: int, more: Collection[int] = ()) -> Message:
            return {"pid": pid, "bytes": sum(map(linux.pss, {pid, *more}))}

        self.pids()  # settles them
        live = self.front.live
        asked.reply({
            "status": "ok", "live": process(live.pid) if live else None,
            "front": process(os.getpid()),
            "checkpoints": [
                {"checkpoint": name, "execution_count": c.execution_count,
                 **process(c.pid, c.pids()), "ready": c.readied[0] if c.readied else 0}
                for name, c in self.kept.items()
            ],
            "available": linux.available(),
        })  # fmt: skip
