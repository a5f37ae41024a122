"""The magics, as cells see them. A cell that is only one of them never comes here: the front
answers it, which outlives workers (policy.py)."""

from __future__ import annotations

from functools import partial
from typing import Any

HELP = {
    "undo": "%undo [N]: takes the session to before the last cell, or the last N cells.",
    "checkpoints": "%checkpoints: lists the cells that can be undone, and the named checkpoints.",
    "checkpoint": "%checkpoint NAME: keeps the present state of the session for %restore NAME.",
    "restore": "%restore NAME: takes the session to the state that %checkpoint NAME kept.",
}
ALONE = "{} works only as the only line of its cell"

absent = ""  # why this kernel has no checkpoints


def register(shell: Any) -> None:
    """Defines the magics: for completion, for help, and to say why they do nothing here."""
    for name, text in HELP.items():
        magic = partial(_refuse, name)
        magic.__doc__ = text
        shell.register_magic_function(magic, "line", name)


def _refuse(name: str, line: str) -> None:
    from IPython.core.error import UsageError

    raise UsageError(absent or ALONE.format(f"%{name}"))


def load_ipython_extension(shell: Any) -> None:
    register(shell)
