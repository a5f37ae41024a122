"""What there is to say of a table: of each column, and of what holds between columns."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import itertools
import json
import math
import numbers
import re
import zlib
from collections import Counter
from typing import Any

Json = dict[str, Any]

MARKERS = set("- -- --- n/a na nan <na> n.a. null none nil ? . .. #n/a missing".split()) | {
    "",
    "not available",
}
# What pandas takes for missing unasked.
READ = set(
    "#N/A #NA -1.#IND -1.#QNAN -NaN -nan 1.#IND 1.#QNAN <NA> N/A NA NULL NaN None n/a nan null".split()
) | {"", "#N/A N/A"}
# Words among numbers that are likely to stand for a missing one.
LIKELY = set("m nd nr ns nq na. u unk unknown tbd tba * ** *** -- … suppressed".split()) | {
    "no data",
    "not reported",
    "not recorded",
    "not applicable",
    "not determined",
    "not collected",
}
PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")
# A number as people write it: a currency, groups of three, a sign of per cent or a unit.
DRESSED = re.compile(
    r"(?P<open>\(?)(?P<sign>[-+]?)\s*(?P<before>[$€£¥₹]|USD|EUR|GBP)?\s*"
    r"(?P<digits>[-+]?\d[\d.,' \u00a0]*)"
    r"\s*(?P<after>%|[°µ]?[A-Za-z][A-Za-z/²³^0-9]{0,11}|\"|')?\s*\)?$"
)
GROUPED = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?$")
EUROPEAN = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+),\d+$")
# Ways to write a date or a time that pandas does not guess.
FORMS = (
    "%m/%d/%y|%d/%m/%y|%m/%d/%Y %I:%M:%S %p|%m/%d/%Y %I:%M %p|%d-%b-%Y|%d-%b-%y|%b %Y|%B %Y|%b-%y"
    "|%Y%m|%H:%M|%H:%M:%S"
).split("|")
# Columns of whole numbers that may be keys.
KEY = re.compile(
    r"(^|[^a-z])(id|code|key|nr|number|fips|zip|year|month|day|index|idx|"
    r"column \d+)s?([^a-z]|$)|I[Dd]$"
)
HASHED = (str, numbers.Number, datetime.date, datetime.time)
SKETCH = 128  # hashes that are kept of a column
LONG = 80  # characters of a value that is shown
WIDE = 40  # columns of a table that are compared with one another


def show(value: object, most: int = LONG) -> str:
    """A value as one short line: what a file says is data, also where it is written to mislead."""
    text = value if isinstance(value, str) else _text(value)
    if len(text) <= most and text.isprintable():
        return text
    text = _escaped(text[: most + 1])
    return text if len(text) <= most else text[: most - 1] + "…"


def _escaped(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def literal(value: object, most: int = 40) -> str:
    """A value as a Python string in quotes."""
    text = value if isinstance(value, str) else _text(value)
    text = text if len(text) <= most else text[: most - 1] + "…"
    return '"' + _escaped(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def label(name: object) -> str:
    """The name of a column: in quotes, as Python has it, if its characters do not show."""
    text = name if isinstance(name, str) else _text(name)
    plain = text.isprintable() and text == text.strip() and not text.startswith('"')
    return show(text, 120) if plain else literal(text, 120)


def _text(value: object) -> str:
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return str(value.date())
    if isinstance(value, float):
        return str(int(value)) if abs(value) < 1e15 and value == int(value) else f"{value:.10g}"
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    return str(value)


def missing(value: object) -> bool:
    if isinstance(value, str):
        return len(value) < 16 and value.strip().lower() in MARKERS
    return value is None or value != value


def number(value: object) -> tuple[float, str] | None:
    """A value as a number, and how it is dressed: "" for a plain one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, numbers.Real) or isinstance(value, decimal.Decimal):
        return (float(value), "") if value == value and abs(value) < 1e300 else None
    if not isinstance(value, str) or not 0 < len(value) < 40:
        return None
    text = value.strip().replace("−", "-")
    if PLAIN.match(text):
        return (float(text), "") if math.isfinite(float(text)) else None
    m = DRESSED.match(text)
    if not m or bool(m["open"]) != text.endswith(")"):
        return None
    digits, dress = m["digits"].strip(), [m["before"] or "", m["after"] or ""]
    if GROUPED.match(digits):
        digits = digits.replace(",", "")
        dress.append("thousands commas")
    elif EUROPEAN.match(digits):
        digits = digits.replace(".", "").replace(",", ".")
        dress.append("decimal commas")
    elif re.match(r"\d{1,3}([ \u00a0']\d{3})+$", digits):
        digits = re.sub(r"[ \u00a0']", "", digits)
        dress.append("thousands spaces")
    if not PLAIN.match(digits):
        return None
    sign = -1 if m["open"] or m["sign"] == "-" else 1
    return sign * float(digits), ", ".join(filter(None, dress)) or "with brackets"


