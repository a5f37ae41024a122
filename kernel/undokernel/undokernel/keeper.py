"""Which checkpoints are kept: as many as there is memory for, the oldest dropped first."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import linux
from .checkpoints import LEAST_FREE

if TYPE_CHECKING:
    from .front import Front

TICK = 0.25  # seconds between looks at the free memory
SLACK = 0.75  # once the copies hold too much, some are dropped until they hold this part of it
SHARE = 20  # measuring the copies takes at most one part in 20 of the time


@dataclass(eq=False)
class Point:
    """A checkpoint."""

    name: str  # in Checkpoints.kept
    files: Any = field(default=None, kw_only=True)  # what was in folders then
    gone: str = field(default="", kw_only=True)  # why it has been dropped


@dataclass
class Memory:
    """What the copies hold, beyond what the worker would hold alone. Measuring takes milliseconds
    per gigabyte and copy, so it is bounded from above as long as that is enough."""

    bound: int = 0
    exact: bool = True  # no copy has been made since it was measured
    next_look: float = 0.0

    def measure(self, worker: int, copies: Iterable[int]) -> int:
        began = time.monotonic()
        shares, whole = linux.anonymous(worker)
        held = sum(linux.anonymous(pid)[0] for pid in copies) + shares - whole
        now = time.monotonic()
        self.bound, self.exact = max(0, held), True
        self.next_look = now + SHARE * (now - began)
        return self.bound


class Keeper:
    """Keeps checkpoints for whoever has them made, who says in least which are missed least."""

    most = 100  # copies: each is a process

    def __init__(self, front: Front) -> None:
        self.front, self.checkpoints = front, front.checkpoints
        self.points: list[Point] = []  # whose checkpoints exist, the oldest first
        self.memory = Memory()
        self._next_look = 0.0  # at the free memory

    def least(self) -> Iterator[Point]:
        """The checkpoints in the order in which they are dropped."""
        raise NotImplementedError

    def limit(self) -> int:
        """Bytes that the copies may hold: half of what would be free without them."""
        return (linux.available() + self.memory.bound) // 2

    def exists(self, point: Point) -> bool:
        return point.name in self.checkpoints.kept

    def add(self, point: Point) -> None:
        self.points.append(point)
        self.memory.bound += linux.rss(self.checkpoints.kept[point.name].pid)
        self.memory.exact = False

    def check(self) -> None:
        """Drops checkpoints that hold too much memory. Called often."""
        now, live = time.monotonic(), self.front.live
        if now < self._next_look or not live or not live.ready or not self.points:
            return
        self._next_look = now + TICK
        if linux.available() < LEAST_FREE:
            self.drop_next("memory was short")
        while len(self.points) > self.most and self.drop_next(f"{self.most} are kept"):
            pass
        limit = self.limit()
        # somebody else may have measured, who has then put off the next look
        if self.memory.bound > limit and (self.memory.exact or now > self.memory.next_look):
            held = self.memory.bound if self.memory.exact else self.measure()
            limit = self.limit()
            if held > limit:
                why = f"the copies may hold {size(limit)}"
                while held > limit * SLACK and self.drop_next(why):
                    held = self.measure()

    def measure(self) -> int:
        """Bytes that the copies hold."""
        worker = self.front.live.pid if self.front.live else 0
        return self.memory.measure(worker, self.checkpoints.pids() - self.checkpoints.dying)

    def drop_next(self, why: str) -> bool:
        """Drops the checkpoint that is missed least. Returns whether there was one."""
        point = next(self.least(), None)
        if point:
            point.gone = f"its copy was dropped, because {why}"
            self.drop([point])
        return point is not None

    def drop(self, points: Iterable[Point]) -> None:
        points = list(points)
        self.checkpoints.drop([point.name for point in points])
        self.points = [point for point in self.points if self.exists(point)]
        for point in points:
            if not self.exists(point):
                point.files = None


def size(n: int) -> str:
    """Bytes for people."""
    return f"{n / (1 << 30):.1f} GB" if n >= 1 << 30 else f"{n >> 20} MB"
