"""The checkpoints that a client has made: the messages of README.md."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import linux
from .checkpoints import LEAST_FREE, LOST, Asked, Message
from .files import Files, State, Unkept
from .hazards import Finding
from .keeper import Keeper, Point

if TYPE_CHECKING:
    from .front import Front


class Requested(Asked):
    """A client's request on the control channel."""

    def __init__(self, client: Client, idents: Any, message: Message) -> None:
        super().__init__()
        self._client, self._idents, self._message = client, idents, message
        self.content: Message = message["content"]
        self.folders = tuple(client.stores)

    def reply(self, content: Message) -> None:
        self._client.front.control.reply(self._idents, self._message, {"status": "ok", **content})

    def made(self, name: str, info: Message) -> None:
        if why := self._client.made(name):
            self.refuse([Finding(kind="files", detail=why)])
            return
        self.reply({
            "checkpoint": name, "execution_count": info["execution_count"],
            "milliseconds": {**info["milliseconds"], "all": self._milliseconds()},
        })  # fmt: skip

    def resumed(self, info: Message) -> None:
        left = self._client.resumed(str(self.content["checkpoint"]))
        self.reply({**info, "not_restored": left, "milliseconds": self._milliseconds()})

    def fail(self, name: str, why: str, findings: list[Finding]) -> None:
        self.reply(
            {"status": "error", "ename": name, "evalue": why, "traceback": [], "findings": findings}
        )

    def _milliseconds(self) -> float:
        return 1e3 * (time.monotonic() - self.began)


@dataclass(eq=False)
class Kept(Point):
    """A client's checkpoint."""

    earlier: Kept | None  # the one that the session came from


class Client(Keeper):
    most = 40

    def __init__(self, front: Front) -> None:
        super().__init__(front)
        self.stores: dict[str, Files] = {}  # by folder
        self._allowed = 0  # bytes that the session and its copies may hold; 0: see limit
        self._made: dict[str, Kept] = {}  # all, also those that have been dropped to save memory
        self._here: Kept | None = None  # the last checkpoint on the way to the present state

    def handle(self, kind: str, idents: Any, message: Message) -> bool:
        """Handles a checkpoint request. Returns whether it was one."""
        do = {
            "undokernel_checkpoint_request": self._checkpoint,
            "undokernel_rollback_request": self._rollback,
            "undokernel_drop_request": self._drop,
            "undokernel_checkpoints_request": self._list,
        }.get(kind)
        if do is None:
            return False
        if do in (self._checkpoint, self._rollback):
            self.front.end_policy()  # the client has its own
        do(Requested(self, idents, message))
        return True

    def limit(self) -> int:
        live = self.front.live
        held = linux.rss(live.pid) if live else 0
        return max(0, self._allowed - held) if self._allowed else super().limit()

    def least(self) -> Iterator[Point]:
        """First those off the way to the present state, then the oldest, the first of all last, and
        never the newest on the way."""
        way: set[Point] = set()
        at = first = self._here
        while at:
            way.add(at)
            at, first = at.earlier, at
        others = [point for point in self.points if point not in (self._here, first)]
        yield from (point for point in others if point not in way)
        yield from (point for point in others if point in way)
        yield from (point for point in self.points if point is first and first is not self._here)

    # ---- checkpoint

    def _checkpoint(self, asked: Requested) -> None:
        try:
            self._allowed = int(asked.content.get("memory") or 0)
            for folder in asked.content.get("folders") or ():
                if folder not in self.stores:
                    self.stores[folder] = Files(folder, exact=True)
        except (OSError, Unkept) as error:
            asked.refuse([Finding(kind="files", detail=str(error))])
            return
        asked.folders = tuple(self.stores)
        if (free := linux.available()) < LEAST_FREE:
            asked.refuse([Finding(kind="memory", detail=f"only {free >> 20} MB are free")])
        else:
            self.front.enqueue(self.front.request(asked))

    def made(self, name: str) -> str:
        """Keeps the files with a new checkpoint. Returns why that was not possible."""
        point = Kept(name, self._here)
        self._here = point  # so that the one before it may be dropped
        why = self._keep_files(point)
        if why:
            self._here = point.earlier
            self.checkpoints.drop([name])
            return why
        self._made[name] = point
        self.add(point)
        self.checkpoints.expect(name)
        return ""

    def _keep_files(self, point: Point) -> str:
        kept: list[tuple[Files, State]] = []
        for store in self.stores.values():
            state = store.keep()
            while state.full and self.drop_next("there was no room for copies of files"):
                state = store.keep()
            if state.why:
                return state.why
            kept.append((store, state))
        point.files = kept
        return ""

    # ---- rollback

    def _rollback(self, asked: Requested) -> None:
        name = str(asked.content.get("checkpoint"))
        point = self._made.get(name)
        if point and not self.exists(point):
            asked.fail("NoCheckpoint", point.gone or LOST, [])
        else:
            self.checkpoints.restore(asked, name)

    def resumed(self, name: str) -> str:
        """Puts the files of a checkpoint back. Returns why some are not."""
        self._here = point = self._made[name]
        self.checkpoints.expect(name)
        return "; ".join(why for store, state in point.files if (why := store.put_back(state)))

    # ---- drop, list

    def _drop(self, asked: Requested) -> None:
        names = [str(name) for name in asked.content.get("checkpoints") or ()]
        points = [point for name in names if (point := self._made.pop(name, None))]
        self.drop(points)
        asked.reply({})
        if not self.front.live and not self.checkpoints.kept and not self.checkpoints.resuming:
            self.front.status = self.front.ended  # there is nothing left to resume

    def _list(self, asked: Requested) -> None:
        def process(pid: int, more: Collection[int] = ()) -> Message:
            return {"pid": pid, "bytes": sum(map(linux.pss, {pid, *more}))}

        self.checkpoints.pids()  # settles them
        live = self.front.live
        asked.reply({
            "live": process(live.pid) if live else None, "front": process(os.getpid()),
            "checkpoints": [
                {"checkpoint": name, "execution_count": c.execution_count,
                 **process(c.pid, c.pids()), "ready": c.readied[0] if c.readied else 0}
                for name, c in self.checkpoints.kept.items()
            ],
            "available": linux.available(),
        })  # fmt: skip
