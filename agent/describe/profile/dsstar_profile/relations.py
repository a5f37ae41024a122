"""What holds between the columns of a table."""

from __future__ import annotations

import contextlib
import decimal
import itertools
import math
import re
from typing import Any

from dsstar_profile.numerals import number
from dsstar_profile.values import hashed, label, literal, missing, show

Json = dict[str, Any]
WIDE = 40  # columns of a table that are compared with one another
# Columns of whole numbers that may be keys.
KEY = re.compile(
    r"(^|[^a-z])(id|code|key|nr|number|fips|zip|year|month|day|index|idx|"
    r"column \d+)s?([^a-z]|$)|I[Dd]$"
)


def between(names: list[str], rows: list[tuple], columns: list[Json]) -> Json:
    """Duplicate rows, keys, and columns that follow from others."""
    out: Json = {}
    if len(rows) < 2:
        return out
    names = list(map(label, names))
    keyed = [tuple(map(hashed, row)) for row in rows]
    again = len(keyed) - len(set(keyed))
    if again and len(names) == len(columns):
        out["duplicates"] = again
    texts = list(zip(*keyed))[:WIDE]
    fit = [
        n
        for n, c in enumerate(columns[:WIDE])
        if c["type"] in ("text", "date")
        or c.get("integer")
        and (n == 0 or KEY.search(names[n].lower()) or KEY.search(names[n]))
    ]
    if unique := [n for n in fit if columns[n].get("unique")]:
        out["keys"] = [[names[n]] for n in unique[:3]]
    elif not again and len(rows) > 4:
        fit = [
            n for n in fit if not columns[n].get("missing") and columns[n].get("distinct", 0) > 1
        ][:10]
        for size in (2, 3):
            found = [
                g
                for g in itertools.combinations(fit, size)
                if math.prod(columns[n]["distinct"] for n in g) >= len(rows)
                and len(set(zip(*(texts[n] for n in g)))) == len(rows)
            ]
            if found:
                out["keys"] = [[names[n] for n in g] for g in found[:2]]
                break
    if gaps := _gaps(names, rows, columns):
        out["gaps"] = gaps
    follows = _dependencies(names, texts, columns)
    with contextlib.suppress(ImportError):
        follows += _sums(names, rows, columns)
    if follows:
        out["follows"] = follows[:8]
    return out


def _gaps(names: list[str], rows: list[tuple], columns: list[Json]) -> list[str]:
    """Columns that are missing in the same rows, and where those are all rows that another column
    has or has not a certain value in."""

    def values(n: int) -> list:
        return [row[n] if n < len(row) else None for row in rows]

    groups: dict[bytes, list[int]] = {}
    for n, c in enumerate(columns):
        if 1 < sum(c.get("missing", {}).values()) < len(rows):
            groups.setdefault(bytes(map(missing, values(n))), []).append(n)
    said: dict[bytes, str] = {}
    few = [n for n, c in enumerate(columns[:WIDE]) if 1 < len(c.get("values", ())) <= 12]
    for n in few if groups else ():
        shown = [None if missing(v) else show(v, 40) for v in values(n)]
        for value in _apart(columns[n]["values"]):
            mask = bytes(v == value for v in shown)
            said[mask] = f", exactly where {names[n]} is {literal(value)}"
            mask = bytes(not m for m in mask)
            said.setdefault(mask, f", exactly where {names[n]} is not {literal(value)}")
    lines = []
    for mask, group in sorted(groups.items(), key=lambda g: -len(g[1])):
        if len(group) > 1 or mask in said:
            same = "the same " if len(group) > 1 else ""
            more = f" and {len(group) - 8} more" if len(group) > 8 else ""
            told = ", ".join(names[n] for n in group[:8])
            lines.append(f"missing in {same}{sum(mask)} rows{said.get(mask, '')}: {told}{more}")
    return lines[:6]


def _apart(values: list) -> list[str]:
    """The values that are not shown as others are."""
    shown = [v for v, _ in values]
    return [v for v in shown if shown.count(v) == 1]


