"""Rows of a table that are sums of others."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from typing import Any

from dsstar_profile.numerals import number
from dsstar_profile.values import label, literal

Json = dict[str, Any]
# What a row begins with that is a total at the end of a table.
TOTAL = re.compile(
    r"\W*((grand |sub[- ]?)?totals?|sum|overall|average|mean|max|min|median|all|summe|gesamt)\b",
    re.IGNORECASE,
)
# A value of rows that are sums of others, and one of which figures have to tell.
SUM = re.compile(
    r"all|overall|(.* )?(sub[- ]?|grand[- ]?)?totals?|(zwischen|gesamt|teil)?summen?|gesamt|sous-total|"
    r"subtotaal|totaal",
    re.IGNORECASE,
)
MAY = re.compile(r"(all|(sub[- ]?|grand )?totals?|summe|total général) .*", re.IGNORECASE)
MOST = 20_000  # rows that are looked at


def inner(names: list[str], rows: list[tuple], columns: list[Json]) -> list[str]:
    """What is said of rows that are sums of others, or may be. Columns of numbers get the range
    that they have without the sums."""
    texts = [n for n, c in enumerate(columns) if c["type"] == "text" and not c.get("unique")]
    texts += [n for n, c in enumerate(columns[:3]) if c.get("unique") and c["type"] == "text"]
    figures = [n for n, c in enumerate(columns) if c["type"] == "number"][:8]
    said = []
    for n in texts[:20]:
        if len(rows) < 4 or not figures:
            break
        at = [
            i
            for i, row in enumerate(rows[:MOST])
            if n < len(row) and isinstance(row[n], str) and len(row[n]) < 60
            if SUM.fullmatch(row[n].strip()) or MAY.fullmatch(row[n].strip())
        ]
        if not 0 < len(at) < len(rows) / 2:
            continue
        sure = _above(rows, set(at), figures) or _among(rows, set(at), n, texts, figures)
        if not sure and not all(SUM.fullmatch(rows[i][n].strip()) for i in at):
            continue
        for f in figures if sure else ():
            rest = [
                v[0]
                for i, r in enumerate(rows)
                if i not in at and f < len(r)
                if (v := number(r[f]))
            ]
            if rest and not columns[f].get("whole"):
                columns[f].setdefault("without", [min(rest), max(rest)])
        values = list(dict.fromkeys(rows[i][n].strip() for i in at))
        told = ", ".join(literal(v) for v in values[:4]) + (", …" if len(values) > 4 else "")
        many = f"{len(at)} rows" if len(at) > 1 else "1 row"
        what = "are sums of others" if sure else "may be totals of others"
        said.append(
            f"{many} with {told} in {label(names[n])} {what}: they are in these figures, and a sum "
            "over all rows counts twice"
        )
    return said[:3]


def _above(rows: list[tuple], at: set[int], figures: list[int]) -> bool:
    """Whether most of the rows are the sums of those since the one before."""
    for column in figures:
        right, total = 0, 0.0
        for i, row in enumerate(rows[: max(at) + 1]):
            value = number(row[column]) if column < len(row) else None
            if i in at:
                right += bool(value and total and _near(value[0], total))
                total = 0.0
            else:
                total += value[0] if value else 0
        if right * 2 > len(at):
            return True
    return False


def _among(rows: list[tuple], at: set[int], n: int, texts: list[int], figures: list[int]) -> bool:
    """Whether most of the rows are the sums of those with the same texts in the other columns."""
    others = [t for t in texts if t != n]
    for column in figures:
        sums: dict[tuple, float] = defaultdict(float)
        for i, row in enumerate(rows):
            value = number(row[column]) if column < len(row) else None
            if i not in at and value:
                sums[tuple(row[t] for t in others)] += value[0]
        right = 0
        for i in at:
            value = number(rows[i][column]) if column < len(rows[i]) else None
            right += bool(value and _near(value[0], sums[tuple(rows[i][t] for t in others)]))
        if right * 2 > len(at):
            return True
    return False


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)
