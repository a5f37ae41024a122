"""Numbers as people write them, read with their column and their file."""

from __future__ import annotations

import decimal
import functools
import math
import numbers
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from dsstar_profile.values import RECENT, literal, show

Number = int | float

PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$", re.ASCII)
CURRENCY = (
    r"[A-Z]{0,3}[$€£¥₹₽₩₺₴₦₫฿₪₱]|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|ISK|PLN|CZK|"
    r"HUF|RON|BGN|TRY|RUB|UAH|ILS|ZAR|BRL|MXN|ARS|CLP|COP|KRW|SGD|HKD|TWD|THB|IDR|MYR|PHP|VND|AED|"
    r"SAR|EGP|NGN|KES|PKR|BDT|LKR|kr\.?|zł|Kč|Fr\.|Rs\.?|Ft"
)
# A number with a currency, marks between its digits, a sign of per cent or a unit.
DRESSED = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[-+])?\s*((?P<before>{CURRENCY})\s*)?(?P<inner>[-+])?"
    r"(?P<digits>\d[\d.,'’ \u00a0\u2009\u202f]*|[.,]\d+)"
    rf"(?P<after>%|‰|{CURRENCY}|[°µ]?[A-Za-z][A-Za-z/²³^0-9]{{0,11}}|\"|')?\s*"
    r"(?P<end>-|CR|Cr|DR|Dr)?\s*(?P<close>\))?$"
)
SPACES = re.compile(r"\d{1,3}(([ \u00a0\u2009\u202f])\d{3})+(?=[.,]|$)")
APOSTROPHES = re.compile(r"\d{1,3}(['’])\d{3}(['’]\d{3})*(?=[.,]|$)")
# What the digits may be with a decimal point, and with a decimal comma; lakhs have groups of two.
WITH = {
    ".": re.compile(r"(\d+|[1-9]\d{0,2}(,\d{3})+|[1-9]\d?(,\d\d)+,\d{3})?(\.\d*)?$"),
    ",": re.compile(r"(\d+|[1-9]\d{0,2}(\.\d{3})+)?(,\d*)?$"),
}
NAMES = {",": "commas", ".": "points"}
# What pandas can be told of the numbers of a file.
NUMERIC = {"decimal commas", "lakhs"} | {
    f"thousands {mark}" for mark in ("commas", "points", "apostrophes", "spaces")
}
POWERS = {"k": 3, "m": 6, "mn": 6, "mio": 6, "b": 9, "bn": 9, "g": 9, "t": 12, "tn": 12}
UNLIKE = 6  # units in a column, more of which are codes


@dataclass(frozen=True)
class Written:
    """A text that may be a number."""

    digits: str  # with points and commas only
    sign: int
    unit: str
    dress: tuple[str, ...]

    def fits(self) -> str:
        """The marks that may be the decimal one: both, one or none of "." and ","."""
        return "".join(m for m in ".," if WITH[m].match(self.digits))

    def value(self, mark: str) -> Number | None:
        digits = self.digits.replace("," if mark == "." else ".", "").replace(",", ".")
        if not WITH[mark].match(self.digits) or not PLAIN.match(digits):
            return None
        return self.sign * (float(digits) if "." in digits else int(digits))

    def how(self, mark: str) -> list[str]:
        """How it is dressed, if that is the decimal mark."""
        group = "," if mark == "." else "."
        said = [self.unit] if self.unit else []
        if re.search(r"\d,\d\d,\d", self.digits):
            said.append("lakhs")
        if group in self.digits:
            said.append(f"thousands {NAMES[group]}")
        if mark == "," and "," in self.digits:
            said.append("decimal commas")
        return said + list(self.dress)


def written(text: str) -> Written | None:
    """What a text is that may be a number."""
    return _written(text) if 0 < len(text) < 40 else None


