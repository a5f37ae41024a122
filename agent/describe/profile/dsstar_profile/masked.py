"""Lists the values of columns that are not to be shown to a model."""

from __future__ import annotations

import ast
import contextlib
import datetime
import difflib
import fnmatch
import importlib
import io
import json
import os
import re
import time
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from dsstar_profile import hints, profile, texts

MOST = 100_000  # values of a column
# What profiles say of tables whose columns they do not have.
UNSEEN = re.compile(
    r"\bnot (read|opened|shown|listed|looked)\b|cannot be read|too large|no JSON|from the "
    r"beginning|only the first \d+ fields"
)
NESTED = ("list", "struct", "map", "object")  # types of columns that may have names within
NO_CALL = "no call is known that reads all of it"


@dataclass
class Listing:
    """What is listed of a file."""

    patterns: list[str]
    columns: dict[str, dict[str, None]] = field(default_factory=dict)  # values by name
    names: list[str] = field(default_factory=list)  # of all columns

    def take(self, name: str, values: Iterable[Any]) -> None:
        known = self.columns.setdefault(name, {})
        for value in values:
            known.update(dict.fromkeys(_texts(value)))
            if len(known) > MOST:
                raise ValueError(f"the column {name} has more than {MOST} values")

    def search(self, value: Any) -> None:
        """Takes what stands below matching names within a value."""
        if isinstance(value, dict):
            for name, inner in value.items():
                self.names.append(str(name))
                if matches(name, self.patterns):
                    self.take(str(name), [inner])
                else:
                    self.search(inner)
        elif _several(value):
            for inner in value:
                self.search(inner)

    def table(self, table: dict[str, Any], path: str) -> None:
        names = [c["name"] for c in table["columns"]]
        self.names += names
        wanted = [n for n in names if matches(n, self.patterns)]
        more = table.get("columns_left_out", 0) > 0
        if not wanted and not more and not any(c["type"] in NESTED for c in table["columns"]):
            return
        if not table.get("call"):
            if more or any(n not in self.columns for n in wanted):
                raise ValueError(f"the column {[*wanted, *names][0]}: {NO_CALL}")
            return
        for frame in _frames(table["call"], path):
            if self._frame(frame.reset_index(), names, more) < len(wanted):
                raise ValueError(f"the column {wanted[0]}: {NO_CALL}")

    def _frame(self, frame: Any, names: list[str], more: bool) -> int:
        """Takes the matching columns of a table, which the profile may call otherwise, and returns
        how many there are."""
        taken, called = 0, [str(n) for n in frame.columns]
        said = [""] * (len(called) - len(names)) + names
        if more or set(names) <= set(called):
            said = called
        for at, (own, name) in enumerate(zip(frame.columns, said)):
            values = frame.iloc[:, at].dropna()
            if matches(own, self.patterns) or matches(name, self.patterns):
                taken += 1
                with contextlib.suppress(TypeError):  # lists have no hash
                    values = values.drop_duplicates()
                self.take(name or str(own), values)
            elif values.dtype == object:
                self.search(v for v in values if isinstance(v, dict) or _several(v))
        return taken


def matches(name: Any, patterns: Iterable[str]) -> bool:
    """Whether a pattern is for a column, by its whole name or one of the names that it is made
    of."""
    text = " / ".join(map(str, name)) if isinstance(name, tuple) else str(name)
    if text[:1] == '"':  # as Python has it
        with contextlib.suppress(ValueError, SyntaxError):
            text = str(ast.literal_eval(text))
    parts = {p.strip().lower() for p in (text, *re.split(r" / |\.", text))}
    return any(
        p == like.strip().lower() or fnmatch.fnmatchcase(p, like.lower())
        for p in parts
        for like in patterns
    )


