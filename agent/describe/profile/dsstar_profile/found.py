"""What readers return, and what several of them use."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dsstar_profile.grids import Table
from dsstar_profile.values import show

TEXT = 60_000  # characters of a document that are kept
WHOLE = 64 << 20  # bytes up to which a format is read that has to be read whole
# Types of DuckDB whose range is told.
ORDERED = tuple(
    "DATE TIME TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINY USMALL UINT UBIG UHUGE DECIMAL FLOAT "
    "DOUBLE".split()
)


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
    most: int = 60  # tables that are shown at most


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
    # It is written to stdout. In Jupyter it is off and cannot be set where ipywidgets are missing.
    if con.execute("SELECT current_setting('enable_progress_bar')").fetchone()[0]:
        con.execute("SET enable_progress_bar = false")
    timer = threading.Timer(deadline.left(), con.interrupt)
    timer.start()
    try:
        yield con
    finally:
        timer.cancel()
        con.close()


def figures(con: Any, relation: str, table: Table) -> None:
    """Figures of all rows of a relation, in one pass over it. SUMMARIZE, whose quantiles take most
    of its time, takes several times as long."""
    kinds = con.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    asked = []
    for name, kind, *_ in kinds:
        ends = "NULL, NULL"
        if kind.startswith(ORDERED):
            ends = f"min({named(name)}), max({named(name)})"
        asked.append(f"count({named(name)}), approx_count_distinct({named(name)}), {ends}")
    rows, *got = con.execute(f"SELECT count(*), {', '.join(asked)} FROM {relation}").fetchone()
    table.total, table.whole = rows, []
    for n, (_, kind, *_) in enumerate(kinds):
        given, distinct, low, high = got[4 * n : 4 * n + 4]
        out = {"gone": rows - given, "distinct": min(distinct, given), "type": "text"}
        if kind.startswith(("DATE", "TIME")):
            out |= {"type": "date", "range": [show(low, 40), show(high, 40)]}
        elif low is not None and math.isfinite(low) and math.isfinite(high):
            out |= {"type": "number", "range": [float(low), float(high)]}
        table.whole.append(out)