def column(name: object, values: list, text_source: bool) -> Json:
    """The profile of a column. Of a text_source (CSV, HTML) numbers and dates are always text."""
    out: Json = {"name": label(name)}
    gone = Counter("null" if v is None or v != v else show(v) for v in values if missing(v))
    if gone:
        out["missing"] = dict(gone.most_common(5))
    given = [v for v in values if not missing(v)]
    if not given:
        return out | {"type": "empty"}
    if any(isinstance(v, list) for v in given):
        return out | _lists(given)
    counts = Counter(v if isinstance(v, HASHED) else show(v, 500) for v in given)
    out["distinct"] = len(counts)
    notes: list[str] = []
    parsed = {v: n for v in counts if (n := number(v)) is not None}
    units = {d for _, d in parsed.values()}
    if (
        len(units) > 6
        or sum(len(u) == 1 and u.isalpha() and u not in "KMBTkmbt" for u in units) > 1
    ):
        parsed = {}  # codes
    share = sum(counts[v] for v in parsed) / len(given)
    codes = [v for v in counts if isinstance(v, str) and re.match(r"0\d+$", v.strip())]
    if len(codes) == 1 < len(counts) / 20:
        notes.append(f"one value has leading zeros: {literal(codes.pop())}")
    if all(isinstance(v, bool) for v in counts):
        out["type"] = "boolean"
    elif all(isinstance(v, (datetime.date, datetime.time)) for v in counts):
        out |= {"type": "date", "range": [show(min(counts, key=str)), show(max(counts, key=str))]}
    elif dates := (
        _dates([v for v in counts if isinstance(v, str)]) if share < 1 or text_source else {}
    ):
        out |= {k: v for k, v in dates.items() if k != "others"}
        if not text_source:
            notes.append("dates kept as text")
        if others := dates.pop("others"):
            out["mixed"] = True
            notes.append(
                f"mixed: some values are no dates, such as {', '.join(map(literal, others[:3]))}"
            )
    elif (
        not codes
        and (share > 0.8 or share > 0.5 and len(counts) - len(parsed) <= 5)
        and len(counts) - len(parsed) <= len(parsed) / 3
    ):
        out |= _numbers(parsed, counts, notes)
        if not text_source and all(isinstance(v, str) for v in counts):
            notes.append("numbers kept as text")
        if others := [v for v in counts if v not in parsed]:
            many = sum(counts[v] for v in others)
            others.sort(key=lambda v: -counts[v])
            out["mixed"] = True
            if all(show(v).strip().lower() in LIKELY for v in others) and len(others) < 4:
                said = [f"{literal(v)} ({_times(counts[v])})" for v in others]
                notes.append(f"{' and '.join(said)} may stand for missing")
                out["markers"] = list(map(show, others))
            else:
                notes.append(
                    f"mixed: {many} values are no numbers: {', '.join(map(literal, others[:4]))}"
                )
    else:
        out["type"] = "text"
        if codes:
            notes.append("digits with leading zeros: codes, not numbers")
        if kinds := {type(v).__name__ for v in counts} - {"str"}:
            notes.append(f"mixed: text and {', '.join(sorted(kinds))}")
            out["mixed"] = True
        notes += _spelling(counts)
    _frequent(out, counts, len(given))
    if len(given) == len(values) and len(counts) == len(values) > 1:
        out["unique"] = True
    if (out["type"] == "text" or out.get("integer")) and len(counts) > 1:
        out["sketch"] = sketch(counts)
    return out | ({"notes": notes} if notes else {})


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