def _several(value: Any) -> bool:
    return (
        isinstance(value, (list, tuple, types.GeneratorType)) or type(value).__name__ == "ndarray"
    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if _several(value):
        for inner in value:
            yield from _texts(inner)
    elif value is not None and value == value:
        yield str(value)
        if isinstance(value, datetime.datetime):
            yield str(value.date())


def _as_written(pandas: Any) -> Any:
    """A pandas whose readers of text and workbooks keep what is written there."""

    def kept(read: Any) -> Any:
        def plain(*given: Any, **options: Any) -> Any:
            typed = ("dtype", "parse_dates", "date_format", "converters", "thousands", "decimal")
            options = {k: v for k, v in options.items() if k not in typed}
            return read(*given, **options, dtype=str)

        return plain

    own = types.SimpleNamespace(**{n: getattr(pandas, n) for n in dir(pandas) if n[:2] != "__"})
    own.read_csv, own.read_excel, own.read_fwf = map(
        kept, (pandas.read_csv, pandas.read_excel, pandas.read_fwf)
    )
    return own


def _frames(call: str, path: str) -> Iterator[Any]:
    """The table that a call reads, and the same as it is written."""
    import pandas as pd

    names: dict[str, Any] = {"json": json, "path": path, "pd": pd}
    for name, module in ({"gzip": "gzip"} | hints.MORE).items():
        if name + "." in call:
            names[name] = importlib.import_module(module)
    yield eval(call, names)
    if "pd.read_csv(" in call or "pd.read_excel(" in call or "pd.read_fwf(" in call:
        with contextlib.suppress(ValueError, TypeError, AttributeError):  # what follows wants types
            yield eval(call, names | {"pd": _as_written(pd)})


def _documents(found: dict[str, Any], path: str) -> Iterator[Any]:
    """What a file of JSON or YAML holds, with numbers as they are written."""
    kind = found["format"].split(",")[0]
    if kind not in ("JSON", "GeoJSON", "JSON Lines", "YAML"):
        return
    with texts.opened(path) as f:
        text = f.read().decode(found.get("encoding", "utf-8-sig"))
    if kind == "YAML":
        import yaml

        yield from yaml.load_all(text, yaml.BaseLoader)
        return
    for part in text.splitlines() if kind == "JSON Lines" else [text]:
        if part.strip():
            yield json.loads(part, parse_int=str, parse_float=str)


def _unseen(found: dict[str, Any]) -> str:
    """Why there may be columns in a file that its profile does not have."""
    if found["format"].startswith("tar"):
        return "it is an archive, which is not looked into"
    if found.get("more"):
        return f"{found['more']} of its tables are not shown"
    said = [w for part in (found, *found.get("tables", ())) for w in part.get("warnings", ())]
    said = [w for w in said if not w.startswith("view ")]  # its tables are looked into
    return found.get("problem") or next(filter(UNSEEN.search, said), "")


def _named(value: Any, patterns: list[str]) -> bool:
    """Whether a text of a profile has a word that is the name of a column to be masked."""
    if isinstance(value, dict):
        return any(_named(v, patterns) for v in value.values())
    if isinstance(value, list):
        return any(_named(v, patterns) for v in value)
    words = (re.escape(p.strip()).replace(r"\*", r"\w*").replace(r"\?", r"\w") for p in patterns)
    return isinstance(value, str) and any(
        re.search(rf"(?<!\w){w}(?!\w)", value, re.IGNORECASE) for w in words
    )


def listed(path: str, patterns: list[str], seconds: float) -> tuple[dict[str, Any], list[str]]:
    """What is told of a file, and the names of its columns. OSError: it cannot be opened."""
    with open(path, "rb"):
        pass
    found = profile.profile(path, seconds)
    if why := _unseen(found):
        return {"problem": f"its columns are not all known: {why}"}, []
    out = Listing(patterns)
    with profile.bounded(seconds):
        for document in _documents(found, path):
            out.search(document)
        for table in found.get("tables", []):
            out.table(table, path)
    said: dict[str, Any] = {"columns": {name: list(values) for name, values in out.columns.items()}}
    if not out.columns and _named(found, patterns):
        said["named"] = True
    return said, [*out.names, *out.columns]


def _missing(patterns: list[str], names: set[str]) -> dict[str, str]:
    """Which pattern is for none of the columns, and which of them have names like it."""
    for like in patterns:
        if not any(matches(n, [like]) for n in names):
            lower = {n.lower(): n for n in sorted(names)}
            near = difflib.get_close_matches(like.lower(), lower, 5, 0.5) or list(lower)[:5]
            told = f"; the nearest names are {', '.join(lower[n] for n in near)}" * bool(near)
            return {"problem": f"no column is called {like}{told}"}
    return {}


def _readable(path: str) -> bool:
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").close()
    except (FileNotFoundError, PermissionError):
        return False
    return True


def main(paths: list[str], patterns: list[str], seconds: float, within: float, mark: str) -> None:
    """Prints mark, number and what is told of each file, and then of all."""
    end = time.monotonic() + within
    names: set[str] = set()
    for n, path in enumerate(paths):
        said: dict[str, Any] = {"problem": "there was no time for it"}
        if not _readable(path):
            said = {}  # nor can cells read it
        elif time.monotonic() < end:
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    said, own = listed(path, patterns, seconds)
                names.update(own)
            except (Exception, MemoryError, profile.OutOfTime) as error:
                said = {"problem": str(error) or type(error).__name__}
        print(mark, n, json.dumps(said), flush=True)
    print(mark, len(paths), json.dumps(_missing(patterns, names)), flush=True)
