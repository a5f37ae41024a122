"""Readers of JSON, also of one value a line."""

from __future__ import annotations

import json
import os
import re

from dsstar_profile import hints, nested, texts
from dsstar_profile.found import Deadline, Found, document
from dsstar_profile.hints import FILE, Call
from dsstar_profile.values import show, spread

ENDINGS = (".json", ".geojson", ".jsonl", ".ndjson")
BETWEEN = re.compile(r"[\s,:]*")  # the parts of a list or an object
AFTER = re.compile(r"[\s,\]}]")
DECODER = json.JSONDecoder()
AS_WRITTEN = {"dtype": False, "convert_dates": False}  # for read_json


def read(path: str, source: texts.Text, ending: str, deadline: Deadline) -> Found | None:
    """A document, or one value a line; None if it is no JSON, and is not named like it."""
    lines = [x for x in source.lines if x.strip()]
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
        table.calls.insert(
            0, Call(f"pd.read_json({FILE}, lines=True", AS_WRITTEN | _encoded(source))
        )
        table.lines = lines[: hints.FIRST]
    for table in found.tables if sampled else ():
        share = (len(table.rows) if table.total is None else table.total) / max(1, len(values))
        count, exact = (len(lines), True) if source.whole else texts.count_lines(path, deadline)
        table.total = round(share * count)
        if not exact or bad or table is not found.tables[0] or share != 1:
            table.extra["guessed"] = True


def _beginning(found: Found, path: str, source: texts.Text) -> Found:
    """The tables of a document that was not read to its end. Those before its last part are
    whole."""
    text, start = source.text, len(source.text) - len(source.text.lstrip())
    value, read = _begun(text, start) if text[start : start + 1] in ("[", "{") else (None, 0)
    if not value:
        found = document("JSON", text[:500])
        found.cut = True
        found.warnings.append("too large to be read whole: nothing was read of its values")
        return found
    found.tables, found.lines = nested.tables(value, "$")
    bytes_ = len(text[:read].encode(source.encoding, "replace"))
    found.warnings.append(
        f"only the first {bytes_} bytes of the text were read: what follows, other keys "
        "and columns too, is not known"
    )
    guessed = text[start] == "[" and not source.packed
    whole, last, part = [], "$", value
    while part and isinstance(part, dict):
        *others, key = part
        whole += [f"{last}.{show(k, 60)}{end}" for k in others for end in (".", "[", " ")]
        last, part = f"{last}.{show(key, 60)}", part[key]
    for table in found.tables:
        if f"{table.name} ".startswith(tuple(whole)) and not table.name.startswith(last):
            continue
        rows = len(table.rows) if table.total is None else table.total
        table.extra["guessed" if guessed else "least"] = True
        table.total = round(rows * os.path.getsize(path) / bytes_) if guessed else rows
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


def _begun(text: str, at: int, deep: int = 8) -> tuple[list | dict, int]:
    """What there is of a list or an object that has no end, and where that ends. Of a part that is
    cut there is nothing, but of lists in objects and of the first parts."""
    keyed, parts = text[at] == "{", {}
    read = at = at + 1
    while len(parts) < texts.ROWS:
        key, at = len(parts), BETWEEN.match(text, read).end()
        try:
            if keyed:
                key, at = DECODER.raw_decode(text, at)
                at = BETWEEN.match(text, at).end()
            value, end = DECODER.raw_decode(text, at)
            if not AFTER.match(text, end):
                break  # the beginning of a number
            parts[key], read = value, end
        except (ValueError, RecursionError):
            mark = text[at : at + 1]
            if deep and (
                mark == "[" and keyed or mark in ("[", "{") and len(parts) < 1 + 2 * keyed
            ):
                parts[key], read = _begun(text, at, deep - 1)
            break
    return parts if keyed else list(parts.values()), read
