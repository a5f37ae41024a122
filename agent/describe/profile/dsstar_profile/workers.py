"""Prints the profiles of many files, a line for each, from children that work side by side: a file
that takes too long, or too much memory, ends its child alone."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
import warnings
from typing import Any

from dsstar_profile import hints, profile

GRACE = 1.0  # seconds beyond its time after which a reader that does not listen is ended
AHEAD = b"ahead "  # begins the profile of a file whose calls are not tried yet
LOADED = 3  # how much longer calls may take where they have a processor for a part of the time


class Worker:
    """A child that profiles files, one at a time."""

    def __init__(self, paths: list[str], seconds: float) -> None:
        self.seconds, self.alive, self.part, self.spare = seconds, True, b"", b""
        asked, self.ask = os.pipe()
        self.told, tell = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a kernel has threads, which a child does not need
            self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setpgid(0, 0)
                sys.stdin = open(os.devnull)
                with open(asked) as numbers, open(tell, "w", encoding="utf-8") as out:

                    def ahead(found: dict[str, Any]) -> None:
                        with contextlib.suppress(TypeError, ValueError):  # words leave it out
                            told = AHEAD.decode() + json.dumps(found, default=str)
                            print(told, file=out, flush=True)

                    for line in numbers:
                        n = int(line)
                        print(n, profile.text(paths[n], seconds, ahead), file=out, flush=True)
            finally:
                os._exit(0)
        os.close(asked)
        os.close(tell)

    def begin(self, number: int) -> None:
        self.number, self.late = number, time.monotonic() + self.seconds + GRACE
        self.spare = b""
        with contextlib.suppress(BrokenPipeError):
            os.write(self.ask, b"%d\n" % number)

    def outcome(self, ready: bool) -> str:
        """The line about its file, empty as long as it is at work."""
        data = os.read(self.told, 1 << 20) if ready else b""
        self.part += data
        while b"\n" in data and b"\n" in self.part:
            line, _, self.part = self.part.partition(b"\n")
            if not line.startswith(AHEAD):
                return line.decode("utf-8", "replace") + "\n"
            self.spare = line.removeprefix(AHEAD)
            self.late = min(self.late, time.monotonic() + LOADED * hints.SECONDS + GRACE)
        if ready and not data:
            return self.lost("the program that reads it has died", "")
        if time.monotonic() > self.late:
            return self.lost(f"it takes longer than {self.seconds:.0f} s to read", "time")
        return ""

    def lost(self, why: str, cause: str) -> str:
        self.alive = False
        if self.spare:
            return f"{self.number} {profile.in_words(json.loads(self.spare))}\n"
        found: dict[str, Any] = {"format": "unknown", "cause": cause}
        found["problem"] = f"not read to its end: {why}"
        return f"{self.number} {profile.in_words(found)}\n"

    def close(self) -> None:
        for kill in (os.killpg, os.kill):  # what a reader has started holds the pipes open, too
            with contextlib.suppress(OSError):
                kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.ask)
        os.close(self.told)


def side_by_side(
    paths: list[str], seconds: float, count: int, within: float, mark: str
) -> None:
    end, left, begun = time.monotonic() + within, list(range(len(paths)))[::-1], 0
    workers: list[Worker] = []
    try:
        while True:
            while left and len(workers) < count and (begun < count or time.monotonic() < end):
                begun += 1
                workers.append(Worker(paths, seconds))
                workers[-1].begin(left.pop())
            if not workers:
                return
            soonest = min(w.late for w in workers) - time.monotonic()
            ready, _, _ = select.select([w.told for w in workers], [], [], max(0.0, soonest))
            for w in workers[:]:
                text = w.outcome(w.told in ready)
                if text:
                    sys.stdout.write(f"{mark} {text}")
                if text and w.alive and left and time.monotonic() < end:
                    w.begin(left.pop())
                elif text:
                    w.close()
                    workers.remove(w)
    finally:
        for w in workers:
            w.close()


def main(paths: list[str], seconds: float, count: int, within: float, mark: str) -> None:
    """Prints mark, number and profile of each file: of one not begun within a time, nothing."""
    if sys.platform == "linux":
        side_by_side(paths, seconds, count, within, mark)
        return
    for n, path in enumerate(paths):  # a child of a process with threads is less safe there
        print(mark, n, profile.text(path, seconds))
