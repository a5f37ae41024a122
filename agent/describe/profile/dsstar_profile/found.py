"""What readers return, and what several of them use."""

from __future__ import annotations

import contextlib
import decimal
import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dsstar_profile import texts
from dsstar_profile.grids import MOST_CELLS, MOST_COLUMNS, Table
from dsstar_profile.values import show

TEXT = 60_000  # characters of a document that are kept
WHOLE = 64 << 20  # bytes up to which a format is read that has to be read whole
FEW = 1500  # values of a column in a sample, up to which those of all rows are counted
TOGETHER = 300  # columns whose figures are computed in one pass
HOLLOW = "without any value, which pandas reads, left out of these figures"
# Types of numbers of DuckDB.
ORDERED = tuple(
    "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINY USMALL UINT UBIG UHUGE DECIMAL FLOAT "
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
    more: int = 0  # tables that are in none of these


class Deadline:
    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def left(self) -> float:
        return max(0.0, self.end - time.monotonic())


def address(path: str, ending: str, what: str) -> tuple[str, str]:
    """The name of the data that a file stands for, and their address."""
    with open(path, encoding="utf-8") as f:
        variable = json.load(f)["variable"]
    if not variable.startswith("DSSTAR_DB_") or variable not in os.environ:
        raise KeyError(f"{variable} is not set: it has the address of the {what}")
    return os.path.basename(path)[: -len(ending)], os.environ[variable]


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


def trouble(error: BaseException) -> str:
    """What has gone wrong, in words for people."""
    kind = type(error).__name__
    if isinstance(error, MemoryError) or kind == "OutOfMemoryException":  # of DuckDB
        return "it takes too much memory"
    late = kind == "InterruptException"
    return "there was no time for all rows" if late else f"{kind}: {show(error, 200)}"


def exact(value: Any) -> Any:
    """A number as int or float where that loses no digit of it."""
    if isinstance(value, decimal.Decimal):
        if value == value.to_integral_value():
            return int(value)
        return float(value) if decimal.Decimal(repr(float(value))) == value else value
    return value


def sample_size(columns: int) -> int:
    """How many rows of a table are read."""
    return max(1000, min(texts.ROWS, MOST_CELLS // max(1, columns)))


def figures(con: Any, relation: str, table: Table, order: list[int] | None = None) -> None:
    """Figures of all rows of a relation, in one pass over it, for its columns in an order.
    SUMMARIZE, whose quantiles take most of its time, takes several times as long."""
    kinds = con.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    order = list(range(len(kinds))) if order is None else order
    table.whole = []
    for start in range(0, min(len(kinds), MOST_COLUMNS), TOGETHER):
        some = [kinds[n] for n in order[start : start + TOGETHER]]
        few = [_few(table, start + n) for n in range(len(some))]
        asked = [p for (name, kind, *_), f in zip(some, few) for p in _asked(named(name), kind, f)]
        table.total, *got = con.execute(
            f"SELECT count(*), {', '.join(asked)} FROM {relation}"
        ).fetchone()
        for n, (_, kind, *_) in enumerate(some):
            given, distinct, low, high, inf, parts = got[6 * n : 6 * n + 6]
            out = {"gone": table.total - given, "distinct": min(distinct, given), "type": "text"}
            if kind.startswith(("DATE", "TIME", "INTERVAL")):
                out["type"] = "duration" if kind == "INTERVAL" else "date"
                if low is not None:
                    out["range"] = [show(v.removesuffix(" 00:00:00"), 40) for v in (low, high)]
            elif low is not None:
                out |= {"type": "number", "range": [exact(low), exact(high)]}
            if parts is not None:
                out["integer"] = not parts
            if inf:
                out["infinite"] = inf
            if few[n]:
                out["counted"] = True
            table.whole.append(out)


def _few(table: Table, at: int) -> bool:
    """Whether a sample has few values of a column: approximations of few are up to a third off."""
    try:
        return len({row[at] for row in table.rows}) <= FEW
    except TypeError:
        return False


def _asked(name: str, kind: str, few: bool) -> list[str]:
    """What is asked of a column: how many values it has and how many differ, the least and the
    greatest, how many are infinite and how many no whole numbers. What is no
    number (NaN) is missing, as in pandas."""
    distinct = f"count(DISTINCT {name})" if few else f"approx_count_distinct({name})"
    if kind in ("FLOAT", "DOUBLE"):
        some = f"FILTER (isfinite({name}))"
        return [
            f"count({name}) FILTER (NOT isnan({name}))",
            f"{distinct} FILTER (NOT isnan({name}))",
            f"min({name}) {some}",
            f"max({name}) {some}",
            f"count({name}) FILTER (isinf({name}))",
            f"count(*) FILTER ({name} <> trunc({name}))",
        ]
    ends = ["NULL", "NULL"]
    parts = f"count(*) FILTER ({name} <> trunc({name}))" if kind.startswith("DECIMAL") else "NULL"
    if kind.startswith(("DATE", "TIME", "INTERVAL")):
        ends = [f"min({name})::VARCHAR", f"max({name})::VARCHAR"]
    elif kind.startswith(ORDERED):
        ends = [f"min({name})", f"max({name})"]
    return [f"count({name})", distinct, *ends, "NULL", parts]
