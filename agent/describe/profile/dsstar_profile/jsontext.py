"""Readers of JSON, also of one value a line."""

from __future__ import annotations

import contextlib
import json
import re

from dsstar_profile import hints, nested, texts
from dsstar_profile.found import Found, document
from dsstar_profile.hints import Call
from dsstar_profile.values import show

ENDINGS = (".json", ".geojson", ".jsonl", ".ndjson")
AS_WRITTEN = {"dtype": False, "convert_dates": False}  # for read_json


def read(source: texts.Text, ending: str) -> Found | None:
    text = source.text
    lines = [x for x in source.lines()[: texts.ROWS] if x.strip()]
    name = "GeoJSON" if ending == ".geojson" else "JSON"
    found = Found(name)
    encoded = {} if source.encoding.startswith("utf-8") else {"encoding": source.encoding}
    try:
        if ending in (".jsonl", ".ndjson") or len(lines) > 1 and _one(lines[0]) and _one(lines[1]):
            values, bad = [], 0
            for line in lines:
                try:
                    values.append(json.loads(line))
                except ValueError:
                    bad += 1
            found.format = "JSON Lines"
            only = 'startswith("{")' if bad else "strip()"
            each = f"[json.loads(line) for line in {_open(source)} if line.{only}]"
            found.tables, found.lines = nested.tables(values, "(lines)", each)
            for table in found.tables[:1]:
                table.calls.insert(0, Call("pd.read_json(path, lines=True", AS_WRITTEN | encoded))
                table.lines = lines[: hints.FIRST]
            if bad:
                found.warnings.append(f"{bad} lines are no JSON")
            if not source.whole:
                found.warnings.append("figures are from the beginning of the file")
        elif source.whole:
            value = json.loads(text)
            found.tables, found.lines = nested.tables(value, "$", f"json.load({_open(source)})")
            for table in found.tables[:1]:
                if table.name == "$":
                    table.calls.insert(0, Call("pd.read_json(path", AS_WRITTEN | encoded))
            if ending == ".ipynb" and isinstance(value, dict) and "cells" in value:
                cells = ["".join(c.get("source", "")) for c in value["cells"]]
                return document("Jupyter notebook (the sources of its cells)", "\n\n".join(cells))
        else:
            values = _elements(text)
            if not values:
                found = document("JSON", text[:500])
                found.cut = True
                found.warnings.append(
                    "too large to be read whole: only its beginning was read, and no list in it"
                )
                return found
            found.tables, found.lines = nested.tables(values, "$")
            found.warnings.append("figures are from the elements at the beginning of the file")
    except (ValueError, RecursionError) as error:
        if ending not in ENDINGS:
            return None
        found = document("JSON", text[:500])
        found.cut = len(text) > 500
        found.warnings.append(
            f"not valid JSON: {show(error, 160)}"
            if isinstance(error, ValueError)
            else "nested too deeply to be read"
        )
    return found


def _open(source: texts.Text) -> str:
    """Python that opens a text of JSON."""
    name = hints.python(source.encoding)
    return (
        f'gzip.open(path, "rt", encoding={name})'
        if source.packed
        else f"open(path, encoding={name})"
    )


def _one(line: str) -> bool:
    try:
        return isinstance(json.loads(line), (dict, list))
    except (ValueError, RecursionError):
        return False


def _elements(text: str) -> list:
    """The elements of the first list of a document that was not read to its end."""
    start, values, decoder = text.find("["), [], json.JSONDecoder()
    at = start + 1
    with contextlib.suppress(ValueError, RecursionError):
        while start >= 0 and len(values) < texts.ROWS:
            at = re.compile(r"[\s,]*").match(text, at).end()
            value, at = decoder.raw_decode(text, at)
            values.append(value)
    return values
