"""The front's side of checkpoints: the messages of docs/checkpoints.md."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import channel, hazards, linux
from .frozen import PATIENCE
from .hazards import Finding

if TYPE_CHECKING:
    from .front import Front

LEAST_FREE = 256 << 20  # bytes that must be available for another copy

Message = dict[str, Any]


@dataclass
class Checkpoint:
    pid: int
    line: socket.socket
    execution_count: int
    files: list[hazards.File]

    def answers(self) -> bool:
        """Whether the copy is there: it may have been killed, for want of memory, and not have ended yet."""
        try:
            self.line.settimeout(PATIENCE / 4)
            self.line.send(b"there?")
            return self.line.recv(32) == b"here"
        except OSError:
            return False


@dataclass
class Asked:
    """A request that is not answered yet."""

    checkpoints: Checkpoints
    idents: Any
    message: Message
    began: float = field(default_factory=time.monotonic)

    def reply(self, content: Message) -> None:
        self.checkpoints.front.control.reply(self.idents, self.message, content)

    def fail(self, name: str, why: str, findings: list[Finding] | None = None) -> None:
        self.reply({"status": "error", "ename": name, "evalue": why, "traceback": [], "findings": findings or []})

    def refuse(self, findings: list[Finding]) -> None:
        self.fail("Refused", "; ".join(f"{f['kind']}: {f['detail']}" for f in findings)[:500], findings)

    def milliseconds(self) -> float:
        return 1e3 * (time.monotonic() - self.began)


class Checkpoints:
    def __init__(self, front: Front) -> None:
        self.front = front
        self.kept: dict[str, Checkpoint] = {}
        self._made = 0
        self._resuming: tuple[Asked, str] | None = None

    def handle(self, kind: str, idents: Any, message: Message) -> bool:
        """Handles a request of these; reports whether it is one."""
        do = {
            "checkpoint_request": self._checkpoint, "rollback_request": self._rollback,
            "drop_request": self._drop, "checkpoints_request": self._list,
        }.get(kind)  # fmt: skip
        if do is None:
            return False
        do(Asked(self, idents, message), message["content"])
        return True

    def pids(self) -> set[int]:
        return {c.pid for c in self.kept.values()}

    # ---- checkpoint

    def _checkpoint(self, asked: Asked, _: Message) -> None:
        if (free := linux.available()) < LEAST_FREE:
            asked.refuse([Finding(kind="memory", detail=f"only {free >> 20} MB are free")])
        else:
            self.front.enqueue(self.front.request(asked))

    def made(self, info: Message, line: int | None) -> None:
        """The worker has made a copy, or not."""
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
        live = self.front.live.pid if self.front.live else 0
        asked.reply({
            "status": "ok", "checkpoint": name, "execution_count": info["execution_count"],
            "resident": sum(map(linux.rss, {live, *self.pids()})),
            "milliseconds": {**info["milliseconds"], "all": asked.milliseconds()},
        })  # fmt: skip

    def _daemons(self, new: int) -> list[Finding]:
        """Processes of the user's that have no other parent than the front."""
        known = {new, *self.pids(), self.front.live.pid if self.front.live else 0}
        strays = [p for p in linux.children(os.getpid()) if p not in known and linux.state(p) not in ("Z", "X", "")]
        return [Finding(kind="process", detail=linux.command(p)) for p in strays]

    # ---- roll back

    def _rollback(self, asked: Asked, content: Message) -> None:
        name = str(content.get("checkpoint"))
        checkpoint = self.kept.get(name)
        if checkpoint is None or not checkpoint.answers():
            asked.fail("NoCheckpoint", f"there is no checkpoint {name}")
            return
        if findings := hazards.changed(checkpoint.pid, checkpoint.files, str(content.get("folder") or "")):
            asked.refuse(findings)
            return
        front = self.front
        if self._resuming:
            self._resuming[0].fail("Failed", "another roll-back has come")
            self._resuming = None
        if front.live:
            if front.live.pid:
                linux.kill(front.live.pid)
                linux.wait(front.live.pid)
            linux.end_all(os.getpid(), self.pids())
            front.disconnect()
        linux.end_all(os.getpid(), self.pids())
        front.give_up("RolledBack", "the kernel was rolled back while this ran")
        mine, theirs = channel.pair()
        self._resuming = (asked, name)
        front.connect(mine)
        with theirs:
            try:
                channel.send_fds(checkpoint.line, b"resume", [theirs.fileno()])
            except OSError as error:
                self._failed(str(error))

    def resumed(self, info: Message) -> None:
        """The worker that was resumed says that it is ready."""
        if self._resuming:
            asked, _ = self._resuming
            self._resuming = None
            asked.reply({"status": "ok", **info, "milliseconds": asked.milliseconds()})

    def resume_failed(self, how: str) -> bool:
        """The worker has ended. Reports whether it was being resumed."""
        if not self._resuming:
            return False
        self._failed(f"the copy ended when it was resumed: {how}")
        return True

    def check(self) -> None:
        """Gives up what takes too long."""
        if self._resuming and time.monotonic() > self._resuming[0].began + PATIENCE:
            self._failed("the copy did not go on")

    def _failed(self, why: str) -> None:
        assert self._resuming
        (asked, name), self._resuming = self._resuming, None
        self._end(self.kept.pop(name))
        linux.end_all(os.getpid(), self.pids())
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
                self._end(checkpoint)
        asked.reply({"status": "ok"})
        if not self.front.live and not self.kept and not self._resuming:
            self.front.status = self.front.ended  # nobody can go on from here

    def _end(self, checkpoint: Checkpoint) -> None:
        checkpoint.line.close()
        linux.kill(checkpoint.pid)
        linux.wait(checkpoint.pid)

    def lost(self, pid: int) -> None:
        """A child has ended; if it was a checkpoint, there is one less."""
        for name in [name for name, c in self.kept.items() if c.pid == pid]:
            with contextlib.suppress(OSError):
                self.kept.pop(name).line.close()

    def _list(self, asked: Asked, _: Message) -> None:
        def process(pid: int) -> Message:
            return {"pid": pid, "bytes": linux.pss(pid)}

        live = self.front.live
        asked.reply({
            "status": "ok", "live": process(live.pid) if live and live.pid else None, "front": process(os.getpid()),
            "checkpoints": [
                {"checkpoint": name, "execution_count": c.execution_count, **process(c.pid)}
                for name, c in self.kept.items()
            ],
            "available": linux.available(),
        })  # fmt: skip
