"""Where the names of the columns of a table are: in a row, in several, above units or an index."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from typing import Any

from dsstar_profile.numerals import number
from dsstar_profile.values import empty, filled, missing, show

Rows = list[tuple]
LEVELS = 5  # rows of names at most


@dataclass
class Header:
    """The names of a table, and where they are."""

    block: Rows  # the table, with each name above its column
    at: list[int] = field(default_factory=list)  # the rows of the names
    start: int = 0  # the first row of values
    names: list[str] = field(default_factory=list)
    notes: list[list[str]] = field(default_factory=list)  # by column: what stands below its name
    warnings: list[str] = field(default_factory=list)
    short: str = ""  # how it is shorter than the rows, a key of SHORT
    index: int = 0  # columns that pandas takes for the index


def header_of(block: Rows, delimited: bool) -> Header:
    """The header of a table; of delimited text it may be shorter than the rows."""
    if pivot := _pivot(block):
        return _pivoted(block, *pivot, delimited)
    whole, (header, start) = block, header_row(block)
    block, kind, short = _aligned(block, header) if delimited else (block, "", 0)
    if block is not whole:
        header, start = header_row(block)
    out = Header(block, start=start, short=kind, index=short)
    if header is None:
        out.names = [f"column {n + 1}" for n in range(len(block[0]))]
        return out
    groups = _groups(block, header)
    levels = [*groups, *block[header : out.start]]
    out.at = list(range(header - len(groups), out.start))
    first = list(levels[0])
    if groups:
        rows = "a row" if len(groups) == 1 else f"{len(groups)} rows"
        out.warnings.append(f"{rows} of group names above the names: they are put before them")
    if (below := out.start - header - 1) and not groups and _named(block[header]):
        rows = "a row" if below == 1 else f"{below} rows"
        out.warnings.append(f"{rows} below the names, such as of units: no records")
        cells = list(zip(*levels[1:], strict=True))
        out.notes = [
            [f"below its name: {', '.join(show(c) for c in some if not empty(c))}"]
            * any(not empty(c) for c in some)
            for some in cells
        ]
    elif len(levels) > 1:
        if below:
            out.warnings.append(f"the names are in {len(levels)} rows: those below are no records")
        first = list(_joined(levels))
    out.names = [
        (
            f"column {n + 1} (no name; Unnamed: {n} in pandas)"
            if empty(c)
            else c if isinstance(c, str) else show(c, 120)
        )
        for n, c in enumerate(first)
    ]
    if kind:
        out.warnings.append(SHORT[kind])
    for n in range(short):
        out.names[n] = f"column {n + 1} (no name; the index in pandas)"
    return out


def _named(row: tuple) -> bool:
    """Whether a row has a name of its own for each column."""
    return not any(map(empty, row)) and len(set(map(str, row))) == len(row)


def _pivot(block: Rows) -> tuple[int, int] | None:
    """The rows of names above the row with the names of the index, and how many those are, as
    pandas writes a table whose columns have several levels."""
    width = len(block[0])
    for n, row in enumerate(block[1 : min(LEVELS + 1, len(block) - 1)], 1):
        index = next((c for c, cell in enumerate(row) if empty(cell)), width)
        if not 0 < index < min(4, width - 1) or not all(map(empty, row[index:])):
            continue
        above, below = block[:n], block[n + 1]
        if (
            all(isinstance(c, str) for c in row[:index])
            and all(not empty(a[index]) and not any(map(_value, a[index:])) for a in above)
            and all(all(map(empty, a[: index - 1])) for a in above)
            and (n > 1 or empty(above[0][index - 1]))
            and not empty(below[0])
            and any(map(_value, below[index:]))
        ):
            return n, index
    return None


def _value(cell: object) -> bool:
    return not empty(cell) and not _label(cell)


def _pivoted(block: Rows, levels: int, index: int, delimited: bool) -> Header:
    names = _joined([row[index:] for row in block[:levels]])
    names = [*map(str, block[levels][:index]), *names]
    out = Header(block, list(range(levels)), levels + 1, names)
    rows = f"{levels} rows" if levels > 1 else "a row"
    out.warnings.append(
        f"{rows} of names, and below them a row with the names of the index: no record"
    )
    out.index = index if delimited and levels > 1 else 0
    return out


SHORT = {
    "ended": "each row ends with a delimiter and the header does not: without index_col=False "
    "pandas puts each name on the column before it",
    "named": "the header has fewer names than the rows have values: the first ones, which differ "
    "in all "
    "rows, are taken to be without one, as R writes row names; pandas takes them for the index",
    "guess": "the header has fewer names than the rows have values. Which columns lack them is a "
    "guess: the first ones are taken, as pandas does, though their values repeat",
}


def _aligned(block: Rows, header: int | None) -> tuple[Rows, str, int]:
    """A block whose header is shorter than its rows, so that names stand above their columns; how
    it is shorter, and how many columns have no name."""
    if header is None or len(block) - header < 3:
        return block, "", 0
    width, rows = len(block[0]), block[header + 1 :]
    while len(rows) > 2 and filled(rows[-1]) < 2:
        rows = rows[:-1]  # a note
    few = sum(v is not None for v in block[header])
    if few < 2 or few == width or empty(block[header][few - 1]):
        return block, "", 0
    if sum(r[-1] is None for r in rows) > len(rows) / 20:
        return block, "", 0
    if few == width - 1 and all(empty(r[-1]) for r in rows):
        return [r[:-1] for r in block], "ended", 0
    short = width - few
    names = [(*(None,) * short, *r[:few]) if n <= header else r for n, r in enumerate(block)]
    apart = len({r[:short] for r in rows}) == len(rows)
    return names, "named" if apart else "guess", short


def where(header: list[int], always: bool, lines: Any) -> str:
    """Where the names of the columns are."""
    if not header:
        return "no header"
    at = [lines[n] for n in header] if lines else header
    what = f"{'line' if lines else 'row'}{'s' if len(at) > 1 else ''} {at[0] + 1}"
    if len(at) > 1:
        what += f" and {at[1] + 1}" if len(at) == 2 else f" to {at[-1] + 1}"
    return f"header in {what}" if always else ""


def _label(cell: object) -> bool:
    """Whether a cell may name a column: text, or a year."""
    if isinstance(cell, (datetime.date, bool)):
        return isinstance(cell, datetime.date)
    n = number(cell)
    if n is None:
        return isinstance(cell, str) and len(cell) < 200
    return (
        n[1] != ""
        and isinstance(cell, str)
        and not re.match(r"[-(+$€£]?\d[\d.,'’  ]*%?\)?$", cell.strip())
        or n[0] == int(n[0])
        and 1900 <= n[0] <= 2100
        and "." not in str(cell)
    )


def header_row(block: Rows) -> tuple[int | None, int]:
    """The row of the names, None if there is none, and the first row of values."""
    width = len(block[0])
    for n, row in enumerate(block[:40]):
        if (
            isinstance(row[0], str)
            and row[0].startswith("#")
            and len(block) > n + 1
            and width > 1
            and filled(row) < width
        ):
            continue
        given = [c for c in row if not empty(c)]
        if len(given) < max(1, min(width, 2), (width + 1) // 2):
            continue
        if not all(map(_label, given)):
            if row[-1] is None and any(map(_full, block[n + 1 : n + 3])):
                continue  # what an instrument says of itself
            return None, n
        below = [r for r in block[n + 1 : n + 60] if filled(r) * 2 >= len(given)]
        if not below:
            return (n, n + 1) if len(block) == n + 1 and n == 0 and width > 1 else (None, n)
        years = all(number(c) for c in given)
        if years and width < 3:
            return None, n
        typed = [c for c in range(width) if _typed([r[c] for r in below])]
        named = [c for c in typed if not empty(row[c]) and (number(row[c]) is None or not years)]
        index = typed == [0] and empty(row[0]) and len(given) == width - 1
        if typed and not named and not years and not index:
            # A second row of names may follow one with gaps.
            continue
        if not typed:
            repeated = sum(
                row[c] in {r[c] for r in below} for c in range(width) if not empty(row[c])
            )
            if repeated or len(set(map(str, given))) < len(given) or len(given) < width * 0.8:
                return None, n
        data = n + 1
        while typed and data < min(n + 4, len(block) - 1) and _below(block[data], typed):
            data += 1
        return n, data
    return None, 0


def _typed(values: list) -> bool:
    """Whether most of the values that are there are no words."""
    given = [v for v in values if not missing(v)]
    no_words = (number(v) is not None or isinstance(v, (datetime.date, bool, list)) for v in given)
    return bool(given) and sum(no_words) >= 0.6 * len(given)


def _full(row: tuple) -> bool:
    """Whether each cell is a word."""
    return all(isinstance(c, str) and c.strip() and number(c) is None for c in row)


def _below(row: tuple, typed: list[int]) -> bool:
    """Whether a row has words where the others have values: it belongs to the names."""
    words = [
        c
        for c in typed
        if isinstance(row[c], str) and not missing(row[c]) and number(row[c]) is None
    ]
    rest = [c for c in typed if not empty(row[c]) and c not in words]
    return len(words) * 2 >= len(typed) and not rest


def _groups(block: Rows, header: int) -> Rows:
    """The rows above the names whose first cell is empty: they name groups of columns."""
    top = header
    while top and empty(block[top - 1][0]) and not all(map(empty, block[top - 1])):
        top -= 1
    return block[top:header]


def _joined(levels: Rows) -> list[str]:
    """Names of columns that are in several rows. Where a row has gaps, each name is for the columns
    up to the next one, or up to the next one of a row above."""
    last: list[object] = [None] * len(levels)
    names = []
    gaps = [any(map(empty, row[1:])) for row in levels]
    for cells in zip(*levels):
        for n, cell in enumerate(cells):
            if not empty(cell):
                last[n:] = [cell, *[None] * (len(levels) - n - 1)]
            elif not gaps[n] or n == len(levels) - 1:
                last[n] = None
        parts = [show(c) for c in last if not empty(c)]
        names.append(" / ".join(p for n, p in enumerate(parts) if not n or p != parts[n - 1]))
    return names
