"""Rows of a table that are sums of others."""

from __future__ import annotations

import math
import re
import statistics
from collections import defaultdict
from typing import Any

from dsstar_profile.columns import among_codes
from dsstar_profile.numerals import Number, number
from dsstar_profile.values import empty, label, literal, missing, show

Json = dict[str, Any]
Figures = dict[int, list[Number | None]]  # by column: its numbers, one for each row
SUMS = (
    r"(grand |sub[- ]?)?totals?|sum|overall|all|(zwischen|gesamt|teil)?summen?|gesamt|sous-total|"
    r"subtotaal|totaal"
)
# What a row begins with that may be a total at the end of a table.
BEGINS = re.compile(rf"\W*({SUMS}|average|mean|max|min|median)\b", re.IGNORECASE)
# Words for what a row is, if they are all of its label.
WORDS = {
    re.compile(rf"\W*({words})\W*", re.IGNORECASE): made
    for words, made in (
        (SUMS, math.fsum),
        ("average|mean", statistics.fmean),
        ("median", statistics.median),
        ("max(imum)?", max),
        ("min(imum)?", min),
    )
}
# A value of rows that are sums of others, and one of which figures have to tell.
# A sentence, and a share of a total, is none.
NAME = r"(?!.*(%|\b(percent|of|from|in|to) (the |a )?(sub[- ]?|grand[- ]?)?totals?))"
SUM = re.compile(rf"{NAME}(\S+ ){{0,4}}(sub[- ]?|grand[- ]?)?totals?|{SUMS}", re.IGNORECASE)
MAY = re.compile(r"(?!.*%)(all|(sub[- ]?|grand )?totals?|summe|total général) .*", re.IGNORECASE)
MOST = 20_000  # rows whose words are looked at
LAST = 8  # rows at the end of a table that may be totals
WIDE = 8  # columns of numbers that are summed


def closing(rows: list[tuple]) -> int:
    """How many of the last rows are totals, as their labels and their figures say."""
    first = len(rows)
    while first > 2 and len(rows) - first <= LAST and BEGINS.match(_label(rows[first - 1])):
        first -= 1
    last = rows[first:]
    if not 0 < len(last) <= LAST:
        return 0
    width = max(map(len, last))
    figures = _figures(rows, [c for c in range(width) if any(_number(r, c) for r in last)][:WIDE])
    named = {n for n, row in enumerate(rows) if n >= first or SUM.fullmatch(_label(row))}
    end = len(rows)
    while end > first and _closes(_label(rows[end - 1]), end - 1, named, figures, len(last) > 1):
        end -= 1
    return len(rows) - end


def _label(row: tuple) -> str:
    """The first of the cells of a row that has something, if that may be the name of a total."""
    cell = next((c for c in row if not empty(c)), None)
    return cell if isinstance(cell, str) and len(cell) < 60 else ""


def _word(text: str) -> Any:
    """What makes the figures of a row whose label is a word for that, and no more."""
    return next((made for word, made in WORDS.items() if word.fullmatch(text)), None)


def _closes(text: str, at: int, named: set[int], figures: Figures, several: bool) -> bool:
    """Whether the figures of a row are made of those above it, with or without other totals. A
    label that is more than a word for a total may be the name of anything: most figures have to be
    sums."""
    word = _word(text)
    right = given = 0
    for values in figures.values():
        if (value := values[at]) is None:
            continue
        given += 1
        above = [
            [v for n, v in enumerate(values[:at]) if v is not None and n not in left]
            for left in (set(), named)
        ]
        several = [some for some in above if _parts(some) > 2 - bool(word)]
        right += any(_made(value, some, word or math.fsum) for some in several)
    if word in (max, min, statistics.median):  # which are values of other rows, and names
        return several and right == given > 1
    return right > 0 if word is math.fsum else right * 2 >= given > 0


def _parts(values: list[Number]) -> int:
    """How many numbers a sum is of. That of one alone says nothing."""
    return sum(map(bool, values))


def _made(value: Number, of: list[Number], made: Any) -> bool:
    """Whether a number is made of others, as far as its digits tell."""
    digits = f"{value:.15g}".partition(".")[2]
    slack = 0.51 * 10.0 ** -len(digits) if digits.isdigit() else 0
    return math.isclose(value, made(of), rel_tol=1e-9, abs_tol=slack)


def _number(row: tuple, column: int) -> Number | None:
    value = number(row[column]) if column < len(row) else None
    return value[0] if value and abs(value[0]) < 1e300 else None


def _figures(rows: list[tuple], columns: list[int]) -> Figures:
    return {c: [_number(row, c) for row in rows] for c in columns}


