"""What readers return, and what several of them use."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dsstar_profile.columns import MARKERS, show
from dsstar_profile.grids import Table

TEXT = 60_000  # characters of a document that are kept
WHOLE = 64 << 20  # bytes up to which a format is read that has to be read whole


@dataclass
class Found:
    format: str
    tables: list[Table] = field(default_factory=list)
    text: str = ""
    cut: bool = False  # whether text is only the beginning
    lines: list[str] = field(default_factory=list)  # of its structure
    warnings: list[str] = field(default_factory=list)
    encoding: str = ""
    delimiter: str = ""


class Deadline:
    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def left(self) -> float:
        return max(0.0, self.end - time.monotonic())


def clean(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\n\t" else " " if c == "\r" else "�" for c in text)


def document(format: str, text: str, **more: Any) -> Found:
    return Found(
        format, text=clean(text[:TEXT].replace("\r\n", "\n")), cut=len(text) > TEXT, **more
    )


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def named(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@contextlib.contextmanager
def duckdb_connection(deadline: Deadline, path: str = ":memory:") -> Iterator[Any]:
    """DuckDB with little memory, without network and extensions; interrupted at the deadline."""
    import duckdb

    config = {
        "memory_limit": "512MB",
        "threads": 2,
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    if path != ":memory:":
        config["enable_external_access"] = "false"
    con = duckdb.connect(path, read_only=path != ":memory:", config=config)
    con.execute("SET enable_progress_bar = false")  # it is written to stdout
    timer = threading.Timer(deadline.left(), con.interrupt)
    timer.start()
    try:
        yield con
    finally:
        timer.cancel()
        con.close()


def figures(con: Any, relation: str, table: Table) -> None:
    """Figures of all rows of a relation, in one pass over it."""
    table.whole = []
    for _, kind, *limits, distinct, _, _, q1, q2, q3, rows, gone in con.execute(
        f"SUMMARIZE SELECT * FROM {relation}"
    ).fetchall():
        table.total = rows
        missing = round(rows * float(gone or 0) / 100)
        out = {"gone": missing, "distinct": min(distinct, rows - missing), "type": "text"}
        if kind.startswith(("DATE", "TIME")):
            out |= {"type": "date", "range": [show(v, 40) for v in limits]}
        elif q2 is not None:
            numbers = [float(v) for v in (*limits, q1, q2, q3)]
            if all(map(math.isfinite, numbers)):
                out |= {"type": "number", "range": numbers[:2], "quartiles": numbers[2:]}
        elif kind == "VARCHAR" and limits[0] is not None:
            out["range"] = [show(v, 40) for v in limits]
        table.whole.append(out)
