"""The kernel's own checkpoints: one before every cell, as long as there is memory for them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import linux
from .changes import Changes
from .checkpoints import IDLE, LEAST_FREE, LOST, Asked, Message
from .hazards import Finding
from .keeper import Keeper, Point, size
from .options import Options
from .undo import Undo, sentence

if TYPE_CHECKING:
    from .front import Front, Request

# requests that leave the session as it is
HARMLESS = {
    f"{kind}_request"
    for kind in ("complete", "inspect", "is_complete", "history", "kernel_info", "comm_info")
}
ATTEMPTS = 2  # to make a checkpoint; messages of widgets may change the session meanwhile


@dataclass(eq=False)
class After(Point):
    """A checkpoint, and the last cell before it."""

    last: Cell | None
    count: int  # number of the last cell


@dataclass(eq=False)
class Cell:
    """A cell that has run, and the checkpoint before it."""

    number: int
    code: str
    earlier: Cell | None
    before: After | None
    why: str = ""  # there is no checkpoint before it


class Own(Asked):
    """The policy's request for a checkpoint."""

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self._policy = policy

    def made(self, name: str, info: Message) -> None:
        self._policy.made(name, info["execution_count"])

    def fail(self, name: str, why: str, findings: list[Finding]) -> None:
        self._policy.not_made(sentence(findings[0]) if findings else why)


class Policy(Keeper):
    def __init__(self, front: Front, options: Options) -> None:
        super().__init__(front)
        self.options = options
        self.last: Cell | None = None
        self.count = 0  # number of the last cell
        self.now: After | None = None  # the checkpoint of the present state
        self.why = ""  # or why there is none
        self._work = ""  # of the worker since then, if it is known: see linux.work
        self._stale = False  # whether it has got a message since a checkpoint was asked for
        self.due = 0.0  # when the worker has rested for a moment
        self.named: dict[str, After] = {}
        self.changes = Changes(os.getcwd()) if options.files else None
        self.undo = Undo(self)

    def end(self) -> None:
        """Drops all checkpoints."""
        self.checkpoints.drop([point.name for point in self.points])

    # ---- before a cell

    def before(self, request: Request) -> bool:
        """Handles a magic, or asks for a checkpoint before a cell. Returns whether the request is
        not to be sent now."""
        if request.type != "execute_request":
            return False
        content = request.content()
        code = str(content.get("code", ""))
        if content.get("silent") or not code.strip():
            return False
        magic = Undo.magic(code)
        counts = content.get("store_history", True) and magic is None
        wanted = self.front.live and (counts or (magic and magic[0] == "checkpoint"))
        if wanted and request.attempts < ATTEMPTS and not self.is_now():
            request.attempts += 1
            self.front.queue.appendleft(request)
            self._prepare()
            return True
        if magic:
            self.undo.handle(request, *magic)
            return True
        if self.front.live and counts:
            self._begin(code)
        return False

    def is_now(self) -> bool:
        """Whether there is a checkpoint of the present state."""
        if not (self.now and self.exists(self.now) and self.front.live):
            return False
        # a task of asyncio may have gone on
        return not self._work or self._work == linux.work(self.front.live.pid)

    def sending(self, request: Request) -> None:
        """Notes that the worker will handle a request."""
        if not (request.type in HARMLESS and self.is_now()):
            self.now = None
        self._stale = True
        self._work, self.due = "", 0.0

    def rest(self) -> None:
        """Notes that the worker has handled a request."""
        if self.changes:
            self.changes.end()
        self.due = time.monotonic() + IDLE

    def _rested(self) -> None:
        """Makes the next checkpoint while nobody waits for it, and readies the one that %undo would
        restore."""
        front, self.due = self.front, 0.0
        if not front.live or not front.live.ready or front.running or front.queue:
            return
        self._sweep()
        if not self.is_now():
            self._prepare()
            front.next()
        elif self.now and not self._work:
            self._work = linux.work(front.live.pid)
            if self.last and self.last.before:
                self.checkpoints.expect(self.last.before.name, 0)

    def _prepare(self) -> None:
        """Has a checkpoint made, ahead of the requests that wait."""
        self.now, self._stale = None, False
        if (free := linux.available()) < LEAST_FREE:
            self.not_made(f"only {size(free)} of memory were free")
        else:
            self.front.queue.appendleft(self.front.request(Own(self)))

    def made(self, name: str, count: int) -> None:
        if self.front.policy is not self:  # ended meanwhile
            self.checkpoints.drop([name])
            return
        self.count, self._work = count, ""
        waiting = self.front.queue[0].attempts if self.front.queue else 0
        point = After(name, self.last, count)
        self.add(point)
        self.now = None if self._stale and waiting < ATTEMPTS else point
        self._sweep()
        self.rest()

    def not_made(self, why: str) -> None:
        self.now, self.why = None, why
        if self.front.queue:
            self.front.queue[0].attempts = ATTEMPTS

    def _begin(self, code: str) -> None:
        """Notes that a cell is about to run."""
        self.count += 1
        line = code.strip().splitlines()[0]
        self.last = Cell(self.count, line, self.last, self.now, self.why)
        if self.changes:
            state = self.changes.begin()
            if self.now:
                self.now.files = state
        self.now, self.why = None, ""

    # ---- the cells and their checkpoints

    def trail(self) -> list[Cell]:
        """The cells that made the present state, oldest first."""
        return list(_path(self.last))[::-1]

    def missing(self, point: After) -> str:
        """Why a checkpoint cannot be restored."""
        if not self.exists(point):
            return point.gone or LOST
        findings = self.checkpoints.changed(point.name)
        return sentence(findings[0]) if findings else ""

    def obstacle(self, cell: Cell) -> str:
        """Why a cell cannot be undone."""
        return self.missing(cell.before) if cell.before else cell.why

    def keep(self, name: str) -> None:
        """Gives the checkpoint of the present state a name."""
        assert self.now
        self.named[name] = self.now
        if self.changes:
            self.now.files = self.changes.files.keep()
        self._sweep()

    def gone_to(self, point: After) -> None:
        """Notes that a checkpoint has been restored."""
        self.last, self.count, self.now, self._work = point.last, point.count, point, ""
        self.rest()

    def way_out(self) -> str:
        """Notes that the worker has died. Returns what can be done about it, as a sentence."""
        if self.changes:
            self.changes.end()
        nearest = self.undo.nearest(self.trail(), 0)
        return f".{nearest}" if nearest else ""

    # ---- memory

    def check(self) -> None:
        """Makes the next checkpoint in time, and drops those that hold too much memory."""
        if self.due and time.monotonic() >= self.due:
            self._rested()
        super().check()

    def limit(self) -> int:
        return self.options.memory or super().limit()

    def least(self) -> Iterator[Point]:
        """First those of undone cells, then of the older cells, the named ones, and at last the
        first."""
        here = {cell.before for cell in _path(self.last)}
        named = set(self.named.values())
        first = next((point for point in self.points if point in here), None)
        plain = [point for point in self.points if point not in named and point is not first]
        yield from (point for point in plain if point not in here)
        yield from (point for point in plain if point in here)
        yield from (point for point in self.points if point in named and point is not first)
        yield from (point for point in [first] if point)

    def _sweep(self) -> None:
        """Drops the checkpoints that no magic can reach."""
        ends = [self.last, *(point.last for point in self.named.values())]
        reached = {cell.before for end in ends for cell in _path(end)}
        reached |= {self.now, *self.named.values()}
        self.drop([point for point in self.points if point not in reached])


def _path(cell: Cell | None) -> Iterator[Cell]:
    while cell:
        yield cell
        cell = cell.earlier