def inner(names: list[str], rows: list[tuple], columns: list[Json], of: str) -> list[str]:
    """What is said of rows that are sums of others, or may be; of is "" if these rows are all.
    Columns of numbers get the range that they have without the sums."""
    texts = [n for n, c in enumerate(columns) if c["type"] == "text" and not c.get("unique")]
    keys = texts[:]
    texts += [n for n, c in enumerate(columns[:3]) if c.get("unique") and c["type"] == "text"]
    numeric = [n for n, c in enumerate(columns) if c["type"] == "number"][:WIDE]
    figures: Figures = {}
    said: list[str] = []
    told: set[int] = set()
    for n in texts[:20] if len(rows) > 3 and numeric else ():
        some = {row[n] for row in rows[:MOST] if n < len(row) and isinstance(row[n], str)}
        few = [v for v in some if len(v) < 60]
        words = {v for v in few if SUM.fullmatch(v.strip()) or MAY.fullmatch(v.strip())}
        at = {i for i, row in enumerate(rows) if words and n < len(row) and row[n] in words}
        if not 0 < len(at) < len(rows) / 2:
            continue
        figures = figures or _figures(rows, numeric)
        values = list(dict.fromkeys(rows[i][n].strip() for i in sorted(at)))
        words_only = all(map(SUM.fullmatch, values))
        least = min(2, len(at)) if words_only else 2
        sure = _sums(at, least, rows, [k for k in keys if k != n], figures)
        if not sure and not words_only:
            continue
        others = {v.strip() for v in some - words if not missing(v)}
        code = all(among_codes(v, others) for v in values)
        if not sure and code and not _behaves(at, n, rows, keys, figures):
            continue
        for f, of_all in figures.items() if sure else ():
            rest = [v for i, v in enumerate(of_all) if i not in at and v is not None]
            if rest and not columns[f].get("whole"):
                columns[f].setdefault("without", [min(rest), max(rest)])
        shown = ", ".join(literal(v) for v in values[:4]) + (", …" if len(values) > 4 else "")
        many = f"{len(at)} rows" if len(at) > 1 else "1 row"
        said.append(
            f"{many}{of} with {shown} in {label(names[n])} "
            + (
                "are sums of others: they are in these figures, and a sum over all rows counts "
                "twice"
                if sure
                else "may be totals of others, a guess by these words: they are in these figures"
            )
        )
        told |= at
    last = len(rows) - 1
    name = _label(rows[last]) if last > 1 and not of and last not in told else ""
    if _word(name) and not any(_label(row) == name for row in rows[:last]):
        row = " | ".join(show(c, 24) for c in rows[last][:8] if not empty(c))
        said.insert(
            0,
            f"the last row may be a total, a guess by its label: it is in these figures: {row}",
        )
    return said[:3]


def _sums(at: set[int], least: int, rows: list[tuple], keys: list[int], figures: Figures) -> bool:
    """Whether most of the rows, and at least so many, are the sums of those since the one before,
    or of those with the same texts in other columns."""
    groups = [tuple(row[k] if k < len(row) else None for k in keys) for row in rows]
    for since in (True, False):
        right = 0
        for values in figures.values():
            tested = _tested(at, values, groups, since)
            sums = sum(_made(value, parts, math.fsum) for value, parts in tested)
            right += sums if sums * 2 > len(tested) else 0
        if right >= least:
            return True
    return False


def _behaves(at: set[int], n: int, rows: list[tuple], keys: list[int], figures: Figures) -> bool:
    """Whether rows may be totals by more than a word: their other texts are empty or such words, or
    most of their numbers are near the sum or the mean of the others."""
    texts = [rows[i][k] for i in at for k in keys if k != n and k < len(rows[i])]
    if texts and all(empty(v) or isinstance(v, str) and SUM.fullmatch(v.strip()) for v in texts):
        return True
    near = given = 0
    for values in figures.values():
        rest = [v for i, v in enumerate(values) if i not in at and v is not None]
        made = [math.fsum(rest), statistics.fmean(rest)] if _parts(rest) > 1 else []
        for value in (values[i] for i in at if made and values[i] is not None):
            given += 1
            near += any(math.isclose(value, m, rel_tol=0.02) for m in made)
    return near * 2 > given


def _tested(
    at: set[int], values: list[Number | None], groups: list[tuple], since: bool
) -> list[tuple[Number, list[Number]]]:
    """The numbers of the rows with what each may be the sum of, as far as that is several."""
    parts: dict[Any, list[Number]] = defaultdict(list)
    found = []
    for i, value in enumerate(values):
        if i in at and value is not None:
            found.append((value, parts[() if since else groups[i]]))
        if i in at and since:
            parts = defaultdict(list)
        elif i not in at and value is not None:
            parts[() if since else groups[i]].append(value)
    return [(value, some) for value, some in found if _parts(some) > 1]
