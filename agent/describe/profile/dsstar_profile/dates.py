"""Dates and times that are texts: their forms, their range, and what is not sure of them."""

from __future__ import annotations

import contextlib
import datetime
import functools
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from dsstar_profile.numerals import PLAIN
from dsstar_profile.values import RECENT, literal, show, times


DIGITS, ALPHAS = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")


def _shape(text: str) -> str:
    """A text with one sign for the digits in a row, and one for letters."""
    return ALPHAS.sub("a", DIGITS.sub("9", text.strip()))


# Ways to write a date or a time that pandas does not guess, with their shapes.
FORMS = {
    form: _shape(datetime.datetime(2001, 2, 3, 4, 5).strftime(form))
    for form in (
        "%m/%d/%y|%d/%m/%y|%d.%m.%y|%m/%d/%Y %I:%M:%S %p|%m/%d/%Y %I:%M %p|%d-%b-%Y|%d-%b-%y|%b %Y|"
        "%B %Y|%b-%y|%Y%m|%H:%M|%H:%M:%S"
    ).split("|")
}
# Forms that the same texts may have.
ALSO = {
    "%H:%M": "%M:%S",
    "%b-%y": "%b-%d",
    "%d-%b-%y": "%y-%b-%d",
    "%d.%m.%y": "%y.%m.%d",
    "%d/%m/%y": "%y/%m/%d",
    "%m/%d/%y": "%y/%m/%d",
}
LAST = datetime.datetime.now().year + 1  # of dates that are not to come
# Parts of a year, with what their number is called.
PERIODS = {
    r"(?P<y>\d{4})[- ]?Q(?P<n>[1-4])": "quarters",
    r"Q(?P<n>[1-4])[- /]?(?P<y>\d{4})": "quarters",
    r"(?P<n>[1-4])Q[- /]?(?P<y>\d{4})": "quarters",
    r"(?P<y>\d{4})[- ]?[HS](?P<n>[12])": "half years",
    r"(?P<y>\d{4})[- ]?M(?P<n>0?[1-9]|1[0-2])": "months",
    r"(?P<y>\d{4})[- ]?W(?P<n>[0-5]\d)": "weeks",
}
LETTERED = re.compile("[QHSMW]", re.I)  # which each of the PERIODS has
MAY = re.compile(r"\d.*[-/:. ]|[-/:. ].*\d|^\s*(\d{6}|\d{8})\s*$|\d[QHSMW]\d")
QUICK = 200  # dates that are parsed one by one
NONE = datetime.timedelta()
FAR = 3650 * 86400  # seconds between the dates of a column and one that stands for none
Moment = datetime.datetime


@dataclass
class Dates:
    """The dates among texts."""

    of: dict[str, Moment] = field(default_factory=dict)
    form: str = ""
    notes: list[str] = field(default_factory=list)
    years: bool = False  # whether no more than the years of its range are sure
    open: bool = False  # whether another column may tell which of day and month comes first
    order: str = ""  # "day" or "month" if the values tell which comes first

    def ends(self, texts: Any) -> list[str]:
        """The first and the last of texts that are dates, as they are written."""
        first, last = min(texts, key=self.of.__getitem__), max(texts, key=self.of.__getitem__)
        if self.years:
            return [str(self.of[first].year), str(self.of[last].year)]
        return [show(first), show(last)]


