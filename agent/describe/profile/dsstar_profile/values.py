"""Single values: what stands for a missing one, and how one is shown."""

from __future__ import annotations

import datetime
import functools
import json
import numbers

LONG = 80  # characters of a value that is shown
RECENT = 1 << 15  # short values of which is kept what they are
HASHED = (str, bytes, numbers.Number, datetime.date, datetime.time, datetime.timedelta)
MARKERS = set("- -- --- n/a na nan <na> n.a. null none nil ? . .. #n/a missing".split()) | {
    "",
    "not available",
}
# What pandas takes for missing unasked.
READ = set(
    "#N/A #NA -1.#IND -1.#QNAN -NaN -nan 1.#IND 1.#QNAN <NA> N/A NA NULL NaN None n/a nan "
    "null".split()
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


def show(value: object, most: int = LONG) -> str:
    """A value as one short line: what a file says is data, also where it is written to mislead."""
    text = value if isinstance(value, str) else _text(value)
    slack = most // 4  # no cut that saves little
    if len(text) <= most + slack and text.isprintable():
        return text
    text = _escaped(text[: most + slack + 1])
    return text if len(text) <= most + slack else text[: most - 1] + "…"


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
        whole = abs(value) < 1e15 and value == int(value)
        return str(int(value)) if whole else float.__repr__(value)
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"{len(value)} bytes"
    return str(value)


def hashed(value: object) -> object:
    """What equal values have in common, and no others: much of a value may not be shown."""
    if isinstance(value, HASHED):
        return value if value == value else None
    return _text(value)


def missing(value: object) -> bool:
    if isinstance(value, str):
        return len(value) < 16 and _marks(value)
    return value is None or value != value


@functools.lru_cache(maxsize=RECENT)
def _marks(text: str) -> bool:
    return text.strip().lower() in MARKERS


def empty(cell: object) -> bool:
    if isinstance(cell, str):
        return not cell or cell.isspace()
    return cell is None or cell != cell


def filled(row: tuple) -> int:
    """How many cells of a row have something."""
    return len(row) - sum(map(empty, row))


def spread(values: list, most: int) -> list:
    """At most so many of the values, in eight parts from everywhere: what repeats at equal
    distances is seen within a part."""
    if len(values) <= most:
        return values
    size = max(1, most // 8)
    starts = [(len(values) - size) * n // 7 for n in range(8)]
    return [v for start in starts for v in values[start : start + size]]


def times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"
