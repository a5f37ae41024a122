"""Calls of pandas that read a table: made of what a reader knows, and run before they are shown."""

from __future__ import annotations

import gzip
import importlib
import io
import json
import numbers
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dsstar_profile import texts
from dsstar_profile.columns import MARKED
from dsstar_profile.found import WHOLE
from dsstar_profile.grids import Table
from dsstar_profile.numerals import NUMERIC
from dsstar_profile.values import READ, missing, show

Json = dict[str, Any]
Untried = tuple[int, Table, Json, tuple]  # a table's place, what is said of it, and its shape
# Modules that calls name, beside pandas.
MORE = {"pa": "pyarrow", "pq": "pyarrow.parquet", "np": "numpy"} | {
    m: m for m in "sqlite3 duckdb yaml zipfile pyreadstat h5py cdflib shapefile scipy".split()
}
SECONDS = 10  # of a processor, for the calls of a file
TRIES = 12  # of a table
ENDS = 100_000  # rows at each end of a larger file that are read
NAMED = 100  # columns of a table whose names a call may give
FILE = "\0"  # the file that a call reads, in its source: no literal of python() has it
FIRST = 12  # lines that are shown raw where no call reads a table
NONE = "no call of pandas was found that reads this table as it is described here"
UNTRIED = "no call that reads this table was tried to its end: there was no time"


# Calls that were run, by what tables have in common that such a call reads alike.
KNOWN: dict[tuple, str] = {}
# A text that pandas may take for a number, whatever marks it is told of.
NUMBERED = re.compile(r"[\W\d_eE]*|\s*[-+]?(inf|infinity|nan)\s*", re.IGNORECASE)


@dataclass
class Call:
    """A function of pandas with its arguments; what follows is applied to what it gives."""

    start: str  # such as pd.read_csv( and FILE
    options: Json
    after: str = ""
    less: str = ""  # the same for a part of the rows, where all are too many to be tried

    def text(self) -> str:
        start = self.start.replace(FILE, "path")
        return ", ".join([start, *(f"{k}={python(v)}" for k, v in self.options.items())]) + (
            ")" + self.after
        )

    def typed(self, names: list[Any]) -> Call | None:
        """The same with columns as texts, None if it takes no types."""
        function = re.match(r"pd\.read_(csv|excel|html)\(", self.start)
        if not function:
            return None
        option, kind = ("converters", str) if function[1] == "html" else ("dtype", "string")
        return self.having(**{option: self.options.get(option, {}) | dict.fromkeys(names, kind)})

    def having(self, after: str | None = None, **more: Any) -> Call:
        options = {k: v for k, v in (self.options | more).items() if v is not ...}
        return Call(self.start, options, self.after if after is None else after)


def python(value: Any) -> str:
    """A value as Python source."""
    if isinstance(value, str):
        if "\\" in value and re.fullmatch(r"[\x20-\x7e]+", value) and '"' not in value[-1:]:
            return f'r"{value}"' if '"' not in value and value[-1] != "\\" else json.dumps(value)
        return json.dumps(value, ensure_ascii=not value.isprintable())
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(python, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{python(k)}: {python(v)}" for k, v in value.items()) + "}"
    return "str" if value is str else repr(value)


def put(tables: list[Untried], path: str) -> Iterator[tuple[int, Json]]:
    """The place of each table, and what is described of it, with the first of its calls that was
    run and gave that."""
    file = File(path, time.process_time() + SECONDS)
    for n, table, said, shape in tables:
        if call := _found(table, said, file):
            if shape:
                KNOWN[shape] = call
            yield n, said | {"call": call}
        else:
            yield n, without(table, said, NONE if file.left() else UNTRIED)


def without(table: Table, said: Json, why: str) -> Json:
    """What is described of a table, and why it has no call: for some, none is known to try."""
    raw = {"raw": [show(x, 160) for x in table.lines[:FIRST]]} if table.lines else {}
    return raw | said | {"warnings": [*said.get("warnings", ()), why if table.calls else NONE]}


def shape(table: Table, said: Json, path: str, encoding: str) -> tuple:
    """What tells how a table is read: a call that was run for a table reads all of its shape as
    they are described. Empty: it has something that such a call may trip over."""
    columns = said["columns"]
    less = "sample" in said or len(columns) < len(table.names)
    if not table.regular or said.get("warnings") or less:
        return ()
    if any(_odd(c, [row[n] for row in table.rows]) for n, c in enumerate(columns)):
        return ()
    kinds = [(c["type"], c.get("form"), *c.get("dress", ())) for c in columns]
    calls = [(c.start, repr(c.options), c.after) for c in _candidates(table, said)]
    return (os.path.splitext(path)[1], encoding, *table.lines[: table.skip], *kinds, *calls)


