"""Reader of delimited text."""

from __future__ import annotations

import bisect
import collections
import glob
import os
import re
from typing import Any

from dsstar_profile import grids, hints, texts
from dsstar_profile.found import FEW, HOLLOW, Deadline, Found, duckdb_connection, quoted, trouble
from dsstar_profile.grids import Table
from dsstar_profile.hints import Call
from dsstar_profile.numerals import NUMERIC, Marks
from dsstar_profile.values import MARKERS, show

Json = dict[str, Any]
WIDE = 300  # columns of a file whose figures are of all rows
# What stands for missing, with spaces around it, as DuckDB matches it.
ABSENT = r"[\s\p{Z}]*(?i:" + "|".join(map(re.escape, sorted(MARKERS))) + r")[\s\p{Z}]*"
# How DuckDB writes what numbers have between their digits.
BETWEEN = {"commas": ",", "points": ".", "apostrophes": "''", "spaces": " "}


def read(path: str, source: texts.Text, way: texts.Dialect, deadline: Deadline) -> Found:
    text = source.text if source.whole else "\n".join(source.lines)
    rows, all_rows = texts.rows(text, way)
    whole = all_rows and source.whole
    last = len(rows)
    lines = list(range(last))
    options = way.options() | _encoded(source)
    if noted := _comments(rows):
        options["comment"] = "#"
    rows = _narrowed(rows)
    blank = sum(all(grids.empty(c) for c in row) for row in rows)
    apart = bool(blank and whole and last < 20_000 and way.mark != "spaces")
    hollow = sum(len(row) > 1 and all(map(grids.empty, row)) for row in rows)
    lines = [n for n in lines if n not in noted and (apart or not all(map(grids.empty, rows[n])))]
    bare = [not any(row) for row in rows]
    rows = [rows[n] for n in lines]
    found = Found("delimited text", delimiter={"\t": "tab"}.get(way.mark, way.mark))
    found.tables = grids.tables(rows, "", True, apart, lines)
    alone = len(found.tables) == 1 and whole
    if hollow:
        some = "a row" if hollow == 1 else f"{hollow} rows"
        found.warnings.append(f"{some} {HOLLOW}")
    marks = Marks(commas=way.mark == ";")
    for table in found.tables:
        table.marks = marks
        if len(table.names) < texts.FIELDS:
            after = [n for n in range(table.end, last) if n not in noted]
            below = 0 if all(bare[n] for n in after) else len(after)
            below += bool(source.padding)
            table.calls = _calls(table, options, below if alone else None, whole)
            table.lines = source.lines[: hints.FIRST]
            table.regular = alone and not source.packed and table.skip <= hints.FIRST and (
                len(source.lines) == table.skip + len(table.rows)
            )
    for table in found.tables[:1]:
        if table.extra.pop("begins", False):
            few = min(6, max(3, table.skip + 2))
            table.extra["raw"] = [show(x, 160) for x in source.lines[:few]]
            table.head = [] if table.skip < 6 else table.head
    if len(found.tables) == 1:
        table = found.tables[0]
        table.where = re.sub(r"^rows .*?columns [A-Z]+-[A-Z]+,? ?", "", table.where)
        if table.where == "header in line 1":
            table.where = ""
        width = len(table.names)
        raw = [len(row) for row in rows[bisect.bisect_left(lines, table.skip) :] if row]
        if width == texts.FIELDS:
            found.warnings.append(f"only the first {width} fields of a row are looked at")
        fields = width + (table.short == "ended")
        if odd := sorted(n for n in raw if n != fields):
            have = f"{odd[0]} to {odd[-1]}" if odd[0] < odd[-1] else str(odd[0])
            some = "a row has" if len(odd) == 1 else f"{len(odd)} rows have"
            table.warnings.append(
                f"{some} another number of fields than {fields}: {have}"
                + ("" if whole else ", in the sample")
            )
            if len(odd) * 10 > len(raw):
                table.extra["written"] = [show(x, 160) for x in source.lines[table.skip :][:2]]
        if not whole:
            room = max(200, grids.MOST_CELLS // width)  # half of it for the beginning
            table.rows = table.rows[: room // 2 if source.parts else room]
            for part in source.parts:
                some = texts.rows(part, way, room // 16)[0]
                table.rows += [row[:width] for row in some if len(row) == fields]
            end = source.end()
            if below := _notes(end, way):
                table.foot = [line for line in end[-below:] if line.strip()]
                table.calls = _calls(table, options, below, whole)
            table.count = lambda columns: _count(path, source, way, table, columns, deadline)
    return found


def _notes(end: list[str], way: texts.Dialect) -> int:
    """How many of the last lines are notes: each has one field, of several words, and no text of
    several lines may end there."""
    if way.quote and any(line.count(way.quote) % 2 for line in end):
        return 0
    for n, line in enumerate(reversed(end)):
        fields = [c for row in texts.rows(line, way)[0] for c in row]
        if len(fields) > 1:
            return n
        if fields and not grids.sentence(fields[0]):
            break
    return 0


def _comments(rows: list[tuple]) -> set[int]:
    """Rows after the first one that are comments, as they begin so and lack fields."""
    usual = collections.Counter(len(row) for row in rows[:1000]).most_common(1)
    first = next((n for n, r in enumerate(rows) if r and not r[0].startswith("#")), len(rows))
    return {
        n
        for n, row in enumerate(rows)
        if n > first and row and row[0].startswith("#") and len(row) < usual[0][0]
    }


def _narrowed(rows: list[tuple]) -> list[tuple]:
    """The rows with the first ones as words that have more fields than the usual ones."""
    sizes = collections.Counter(len(row) for row in rows[:1000] if any(row)).most_common(1)
    if not sizes:
        return rows
    usual, times = sizes[0]
    first = next(n for n, row in enumerate(rows) if len(row) == usual)
    if not 0 < first < 10 or times < 0.8 * min(len(rows), 1000):
        return rows
    return [
        (" | ".join(filter(None, row)),) if n < first and len(row) > usual else row
        for n, row in enumerate(rows)
    ]


def _encoded(source: texts.Text) -> Json:
    options = {} if source.encoding.startswith("utf-8") else {"encoding": source.encoding}
    return options | ({"encoding_errors": "replace"} if source.broken else {})


def _calls(table: Table, options: Json, below: int | None, whole: bool) -> list[Call]:
    """Calls that may read a table of a text; below it are so many lines, if it is the only one."""
    at = table.header[0] if table.header else table.skip
    top: Json = {"skiprows": at} if at else {}
    if table.short or table.index:
        index = list(range(table.index))
        top["index_col"] = (index if len(index) > 1 else 0) if index else False
    named = {"skiprows": table.skip} if table.skip else {}
    named |= {"names": [str(n).split(" (no name")[0] for n in table.names]}
    heads = [top | ({} if table.header else {"header": None})]
    if len(table.names) <= hints.NAMED:
        heads.append(named)
    if len(table.header) > 1:
        rest = [*range(at), *table.header[1:]]
        heads[0]["header"] = [n - at for n in table.header]
        one = {k: v for k, v in top.items() if k != "skiprows"} | {"skiprows": rest}
        heads = [one, *(heads[::-1] if len(str(table.names)) < 600 else heads)]
    if "comment" in options and at:
        heads.insert(0, {k: v for k, v in heads[0].items() if k != "skiprows"})
    ends: list[Json] = [{}]
    if below is None and whole:
        ends = [{"nrows": len(table.rows)}]
    elif below:
        ends = [{"skipfooter": below, "engine": "python"}, {"nrows": len(table.rows)}]
    return [
        Call(f"pd.read_csv({hints.FILE}", options).having(**h, **e) for h in heads for e in ends
    ]


def _count(
    path: str,
    source: texts.Text,
    way: texts.Dialect,
    table: Table,
    columns: list[Json],
    deadline: Deadline,
) -> None:
    """Figures of all rows of a long file, in one pass."""
    error = ""
    width = len(table.names)
    if way.mark != "spaces" and width <= WIDE and not path.endswith((".bz2", ".xz")):
        for more in ("", ", parallel=false"):
            if deadline.left() == 0:
                error = "there was no time for all rows"
                break
            try:
                return _figures(path, source, way, table, columns, more, deadline)
            except Exception as e:
                error = trouble(e)
    size = os.path.getsize(path)
    mean = len(source.text.encode(errors="replace")) / max(1, source.text.count("\n"))
    table.total = max(len(table.rows), round(size / mean) if not source.packed else 0)
    table.extra["guessed"] = True
    if error:
        table.warnings.append(f"all figures are from a sample: {error}")


def _figures(
    path: str,
    source: texts.Text,
    way: texts.Dialect,
    table: Table,
    columns: list[Json],
    more: str,
    deadline: Deadline,
) -> None:
    encoding = {"utf-8-sig": "utf-8"}.get(source.encoding, source.encoding)
    encoding = encoding if encoding in ("utf-8", "utf-16") else "latin-1"
    fields = len(table.names) + (table.short == "ended")
    typed = ", ".join(f"'c{n}': 'VARCHAR'" for n in range(fields))
    escape = way.escape or way.quote
    relation = (
        f"read_csv({quoted(glob.escape(path))}, delim={quoted(way.mark)}, header=false, "
        f"quote={quoted(way.quote)}, escape={quoted(escape)}, skip={table.skip}, "
        f"encoding={quoted(encoding)}, "
        f"max_line_size={texts.LINE * 2}, strict_mode=false, columns={{{typed}}}, "
        f"auto_detect=false, null_padding=true{more})"
    )
    asked = [part for n, c in enumerate(columns) for part in _asked(c, n)]
    values = ", ".join(f"{_cast(c, f'c{n}')} AS v{n}" for n, c in enumerate(columns))
    kept = ", ".join(
        f"CASE WHEN v{n} IS NOT NULL OR length(c{n}) > 15 "
        f"OR NOT regexp_full_match(c{n}, {quoted(ABSENT)}) THEN c{n} END AS k{n}"
        for n in range(len(columns))
    )
    with duckdb_connection(deadline) as con:
        rows, *got = con.execute(
            f"SELECT count(*), {', '.join(asked)} "
            f"FROM (SELECT *, {kept} FROM (SELECT *, {values} FROM {relation}))"
        ).fetchone()
    noted = len(table.foot)  # rows that have a first field only
    table.total = rows - noted
    each = len(got) // len(columns)
    got[0] -= noted
    got[1] -= noted
    table.whole = [
        _told(c, rows - noted, *got[each * n : each * (n + 1)]) for n, c in enumerate(columns)
    ]


def _asked(c: Json, n: int) -> list[str]:
    """What is asked of a column, by the names of its field, of its value and of what is not
    missing."""
    few = c.get("distinct", 0) <= FEW  # of which the approximation is up to a third off
    ends = [f"min(v{n})", f"max(v{n})"]
    if c["type"] == "date":
        ends = [f"arg_min(c{n}, v{n})", f"arg_max(c{n}, v{n})"]
    parts = "NULL"  # how many numbers are not whole
    if c["type"] == "empty" or c.get("integer"):
        parted = f"contains(k{n}, $$.$$)" if c.get("long") else f"v{n} <> trunc(v{n})"
        parts = f"count(*) FILTER ({parted})"
    return [
        f"count(k{n})",
        f"count(DISTINCT k{n})" if few else f"approx_count_distinct(k{n})",
        f"histogram(c{n}) FILTER (k{n} IS NULL)",
        f"count(v{n})",
        parts,
        *ends,
    ]


def _told(
    c: Json,
    rows: int,
    given: int,
    distinct: int,
    gone: Json,
    fit: int,
    parts: int,
    low: Any,
    high: Any,
) -> Json:
    """The figures of all rows of a column, of which so many values fit its type."""
    gone = dict(gone or {})
    gone[""] = gone.get("", 0) + rows - given - sum(gone.values())
    for code in c.get("codes", ()):
        times = gone.pop(code, 0)
        given, distinct = given + times, distinct + bool(times)
    out: Json = {"gone": rows - given, "distinct": min(distinct, given), "type": c["type"]}
    gone = {show(m): n for m, n in sorted(gone.items(), key=lambda g: -g[1])[:12] if n}
    out["missing"] = gone
    if c.get("distinct", 0) <= FEW:
        out["counted"] = True
    if c["type"] == "empty" and given == fit > 0:
        out["type"] = "number"
    if low is not None and out["type"] != "empty":
        out["range"] = [low, high]
        out["others"] = given - fit
    if parts is not None:
        out["integer"] = not parts
    return out


def _cast(c: Json, name: str) -> str:
    """SQL for the value of a field as its column has it in the sample; NULL if that is not
    known."""
    if c["type"] == "number" and set(c.get("dress", ())) <= NUMERIC:
        marks = [BETWEEN[d.split()[1]] for d in c.get("dress", ()) if d.startswith("thousands")]
        for mark in marks:
            name = f"replace({name}, '{mark}', '')"
        if "decimal commas" in c.get("dress", ()):
            name = f"replace({name}, ',', '.')"
        return f"TRY_CAST({name} AS HUGEINT)" if c.get("long") else _finite(name, "DOUBLE")
    form = c.get("form", "")
    if c["type"] == "empty":  # what has leading zeros is a code
        return _finite(f"regexp_extract({name}, '^\\s*[-+]?(0(\\D.*)?|[^0].*)$')", "DOUBLE")
    if c["type"] == "date" and form.startswith("%") and " or " not in form:
        if form.startswith("%Y-%m-%d"):
            return _finite(name, "TIMESTAMPTZ" if "%z" in form else "TIMESTAMP")
        return f"try_strptime(trim({name}), {quoted(form)})"
    return "CAST(NULL AS DOUBLE)"


def _finite(name: str, kind: str) -> str:
    """SQL for a value of a kind; NULL for what is none, and for infinities."""
    value = f"TRY_CAST({name} AS {kind})"
    return f"CASE WHEN isfinite({value}) THEN {value} END"
