"""What there is to say of a column: its type, range, missing values and traps."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import itertools
import math
import numbers
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from dsstar_profile.dates import Dates, apart, dates_of
from dsstar_profile.numerals import NUMERIC, Marks, Read, numbers_of, real
from dsstar_profile.values import HASHED, LIKELY, READ, hashed, label, literal, missing, show, times

Json = dict[str, Any]
MARKED = 12  # markers of missing that are told of a column
ALL = 2000  # values of a column that are kept with their counts
FLOAT = 1 << 53  # from which on floats do not hold every whole number
OFTEN = 20  # times that numbers of a column repeat which are more than labels
LEAST = 20  # texts of which the endings are compared
KINDS = 4  # endings at most that are kinds
CODE = re.compile(r"0\d+$")
# A whole number that is written with decimals; 1.000 may be a thousand.
POINTED = re.compile(r"\d\.(?!000\W*$)0*\W*$")
EPOCH = re.compile(r"time|date|stamp|epoch|day|when|since|created|updated|(^|_)(at|ts)$", re.I)
SERIAL = (20_000, 60_000)  # days since 1900, as Excel writes dates of 1954 to 2064


@dataclass
class Context:
    """What the other columns of a file tell of a column."""

    marks: Marks = field(default_factory=Marks)
    order: str = ""  # "day" or "month": which comes first in dates


def column(name: object, values: list, text_source: bool, context: Context | None = None) -> Json:
    """The profile of a column. Of a text_source (CSV, HTML) numbers and dates are always text."""
    context = context or Context()
    out: Json = {"name": label(name)}
    codes = _codes({v for v in values if isinstance(v, str)})
    absent = [missing(v) and v not in codes for v in values]
    given = values
    if any(absent):
        gone = itertools.compress(values, absent)
        told = Counter("null" if v is None or v != v else show(v) for v in gone)
        out["missing"] = dict(told.most_common(MARKED))
        given = [v for v, is_absent in zip(values, absent) if not is_absent]
    if not given:
        return out | {"type": "empty"}
    kinds = set(map(type, given))
    if list in kinds:
        return out | _lists(given)
    if bytes in kinds:
        blobs = [v for v in given if isinstance(v, bytes)]
        return _binary(out, blobs, [v for v in values if not isinstance(v, bytes)], text_source)
    plain = all(issubclass(kind, HASHED) for kind in kinds)
    counts = Counter(given if plain else map(hashed, given))
    out["distinct"] = len(counts)
    notes: list[str] = []
    _typed(out, counts, given, text_source, context, notes)
    if out.get("integer") and EPOCH.search(out["name"]):
        notes += _epoch(out["range"])
    if codes:
        out["codes"] = sorted(codes)
        notes.append(
            f"{' and '.join(map(literal, sorted(codes)))} is taken for a code, as the others are "
            "alike; pandas takes it for missing without keep_default_na=False"
        )
    _frequent(out, counts, len(given))
    if len(given) == len(values) and len(counts) == len(values) > 1:
        out["unique"] = True
    return out | ({"notes": notes} if notes else {})


def _epoch(ends: list) -> list[str]:
    """What whole numbers of a column whose name speaks of time may be."""
    for unit, per in (("seconds", 1), ("milliseconds", 1000), ("microseconds", 1_000_000)):
        if all(3e8 * per <= n <= 4e9 * per for n in ends):
            days = [
                str(datetime.datetime(1970, 1, 1) + datetime.timedelta(0, n // per)) for n in ends
            ]
            return [f"may be {unit} since 1970: {days[0]} to {days[1]}"]
    return []


def _codes(texts: set[str]) -> set[str]:
    """Words for missing that are codes among others of as many letters, as NA is of Namibia."""
    words = {v for v in texts if 1 < len(v) < 5 and v.isalpha() and missing(v)}
    if not words:
        return words
    others = {v for v in texts if not missing(v)}
    return {word for word in words if among_codes(word, others)}


def among_codes(word: str, others: set[str]) -> bool:
    """Whether a word is of the form of codes that nearly all others have."""
    same = [v for v in others if len(v) == len(word) and v.isalpha() and v.isascii()]
    same = [v for v in same if (v.isupper(), v.islower()) == (word.isupper(), word.islower())]
    return len(same) >= 3 and len(same) >= 0.95 * len(others)


def _typed(
    out: Json, counts: Counter, given: list, text_source: bool, context: Context, notes: list[str]
) -> None:
    """The type of the values that most are of, and what is to be said of the others."""
    total = len(given)
    texts = {v: n for v, n in counts.items() if isinstance(v, str)}
    rest = [v for v in counts if not isinstance(v, str)] if len(texts) < len(counts) else []
    read = numbers_of(texts, context.marks)
    found: dict[Any, Any] = dict(read.values)
    for v in rest:
        if (
            isinstance(v, numbers.Real | decimal.Decimal)
            and not isinstance(v, bool)
            and math.isfinite(v)
        ):
            found[v] = real(v)
    real_dates = [v for v in rest if isinstance(v, (datetime.date, datetime.time))]
    share = sum(counts[v] for v in found) / total
    zeros = [v for v in texts if CODE.match(v.strip())]
    wide = {len(v.strip()) for v in texts}  # codes are of one width
    if len(zeros) == 1 < len(counts) / 20 and len(wide) > 1:
        notes.append(f"one value has leading zeros: {literal(zeros.pop())}")
    dates = Dates()
    if share < 1 or text_source and not zeros:
        dates = dates_of(texts, [v for v in given if isinstance(v, str)], context.order)
        context.order = context.order or dates.order
    dated = sum(counts[v] for v in itertools.chain(real_dates, dates.of)) / total
    if share > 0.8 and read.units_differ and dated < 0.5:
        out["type"] = "text"
        notes.append(read.units_differ)
    elif all(isinstance(v, bool) for v in counts):
        out["type"] = "boolean"
    elif all(isinstance(v, datetime.timedelta) for v in counts):
        out |= {"type": "duration", "range": [str(min(counts)), str(max(counts))]}
    elif dated >= 0.5 and dated > 0.9 * share:
        _dated(out, dates, real_dates, counts, text_source, notes)
        found = {v: n for v, n in found.items() if v not in dates.of}
        _others(out, counts, dates, real_dates, found, notes)
    elif (
        not zeros
        and (
            share > 0.8
            or share > 0.5
            and len(counts) - len(found) <= min(5, max(1, len(found) / 3))
        )
        and len(counts) - len(found) <= len(found) / 3
    ):
        out |= _numbers(found, read, counts, text_source, notes)
        if not text_source and len(texts) == len(counts):
            notes.append("numbers kept as text")
        _no_numbers(out, counts, found, dates, notes)
    else:
        out["type"] = "text"
        if zeros:
            notes.append("digits with leading zeros: codes, not numbers")
        kinds = {type(v).__name__ for v in counts} - {"str"}
        if not zeros and (0.1 < share or 0.1 < dated):
            _others(out, counts, dates, real_dates, found, notes)
        elif kinds:
            notes.append(f"mixed: text and {', '.join(sorted(kinds))}")
            out["mixed"] = True
        notes += _spelling(counts)


def _dated(
    out: Json, dates: Dates, real_dates: list, counts: Counter, text_source: bool, notes: list[str]
) -> None:
    """The range of dates: of the real ones, if there are any, else of those that are texts."""
    out["type"] = "date"
    if real_dates:
        out["range"] = _ends(real_dates)
        return
    out |= {"range": dates.ends(dates.of), "form": dates.form}
    if dates.open:
        out["open"] = True
    notes += dates.notes
    if not text_source:
        notes.append("dates kept as text")
    rest, said = apart(dates, counts)
    if rest:
        out["without"] = rest
        notes.append(said)


def _ends(dates: list) -> list[str]:
    """The first and the last of real dates and times, which may be of several zones."""

    def moment(v: Any) -> str:
        if isinstance(v, datetime.datetime) and v.tzinfo:
            with contextlib.suppress(OverflowError):  # at the ends of Python's years
                v = v.astimezone(datetime.timezone.utc)
        return str(v)

    return [show(min(dates, key=moment)), show(max(dates, key=moment))]


def _others(
    out: Json, counts: Counter, dates: Dates, real_dates: list, found: dict, notes: list[str]
) -> None:
    """How many values of a column of several kinds are of each, in which range and form."""
    rest = [v for v in counts if v not in found and v not in dates.of and v not in real_dates]
    texts = [v for v in rest if isinstance(v, str)]
    written = {v: n for v, n in found.items() if isinstance(v, str)}
    stored = {v: n for v, n in found.items() if v not in written}
    all_texts = all(isinstance(v, str) for v in counts)
    are = "that are " if all_texts and out["type"] == "text" else ""
    of_texts = are if all_texts else "texts that are "
    said = []
    if real_dates:
        ends = " to ".join(_ends(real_dates))
        said.append(f"{sum(counts[v] for v in real_dates)} dates ({ends})")
    if dates.of:
        many = sum(counts[v] for v in dates.of)
        ends = " to ".join(dates.ends(dates.of))
        said.append(f"{many} {of_texts}dates, form {dates.form} ({ends})")
    for some, kind in (stored, "numbers"), (written, of_texts + "numbers"):
        if not some:
            continue
        low, high = min(some.values()), max(some.values())
        serial = real_dates and SERIAL[0] <= low and high <= SERIAL[1]
        said.append(
            f"{sum(counts[v] for v in some)} {kind} ({show(low)} to {show(high)}"
            + (", as Excel counts days)" if serial else ")")
        )
    if texts:
        texts.sort(key=lambda v: -counts[v])
        kind = "" if are else "texts "
        shown = ", ".join(map(literal, texts[:3]))
        said.append(f"{sum(counts[v] for v in texts)} {kind}such as {shown}")
    if others := [v for v in rest if not isinstance(v, str)]:
        said.append(f"{sum(counts[v] for v in others)} others such as {literal(others[0])}")
    if len(said) > 1:
        out |= {"mixed": True, "texts": bool(are)}
        notes.append(("all are texts: " if are else "mixed: ") + ", ".join(said))
        if real_dates:
            notes += dates.notes


def _no_numbers(out: Json, counts: Counter, found: dict, dates: Dates, notes: list[str]) -> None:
    """What the values of a column of numbers are that are none."""
    others = sorted((v for v in counts if v not in found), key=lambda v: -counts[v])
    if not others:
        return
    out["mixed"] = True
    if all(show(v).strip().lower() in LIKELY for v in others) and len(others) < 4:
        said = [f"{literal(v)} ({times(counts[v])})" for v in others]
        notes.append(f"{' and '.join(said)} may stand for missing")
        out["markers"] = list(map(show, others))
        return
    many = sum(counts[v] for v in others)
    kind = "dates" if all(v in dates.of for v in others) else "no numbers"
    notes.append(f"mixed: {many} values are {kind}: {', '.join(map(literal, others[:4]))}")


def unread(column: Json) -> list[str]:
    """The markers of missing in a column that pandas takes for text."""
    return [m for m in column.get("missing", ()) if m not in READ] + column.get("markers", [])


def _numbers(found: dict, read: Read, counts: Counter, texts: bool, notes: list[str]) -> Json:
    low, high = min(found.values()), max(found.values())
    whole = all(n == int(n) for n in found.values())
    out: Json = {"type": "number", "integer": whole, "range": [low, high]}
    if whole and any(POINTED.search(v) for v in found if isinstance(v, str)):
        out["pointed"] = True
    if nought := sum(counts[v] for v, n in found.items() if n == 0):
        out["zeros"] = nought
    if read.dress:
        every = [set(d) for d in read.dress.values()]
        out["dress"] = sorted(set().union(*every))
        alike = set.intersection(*every)
        told = [", ".join(sorted(alike))] if alike else []
        told += [f"some {word}" for word in out["dress"] if word not in alike][:6]
        told += ["some without"] if len(read.dress) < len(found) else []
        kept = "" if set(out["dress"]) <= NUMERIC or not texts else "; pandas keeps it as text"
        fullest = max(read.dress, key=lambda v: (len(read.dress[v]), len(v)))
        notes.append(f"written as {literal(fullest)} ({', '.join(told)}){kept}")
    notes += read.notes
    if (
        whole
        and max(abs(low), abs(high)) >= FLOAT
        and any(isinstance(n, int) for n in found.values())
    ):
        out["long"] = True
        of = len({int(n) for n in found.values()})
        if (kept := len({float(n) for n in found.values()})) < of:
            notes.append(f"floats do not hold so many digits: {of} values become {kept}")
    # A marker of missing is an extreme of the values, apart from the others: -999, 99.99, -1.
    for value, n in found.items():
        if counts[value] < 2 or n not in (-1, low, high):
            continue
        rest = [m for m in found.values() if m != n]
        nines = re.sub(r"[-.]|0+$", "", str(value).strip())
        if not rest:
            continue
        least, most = min(rest), max(rest)
        gap = max(n - most, least - n) / ((most - least) or 1)
        if (
            n == -1
            and least >= 0
            or set(nines) == {"9"}
            and (gap > 2 or len(nines) > 2 and (gap > 0.05 or n < 0 <= least))
        ):
            notes.append(f"{show(value).strip()} ({times(counts[value])}) may stand for missing")
            out["without"] = [least, most]
    return out


def _lists(given: list) -> Json:
    lists = [v for v in given if isinstance(v, list)]
    items = Counter(hashed(x) for v in lists for x in v)
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
    return out


def _binary(out: Json, blobs: list[bytes], others: list, text_source: bool) -> Json:
    """A column with bytes, which are no text and no numbers."""
    low, high = min(map(len, blobs)), max(map(len, blobs))
    size = f"{low}" if low == high else f"{low} to {high}"
    rest = [v for v in others if not missing(v)]
    if len(rest) > len(blobs):
        column_of = column(out["name"], others, text_source)
        note = f"mixed: {len(blobs)} values are binary, {size} bytes long"
        return column_of | {"mixed": True, "notes": [*column_of.get("notes", []), note]}
    notes = [f"{size} bytes each"]
    if rest:
        notes.append(f"mixed: {len(rest)} values are not binary, such as {literal(rest[0])}")
        out["mixed"] = True
    with contextlib.suppress(UnicodeDecodeError):
        text = min(blobs, key=len).decode() if all(b.decode().isprintable() for b in blobs) else ""
        if text:
            notes.append(f"they are text in UTF-8, such as {literal(text)}")
    return out | {"type": "binary", "distinct": len(set(blobs)), "notes": notes}


def years(c: Json) -> bool:
    """Whether a column may hold years."""
    low, high = c["range"] if c.get("integer") and "range" in c else (0, 0)
    return 1900 <= low and high <= 2100


def _frequent(out: Json, counts: Counter, given: int) -> None:
    few = (
        len(counts) <= 12
        or len(counts) <= 60
        and given >= 2 * len(counts)
        and out["type"] != "number"
    )
    common = counts.most_common(60 if few else 4)
    often = len(counts) <= max(60, given / OFTEN) < given
    if len(counts) > 1 and (out["type"] in ("text", "list") or years(out) or often):
        out["all"] = [[show(v, 60), n] for v, n in counts.most_common(ALL)]
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
        if kinds := _kinds(counts):
            out["endings"] = kinds


def _kinds(counts: Counter) -> list:
    """The kinds of things that all texts end with, and how often; none if those are not few."""
    words = [(v.split(), n) for v, n in counts.items() if isinstance(v, str)]
    if not LEAST <= len(words) == len(counts) or any(len(w) < 2 for w, _ in words):
        return []
    same, first = 0, words[0][0]  # last words of all
    while all(len(w) > same + 1 and w[-1 - same] == first[-1 - same] for w, _ in words):
        same += 1
    kinds: Counter = Counter()
    for w, n in words:
        kinds[" ".join(w[-1 - same :])] += n
    return kinds.most_common() if 1 < len(kinds) <= KINDS and min(kinds.values()) > 1 else []


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
