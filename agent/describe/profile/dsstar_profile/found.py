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
    timer = threading.Timer(deadline.left(), con.interrupt)
    timer.start()
    try:
        yield con
    finally:
        timer.cancel()
        con.close()


def figures(con: Any, relation: str, names: list[str], table: Table) -> None:
    """Rows, missing and distinct values and ranges of a relation, in one pass over it."""
    markers = ", ".join(map(quoted, sorted(MARKERS)))
    asked = ["count(*)"]
    for name in names[:300]:
        c = f"CAST({named(name)} AS VARCHAR)"
        given = f"CASE WHEN lower(trim({c})) IN ({markers}) THEN NULL ELSE {c} END"
        asked += [
            f"count({given})",
            f"approx_count_distinct({given})",
            f"min(TRY_CAST({given} AS DOUBLE))",
            f"max(TRY_CAST({given} AS DOUBLE))",
            f"left(min({given}), 80)",
            f"left(max({given}), 80)",
        ]
    total, *rest = con.execute(f"SELECT {', '.join(asked)} FROM {relation}").fetchone()
    table.total = total
    table.whole = []
    for given, distinct, low, high, first, last in zip(*[iter(rest)] * 6):
        finite = low is not None and math.isfinite(low) and math.isfinite(high)
        table.whole.append(
            {
                "gone": total - given,
                "distinct": min(distinct, given),
                "texts": [show(first), show(last)],
                "numbers": [low, high] if finite else None,
            }
        )
