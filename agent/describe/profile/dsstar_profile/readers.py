"""Readers of text: delimited, JSON, XML, HTML and prose. Each imports what it needs itself, as a
user's own Python may lack it."""

from __future__ import annotations

import bisect
import contextlib
import glob
import itertools
import json
import os
import re
from typing import Any

from dsstar_profile import grids, hints, nested, texts
from dsstar_profile.found import (
    TEXT,
    Deadline,
    Found,
    clean,
    document,
    duckdb_connection,
    figures,
    quoted,
)
from dsstar_profile.grids import Table
from dsstar_profile.hints import Call
from dsstar_profile.values import MARKERS, show

Json = dict[str, Any]
AS_WRITTEN = {"dtype": False, "convert_dates": False}  # for read_json
NESTED = (".json", ".geojson", ".xml")
CODE = set(
    ".py .r .sql .go .js .ts .java .c .h .cpp .rs .sh .yaml .yml .toml .ini .cfg .tex .do".split()
)


def text_file(path: str, ending: str, deadline: Deadline) -> Found:
    source = texts.Text(path, texts.HEAD * (4 if ending in NESTED else 1))
    if not source.encoding:
        return Found("binary", warnings=["a binary file of a format that is not known here"])
    text, start = source.text, source.text[:4096].lstrip()
    found = None
    if (
        ending in (".json", ".geojson", ".jsonl", ".ndjson", ".ipynb")
        or start[:1] in "{["
        and start
    ):
        found = _json(source, ending)
    elif start.startswith("<") and ending not in CODE:
        page = re.search(r"<(!doctype html|html|body)\b", start[:2000], re.I) or ending in (
            ".html",
            ".htm",
        )
        found = _html(text) if page else _xml(source)
    if found is None:
        lines = source.lines() or [text[: texts.LINE]]
        longest = max(map(len, lines[:1000]), default=0)
        plain = longest >= texts.LINE or ending in CODE | {".md", ".markdown", ".rst"}
        mark = "" if plain else texts.delimiter(lines)
        prose = sum(bool(re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}", x[:500])) for x in lines[:200])
        if not mark and ending in (".csv", ".tsv") and len(lines) > 1 and not prose:
            mark = ","  # a single column
        elif ending not in (".csv", ".tsv", ".dat", ".tab") and prose > len(lines[:200]) / 3:
            mark = ""
        if mark:
            found = _delimited(path, source, mark, deadline)
        else:
            found = document("source code" if ending in CODE else "text", text)
            found.cut = found.cut or not source.whole
            digits = sum(c.isdigit() for c in text[:20_000])
            if longest >= texts.LINE:
                found.text, found.cut = found.text[:500], True
                found.warnings.append(
                    f"a line of {longest} characters or more: not read as a table"
                )
            elif digits > 0.4 * len(text[:20_000]) and len(lines) > 40:
                found.text, found.cut = "\n".join(lines[:20]), True
                found.warnings.append(
                    f"{len(lines)} lines of figures{'' if source.whole else ' or more'}"
                )
    found.encoding = source.encoding
    if source.lost:
        found.warnings.append("it has U+FFFD for lost characters: no encoding brings them back")
    if source.broken:
        found.warnings.append(
            'some bytes are no UTF-8 and are shown as U+FFFD (pandas: encoding_errors="replace")'
        )
    if source.packed:
        found.format += ", packed"
    return found


def _delimited(path: str, source: texts.Text, mark: str, deadline: Deadline) -> Found:
    text = source.text if source.whole else "\n".join(source.lines())
    rows, all_rows = texts.rows(text, mark)
    blank = sum(all(grids.empty(c) for c in row) for row in rows)
    apart = blank and all_rows and source.whole and len(rows) < 20_000 and mark != "spaces"
    lines = list(range(len(rows)))
    if not apart:
        lines = [n for n in lines if not all(grids.empty(c) for c in rows[n])]
        rows = [rows[n] for n in lines]
    found = Found("delimited text", delimiter={"\t": "tab"}.get(mark, mark))
    found.tables = grids.tables(rows, "", True, bool(apart), lines)
    count = len(lines) if not lines else lines[-1] + 1
    for table in found.tables:
        table.commas = mark == ";"
        if len(table.names) == texts.FIELDS:
            continue
        alone = len(found.tables) == 1 and all_rows and source.whole
        table.calls = _calls(table, _dialect(source, mark), count - table.end if alone else None)
        table.lines = source.lines()[: hints.FIRST]
    for table in found.tables[:1]:
        if table.extra.pop("begins", False):
            few = min(6, max(3, table.skip + 2))
            table.extra["raw"] = [show(x, 160) for x in text.splitlines()[:few]]
            table.head = [] if table.skip < 6 else table.head
    if len(found.tables) == 1:
        table = found.tables[0]
        table.where = re.sub(r"^rows .*?columns [A-Z]+-[A-Z]+,? ?", "", table.where)
        if table.where == "header in line 1":
            table.where = ""
        width = len(table.names)
        raw = [len(row) for row in rows[bisect.bisect_left(lines, table.skip) :] if row]
        if width == texts.FIELDS:
            found.warnings.append(f"only the first {width} fields of a row are looked at")
        fields = width + (table.short == "ended")
        if odd := sum(n != fields for n in raw):
            table.warnings.append(
                f"{odd} rows have another number of fields than {fields}: {min(raw)} to {max(raw)}"
            )
        if not (all_rows and source.whole):
            room = max(200, grids.MOST_CELLS // width)  # half of it for the beginning
            table.rows = table.rows[: room // 2 if source.parts else room]
            for part in source.parts:
                some = texts.rows(part, mark, room // 16)[0]
                table.rows += [row for row in some if len(row) == width]
            _count_csv(path, source, mark, table, deadline)
    return found


def _dialect(source: texts.Text, mark: str) -> Json:
    """What pandas has to be told of a delimited text."""
    options: Json = {} if mark == "," else {"sep": {"spaces": r"\s+"}.get(mark, mark)}
    if source.encoding not in ("utf-8", "utf-8-sig"):
        options["encoding"] = source.encoding
    if source.broken:
        options["encoding_errors"] = "replace"
    return options


def _calls(table: Table, options: Json, below: int | None) -> list[Call]:
    """Calls that may read a table of a text; below it are so many lines, if that is known."""
    at = table.header[0] if table.header else table.skip
    top: Json = {"skiprows": at} if at else {}
    if table.short:
        top["index_col"] = 0 if table.index else False
    named: Json = ({"skiprows": table.skip} if table.skip else {}) | {
        "names": [str(n).split(" (no name")[0] for n in table.names],
    }
    heads = [top | ({} if table.header else {"header": None})]
    if len(table.names) <= hints.NAMED:
        heads.append(named)
    if len(table.header) > 1:
        heads[0]["header"] = [n - at for n in table.header]
        if len(str(table.names)) < 600:
            heads.reverse()
    ends: list[Json] = [{}]
    if below is None and not table.extra.get("open"):
        ends = [{"nrows": len(table.rows)}]
    elif below:
        ends = [{"skipfooter": below, "engine": "python"}, {"nrows": len(table.rows)}]
    calls = [Call("pd.read_csv(path", options).having(**h, **e) for h in heads for e in ends]
    return calls


def _count_csv(path: str, source: texts.Text, mark: str, table: Table, deadline: Deadline) -> None:
    """Figures of all rows of a long file, in one pass; as text if some values are of no type."""
    encoding = source.encoding if source.encoding in ("utf-8", "utf-16") else "latin-1"
    encoding = "utf-8" if source.encoding == "utf-8-sig" else encoding
    width = len(table.names)
    nulls = sorted(w for m in MARKERS for w in {m, m.upper(), m.title()})
    options = (
        f"{quoted(glob.escape(path))}, delim={quoted(mark)}, header=false, "
        "quote='\"', escape='\"', "
        f"skip={table.skip}, nullstr=[{', '.join(map(quoted, nulls))}], "
        f"encoding={quoted(encoding)}, max_line_size={texts.LINE * 2}, strict_mode=false, "
    )
    names = ", ".join(f"'c{n}'" for n in range(width))
    columns = ", ".join(f"'c{n}': 'VARCHAR'" for n in range(width))
    error: object = ""
    if mark != "spaces" and width <= 300 and not path.endswith((".bz2", ".xz")):
        for more in (
            f"names=[{names}]",
            f"columns={{{columns}}}, auto_detect=false, ignore_errors=true",
        ):
            if deadline.left() == 0:
                break
            try:
                with duckdb_connection(deadline) as con:
                    return figures(con, f"read_csv({options}{more})", table)
            except Exception as e:
                error = e
    size = os.path.getsize(path)
    mean = len(source.text.encode(errors="replace")) / max(1, source.text.count("\n"))
    table.total = max(len(table.rows), round(size / mean) if not source.packed else 0)
    table.extra["guessed"] = True
    if error:
        table.warnings.append(f"all figures are from a sample: {show(error, 160)}")


def _json(source: texts.Text, ending: str) -> Found | None:
    text = source.text
    lines = [x for x in source.lines()[: texts.ROWS] if x.strip()]
    name = "GeoJSON" if ending == ".geojson" else "JSON"
    found = Found(name)
    encoded = {} if source.encoding.startswith("utf-8") else {"encoding": source.encoding}
    try:
        if ending in (".jsonl", ".ndjson") or len(lines) > 1 and _one(lines[0]) and _one(lines[1]):
            values, bad = [], 0
            for line in lines:
                try:
                    values.append(json.loads(line))
                except ValueError:
                    bad += 1
            found.format = "JSON Lines"
            only = 'startswith("{")' if bad else "strip()"
            each = f"[json.loads(line) for line in {_open(source)} if line.{only}]"
            found.tables, found.lines = nested.tables(values, "(lines)", each)
            for table in found.tables[:1]:
                table.calls.insert(0, Call("pd.read_json(path, lines=True", AS_WRITTEN | encoded))
                table.lines = lines[: hints.FIRST]
            if bad:
                found.warnings.append(f"{bad} lines are no JSON")
            if not source.whole:
                found.warnings.append("figures are from the beginning of the file")
        elif source.whole:
            value = json.loads(text)
            found.tables, found.lines = nested.tables(value, "$", f"json.load({_open(source)})")
            for table in found.tables[:1]:
                if table.name == "$":
                    table.calls.insert(0, Call("pd.read_json(path", AS_WRITTEN | encoded))
            if ending == ".ipynb" and isinstance(value, dict) and "cells" in value:
                cells = ["".join(c.get("source", "")) for c in value["cells"]]
                return document("Jupyter notebook (the sources of its cells)", "\n\n".join(cells))
        else:
            values = _elements(text)
            if not values:
                found = document("JSON", text[:500])
                found.cut = True
                found.warnings.append(
                    "too large to be read whole: only its beginning was read, and no list in it"
                )
                return found
            found.tables, found.lines = nested.tables(values, "$")
            found.warnings.append("figures are from the elements at the beginning of the file")
    except (ValueError, RecursionError) as error:
        if ending not in (".json", ".geojson", ".jsonl", ".ndjson"):
            return None
        found = document("JSON", text[:500])
        found.cut = len(text) > 500
        found.warnings.append(
            f"not valid JSON: {show(error, 160)}"
            if isinstance(error, ValueError)
            else "nested too deeply to be read"
        )
    return found


def _open(source: texts.Text) -> str:
    """Python that opens a text of JSON."""
    name = hints.python(source.encoding)
    return (
        f'gzip.open(path, "rt", encoding={name})'
        if source.packed
        else f"open(path, encoding={name})"
    )


def _one(line: str) -> bool:
    try:
        return isinstance(json.loads(line), (dict, list))
    except (ValueError, RecursionError):
        return False


def _elements(text: str) -> list:
    """The elements of the first list of a document that was not read to its end."""
    start, values, decoder = text.find("["), [], json.JSONDecoder()
    at = start + 1
    with contextlib.suppress(ValueError, RecursionError):
        while start >= 0 and len(values) < texts.ROWS:
            at = re.compile(r"[\s,]*").match(text, at).end()
            value, at = decoder.raw_decode(text, at)
            values.append(value)
    return values


def _xml(source: texts.Text) -> Found:
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        recover=not source.whole,
        huge_tree=False,
        remove_comments=True,
    )
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", source.text)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        found = document("XML", source.text[:4000], warnings=[f"not valid XML: {show(error, 160)}"])
        found.cut = len(source.text) > 4000
        return found
    found = Found("XML")
    if root is None:
        return found
    found.lines.append(f"root element {show(root.tag)}")
    found.tables, lines = nested.tables(nested.of_xml(root), nested._local(str(root.tag)))
    found.lines += lines
    for table in found.tables:
        table.text_source = True
    if not source.whole:
        found.warnings.append("figures are from the beginning of the file")
    return found


def _html(text: str) -> Found:
    from lxml import html

    page = html.document_fromstring(
        text.encode("utf-8", "replace"), parser=html.HTMLParser(encoding="utf-8", huge_tree=False)
    )
    found = Found("HTML")
    for n, table in enumerate(filter(_shown, page.xpath("//table"))):
        table.set("index", str(n))
    for br in page.xpath("//br"):
        br.tail = "\n" + (br.tail or "")
    for junk in page.xpath("//script|//style|//noscript|//nav|//*[contains(@class, 'navbox')]"):
        junk.drop_tree()
    if title := page.xpath("string(//title)").strip():
        found.lines.append("title: " + show(title, 200))
    for table in page.xpath("//table[@index and not(.//table)]")[:60]:
        rows = [_cells(tr) for tr in table.xpath(".//tr")[:20_000]]
        caption = show(" ".join(table.xpath("string(./caption)").split()), 120)
        rows = _spanned(rows)
        if len(rows) > 1 and max(map(len, rows)) > 1:
            name = f"read_html()[{table.get('index')}]" + (f" ({caption})" if caption else "")
            found.tables += grids.tables(rows, name, True)
            found.tables[-1].calls = _html_calls(found.tables[-1], table.get("index"))
            table.drop_tree()
    parts = [x.text_content() for x in page.xpath("//p|//h1|//h2|//h3|//li[not(.//a)]|//dl|//pre")]
    lines = parts if sum(map(len, parts)) > 200 else page.text_content().split("\n")
    words = "\n".join(filter(None, (" ".join(x.split()) for x in lines)))
    found.text, found.cut = clean(words)[:TEXT], len(words) > TEXT
    return found


def _html_calls(table: Table, index: str) -> list[Call]:
    """Calls that may read a table of a page: pandas takes cells marked as such for its names."""
    below = f".iloc[:{len(table.rows)}]"
    header: Any = table.header[0] if len(table.header) == 1 else table.header or None
    return [
        Call("pd.read_html(path", options, f"[{index}]{after}")
        for after in ("", below)
        for options in (
            {},
            {"header": header} if table.header else {"header": None, "skiprows": table.skip},
        )
    ]


def _shown(table: Any) -> bool:
    """Whether pandas' read_html returns the table, so that its index can be told."""
    hidden = "display:none" in (table.get("style") or "").replace(" ", "")
    return not hidden and bool(table.text_content().strip("\n") and table.xpath(".//td|.//th"))


def _cells(tr: Any) -> list[tuple[str, int, int]]:
    def span(cell: Any, name: str) -> int:
        text = cell.get(name) or "1"
        return max(1, min(int(text), 50)) if text.isdigit() else 1

    return [
        (_cell(c.text_content()), span(c, "colspan"), span(c, "rowspan"))
        for c in tr.xpath("./td|./th")
    ]


def _cell(text: str) -> str:
    """The text as pandas' read_html has it, which keeps a single non-breaking space."""
    return re.sub(r"[\r\n]+|\s{2,}", " ", text.strip())


def _spanned(rows: list[list[tuple[str, int, int]]]) -> list[tuple]:
    """The rows as a grid, with a cell that spans several in each of them."""
    grid: dict[tuple[int, int], str] = {}
    for y, row in enumerate(rows):
        x = 0
        for text, across, down in row[:500]:
            while (y, x) in grid:
                x += 1
            for dy, dx in itertools.product(range(down), range(across)):
                grid[y + dy, x + dx] = text
            x += across
    width = max((x for _, x in grid), default=-1) + 1
    return [tuple(grid.get((y, x)) for x in range(width)) for y in range(len(rows))]