def unread(column: Json) -> list[str]:
    """The markers of missing in a column that pandas takes for text."""
    return [m for m in column.get("missing", ()) if m not in READ] + column.get("markers", [])


def sketch(values: Any) -> list[int]:
    """The lowest hashes of the values, which tell how many of them another column has."""
    hashes = {zlib.crc32(show(v, 500).strip().removesuffix(".0").encode()) for v in values}
    return sorted(hashes)[:SKETCH]


def _numbers(numbers: dict, counts: Counter, notes: list[str]) -> Json:
    plain = sorted(itertools.chain.from_iterable([n] * counts[v] for v, (n, _) in numbers.items()))
    integer = all(n == int(n) for n in plain)
    out: Json = {"type": "number", "integer": integer, "range": [plain[0], plain[-1]]}
    if dress := Counter({d: sum(counts[v] for v in g) for d, g in _by_dress(numbers).items()}):
        out["dress"] = sorted({word for d in dress for word in d.split(", ")})
        plain_ones = sum(counts[v] for v, (_, d) in numbers.items() if not d)
        example = next(v for v, (_, d) in numbers.items() if d)
        notes.append(
            f"written as {literal(example)} ({'; '.join(d for d, _ in dress.most_common(4))})"
            + (", some without" if plain_ones else "")
        )
    # A marker of missing is an extreme of the values, apart from the others: -999, 99.99, -1.
    for value, (n, _) in numbers.items():
        if counts[value] < 2 or n not in (-1, plain[0], plain[-1]):
            continue
        rest = [m for m, _ in numbers.values() if m != n]
        nines = re.sub(r"[-.]|0+$", "", str(value).strip())
        if not rest:
            continue
        low, high = min(rest), max(rest)
        gap = max(n - high, low - n) / ((high - low) or 1)
        if (
            n == -1
            and low >= 0
            or set(nines) == {"9"}
            and (gap > 2 or len(nines) > 2 and (gap > 0.05 or n < 0 <= low))
        ):
            notes.append(f"{show(value).strip()} ({_times(counts[value])}) may stand for missing")
            out["without"] = [low, high]
    return out


def _by_dress(numbers: dict) -> dict[str, list]:
    groups: dict[str, list] = {}
    for v, (_, dress) in numbers.items():
        if dress:
            groups.setdefault(dress, []).append(v)
    return groups