def _dependencies(names: list[str], texts: list[tuple], columns: list[Json]) -> list[str]:
    """Columns of repeated values that say the same, or of which one follows from the other."""
    rows = len(texts[0])
    few = (
        [
            n
            for n in range(len(texts))
            if 2 <= columns[n].get("distinct", 0) <= rows / 3
            and columns[n]["type"] in ("text", "date", "number")
            and (columns[n]["type"] != "number" or columns[n].get("integer"))
        ]
        if rows >= 20
        else []
    )
    groups = {n: len(set(texts[n])) for n in few}
    thin = {n: texts[n][:: max(1, rows // 2000)] for n in few}

    def follows(a: int, b: int) -> bool:
        return (
            groups[a] >= groups[b] > 2
            and len(set(zip(thin[a], thin[b]))) == len(set(thin[a]))
            and len(set(zip(texts[a], texts[b]))) == groups[a]
        )

    pairs, said = [], set()
    for a, b in itertools.combinations(few, 2):
        if groups[a] == groups[b] and follows(a, b) and b not in said:
            said.add(b)  # what holds of b, is said of a
            if texts[a] != texts[b]:
                pairs.append(f"{names[a]} and {names[b]} correspond one to one")
    for a, b in itertools.permutations(few, 2):
        if not said & {a, b} and columns[a]["type"] != "number" and follows(a, b):
            pairs.append(f"{names[b]} follows from {names[a]}")
            said.add(b)
    return pairs


def _sums(names: list[str], rows: list[tuple], columns: list[Json]) -> list[str]:
    """Columns that are a sum, difference, product or ratio of two others, or the sum of several, in
    all rows."""
    fit = [
        n
        for n, c in enumerate(columns[:WIDE])
        if c["type"] == "number" and c.get("distinct", 0) > 3 and not c.get("long")
    ][:24]
    if len(fit) < 3 or len(rows) < 10:
        return []
    import numpy as np

    def values(n: int, step: int) -> Any:
        cells = (number(row[n]) if n < len(row) else None for row in rows[::step])
        return np.array([float(c[0]) if c else math.nan for c in cells])

    some = np.array([values(n, max(1, len(rows) // 400)) for n in fit])
    digits = [max((_digits(v) for v in s[np.isfinite(s)]), default=0) for s in some]

    def near(want: Any, got: Any, slack: float) -> Any:
        """Whether each row of got is want wherever both are known."""
        known = np.isfinite(want) & np.isfinite(got)
        fits = np.abs(want - got) <= slack + 1e-12 * np.abs(want)
        return (fits | ~known).all(axis=-1) & (known.sum(axis=-1) >= 5)

    whole: dict[int, Any] = {}

    def always(c: int, sign: str, of: tuple[int, ...], slack: float) -> bool:
        want, *parts = (
            whole[n] if n in whole else whole.setdefault(n, values(fit[n], 1)) for n in (c, *of)
        )
        telling = np.isfinite(want) & (want != 0) & np.all([p != 0 for p in parts], axis=0)
        many = telling.sum() >= max(5, len(want) // 4) and len(set(want[telling])) > 3
        return many and bool(near(want, SIGNS[sign](*parts), slack))

    found: list[str] = []
    taken: set[frozenset[int]] = set()
    few = some[:, :: max(1, some.shape[1] // 24)]
    with np.errstate(all="ignore"):
        pairs = {sign: of(few[:, None, :], few[None, :, :]) for sign, of in SIGNS.items()}
        for c, sign in itertools.product(range(len(fit) - 1, -1, -1), SIGNS):
            slack = 0.51 * 10.0 ** -digits[c]
            for a, b in np.argwhere(near(few[c], pairs[sign], slack)).tolist():
                three = frozenset((a, b, c))
                exact = "/" not in sign and max(digits[a], digits[b]) <= digits[c]
                total = sign == "−" and TOTAL.search(names[fit[a]])
                if len(three) < 3 or three in taken or total or sign in "+×" and a > b:
                    continue
                if always(c, sign, (a, b), 0 if exact else slack):
                    taken.add(three)
                    how = f"{names[fit[a]]} {sign[0]} {names[fit[b]]}{sign[1:]}"
                    found.append(f"{names[fit[c]]} = {how}")
        for start, end in itertools.combinations(range(len(fit) + 1), 2):
            for c in {start - 1, end} & set(range(len(fit))) if end - start > 2 else ():
                slack = 0.51 * 10.0 ** -digits[c]
                of = tuple(range(start, end))
                if near(some[c], some[start:end].sum(axis=0), slack) and always(c, "+", of, slack):
                    found.append(
                        f"{names[fit[c]]} = sum of {names[fit[start]]} … {names[fit[end - 1]]} "
                        f"({len(of)} columns)"
                    )
    return found


TOTAL = re.compile(r"(^|[^a-z])(total|sum|all|overall)([^a-z]|$)", re.IGNORECASE)
SIGNS = {
    "+": lambda *of: sum(of),
    "−": lambda a, b: a - b,
    "×": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "/ × 100": lambda a, b: 100 * a / b,
}


def _digits(value: float) -> int:
    """How many digits a number has after the point."""
    return max(0, -int(decimal.Decimal(repr(float(value))).normalize().as_tuple().exponent))