def _odd(c: Json, values: list) -> bool:
    """Whether pandas may read the values of a column otherwise than those of another of its
    kind."""
    if c.get("long") or c.get("mixed"):
        return True
    if c["type"] == "number":
        return not "".join(values).isascii()
    if any(isinstance(v, str) and v in READ and not missing(v) for v in values):
        return True  # pandas takes it for missing
    first = next((v for v in values if not missing(v)), "")
    return c["type"] == "text" and bool(NUMBERED.fullmatch(first))


def _found(table: Table, said: Json, file: File) -> str:
    """The first call whose table has also the types that are described, else one that has the
    columns and rows."""
    second = ""
    tried: set[str] = set()
    for call in _candidates(table, said):
        for _ in range(3):
            text = call.text()
            if text in tried or len(tried) >= TRIES or not file.left():
                break
            tried.add(text)
            frames, whole = file.run(call, table)
            if not frames or not all(_same(f, table, said, whole) for f in frames):
                break
            pairs = [pair for f in frames for pair in _pairs(f, table, said)]
            taken = [s.name for s, c in pairs if _taken(s, c)]
            kept = [int(n) if isinstance(n, numbers.Integral) else str(n) for n in taken]
            if kept and (typed := call.typed(kept)):
                call = typed
                continue
            exact = whole and "sample" not in said
            if kept or exact and not all(_within(s, c) for s, c in pairs):
                break
            if all(_numeric(s, c) for s, c in pairs):
                return text
            second = second or text
            break
    return second


def _candidates(table: Table, said: Json) -> Iterator[Call]:
    long = any(c.get("long") for c in said["columns"])
    for call in table.calls:
        text, page = (call.start.startswith(f"pd.read_{of}(") for of in ("csv", "html"))
        options = _numbers_as(said) if text or page else {}
        options |= _missing_as(said, call.options.get("header", 0) is None)
        if page and options.get("thousands") == ",":
            del options["thousands"]  # as unasked
        elif page and "decimal" in options:
            options.setdefault("thousands", None)
        if text or page or call.start.startswith("pd.read_excel("):
            yield call.having(**options)
        if "thousands" in options:
            plain = {"thousands": None, "decimal": ...} if page else {"thousands": ...}
            yield call.having(**options | plain)
        if text:
            yield call.having(**options, after=call.after + '.dropna(how="all")')
            yield call.having(**options, engine="python")
        yield call
        if long and re.match(r"pd\.read_(parquet|feather|orc|sql)\(", call.start):
            yield call.having(dtype_backend="numpy_nullable")


def _numbers_as(said: Json) -> Json:
    """How numbers are dressed in the columns."""
    dressed = [set(c.get("dress", ())) for c in said["columns"]]
    dress = set[str]().union(*(d for d in dressed if d <= NUMERIC))
    out: Json = {}
    if dress & {"decimal commas", "thousands points"}:
        out["decimal"] = ","
    for word, mark in (("commas", ","), ("points", "."), ("apostrophes", "'"), ("spaces", " ")):
        if f"thousands {word}" in dress and mark != out.get("decimal", "."):
            out["thousands"] = mark
    return out


def _missing_as(said: Json, bare: bool) -> Json:
    """What stands for missing values, where pandas takes something else for that."""
    marks = [{*c.get("missing", ()), *c.get("markers", ())} - {""} for c in said["columns"]]
    every = set[str]().union(*marks)
    codes = {m for c in said["columns"] for m in c.get("codes", ())}
    if not codes:
        more = sorted(every - READ)
        return {"na_values": more} if more else {}
    if not codes & every:
        return {"keep_default_na": False, "na_values": ["", *sorted(every)]}
    of = {
        n if bare else _read_as(c["name"]): ["", *sorted(m)]
        for n, (c, m) in enumerate(zip(said["columns"], marks))
        if c.get("missing")
    }
    return {"keep_default_na": False, "na_values": of}


def _read_as(name: str) -> str:
    """A name as pandas has it."""
    unnamed = re.search(r"\(no name; (Unnamed: \d+) in pandas\)$", name)
    return unnamed[1] if unnamed else name


@dataclass
class File:
    """Where calls are run, until the process has had a processor for a time."""

    path: str
    ends: float
    kept: tuple[str, Any] = ("", None)  # what the last call gave, before what is applied to it

    def left(self) -> bool:
        return time.process_time() < self.ends

    def run(self, call: Call, table: Table) -> tuple[list[Any], bool]:
        """The tables that a call gives, and whether they are the whole: of a large file its
        beginning and its end are read. None: it fails."""
        import pandas as pd

        names = {"pd": pd, "json": json, "gzip": gzip, "path": self.path}
        frames = []
        try:
            more = {name: m for name, m in MORE.items() if name + "." in call.start}
            names |= {name: importlib.import_module(m) for name, m in more.items()}
            if call.less:
                return [eval(call.less.replace(FILE, "path"), names)], False
            if table.parts:
                return [eval(call.text(), names | {"path": part}) for part in table.parts()], False
            if os.path.getsize(self.path) <= WHOLE or not table.lines:
                first = Call(call.start, call.options).text()
                if self.kept[0] != first:
                    self.kept = (first, eval(first, names))
                return [eval("it" + call.after, {"it": self.kept[1]})], True
            for part in _parts(self.path, table):
                frames.append(eval(call.text(), names | {"path": part}))
        except (Exception, MemoryError):
            return [], False
        return frames, False


