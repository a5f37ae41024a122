"""Lists the values of columns that are not to be shown to a model."""

from __future__ import annotations

import contextlib
import datetime
import fnmatch
import importlib
import io
import json
import time
import types
from collections.abc import Iterator
from typing import Any

from dsstar_profile import hints, profile

MOST = 100_000  # values of a column


def matches(name: Any, patterns: list[str]) -> bool:
    parts = [str(p).strip().lower() for p in (name if isinstance(name, tuple) else (name,))]
    return any(fnmatch.fnmatchcase(p, like.lower()) for p in parts for like in patterns)


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


def _texts(values: Any) -> Iterator[str]:
    for value in values:
        yield str(value)
        if isinstance(value, datetime.datetime):
            yield str(value.date())


def listed(path: str, patterns: list[str], seconds: float) -> dict[str, Any]:
    """The values of the columns of a file, and what keeps them from being listed."""
    found = profile.profile(path, seconds)
    columns: dict[str, dict[str, None]] = {}
    for table in found.get("tables", []):
        names = [c["name"] for c in table["columns"]]
        wanted = [n for n in names if matches(n, patterns)]
        if not wanted and not table.get("columns_left_out"):
            continue
        if not table.get("call"):
            return {"problem": f"the column {(wanted or names)[0]}: no call is known that reads all of it"}
        with profile.bounded(seconds):
            for frame in _frames(table["call"], path):
                frame = frame.reset_index()
                for at, name in enumerate(frame.columns):
                    if matches(name, patterns):
                        values = frame.iloc[:, at].dropna().drop_duplicates()
                        if len(values) > MOST:
                            return {"problem": f"the column {name} has more than {MOST} values"}
                        columns.setdefault(str(name), {}).update(dict.fromkeys(_texts(values)))
    return {"columns": {name: list(values) for name, values in columns.items()}}


def main(paths: list[str], patterns: list[str], seconds: float, within: float, mark: str) -> None:
    """Prints mark, number and what is listed of each file."""
    end = time.monotonic() + within
    for n, path in enumerate(paths):
        said: dict[str, Any] = {"problem": "there was no time for it"}
        if time.monotonic() < end:
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    said = listed(path, patterns, seconds)
            except (Exception, MemoryError, profile.OutOfTime) as error:
                said = {"problem": f"{type(error).__name__}: {error}"}
        print(mark, n, json.dumps(said), flush=True)
