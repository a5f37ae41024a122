"""Where the tables of a grid of cells are: a sheet, a page's table, the lines of a CSV file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dsstar_profile.columns import Context, column, unread
from dsstar_profile.headers import Header, header_of, header_row, where
from dsstar_profile.numerals import Marks, number
from dsstar_profile.relations import between
from dsstar_profile.totals import closing, inner
from dsstar_profile.values import empty, filled, label, literal, show

Json = dict[str, Any]
Rows = list[tuple]

MOST_COLUMNS = 1000  # of a table that are profiled
MOST_CELLS = 600_000
TOLD = 2000  # values of a column that tell how numbers are written in the others


@dataclass
class Table:
    """A table as it was read: rows may be a sample of total rows; None if nobody has counted."""

    name: str
    names: list[str]
    rows: Rows
    total: int | None = None  # extra says whether it is guessed, or the least there are
    where: str = ""
    text_source: bool = False
    head: list[str] = field(default_factory=list)  # what stands above it
    foot: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    skip: int = 0  # rows before the first row of values
    header: list[int] = field(default_factory=list)  # rows of the names, from 0
    end: int = 0  # the row after the last one, before blank rows, notes and totals
    calls: list[Any] = field(default_factory=list)  # of pandas, that may read it: the best first
    marks: Marks = field(default_factory=Marks)  # of its numbers; tables of a text share them
    short: str = ""  # how its header is shorter than its rows, a key of SHORT
    index: int = 0  # columns that these calls take for the index
    ordered: bool = True  # whether the calls give the columns in this order
    lines: list[str] = field(default_factory=list)  # of a text, shown where no call reads it
    regular: bool = False  # whether each line of its file is a row, but for those above the rows
    extra: Json = field(default_factory=dict)
    whole: list[Json | None] | None = (
        None  # figures of all rows, by column, where rows are a sample
    )
    count: Callable[[list[Json]], None] | None = (
        None  # gives total and whole, for columns of a sample
    )
    notes: list[list[str]] = field(
        default_factory=list
    )  # by column, from elsewhere than its values
    known: list[Json] = field(default_factory=list)  # by column, what the format says for certain
    parts: Any = None  # gives files with some of its rows, if all are too many for a call

    def profile(self) -> Json:
        names, rows = self.names[:MOST_COLUMNS], self.rows
        rows = rows[: max(200, MOST_CELLS // max(1, len(names)))]
        columns = self._columns(names, rows)
        if self.count:
            self.count(columns)
        total = len(self.rows) if self.total is None else self.total
        out: Json = {"name": self.name, "where": self.where, "rows": total} | self.extra
        if len(rows) < total or out.get("least") or out.get("guessed"):
            out["sample"] = len(rows)
        if (left := len(self.names) - max(len(names), len(self.known))) > 0:
            out["columns_left_out"] = left
        for c, known in zip(columns, self.known):
            c |= known
        more = zip(self.names[len(names) :], self.known[len(names) :])
        columns += [{"name": label(n)} | known for n, known in more]
        for c, figures in zip(columns, self.whole or []):
            if figures:
                _of_all_rows(c, figures, total)
        for c in columns[len(self.known) :] if "sample" in out else ():
            c["sampled"] = c.get("sampled") or not c.get("whole")
        for c, notes in zip(columns, self.notes):
            if notes:
                c["notes"] = notes + c.get("notes", [])
        out |= between(names, rows, columns)
        out["columns"] = columns
        out["first"] = _first(rows, total, len(names))
        doubled = [n for n, times in Counter(names).items() if times > 1]
        of = " in the sample" if "sample" in out else ""
        warnings = self.warnings + inner(names, rows, columns, of)
        if markers := sorted({m for c in columns for m in unread(c)}):
            if not self.calls and (self.text_source or self.name.startswith("sheet")):
                told = ", ".join(map(literal, markers[:8]))
                warnings.append(f"pandas takes these for text without na_values=[{told}]")
        if any(c["name"].startswith('"') for c in columns):
            warnings.append(
                "names in quotes are Python strings, with line breaks or unusual spaces"
            )
        if doubled and not self.known:
            warnings.append(
                f"several columns have the name {', '.join(map(label, doubled[:5]))}: "
                "pandas puts .1, .2 after the later ones"
            )
        return out | {
            k: v for k, v in (("head", self.head), ("foot", self.foot), ("warnings", warnings)) if v
        }

    def tell(self) -> None:
        """Adds what the values tell of the marks in numbers, before any profile that needs it."""
        for n in range(min(len(self.names), MOST_COLUMNS)):
            some = (row[n] for row in self.rows[:TOLD] if n < len(row))
            self.marks.add({v for v in some if isinstance(v, str)})

    def _columns(self, names: list[str], rows: Rows) -> list[Json]:
        """The profiles of the columns: each is read with what the others tell."""
        context = Context(self.marks)
        values = [[row[n] if n < len(row) else None for row in rows] for n in range(len(names))]
        made = [column(n, v, self.text_source, context) for n, v in zip(names, values)]
        if context.order:
            for n, c in enumerate(made):
                if c.get("open"):
                    made[n] = column(names[n], values[n], self.text_source, context)
        return made


def _first(rows: Rows, total: int, width: int) -> list[list[str]]:
    """The first rows; all of a small table and of one that explains something in words."""
    few = total <= 15 or width <= 6 and _may_explain(rows, width)
    if len(rows) == total <= 300 and width <= 30 and few:
        shown = [[show(v, 300) for v in row[:width]] for row in rows]
        size = sum(len(v) + 3 for row in shown for v in row)
        wordy = width <= 6 and any(sum(v.count(" ") for v in c) > 3 * total for c in zip(*shown))
        if size < (12_000 if wordy else 3000 if total <= 15 else 0):
            return shown
    return [[show(v, 40) for v in row[:width]] for row in rows[:3]]


def _may_explain(rows: Rows, width: int) -> bool:
    """Whether a column may have more than three words in each row, of what has not been shown
    yet."""
    columns = list(zip(*rows))
    try:
        return len(columns) < width or any("".join(c).count(" ") > 3 * len(c) for c in columns)
    except TypeError:  # not all are texts
        return True


def _of_all_rows(c: Json, figures: Json, total: int) -> None:
    """Puts figures of all rows in the place of those of a sample."""
    told = ("distinct", "gone", "counted", "planned", "missing")
    c |= {k: figures[k] for k in told if k in figures} | {"whole": True}
    c.pop("zeros", None)
    if c["type"] == "empty" and figures["gone"] < total:
        c["type"] = figures["type"] if "range" in figures else "text"
    if c["type"] == "number" and c.get("integer", True):
        ends = [v for v in figures.get("range", ()) if not isinstance(v, str)]
        c["integer"] = figures.get("integer", all(v == int(v) for v in ends))
    if c["type"] == figures["type"] and "range" in figures:
        c["range"] = figures["range"]
    elif "range" in c:
        c["sampled"] = True  # its type and range
    if n := figures.get("infinite"):
        c["notes"] = [*c.get("notes", []), infinite(n)]
    if others := figures.get("others"):
        kind = {"number": "no numbers", "date": "no dates"}[c["type"]]
        notes = [n for n in c.get("notes", ()) if not n.startswith("mixed")]
        c |= {"mixed": True, "notes": [*notes, f"mixed: {others} values of all rows are {kind}"]}
    if figures["gone"] or figures["distinct"] < 0.9 * total:
        c.pop("unique", None)
    if len(c.get("values", ())) < figures["distinct"] and "values" in c:
        c["frequent"] = c.pop("values")[:5]
    c.pop("all", None)


def infinite(n: int) -> str:
    return f"{n} infinite (inf), which {'is' if n == 1 else 'are'} not in the range"


def letters(column: int) -> str:
    """The name of a column in a sheet, from 0."""
    name = ""
    while column >= 0:
        column, digit = divmod(column, 26)
        name, column = chr(65 + digit) + name, column - 1
    return name


def regions(rows: Rows, top: int, left: int, right: int) -> list[tuple[int, int, int, int]]:
    """The blocks of cells that empty rows and columns part: top, bottom, left, right, each end
    not included."""
    bands: list[tuple[int, int]] = []
    start = None
    for n, row in enumerate(rows):
        some = not all(map(empty, row[left:right]))
        if some and start is None:
            start = n
        if not some and start is not None:
            bands.append((start, n))
            start = None
    if start is not None:
        bands.append((start, len(rows)))
    found = []
    for a, b in bands:
        used = {
            c for row in rows[a:b] for c in range(left, min(right, len(row))) if not empty(row[c])
        }
        runs: list[list[int]] = []
        for c in sorted(used):
            if runs and runs[-1][1] == c:
                runs[-1][1] = c + 1
            else:
                runs.append([c, c + 1])
        if len(runs) == 1:
            found.append((top + a, top + b, *runs[0]))
        elif all(len(regions(rows[a:b], 0, *r)) == 1 for r in runs) and not _beside(
            rows[a:b], runs
        ):
            found.append((top + a, top + b, runs[0][0], runs[-1][1]))
        else:
            for r in runs:
                found += regions(rows[a:b], top + a, *r)
    return found


def _beside(rows: Rows, runs: list[list[int]]) -> bool:
    """Whether blocks beside one another are tables of their own: each has a header and several
    columns, or they end at different rows."""

    def height(r: list[int]) -> int:
        return max(n for n, row in enumerate(rows) if any(not empty(c) for c in row[r[0] : r[1]]))

    return len({height(r) for r in runs}) > 1 or all(r[1] - r[0] > 1 for r in runs)


def tables(
    rows: Rows, name: str, text_source: bool, sheet: bool = False, lines: list[int] | None = None
) -> list[Table]:
    """The tables of a grid, each with what stands above and below it. Rows of a text file have
    the numbers of their lines, from 0."""
    width = max(map(len, rows), default=0)
    found: list[Table] = []
    above: list[str] = []
    blocks = regions(rows, 0, 0, width) if sheet else [(0, len(rows), 0, width)] if width else []
    alone = lines is not None and sum(b[1] - b[0] > 1 < b[3] - b[2] for b in blocks) < 2
    for top, bottom, left, right in blocks:
        if alone and bottom - top > 1 < right - left:  # with the fields that are empty in all rows
            left, right = 0, max(map(len, rows[top:bottom]))
        block = [
            tuple(row[left:right]) + (None,) * (right - max(left, len(row)))
            for row in rows[top:bottom]
        ]
        last = found[-1] if found else None
        most = max(map(filled, block))
        if (
            last
            and last.extra["left"] <= left < right <= last.extra["right"]
            and not _headed(block)
        ):
            # a blank row within a table, or notes below it
            if most > 1:
                pad = left - last.extra["left"]
                ends = (None,) * (last.extra["right"] - right)
                last.rows += [(*(None,) * pad, *row, *ends) for row in block]
                last.end = bottom
                last.where = re.sub(r"rows (\d+)-\d+", rf"rows \1-{bottom}", last.where)
                last.warnings = [w for w in last.warnings if w != "there are blank rows in it"]
                last.warnings.append("there are blank rows in it")
            else:
                last.foot += _words(block)
            continue
        if sheet and (most == 1 or bottom - top == 1) and len(blocks) > 1:
            above += _words(block)
            continue
        is_ = header_of(block, lines is not None)
        block = is_.block
        right = left + len(block[0])
        table = _table(block, name, text_source, is_)
        table.head = above + table.head
        table.short, table.index = is_.short, is_.index
        above = []
        header = [top + n for n in is_.at]
        start = top + is_.start
        span = (
            f"rows {top + 1}-{bottom}, columns {letters(left)}-{letters(right - 1)}"
            if sheet
            else ""
        )
        place = where(header, sheet or start > 1, lines)
        if text_source and lines and (start > 1 or not header and start):
            table.extra["begins"] = True
        table.where = ", ".join(filter(None, (span, place)))
        table.extra |= {"left": left, "right": right}
        table.skip = lines[start - 1] + 1 if lines and start else start
        table.header = [lines[n] for n in header] if lines else header
        table.end = bottom
        found.append(table)
    if not found and above:
        found.append(Table(name, ["text"], [(t,) for t in above], extra={"left": 0, "right": 1}))
        above = []
    for t in found:
        t.end -= _trim(t)
        t.end = lines[t.end - 1] + 1 if lines and t.end else t.end
        if not sheet or text_source:
            del t.extra["left"], t.extra["right"]
    if found and above:
        found[-1].foot += above
    return found


def _words(block: Rows) -> list[str]:
    return [
        " | ".join(show(c, 300) for c in row if not empty(c))
        for row in block
        if any(not empty(c) for c in row)
    ]


def _headed(block: Rows) -> bool:
    return len(block) > 1 and header_row(block)[0] is not None


def _table(block: Rows, name: str, text_source: bool, is_: Header) -> Table:
    warnings = list(is_.warnings)
    if (
        is_.at
        and len(block[0]) == 1
        and number(block[is_.start][0] if is_.start < len(block) else 0) is None
    ):
        warnings.append(f"{show(is_.names[0], 40)} is taken for a name, but may be the first value")
    return Table(
        name,
        is_.names,
        block[is_.start :],
        text_source=text_source,
        head=_words(block[: is_.at[0] if is_.at else is_.start])[:12],
        warnings=warnings,
        notes=is_.notes,
    )


def sentence(cell: object) -> bool:
    """Whether a cell has several words, and thus may be a note."""
    return isinstance(cell, str) and len(cell.split()) > 1 and number(cell) is None


def _trim(table: Table) -> int:
    """Takes notes off the end of a table, and says which rows are totals; how many it took."""
    rows = table.rows
    before = len(rows)
    width = len(table.names)
    usual = Counter(map(filled, rows[:1000])).most_common(1)
    fields = Counter(len(row) - row.count(None) for row in rows[:1000]).most_common(1)

    def noted(row: tuple) -> bool:
        """Whether a row has one value, and others have more or, of a text, more fields. It may be
        the number of a record of which nothing else is known."""
        if all(not empty(r[0]) and number(r[0]) is not None for r in (*rows[:100], row)):
            return False
        alone = table.text_source and fields[0][0] == width > 1 and sentence(row[0])
        alone = alone and all(c is None for c in row[1:])
        return filled(row) <= 1 and (alone or width > 2 and usual[0][0] > 2)

    while len(rows) > 2 and noted(rows[-1]):
        note = _words(rows[-1:])
        table.foot[:0] = note
        rows.pop()
    if many := closing(rows) if width > 1 else 0:
        totals = [" | ".join(show(c, 24) for c in r[:8] if not empty(c)) for r in rows[-many:]]
        del rows[-many:]
        are = "last row is a total" if many == 1 else f"last {many} rows are totals"
        table.warnings.append(f"the {are}, left out of these figures: {'; '.join(totals)}")
    table.foot = [show(t, 300) for t in table.foot[:12]]
    return before - len(rows)