def dates_of(counts: dict[str, int], given: list, order: str) -> Dates:
    """The dates among texts, each of which is there so many times; given are all values in their
    order. Order is which of day and month comes first in another column, if one tells."""
    texts = list(counts)
    tried = [v for v in texts[:: max(1, len(texts) // 40)] if len(v) < 60]
    some = [v for v in tried if MAY.search(v) and (len(v) in (6, 8) or not PLAIN.match(v))]
    if len(some) < 0.3 * len(tried) or not tried:
        return Dates()
    if len(periods := _periods(texts).of) > 0.9 * len(texts):
        return _periods(texts) if periods else Dates()
    out = Dates()
    left = texts
    probe = left[:: max(1, len(left) // 300)]
    of = [(_shape(v), v) for v in some]
    shapes, first = dict(of), dict(reversed(of))
    some = list(dict.fromkeys([*shapes.values(), *first.values()]))[:6]
    forms = dict.fromkeys(f for v in some for f in _guesses(_alike(v)))
    known = [f for f in forms if f and f != "%Y" and "%Y-%d" not in f and "%Y/%d" not in f]
    known += [f for f, shape in FORMS.items() if shape in shapes]
    tested = {f: fit for f in known if len(fit := _parse(probe, f)) > len(probe) / 20}
    used: list[str] = []
    for form in sorted(tested, key=lambda f: -len(tested[f])):
        found = tested[form] if left == probe else _parse(left, form)
        other = form.replace("%m", "%M").replace("%d", "%m").replace("%M", "%d", 1)
        if "%d" in form and "%m" in form and not form.startswith("%Y"):
            found, form = _either(
                found, _parse(left, other), form, other, order, given, counts, out
            )
        if len(found) > len(texts) / 20:
            used.append(form)
            out.of |= found
            left = [v for v in left if v not in found]
        if len(used) == 3 or not left:
            break
    out.form = " or ".join(used)
    if len(used) == 1:
        _doubted(out)
    if any("%y" in f for f in used):
        _centuries(out)
    return out


def _doubted(out: Dates) -> None:
    """Says what else the dates may be, where nothing in them tells."""
    others = _parse(list(out.of), ALSO[out.form]) if out.form in ALSO else {}
    if len(others) == len(out.of) and all(m.year <= LAST for m in others.values()):
        out.notes.append(f"{ALSO[out.form]} fits as well: a guess that the form is {out.form}")
    if out.form in ("%Y%m", "%Y%m%d") and len({v.strip()[:-2] for v in out.of}) == 1:
        out.notes.append("a guess that they are dates: only the last two digits differ")


def _alike(text: str) -> str:
    """A text of digits in the form of another, of which days of several files have the same one."""
    if m := re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)(T| |$)(\d\d:\d\d(:\d\d)?Z?)?", text, re.ASCII):
        clock = "10:11:12"[: len(m[5].rstrip("Z"))] + "Z" * m[5].endswith("Z") if m[5] else ""
        if 0 < int(m[2]) < 13 and 0 < int(m[3]) < 29:
            return f"2001-02-{13 if int(m[3]) > 12 else '03'}{m[4]}{clock}"
    if m := re.fullmatch(r"(\d\d)([./-])(\d\d)\2((?:19|20)\d\d)", text, re.ASCII):
        a, b = int(m[1]), int(m[3])
        if 0 < min(a, b) < 13 and max(a, b) < 29:
            parts = ["04" if n < 13 else "17" for n in (a, b)]
            return m[2].join([*parts, "2001"])
    return text


@functools.lru_cache(maxsize=RECENT)
def _guesses(text: str) -> list[str | None]:
    """The forms in which a text is a date by its own, with the day first and with the month."""
    import pandas as pd

    return [pd.tseries.api.guess_datetime_format(text, dayfirst=day) for day in (False, True)]


def _periods(texts: list[str]) -> Dates:
    if sum(map(bool, map(LETTERED.search, texts))) <= len(texts) / 2:
        return Dates()
    for form, name in PERIODS.items():
        found = {}
        for v in texts:
            if m := re.fullmatch(form, v.strip(), re.I):
                found[v] = Moment(int(m["y"]) or 1, 1, 1) + datetime.timedelta(int(m["n"]))
        if len(found) > len(texts) / 2:
            example = next(iter(found))
            note = f"{name}, written as {literal(example)}"
            if name == "quarters" and re.fullmatch(r"\d{4}-?Q\d", example.strip()):
                note += ': pd.PeriodIndex(column, freq="Q") reads them'
            return Dates(found, name, [note])
    return Dates()


PART = {"Y": "year", "m": "month", "d": "day", "H": "hour", "M": "minute", "S": "second"}


@functools.lru_cache(maxsize=1000)
def _strict(form: str) -> re.Pattern | None:
    """What a date is in a form with each part in all its digits; None if the form has other
    parts."""
    if not re.fullmatch(r"(%[YmdHMS]|[^%\w])+", form) or not all(
        p in form for p in ("%Y", "%m", "%d")
    ):
        return None
    parts = re.split("%(.)", form)
    parts[::2] = map(re.escape, parts[::2])
    parts[1::2] = [rf"(?P<{PART[p]}>\d{{{4 if p == 'Y' else 2}}})" for p in parts[1::2]]
    return re.compile("".join(parts), re.ASCII)


def _moment(text: str, form: str, strict: re.Pattern | None) -> Moment:
    """The date that a text is in a form, in UTC; a ValueError if it is none."""
    if strict and (m := strict.fullmatch(text)):
        return Moment(**dict(zip(strict.groupindex, map(int, m.groups()))))
    moment = Moment.strptime(text, form)
    return (moment - (moment.utcoffset() or NONE)).replace(tzinfo=None)


def _parse(texts: list[str], form: str) -> dict[str, Moment]:
    """The texts that are dates in a form."""
    if digits := {"%Y%m%d": 8, "%Y%m": 6}.get(form):
        fit = re.compile(r"\s*(19|20)\d{%d}\s*" % (digits - 2))
        texts = [v for v in texts if fit.fullmatch(v)]
    found: dict[str, Moment] = {}
    if len(texts) <= QUICK:
        strict = _strict(form)
        for v in texts:
            with contextlib.suppress(ValueError):
                found[v] = _moment(v.strip(), form, strict)
        return found
    import pandas as pd

    values = pd.Series(texts)
    parsed = pd.to_datetime(values, format=form, errors="coerce", utc="%z" in form)
    if parsed.dt.tz is not None:
        parsed = parsed.dt.tz_localize(None)
    fine = parsed.notna()
    found = dict(zip(values[fine], parsed[fine].dt.to_pydatetime()))
    if "%Y" in form:  # years that pandas has no place for
        for v in values[
            ~fine & values.str.contains(r"(?:^|\D)(?:0\d|1[0-6]|2[3-9]|[3-9]\d)\d\d(?:\D|$)")
        ]:
            with contextlib.suppress(ValueError):
                found[v] = Moment.strptime(v.strip(), form).replace(tzinfo=None)
    return found


def _either(
    a: dict, b: dict, form: str, other: str, order: str, given: list, counts: dict, out: Dates
) -> tuple[dict, str]:
    """The dates of a form and of the one with day and month exchanged, and what is sure of them."""
    only_a, only_b = a.keys() - b.keys(), b.keys() - a.keys()
    if not b or not a:
        return a or b, form if a else other
    day = form if form.find("%d") < form.find("%m") else other
    n, m = (sum(counts[v] for v in only) for only in (only_a, only_b))
    if min(n, m) > min(max(1, len(given) // 200), max(n, m) // 20):
        both = sum(counts[v] for v in a.keys() & b.keys())
        name = {form: "day", other: "month"} if day == form else {form: "month", other: "day"}
        out.notes.append(
            f"two orders in one column: in {n} values the {name[form]} comes first, in {m} the "
            f"{name[other]}; of {both} nothing tells which"
        )
        out.years = True
        return a | {v: b[v] for v in only_b}, f"{form} or {other}"
    if only_a or only_b:
        out.order = "day" if (day == form) == (len(only_a) >= len(only_b)) else "month"
        return (a, form) if len(only_a) >= len(only_b) else (b, other)
    day_first, month_first = (a, b) if day == form else (b, a)
    if all(day_first[v] == month_first[v] for v in a):
        out.notes.append("which of day and month comes first makes no difference to them")
        return a, form
    month = other if day == form else form
    rising = [_rising([of[v] for v in given if v in of]) for of in (day_first, month_first)]
    said = "the day or the month may come first, as both fit: a guess that it is the "
    if rising[0] != rising[1]:
        first = "day" if rising[0] else "month"
        out.notes.append(f"{said}{first}, by which the rows are in order")
    elif order:
        first = order
        out.notes.append(f"{said}{first}, as in another column")
    else:
        first = "month" if month == form else "day"
        out.notes.append(f"{said}{first}, and the range with it")
        out.open = True
    return (day_first, day) if first == "day" else (month_first, month)


def _rising(moments: list[Moment]) -> bool:
    return len(moments) > 2 and (moments == sorted(moments) or moments == sorted(moments)[::-1])


def _centuries(out: Dates) -> None:
    """Dates with years of two digits are none that are to come, as far as that is possible."""
    for v, moment in out.of.items():
        if moment.year > LAST and re.search(r"(?<!\d)\d\d(?!\d)\D*$", v):
            with contextlib.suppress(ValueError):  # the 29th of February
                out.of[v] = moment.replace(year=moment.year - 100)
    out.notes.append(f"years of two digits: a guess that none is after {LAST}")


def apart(dates: Dates, counts: Counter) -> tuple[list[str], str]:
    """The range without a date far from the others that stands for none, and what is said of it."""
    for end in (max, min):
        far = end(dates.of, key=dates.of.__getitem__)
        rest = [v for v in dates.of if dates.of[v] != dates.of[far]]
        if (
            counts[far] > 1
            and rest
            and dates.of[far].year in (1, 1753, 1899, 1900, 1970, 2099, 2999, 9999)
        ):
            near = end(rest, key=dates.of.__getitem__)
            if abs((dates.of[far] - dates.of[near]).total_seconds()) > FAR:
                return dates.ends(rest), f"{show(far)} ({times(counts[far])}) may stand for no date"
    return [], ""
