"""Reader of texts: what kind of text it is decides which other reader reads it."""

from __future__ import annotations

import re

from dsstar_profile import delimited, hints, jsontext, markup, texts
from dsstar_profile.found import Deadline, Found, document

NESTED = (".json", ".geojson", ".xml")
TABLES = (".csv", ".tsv", ".dat", ".tab")
CODE = set(
    ".py .r .sql .go .js .ts .java .c .h .cpp .rs .sh .yaml .yml .toml .ini .cfg .tex .do".split()
)
LFS = "version https://git-lfs.github.com/spec/"


def text_file(path: str, ending: str, deadline: Deadline) -> Found:
    source = texts.Text(path, texts.HEAD * (4 if ending in NESTED else 1))
    if not source.encoding:
        return Found("binary", warnings=["a binary file of a format that is not known here"])
    text, start = source.text, source.text[:4096].lstrip()
    if text.startswith(LFS) and len(text) < 1024:
        size = re.search(r"^size (\d+)$", text, re.M)
        bytes_ = f" of {size[1]} bytes" if size else ""
        return Found(
            "Git LFS pointer",
            warnings=[
                f"the data{bytes_} are not here: git lfs pull, in the repository, fetches them"
            ],
        )
    found = None
    if ending in (*jsontext.ENDINGS, ".ipynb") or start[:1] in "{[" and start:
        found = jsontext.read(path, source, ending, deadline)
    elif start.startswith("<") and ending not in CODE:
        page = re.search(r"<(!doctype html|html|body)\b", start[:2000], re.I)
        page = bool(page) or ending in (".html", ".htm")
        found = markup.html(source) if page else markup.xml(source)
        if ending in (*TABLES, *jsontext.ENDINGS):
            login = "a login page" if re.search(r"type=.?password", text, re.I) else "a page"
            kind = login if page else "XML"
            found.warnings.insert(
                0,
                f"it is {kind}, though its name ends in {ending}: perhaps what was "
                "downloaded in place of the data",
            )
    if found is None:
        found = _lines(path, source, ending, deadline)
    for table in found.tables[:1]:
        if not table.calls:
            table.lines = source.lines[: hints.FIRST]
    found.encoding = source.encoding
    found.warnings += _doubts(source)
    if source.packed:
        found.format += ", packed"
    return found


def _doubts(source: texts.Text) -> list[str]:
    """What is not sure of the characters."""
    said = []
    if source.guesses:
        others = ", ".join(source.guesses)
        said.append(
            f"the encoding {source.encoding} is a guess by its letters; {others} fits as well"
        )
    if source.lost:
        said.append("it has U+FFFD for lost characters: no encoding brings them back")
    if source.broken:
        name = "UTF-8" if source.encoding.startswith("utf-8") else source.encoding
        said.append(f"some bytes are no {name} and are shown as U+FFFD")
    if source.padding:
        said.append(f"it ends with {source.padding} NUL characters")
    if inner := source.zeros - source.padding:
        said.append(f"{inner} NUL characters within it: pandas cuts a field at one")
    return said


def _lines(path: str, source: texts.Text, ending: str, deadline: Deadline) -> Found:
    """A table, if the lines are one, or else a document."""
    lines = source.lines or [source.text[: texts.LINE]]
    longest = max(map(len, lines[:1000]), default=0)
    plain = longest >= texts.LINE or ending in CODE | {".md", ".markdown", ".rst"}
    way = None if plain else texts.dialect(lines)
    prose = sum(bool(re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}", x[:500])) for x in lines[:200])
    if not way and ending in (".csv", ".tsv") and len(lines) > 1 and not prose and not plain:
        way = texts.Dialect(",")  # a single column
    elif ending not in TABLES and prose > len(lines[:200]) / 3:
        way = None
    if way:
        return delimited.read(path, source, way, deadline)
    found = document("source code" if ending in CODE else "text", source.text)
    found.cut = found.cut or not source.whole
    digits = sum(c.isdigit() for c in source.text[:20_000])
    if longest >= texts.LINE:
        found.text, found.cut = found.text[:500], True
        found.warnings.append(f"a line of {longest} characters or more: not read as a table")
    elif digits > 0.4 * len(source.text[:20_000]) and len(lines) > 40:
        found.text, found.cut = "\n".join(lines[:20]), True
        more = "" if source.whole else " or more"
        found.warnings.append(f"{len(lines)} lines of figures{more}")
    return found
