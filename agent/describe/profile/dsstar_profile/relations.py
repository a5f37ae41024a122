"""What holds between the columns of a table."""

from __future__ import annotations

import contextlib
import decimal
import itertools
import math
import re
from typing import Any

from dsstar_profile.numerals import number
from dsstar_profile.values import label, literal, missing, show

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
    keyed = [tuple(v if isinstance(v, str) else show(v, 200) for v in row) for row in rows]
    if again := len(keyed) - len(set(keyed)):
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

    def where(n: int, holds: Any) -> bytes:
        return bytes(holds(row[n] if n < len(row) else None) for row in rows)

    groups: dict[bytes, list[int]] = {}
    for n, c in enumerate(columns):
        if 1 < sum(c.get("missing", {}).values()) < len(rows):
            groups.setdefault(where(n, missing), []).append(n)
    said: dict[bytes, str] = {}
    few = [n for n, c in enumerate(columns[:WIDE]) if 1 < len(c.get("values", ())) <= 12]
    for n, value in ((n, v) for n in few if groups for v, _ in columns[n]["values"]):
        mask = where(n, lambda v: not missing(v) and show(v, 40) == value)
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
    pairs, said = [], set()
    groups = {n: len(set(texts[n])) for n in few}
    thin = {n: texts[n][:: max(1, rows // 2000)] for n in few}
    for a, b in itertools.permutations(few, 2):
        if (
            groups[a] >= groups[b] > 2
            and len(set(zip(thin[a], thin[b]))) == len(set(thin[a]))
            and len(set(zip(texts[a], texts[b]))) == groups[a]
        ):
            if groups[a] == groups[b]:
                if a < b:
                    pairs.append(f"{names[a]} and {names[b]} correspond one to one")
            elif b not in said and columns[a]["type"] != "number":
                pairs.append(f"{names[b]} follows from {names[a]}")
                said.add(b)
    return pairs


def _sums(names: list[str], rows: list[tuple], columns: list[Json]) -> list[str]:
    """Columns that are a sum, product or ratio of two others, or the sum of several."""
    fit = [
        n
        for n, c in enumerate(columns[:WIDE])
        if c["type"] == "number" and c.get("distinct", 0) > 3
    ]
    if len(fit) < 3 or len(rows) < 10:
        return []
    import numpy as np

    fit = fit[:14]
    cells = [
        [number(row[n]) if n < len(row) else None for n in fit]
        for row in rows[:: max(1, len(rows) // 400)]
    ]
    values = np.array([[c[0] if c else math.nan for c in row] for row in cells], dtype=float)
    found: list[str] = []
    for c, name in ((n, names[fit[n]]) for n in range(len(fit))):
        want = values[:, c]
        digits = max(_digits(v) for v in want[np.isfinite(want)])

        def holds(*of: int, got: Any) -> bool:
            seen = np.isfinite(want) & np.isfinite(got)
            near = np.abs(want - got)[seen] <= 0.51 * 10.0**-digits + 1e-9 * np.abs(want[seen])
            telling = seen & (want != 0) & (values[:, of] != 0).all(axis=1)
            return (
                near.all()
                and telling.sum() >= max(5, len(want) // 4)
                and len(set(want[telling])) > 3
            )

        def said(a: int, sign: str, b: int) -> str:
            return f"{name} = {names[fit[a]]} {sign} {names[fit[b]]}"

        with np.errstate(all="ignore"):
            for a, b in itertools.combinations([n for n in range(len(fit)) if n != c], 2):
                x, y = values[:, a], values[:, b]
                ways = (
                    (a, "+", b, x + y),
                    (a, "×", b, x * y),
                    (a, "/", b, x / y),
                    (b, "/", a, y / x),
                )
                found += [said(f, sign, t) for f, sign, t, got in ways if holds(a, b, got=got)]
        for start, end in itertools.combinations(range(len(fit) + 1), 2):
            of = range(start, end)
            if len(of) > 2 and c not in of and holds(*of, got=values[:, start:end].sum(axis=1)):
                found.append(
                    f"{name} = sum of {names[fit[start]]} … {names[fit[end - 1]]} "
                    f"({len(of)} columns)"
                )
    # Of a product and its ratios the product is enough.
    products = {frozenset(re.split(r" = | × ", f)) for f in found if " × " in f}
    return [
        f for f in found if " / " not in f or frozenset(re.split(r" = | / ", f)) not in products
    ]


def _digits(value: float) -> int:
    """How many digits a number has after the point."""
    return max(0, -int(decimal.Decimal(repr(float(value))).normalize().as_tuple().exponent))
