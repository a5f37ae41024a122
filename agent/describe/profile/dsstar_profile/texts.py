"""Bytes of a file, packed or not, the text that they are, and how its fields are parted."""

from __future__ import annotations

import bz2
import codecs
import collections
import csv
import functools
import gzip
import io
import lzma
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from dsstar_profile.encodings import encoding

if TYPE_CHECKING:
    from dsstar_profile.found import Deadline

HEAD = 8 << 20  # bytes of a file's beginning that are read
PART = 1 << 20  # of each of several places after it
PARTS = 8
END = 50  # lines among which notes are sought
LINE = 1 << 20  # characters of a line, more of which is no table
ROWS = 50_000
FIELDS = 5000  # of a row
PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
MARKS = ",;\t|^~"
# Marks of several characters: of none but signs, and no spaces, quotes or what stands in numbers.
LONG_MARK = re.compile(r"[^\w\s\"'.,+\-()/]{2,4}|\t{2,3}")
INNER = re.compile(r"([^,]|(?<=\d),(?=\d))*")  # a line whose commas may all be decimal ones
# A field between spaces whose commas belong to its number.
WITH_COMMAS = re.compile(r"[\"'(+\-$€£]*\d[\d.]*(,\d+|(,\d{3})+(\.\d+)?)[%)\"']*")
SPACED = re.compile(r'"((?:[^"]|"")*)"(?=[ \t]|$)|[^ \t]+')


def opened(path: str) -> BinaryIO:
    with open(path, "rb") as f:
        magic = f.read(6)
    opener = next((o for m, o in PACKED.items() if magic.startswith(m)), open)
    return opener(path, "rb")


