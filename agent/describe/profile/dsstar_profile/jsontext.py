"""Readers of JSON, also of one value a line."""

from __future__ import annotations

import contextlib
import json
import os
import re

from dsstar_profile import hints, nested, texts
from dsstar_profile.found import Deadline, Found, document
from dsstar_profile.hints import FILE, Call
from dsstar_profile.values import show, spread

ENDINGS = (".json", ".geojson", ".jsonl", ".ndjson")
AS_WRITTEN = {"dtype": False, "convert_dates": False}  # for read_json


def read(path: str, source: texts.Text, ending: str, deadline: Deadline) -> Found | None:
    """A document, or one value a line; None if it is no JSON, and is not named like it."""
    lines = [x for x in source.lines() if x.strip()]
    by_line = ending in (".jsonl", ".ndjson") or len(lines) > 1 and all(map(_one, lines[:2]))
    found = Found("GeoJSON" if ending == ".geojson" else "JSON")
    try:
        if by_line:
            _lines(found, path, source, lines, deadline)
        elif source.whole:
            value = json.loads(source.text)
            if ending == ".ipynb" and isinstance(value, dict) and "cells" in value:
                cells = ["".join(c.get("source", "")) for c in value["cells"]]
                return document("Jupyter notebook (the sources of its cells)", "\n\n".join(cells))
            found.tables, found.lines = nested.tables(value, "$", f"json.load({_open(source)})")
            _whole(found, _encoded(source))
        else:
            return _beginning(found, path, source)
    except (ValueError, RecursionError) as error:
        if ending not in ENDINGS:
            return None
        found = document("JSON", source.text[:500])
        found.cut = len(source.text) > 500
        found.warnings.append(
            f"not valid JSON: {show(error, 160)}"
            if isinstance(error, ValueError)
            else "nested too deeply to be read"
        )
    return found


def _encoded(source: texts.Text) -> dict:
    return {} if source.encoding.startswith("utf-8") else {"encoding": source.encoding}


def _whole(found: Found, encoded: dict) -> None:
    """Adds the shorter calls for a document that is one table."""
    for table in found.tables[:1]:
        orient = nested.ORIENTS.get(table.name)
        if orient is not None:
            table.calls.insert(0, Call(f"pd.read_json({FILE}", orient | AS_WRITTEN | encoded))


def _lines(
    found: Found, path: str, source: texts.Text, lines: list[str], deadline: Deadline
) -> None:
    """One value a line: of many lines, some from everywhere."""
    found.format = "JSON Lines"
    some = lines + [x for part in source.parts for x in part.split("\n") if x.strip()]
    some = spread(some, texts.ROWS)
    values, bad = [], 0
    for line in some:
        try:
            values.append(json.loads(line))
        except ValueError:
            bad += 1
    only = 'startswith("{")' if bad else "strip()"
    each = f"[json.loads(line) for line in {_open(source)} if line.{only}]"
    found.tables, found.lines = nested.tables(values, "(lines)", each)
    sampled = len(some) < len(lines) or not source.whole
    if bad:
        found.warnings.append(f"{bad} lines are no JSON" + ", in the sample" * sampled)
    for table in found.tables[:1]:
        table.calls.insert(0, Call(f"pd.read_json({FILE}, lines=True", AS_WRITTEN | _encoded(source)))
        table.lines = lines[: hints.FIRST]
    for table in found.tables if sampled else ():
        share = (len(table.rows) if table.total is None else table.total) / max(1, len(values))
        count, exact = (len(lines), True) if source.whole else texts.count_lines(path, deadline)
        table.total = round(share * count)
        if not exact or bad or table is not found.tables[0] or share != 1:
            table.extra["guessed"] = True


def _beginning(found: Found, path: str, source: texts.Text) -> Found:
    """The first list of a document that was not read to its end."""
    values, read = _elements(source.text)
    if not values:
        found = document("JSON", source.text[:500])
        found.cut = True
        found.warnings.append(
            "too large to be read whole: only its beginning was read, and no list in it"
        )
        return found
    found.tables, found.lines = nested.tables(values, "$")
    found.warnings.append("figures are from the elements at the beginning of the file")
    for table in found.tables:
        rows = len(table.rows) if table.total is None else table.total
        table.extra["least" if source.packed else "guessed"] = True
        table.total = rows if source.packed else round(rows * os.path.getsize(path) / max(1, read))
    return found


def _open(source: texts.Text) -> str:
    """Python that opens a text of JSON."""
    name = hints.python(source.encoding)
    return (
        f'gzip.open({FILE}, "rt", encoding={name})'
        if source.packed
        else f"open({FILE}, encoding={name})"
    )


def _one(line: str) -> bool:
    try:
        return isinstance(json.loads(line), (dict, list))
    except (ValueError, RecursionError):
        return False


def _elements(text: str) -> tuple[list, int]:
    """The elements of the first list of a document that was not read to its end, and where they
    end."""
    start, decoder = text.find("["), json.JSONDecoder()
    values: list = []
    at, between = start + 1, re.compile(r"[\s,]*")
    with contextlib.suppress(ValueError, RecursionError):
        while start >= 0 and len(values) < texts.ROWS:
            if m := between.match(text, at):
                at = m.end()
            value, at = decoder.raw_decode(text, at)
            values.append(value)
    return values, at