def _parts(path: str, table: Table) -> Iterator[io.BytesIO]:
    """The first rows of a large file, and what is above them with its last rows."""
    with texts.opened(path) as f:
        start = f.read(1 << 20)
        most = min(WHOLE, int(ENDS * len(start) / max(1, start.count(b"\n"))))
        start += f.read(max(0, most - len(start)))
        yield io.BytesIO(start[: start.rfind(b"\n") + 1])
        if not isinstance(f, io.BufferedReader):
            return  # packed
        at = 0
        for _ in range(table.skip):
            at = start.find(b"\n", at) + 1
        f.seek(max(at, os.path.getsize(path) - most))
        last = f.read(most)
        yield io.BytesIO(start[:at] + last[last.find(b"\n") + 1 :])


def _same(frame: Any, table: Table, said: Json, whole: bool) -> bool:
    """Whether a table has the columns that are described, in their order, and as many rows."""
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        return False
    got = [*frame.index.names[: table.index], *frame.columns]
    want = table.names
    if len(got) != len(want):
        return False
    if table.ordered:
        if not all(map(_named, got, want, range(len(got)))):
            return False
    elif sorted(map(str, got)) != sorted(map(str, want)):
        return False
    known = not said.get("guessed") and not said.get("least")
    return not whole or not known or len(frame) == said["rows"]


def _pairs(frame: Any, table: Table, said: Json) -> Iterator[tuple[Any, Json]]:
    """The columns of a table, each with what is described of it."""
    described = said["columns"][table.index :]
    if not table.ordered:
        by_name = dict(zip(table.names, said["columns"]))
        described = [by_name.get(n, {"type": ""}) for n in frame.columns]
    for n, c in enumerate(described[: len(frame.columns)]):
        yield frame.iloc[:, n], c


def _named(got: Any, name: Any, at: int) -> bool:
    """Whether pandas' name of a column is the one that is described."""
    if isinstance(got, tuple):
        low = [str(g) for g in got if not re.match(r"Unnamed: \d+(_level_\d+)?$", str(g))]
        parts = str(name).split(" / ")
        return all(p in parts for p in low) and (not low or low[-1] == parts[-1])
    text, name = str(got), str(name)
    return (
        text == name
        or re.sub(r"\.\d+$", "", text) == name
        or name.startswith(text + " (no name")
        or got == at
        and name in (f"column {at + 1}", f"[{at}]")
        or (got is None or text.startswith("Unnamed: "))
        and name.startswith("column ")
    )


def _plain(series: Any) -> bool:
    """Whether a column is of numbers."""
    import pandas as pd

    kinds = pd.api.types
    return kinds.is_numeric_dtype(series) and not kinds.is_bool_dtype(series)


def _taken(series: Any, c: Json) -> bool:
    """Whether pandas takes codes for numbers, or loses digits of long ones."""
    if c.get("long"):
        return _plain(series) and str(series.dtype).lower() not in ("int64", "uint64")
    return (c["type"] == "text" or _parted(c)) and _plain(series)


def _parted(c: Json) -> bool:
    """Whether a column is of dates with marks that numbers may have."""
    return c["type"] == "date" and bool(re.search(r"[-. ,']", c.get("form", "")))


def _within(series: Any, c: Json) -> bool:
    """Whether no more is missing than what is described, and numbers have their range."""
    given, gone = series.dropna(), c.get("missing", {})
    known = len(gone) < MARKED and not c.get("markers")
    if known and len(series) - len(given) > sum(gone.values()):
        return False
    if _parted(c) and len(given) and given.astype(str).str.fullmatch(r"\d+").all():
        return False  # the marks of dates are taken for those of numbers
    told = c["type"] == "number" and "range" in c and not c.get("long")
    if not told or not _plain(series) or not len(given):
        return True
    low, high = c["range"]
    near = 1e-6 * max(abs(low), abs(high))
    return bool(abs(given.min() - low) <= near and abs(given.max() - high) <= near)


def _numeric(series: Any, c: Json) -> bool:
    """Whether a column of numbers is one, if pandas can be told how they are written."""
    written = set(c.get("dress", ())) <= NUMERIC and not c.get("mixed")
    return c["type"] != "number" or c.get("long") or not written or _plain(series)
