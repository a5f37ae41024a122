"""The magics, and what they print.

The front answers a cell that is only a magic. So they work after the worker has died, and leave no
trace in the session: their cells show the number of the last cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .checkpoints import LOST, Asked, Message
from .files import State
from .hazards import Finding
from .keeper import size

if TYPE_CHECKING:
    from .front import Published, Request
    from .policy import After, Cell, Policy

MAGIC = re.compile(r"%(undo|checkpoints|checkpoint|restore)(?:[ \t]+(.*))?")


@dataclass
class Restoring(Asked):
    """The rollback of a magic."""

    undo: Undo
    request: Request
    point: After
    what: str
    failed: Callable[[str], str]
    files: State | None  # as they are
    aborts: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        super().__init__()

    def resumed(self, info: Message) -> None:
        policy = self.undo.policy
        policy.gone_to(self.point)
        text = f"{self.what}; the next cell is [{policy.count + 1}]."
        if policy.changes and self.files:
            text += policy.changes.restore(self.point.files, self.files)
        self.undo.say(self.request, text)

    def fail(self, name: str, why: str, findings: list[Finding]) -> None:
        if name == "NoCheckpoint":
            why = LOST
        self.undo.refuse(self.request, self.failed(sentence(findings[0]) if findings else why))
        front = self.undo.policy.front
        if not front.live:
            front.obituary += self.undo.policy.way_out()
            if not front.checkpoints.kept:
                front.status = front.ended


class Undo:
    def __init__(self, policy: Policy) -> None:
        self.policy, self.front = policy, policy.front

    @staticmethod
    def magic(code: str) -> tuple[str, str] | None:
        """The name and the argument of the magic that a cell is."""
        match = MAGIC.fullmatch(code.strip())
        return (match[1], (match[2] or "").strip()) if match else None

    def handle(self, request: Request, name: str, argument: str) -> None:
        do = {
            "undo": self._undo,
            "restore": self._restore,
            "checkpoint": self._checkpoint,
            "checkpoints": self._checkpoints,
        }[name]
        do(request, argument)

    def _undo(self, request: Request, argument: str) -> None:
        if not re.fullmatch(r"[1-9]\d*|", argument):
            self._usage(request, "%undo takes the number of cells to undo")
            return
        cells, number = self.policy.trail(), int(argument or 1)
        if number > len(cells):
            most = f"there are only {plural(len(cells), 'cell')}" if cells else "there is no cell"
            self.refuse(request, f"{most} to undo.{self.nearest(cells, number)}")
            return
        cell = cells[-number]

        def failed(why: str) -> str:
            return f"cell [{cell.number}] cannot be undone: {why}.{self.nearest(cells, number)}"

        if why := self.policy.obstacle(cell):
            self.refuse(request, failed(why))
            return
        assert cell.before
        undone = numbers([c.number for c in cells[-number:]])
        self._go(request, cell.before, f"Undid {undone}", failed)

    def _restore(self, request: Request, name: str) -> None:
        def failed(why: str) -> str:
            return f"checkpoint {name} cannot be restored: {why}."

        point = self.policy.named.get(name)
        if not name:
            self._usage(request, "%restore takes a name")
        elif point is None:
            names = ", ".join(self.policy.named)
            known = f" There are: {names}." if names else ""
            self.refuse(request, f"there is no checkpoint {name}.{known}")
        elif why := self.policy.missing(point):
            self.refuse(request, failed(why))
        else:
            self._go(request, point, f"Restored {name}", failed)

    def _go(self, request: Request, point: After, what: str, failed: Callable[[str], str]) -> None:
        changes = self.policy.changes
        files = changes.files.look() if changes else None
        asked = Restoring(self, request, point, what, failed, files)
        self.front.checkpoints.restore(asked, point.name)

    def _checkpoint(self, request: Request, name: str) -> None:
        policy = self.policy
        if not name:
            self._usage(request, "%checkpoint takes a name")
        elif policy.is_now():
            policy.keep(name)
            self.say(request, f"Checkpoint {name} keeps the state after cell [{policy.count}].")
        else:
            why = policy.why if self.front.live else self.front.obituary
            self.refuse(request, f"the session cannot be kept: {why}")

    def _checkpoints(self, request: Request, _: str) -> None:
        policy, lines = self.policy, []
        for cell in policy.trail():
            why = policy.obstacle(cell)
            line = f"[{cell.number}] {cell.code[:60]}"
            lines.append(line + (why and f"   cannot be undone: {why}"))
        for name, point in policy.named.items():
            why = policy.missing(point)
            lines.append(f"{name}: after cell [{point.count}]" + (why and f"   is gone: {why}"))
        held = size(policy.measure())
        lines.append(f"The copies hold {held} of memory, of at most {size(policy.limit())}.")
        self.say(request, "\n".join(lines))

    def nearest(self, cells: list[Cell], number: int) -> str:
        """What can be done instead of undoing this number of cells."""
        older = range(number + 1, len(cells) + 1)
        newer = range(min(number - 1, len(cells)), 0, -1)
        for n in (*older, *newer):
            if not self.policy.obstacle(cells[-n]):
                return f" %undo {n} goes back to before cell [{cells[-n].number}]."
        return ""

    def say(self, request: Request, text: str) -> None:
        """Ends the cell of a magic."""
        content: Message = {"status": "ok", "user_expressions": {}, "payload": []}
        content["execution_count"] = self.policy.count
        self._answer(request, content, ("stream", {"name": "stdout", "text": text + "\n"}))

    def refuse(self, request: Request, why: str, name: str = "CannotUndo") -> None:
        """Ends the cell of a magic with an error."""
        content = self.front.error(name, why[0].upper() + why[1:].rstrip(".") + ".")
        if request.content().get("stop_on_error", True):
            self.front.running = request  # so that what arrives waits
            self.front.abort()
            self.front.running = None
        self._answer(request, content, self.front.published(content))

    def _usage(self, request: Request, why: str) -> None:
        self.refuse(request, why, "UsageError")

    def _answer(self, request: Request, content: Message, result: Published) -> None:
        code = {"code": request.content()["code"], "execution_count": self.policy.count}
        self.front.answer(request, content, [("execute_input", code), result])


def numbers(cells: list[int]) -> str:
    """Cell numbers for people."""
    if len(cells) == 1:
        return f"cell [{cells[0]}]"
    if len(cells) == 2:
        return f"cells [{cells[0]}] and [{cells[1]}]"
    return f"cells [{cells[0]}] to [{cells[-1]}]"


def plural(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def sentence(finding: Finding) -> str:
    """A finding as the end of a sentence."""
    detail = finding["detail"]
    return {
        "thread": f"the {detail} was running before it",
        "process": f"the process {detail} was running before it",
        "socket": f"{detail} was open before it",
        "descriptor": f"{detail} was open before it",
        "device": f"{detail} was open before it",
        "gpu": f"{detail} was in use before it",
    }.get(finding["kind"], detail)