@functools.lru_cache(maxsize=RECENT)
def _written(text: str) -> Written | None:
    text = text.strip().replace("−", "-")
    if strange := not text.isascii() and any(c.isdecimal() and c > "\x7f" for c in text):
        text = unicodedata.normalize("NFKC", text)
        text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    m = DRESSED.match(text)
    if not m or bool(m["open"]) != bool(m["close"]):
        return None
    digits, after, dress = m["digits"].strip(), m["after"] or "", []
    end = m["end"] or ""
    if after in ("CR", "Cr", "DR", "Dr"):
        after, end = "", after
    for form, name in ((SPACES, "spaces"), (APOSTROPHES, "apostrophes")):
        if form.match(digits):
            digits = re.sub(r"[^\d.,]", "", digits)
            dress.append(f"thousands {name}")
    if re.search(r"[^\d.,]", digits):
        return None
    signs = [s for s in (m["sign"], m["inner"]) if s] + (["-"] if end == "-" else [])
    if len(signs) + bool(m["open"]) > 1:
        return None
    if strange:
        dress.append("non-ASCII digits")
    if m["open"]:
        dress.append("in brackets, which mean less than zero")
    if end:
        dress.append("the sign at the end" if end == "-" else "CR and DR")
    negative = bool(m["open"]) or signs == ["-"] or end in ("DR", "Dr")
    unit = " ".join(filter(None, (m["before"], after)))
    return Written(digits, -1 if negative else 1, unit, tuple(dress))


@dataclass
class Marks:
    """Which decimal mark the columns of a file have, as far as their values tell."""

    told: set[str] = field(default_factory=set)  # the marks that columns tell of
    groups: bool = False  # whether commas before three digits stand beside whole numbers
    commas: bool = False  # whether the fields of the file are parted by something else
    said: set[str] = field(default_factory=set)  # the guesses that a column's notes have

    def add(self, values: set[str]) -> None:
        """Takes what the values of a column tell, if that is one mark."""
        marked = [
            w for v in values if ("." in v or "," in v or not v.isascii()) and (w := written(v))
        ]
        found = {f for w in marked if len(f := w.fits()) == 1}
        if len(found) == 1:
            self.told |= found
        elif not found and any("," in w.digits for w in marked):
            self.groups |= any(w.digits.isdigit() for w in map(written, values) if w)

    def mark(self) -> str:
        """The mark that columns tell of, if they tell of one only."""
        return next(iter(self.told)) if len(self.told) == 1 else ""


@dataclass
class Read:
    """The numbers in a column."""

    values: dict[str, Number] = field(default_factory=dict)  # by text
    dress: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of those that are dressed
    units: Counter = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    units_differ: str = ""  # how, if they do


def numbers_of(counts: dict[str, int], marks: Marks) -> Read:
    """The numbers among texts, each of which is there so many times."""
    out = Read()
    dressed: dict[str, Written] = {}
    for text in counts:
        bare = text.strip()
        if len(bare) < 400 and PLAIN.match(bare) and not POINTED.match(bare):
            if (n := plain(bare)) is not None:
                out.values[text] = n
        elif w := written(text):
            dressed[text] = w
    if sum(len(u) == 1 and u.isalpha() for u in {w.unit for w in dressed.values()}) > 1 and not (
        {w.unit.lower() for w in dressed.values()} <= set(POWERS) | {""}
    ):
        return Read()  # codes
    if len({w.unit for w in dressed.values()}) > UNLIKE:
        return Read()
    mark = _decided(dressed, out.values, marks, counts, out.notes)
    for text, w in dressed.items():
        if (n := w.value(mark)) is not None:
            out.values[text] = n
            out.units[w.unit] += counts[text]
            if how := w.how(mark):
                out.dress[text] = tuple(how)
    _scaled(out, dressed)
    return out


POINTED = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}$")  # which may be a whole number in groups


WHOLE = re.compile(r"[-+]?\d+")


def plain(text: str) -> Number | None:
    if WHOLE.fullmatch(text):
        return int(text)
    return n if math.isfinite(n := float(text)) else None


