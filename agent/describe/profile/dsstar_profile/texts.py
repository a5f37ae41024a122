"""Bytes of a file, packed or not, and the text that they are."""

from __future__ import annotations

import bz2
import codecs
import collections
import csv
import gzip
import io
import lzma
import os
import re
from typing import Any, BinaryIO

HEAD = 8 << 20  # bytes of a file's beginning that are read
PART = 1 << 20  # of each of several places after it
LINE = 1 << 20  # characters of a line, more of which is no table
ROWS = 50_000
FIELDS = 5000  # of a row
PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}


def opened(path: str) -> BinaryIO:
    with open(path, "rb") as f:
        magic = f.read(6)
    opener = next((o for m, o in PACKED.items() if magic.startswith(m)), open)
    return opener(path, "rb")


def encoding(data: bytes) -> str:
    """The encoding of a text by its beginning; "" for what is none."""
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return name
    part = data[:65536]
    if (zeros := part.count(0)) > len(part) // 5:
        odd, even = part[1::2].count(0), part[::2].count(0)
        if odd > 0.9 * zeros:
            return "utf-16-le"
        return "utf-16-be" if even > 0.9 * zeros else ""
    if zeros or sum(part.count(c) for c in range(1, 9)) > len(part) / 10:
        return ""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
        return "utf-8"
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        if 5 * text.count("\ufffd") < sum(c > "\x7f" for c in text):
            return "utf-8"
        return "latin-1" if re.search(rb"[\x81\x8d\x8f\x90\x9d]", data) else "cp1252"


class Text:
    """The beginning of a text file and, of a long one, parts of it."""

    def __init__(self, path: str, head: int) -> None:
        with opened(path) as f:
            self.packed = not isinstance(f, io.BufferedReader)
            data = f.read(head + 1)
            self.whole = len(data) <= head
            data = data[:head]
            self.encoding = encoding(data)
            decoder = codecs.getincrementaldecoder(self.encoding or "latin-1")("replace")
            self.text = decoder.decode(data, self.whole)
            self.lost = b"\xef\xbf\xbd" in data  # characters, when the file was written
            self.broken = not self.lost and "\ufffd" in self.text
            self.parts: list[str] = []
            size = os.path.getsize(path)
            if (
                not self.whole
                and not self.packed
                and self.encoding in ("utf-8", "utf-8-sig", "cp1252", "latin-1")
            ):
                for n in range(1, 9):
                    f.seek(head + max(0, size - head - PART) * n // 8)
                    part = f.read(PART).decode(self.encoding, "replace")
                    lines = part.splitlines(keepends=True)
                    self.parts.append("".join(lines[1:-1]))

    def lines(self) -> list[str]:
        lines = self.text.splitlines()
        return lines if self.whole else lines[:-1]


def delimiter(lines: list[str]) -> str:
    """What parts the fields of most lines into equally many, at least two; "" if nothing does."""
    sample = [line for line in lines[:300] if line.strip() and not line.startswith("#")]
    best, most = "", 0.0
    for mark in ",;\t|^~":
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
        if score > most and near >= 0.5 * len(sample) and (rows > 1 or len(sample) == 1):
            best, most = mark, score
    if not best:
        widths = collections.Counter(len(line.split()) for line in sample)
        width, rows = widths.most_common(1)[0] if widths else (0, 0)
        if width > 1 and rows >= 0.9 * len(sample) and len(sample) > 2:
            return "spaces"
    return best


def rows(text: str, mark: str, most: int = ROWS) -> tuple[list[tuple], bool]:
    """The rows of a delimited text, and whether they are all."""
    found: list[tuple] = []
    if mark == "spaces":
        lines = text.splitlines()
        return [tuple(line.split()) for line in lines[:most] if line.strip()], len(lines) <= most
    csv.field_size_limit(LINE)
    cells = 0
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark):
            found.append(tuple(row[:FIELDS]))
            cells += len(row)
            if len(found) >= most or cells > 2_000_000:
                return found, False
    except csv.Error:
        return found, False
    return found, True