def _dates(values: list[str]) -> Json:
    """The range of values that are dates or times, written in at most three ways."""
    tried = [v.strip() for v in values[:: max(1, len(values) // 20)]]
    may = sum(bool(re.search(r"\d", v)) and (len(v) in (6, 8) or not PLAIN.match(v)) for v in tried)
    if not tried or may < 0.8 * len(tried):
        return {}
    import pandas as pd

    left = pd.Series(values[:: max(1, len(values) // 20_000)])
    probe = left[:: max(1, len(left) // 300)]
    some, parsed, used, both = len(left), [], [], False
    guess = pd.tseries.api.guess_datetime_format
    guessed = [guess(v, dayfirst=day) for v in tried[:5] + tried[-1:] for day in (False, True)]
    forms = [
        f
        for f in dict.fromkeys(guessed)
        if f and f != "%Y" and "%Y-%d" not in f and "%Y/%d" not in f
    ]
    fits = {
        f: n for f in [*forms, *FORMS] if (n := _parse(probe, f).notna().sum()) > len(probe) / 20
    }
    for form in sorted(fits, key=lambda f: -fits[f]):
        other = form.replace("%m", "%M").replace("%d", "%m").replace("%M", "%d", 1)
        found = _parse(left, form)
        if found.notna().sum() > some / 20:
            both = both or other != form and fits.get(other) == fits[form]
            used.append(form)
            known = pd.to_datetime(found.dropna(), utc=True)
            parsed += [(known.min(), left[known.idxmin()]), (known.max(), left[known.idxmax()])]
            left = left[found.isna()]
    others = left.to_list()
    if not used or len(used) > 3 or len(others) > max(1 if some > 5 else 0, some / 20):
        return {}
    out: Json = {"type": "date", "range": [show(min(parsed)[1]), show(max(parsed)[1])]}
    out |= {"form": " or ".join(used), "others": others}
    return out | ({"notes_form": "the day or the month may come first: both fit"} if both else {})


def _parse(values: Any, form: str) -> Any:
    import pandas as pd

    if digits := {"%Y%m%d": 8, "%Y%m": 6}.get(form):
        values = values.where(values.str.fullmatch(r"\s*(19|20)\d{%d}\s*" % (digits - 2)))
    return pd.to_datetime(values, format=form, errors="coerce", utc="%z" in form)


def _lists(given: list) -> Json:
    lists = [v for v in given if isinstance(v, list)]
    items = Counter(show(x, 200) for v in lists for x in v)
    out: Json = {
        "type": "list",
        "lengths": [min(map(len, lists)), max(map(len, lists))],
        "distinct": len(items),
    }
    if empty := sum(not v for v in lists):
        out["empty"] = empty
    if len(lists) < len(given):
        out |= {"mixed": True, "notes": [f"mixed: {len(given) - len(lists)} values are no lists"]}
    _frequent(out, items, sum(items.values()))
    if items:
        out["sketch"] = sketch(items)
    return out


def _frequent(out: Json, counts: Counter, given: int) -> None:
    few = (
        len(counts) <= 12
        or len(counts) <= 60
        and given >= 2 * len(counts)
        and out["type"] != "number"
    )
    common = counts.most_common(60 if few else 4)
    if few and sum(len(show(v, 40)) + 2 for v, _ in common) < 420:
        out["values"] = [[show(v, 40), n] for v, n in common]
    elif common[0][1] > 1 and (out["type"] not in ("number", "date") or common[0][1] > given / 20):
        most = [v for v in common if v[1] > 1][: 4 if out["type"] in ("text", "list") else 2]
        out["frequent"] = [
            [show(v, 40) if out["type"] == "text" else show(v, 40).strip(), n] for v, n in most
        ]
    if "values" not in out and out["type"] == "text":
        step = max(1, len(counts) // 3)
        out["examples"] = [show(v, 60) for v in itertools.islice(counts, 0, 3 * step, step)]


def _spelling(counts: Counter) -> list[str]:
    """Values that differ only in case or in the spaces around them."""
    notes = []
    texts = [v for v in counts if isinstance(v, str)]
    if spaced := [v for v in texts if v != v.strip()]:
        notes.append(
            f"{sum(counts[v] for v in spaced)} values have spaces at an end, such as "
            f"{literal(spaced[0])}"
        )
    if damaged := [v for v in texts if "\ufffd" in v]:
        notes.append(
            f"{len(damaged)} values have U+FFFD for a lost character: {literal(damaged[0])}"
        )
    folded: dict[str, list[str]] = {}
    for v in texts:
        folded.setdefault(" ".join(v.casefold().split()), []).append(v)
    if alike := [g for g in folded.values() if len(g) > 1]:
        notes.append(
            f"values that differ in case or spaces only: {' and '.join(map(literal, alike[0][:3]))}"
            + (f" and {len(alike) - 1} more" if len(alike) > 1 else "")
        )
    empties = [v for v in texts if v.strip() in ("[]", "{}", "()")]
    if empties:
        notes.append(
            f"{sum(counts[v] for v in empties)} empty lists written as {literal(empties[0])}"
        )
    return notes


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
    values = np.array([[c[0] if c else math.nan for c in row] for row in cells])
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