def _decided(
    dressed: dict[str, Written], rest: dict, marks: Marks, counts: dict, notes: list[str]
) -> str:
    """The decimal mark of a column, and what is to be said of it where it is a guess."""
    fits = {text: w.fits() for text, w in dressed.items()}
    told = Counter({m: sum(counts[t] for t, f in fits.items() if f == m) for m in ".,"})
    told["."] += sum(counts[t] for t in rest if "." in t)
    open_ = [t for t, f in fits.items() if f == ".," and re.search("[.,]", dressed[t].digits)]
    if told["."] or told[","]:
        if told["."] and told[","]:
            notes.append(
                "some have decimal points and some decimal commas: those of one kind are left out"
            )
        return "." if told["."] >= told[","] else ","
    if not open_:
        return "."
    group = {c for t in open_ for c in dressed[t].digits if c in ".,"}
    if len(group) > 1:
        notes.append(
            "both points and commas stand before three digits: which is decimal is a guess"
        )
        return marks.mark() or "."
    inner = group.pop()
    other = "," if inner == "." else "."
    if decided := marks.mark():
        return decided
    if not marks.commas and (inner == "." or marks.groups):
        return "."
    mark = "."
    if marks.commas:
        whole = [abs(n) for n in rest.values() if isinstance(n, int)]
        mark = inner if inner == "." or not whole or max(whole) >= 1000 else other
    kind = f"{'decimal' if mark == inner else 'thousands'} {NAMES[inner]}"
    if kind not in marks.said:
        marks.said.add(kind)
        example = max(open_, key=len)
        against = show(dressed[example].value("," if mark == "." else "."))
        notes.append(f"{kind} are a guess in this file: {literal(example)} may also be {against}")
    return mark


def _scaled(out: Read, dressed: dict[str, Written]) -> None:
    """Numbers with letters for thousands, millions or billions are multiplied, if different ones
    are there; those in different units are no numbers of one column."""
    units = {u for u in out.units if u}
    if len({u.lower() for u in units}) < 2:
        return
    if {u.lower() for u in units} <= set(POWERS):
        for text, w in dressed.items():
            if w.unit and text in out.values:
                exact = decimal.Decimal(str(out.values[text])) * 10 ** POWERS[w.unit.lower()]
                out.values[text] = int(exact) if exact == int(exact) else float(exact)
        out.notes.append(
            "letters are taken for powers of ten, K for thousands: the range has them multiplied"
        )
        return
    each = []
    for unit, n in out.units.most_common(5):
        of = [out.values[t] for t, w in dressed.items() if w.unit == unit and t in out.values]
        each.append(f"{n} {unit or 'without one'} ({show(min(of))} to {show(max(of))})")
    out.units_differ = f"numbers in different units: {', '.join(each)}"


def number(value: object) -> tuple[Number, str] | None:
    """A single value as a number, and how it is dressed: "" for a plain one."""
    if isinstance(value, str):
        return (_number if len(value) < 40 else _number.__wrapped__)(value) if value else None
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, decimal.Decimal)):
        return None
    return (real(value), "") if value == value and abs(real(value)) < 1e300 else None


@functools.lru_cache(maxsize=RECENT)
def _number(value: str) -> tuple[Number, str] | None:
    bare = value.strip()
    if len(bare) < 400 and PLAIN.match(bare):
        return None if (n := plain(bare)) is None else (n, "")
    if not (w := written(value)):
        return None
    for mark in w.fits():
        if (n := w.value(mark)) is not None:
            return n, ", ".join(w.how(mark)) or "a sign"
    return None


def real(value: Any) -> Number:
    """A number as Python has it, a whole one with all its digits."""
    if isinstance(value, (int, numbers.Integral)):
        return int(value)
    if isinstance(value, decimal.Decimal) and value == value.to_integral_value():
        return int(value)
    return float(value)
