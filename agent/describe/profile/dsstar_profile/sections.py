"""The sections of a document, of which a request has those that a question touches."""

from __future__ import annotations

import re

ENTRY = re.compile(r"\S {2,}\S|\S\t+\S|\|.*\||^\s*[\w.-]{1,30}\s*[:=] ")
TERM = re.compile(r"^\W*(\*\*|`)[^\s*`]+(\*\*|`)\W*:|^\W*\w+_\w+\W*[:=]|\|.*\|")
MARKED = re.compile(r"#{1,6} \S")
HEADING = re.compile(
    r"(\d+\.)+\d*\.? +[A-Z]|(chapter|section|part|appendix|table|figure|annex) [\dA-Z]",
    re.I,
)


def starts(text: str) -> list[int]:
    """Where the sections of a document begin, in bytes: at headings, or else at paragraphs."""
    marked = len(re.findall(r"^#{1,6} ", text, re.M)) > 3
    heading = MARKED if marked else HEADING
    titles, paragraphs, at, blank = [0], [0], 0, True
    for line in text.split("\n"):
        bare = line.strip()
        title = heading.match(bare) or not marked and bare.isupper() and len(bare) > 3
        if at and bare and len(bare) < 100 and title:
            titles.append(at)
        if at and bare and blank:
            paragraphs.append(at)
        blank = not bare
        at += len(line.encode("utf-8", "surrogatepass")) + 1
    return titles if len(titles) > 3 else paragraphs


def lists(text: str, entry: re.Pattern = ENTRY) -> bool:
    """Whether a text is mostly lists of words and what they mean, as a code book is."""
    lines = [line for line in text.split("\n") if line.strip()]
    return sum(bool(entry.search(line)) for line in lines) > len(lines) / 3


def each(text: str, at: list[int]) -> list[bool]:
    """Whether the sections that begin there are such lists: outside of a code book, of names."""
    raw, entry = text.encode("utf-8", "surrogatepass"), ENTRY if lists(text) else TERM
    return [lists(raw[a:b].decode(errors="replace"), entry) for a, b in zip(at, [*at[1:], None])]