class Text:
    """The beginning of a text file and, of a long one, parts of it."""

    def __init__(self, path: str, head: int) -> None:
        with opened(path) as f:
            self.packed = not isinstance(f, io.BufferedReader)
            data = f.read(head + 1)
            self.whole = len(data) <= head
            data = data[:head]
            self.encoding, self.guesses = encoding(data)
            self.zeros = data.count(0) if not self.encoding.startswith("utf-16") else 0
            self.padding = len(data) - len(data.rstrip(b"\0")) if self.zeros else 0
            decoder = codecs.getincrementaldecoder(self.encoding or "latin-1")("replace")
            self.text = decoder.decode(data, self.whole)
            if self.zeros:
                self.text = self.text.rstrip("\0")
            self.lost = b"\xef\xbf\xbd" in data  # characters, when the file was written
            self.broken = not self.lost and "\ufffd" in self.text
            self.parts: list[str] = []
            self.last: list[str] = []  # lines of a long one, where parts are known
            rest = os.path.getsize(path) - head
            if not self.whole and not self.packed and not self.encoding.startswith("utf-16"):
                many = max(1, min(PARTS, rest // PART))
                for n in range(many):
                    f.seek(head + max(0, rest - PART) * n // max(1, many - 1))
                    part = f.read(min(PART, rest)).decode(self.encoding, "replace")
                    self.parts.append("\n".join(lines_of(part)[1:-1]) + "\n")
                if many == 1:  # whose part may not reach the end
                    f.seek(max(head, head + rest - PART))
                    part = f.read(PART).decode(self.encoding, "replace")
                self.last = lines_of(part)[1:][-END:]

    @functools.cached_property
    def lines(self) -> list[str]:
        lines = lines_of(self.text)
        return lines if self.whole else lines[:-1]

    def end(self) -> list[str]:
        """The last lines, as far as they are known."""
        return self.lines[-END:] if self.whole else self.last


def lines_of(text: str) -> list[str]:
    """The lines of a text as programs that read tables have them: str.splitlines knows more
    ends."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def count_lines(path: str, deadline: Deadline) -> tuple[int, bool]:
    """How many lines a file has that are not empty, and whether they were counted to the end."""
    lines = read = 0
    last = b"\n"
    with opened(path) as f:
        while part := f.read(1 << 20):
            lines += part.count(b"\n") - (last + part).count(b"\n\n")
            read, last = read + len(part), part[-1:]
            if deadline.left() == 0:
                packed = not isinstance(f, io.BufferedReader)
                return round(lines * (1 if packed else os.path.getsize(path) / read)), False
    return lines + (last != b"\n"), True


@dataclass(frozen=True)
class Dialect:
    """How fields are parted and quoted."""

    mark: str  # "spaces": any number of spaces and tabs
    quote: str = '"'  # "": none
    escape: str = ""
    spaces: bool = False  # after a mark, which count for nothing

    def rows(self, lines: Any) -> Iterator[list[str]]:
        if self.mark == "spaces":
            for line in lines:
                if found := [m[0] if m[1] is None else m[1] for m in SPACED.finditer(line)]:
                    yield found
        elif len(self.mark) > 1:
            for line in lines:
                yield line.rstrip("\r\n").split(self.mark) if line.strip() else []
        else:
            yield from csv.reader(
                lines,
                delimiter=self.mark,
                quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
                quotechar=self.quote or None,
                escapechar=self.escape or None,
                doublequote=not self.escape,
                skipinitialspace=self.spaces,
            )

    def options(self) -> dict[str, Any]:
        """What pandas has to be told of it."""
        if self.mark == "spaces":
            return {"sep": r"\s+"}
        if len(self.mark) > 1:
            return {"sep": re.escape(self.mark), "engine": "python"}
        out: dict[str, Any] = {} if self.mark == "," else {"sep": self.mark}
        if not self.quote:
            out["quoting"] = csv.QUOTE_NONE
        elif self.quote != '"':
            out["quotechar"] = self.quote
        if self.escape:
            out |= {"escapechar": self.escape, "doublequote": False}
        return out | ({"skipinitialspace": True} if self.spaces else {})


def dialect(lines: list[str]) -> Dialect | None:
    """How the fields of most lines are parted into equally many, at least two; None if in no
    way."""
    sample = [line for line in lines[:300] if line.strip() and not line.startswith("#")]
    mark = _mark(sample)
    inner = (field for line in sample for field in line.split() if "," in field)
    if not mark or mark == "," and all(map(WITH_COMMAS.fullmatch, inner)):
        widths = collections.Counter(map(len, Dialect("spaces").rows(sample)))
        width, rows = widths.most_common(1)[0] if widths else (0, 0)
        if width > 1 and rows + widths[width - 1] >= 0.9 * len(sample) and len(sample) > 2:
            return Dialect("spaces")
    if not mark:
        return None
    if len(mark) > 1 or not re.search(rf"[\"'\\]|{re.escape(mark)} ", "\n".join(sample)):
        return Dialect(mark)  # there is nothing that the ways below read otherwise
    ways = [Dialect(mark), Dialect(mark, spaces=True), Dialect(mark, escape="\\")]
    ways += [
        Dialect(mark, quote="'"),
        Dialect(mark, quote="'", spaces=True),
        Dialect(mark, quote=""),
    ]
    return max(ways, key=lambda way: _fit(way, sample))


def _fit(way: Dialect, sample: list[str]) -> tuple[float, int]:
    """How well a way to quote fits: the share of rows of the usual width, and quotes left over."""
    try:
        rows = [row for row in way.rows(sample) if row]
    except csv.Error:
        return 0.0, 0
    widths = collections.Counter(map(len, rows))
    if not rows:
        return 0.0, 0
    usual = widths.most_common(1)[0][1] / len(rows)
    if way.quote != '"':  # lines with a field in double quotes speak against another way
        mark = re.escape(way.mark)
        field = re.compile(rf'(?:^|{mark})"(?:[^"]|"")*"(?:{mark}|$)')
        usual -= sum(bool(field.search(line.rstrip("\r\n"))) for line in sample) / len(sample)
    left = 0
    for row in rows:
        for field in row:
            bare = field.strip(" ")
            left += bare[:1] in ("'", '"') and bare[:1] == bare[-1:] != bare and field is not bare
            left += 2 * bare.count('\\"') + (len(bare) > 1 and bare[0] == bare[-1] == "'")
            left += 3 * bare.count("\n")
    return round(usual, 2), -left


def _mark(sample: list[str]) -> str:
    best, most = "", 0.0
    inner = sum(map(bool, map(INNER.fullmatch, sample))) >= 0.8 * len(sample)
    text = "".join(sample)
    for mark in MARKS:
        if mark not in text:
            continue
        try:
            widths = collections.Counter(
                len(row) for row in csv.reader(sample, delimiter=mark) if row
            )
        except csv.Error:
            continue
        widths.pop(1, None)
        if not widths:
            continue
        width, rows = max(
            widths.items(), key=lambda w: w[1] * (w[0] > 1) * (1 + min(w[0], 10) / 20)
        )
        near = sum(n for w, n in widths.items() if abs(w - width) <= 1)
        score = near / len(sample) * (1 + min(width, 20) / 20) * (1 if mark in sample[0] else 0.8)
        if mark == "," and inner:
            score /= 2  # all of them may be decimal
        if score > most and near >= 0.5 * len(sample) and (rows > 1 or len(sample) == 1):
            best, most = mark, score
    return _long_mark(sample, best) or best


def _long_mark(sample: list[str], short: str) -> str:
    """A mark of several characters that stands equally often in all lines, alone of its kind."""
    found = collections.Counter(m for m in LONG_MARK.findall(sample[0])) if sample else {}
    for mark, times in found.items():
        if short and short not in mark:
            continue
        if len(sample) > 1 and all(
            x.count(mark) == times and not set(x.replace(mark, "")) & set(mark) for x in sample
        ):
            return mark
    return ""


def rows(text: str, way: Dialect, most: int = ROWS) -> tuple[list[tuple], bool]:
    """The rows of a delimited text, and whether they are all."""
    found: list[tuple] = []
    csv.field_size_limit(LINE)
    cells = 0
    lines = lines_of(text) if len(way.mark) > 1 else io.StringIO(text, newline="")
    try:
        for row in way.rows(lines):
            found.append(tuple(row[:FIELDS]))
            cells += len(row)
            if len(found) >= most or cells > 2_000_000:
                return found, False
    except csv.Error:
        return found, False
    return found, True
