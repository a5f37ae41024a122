"""One reader for each format. A reader returns a Found: tables, text, lines and warnings. Each
imports what it needs itself, as a user's own Python may lack it."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import sqlite3
import tarfile
import threading
import time
import urllib.parse
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dsstar_profile import grids, nested, texts
from dsstar_profile.columns import MARKERS, show
from dsstar_profile.grids import Table

TEXT = 60_000  # characters of a document that are kept
WHOLE = 64 << 20  # bytes up to which a format is read that has to be read whole
DIALECTS = {".json", ".geojson", ".jsonl", ".ndjson", ".xml", ".html", ".htm", ".md", ".markdown", ".rst"}
CODE = set(".py .r .sql .go .js .ts .java .c .h .cpp .rs .sh .yaml .yml .toml .ini .cfg .ipynb .tex .do .sas".split())


@dataclass
class Found:
    format: str
    tables: list[Table] = field(default_factory=list)
    text: str = ""
    cut: bool = False  # whether text is only the beginning
    lines: list[str] = field(default_factory=list)  # of its structure
    warnings: list[str] = field(default_factory=list)
    encoding: str = ""
    delimiter: str = ""


class Deadline:
    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def left(self) -> float:
        return max(0.0, self.end - time.monotonic())


def clean(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\n\t" else " " if c == "\r" else "�" for c in text)


def document(format: str, text: str, **more: Any) -> Found:
    text = clean(text.replace("\r\n", "\n"))
    return Found(format, text=text[:TEXT], cut=len(text) > TEXT, **more)


# Text

def text_file(path: str, ending: str, deadline: Deadline) -> Found:
    source = texts.Text(path)
    if not source.encoding:
        return Found("binary", warnings=["a binary file of a format that is not known here"])
    text, start = source.text, source.text[:4096].lstrip()
    found = None
    if ending in (".json", ".geojson", ".jsonl", ".ndjson", ".ipynb") or start[:1] in "{[" and start:
        found = _json(source, ending)
    elif start.startswith("<") and ending not in CODE:
        found = _html(text) if re.search(r"<(!doctype html|html|table|body)", start[:2000], re.I) else _xml(source)
    if found is None:
        lines = source.lines() or [text[: texts.LINE]]
        mark = "" if ending in CODE | {".md", ".markdown", ".rst"} else texts.delimiter(lines)
        if max(map(len, lines[:1000]), default=0) >= texts.LINE:
            mark = ""
            text = text[:2000]
        prose = sum(bool(re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}", x)) for x in lines[:200])
        if mark in ("", "spaces", ":", "^", "~") and ending in (".csv", ".tsv") and len(lines) > 1 and not prose:
            mark = mark or ","
        elif mark and ending not in (".csv", ".tsv", ".dat", ".tab") and prose > len(lines[:200]) / 3:
            mark = ""
        if mark:
            found = _delimited(path, source, mark, deadline)
        else:
            found = document("source code" if ending in CODE else "text", text)
            found.cut = found.cut or not source.whole
    found.encoding = source.encoding
    if source.packed:
        found.format += ", packed"
    return found


def _delimited(path: str, source: texts.Text, mark: str, deadline: Deadline) -> Found:
    text = source.text if source.whole else "\n".join(source.lines())
    rows, all_rows = texts.rows(text, mark)
    blank = sum(all(grids.empty(c) for c in row) for row in rows)
    apart = blank and all_rows and source.whole and len(rows) < 20_000 and mark != "spaces"
    if not apart:
        rows = [row for row in rows if not all(grids.empty(c) for c in row)]
    found = Found("delimited text", delimiter={"\t": "tab"}.get(mark, mark))
    found.tables = grids.tables(rows, "", True, sheet=bool(apart))
    if len(found.tables) == 1:
        table = found.tables[0]
        table.where = re.sub(r"rows .*?columns [A-Z]+-[A-Z]+,? ?", "", table.where)
        width = len(table.names)
        raw = [len(row) for row in rows[table.extra["skip"]:]]
        if odd := sum(n != width for n in raw):
            table.warnings.append(f"{odd} rows have not {width} fields but {min(raw)} to {max(raw)}")
        if not (all_rows and source.whole):
            for part in source.parts:
                table.rows += [row for row in texts.rows(part, mark, 3000)[0] if len(row) == width]
            _count_csv(path, source, mark, table, deadline)
    for table in found.tables:
        table.extra.pop("skip", None)
    return found


def _count_csv(path: str, source: texts.Text, mark: str, table: Table, deadline: Deadline) -> None:
    """Figures of all rows of a long file, in one pass."""
    encoding = {"utf-8": "utf-8", "utf-8-sig": "utf-8", "utf-16": "utf-16"}.get(source.encoding, "latin-1")
    width = len(table.names)
    columns = ", ".join(f"'c{n}': 'VARCHAR'" for n in range(width))
    relation = (
        f"read_csv({_sql(path)}, delim={_sql(mark)}, header=false, skip={table.extra['skip']}, columns={{{columns}}}, "
        f"auto_detect=false, quote='\"', escape='\"', null_padding=true, ignore_errors=true, strict_mode=false, "
        f"parallel=true, encoding={_sql(encoding)}, max_line_size={texts.LINE * 2})"
    ).replace("null_padding=true, ", "").replace("parallel=true, ", "")
    if mark == "spaces" or width > 300 or path.endswith((".bz2", ".xz")):
        _guess(path, source, table)
        return
    try:
        with duckdb_connection(deadline) as con:
            figures(con, relation, [f"c{n}" for n in range(width)], table)
    except ImportError:
        _guess(path, source, table)
    except Exception as error:
        _guess(path, source, table)
        table.warnings.append(f"all figures are from a sample: {show(error, 160)}")


def _guess(path: str, source: texts.Text, table: Table) -> None:
    size = os.path.getsize(path)
    mean = len(source.text.encode(errors="replace")) / max(1, source.text.count("\n"))
    table.total = max(len(table.rows), round(size / mean) if not source.packed else 0)
    table.extra["guessed"] = True


def _sql(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@contextlib.contextmanager
def duckdb_connection(deadline: Deadline, path: str = ":memory:") -> Iterator[Any]:
    """DuckDB with little memory, without network and extensions; interrupted at the deadline."""
    import duckdb

    config = {"memory_limit": "512MB", "threads": 2, "autoinstall_known_extensions": "false",
              "autoload_known_extensions": "false", "preserve_insertion_order": "false"}
    if path != ":memory:":
        config["enable_external_access"] = "false"
    con = duckdb.connect(path, read_only=path != ":memory:", config=config)
    timer = threading.Timer(deadline.left(), con.interrupt)
    timer.start()
    try:
        yield con
    finally:
        timer.cancel()
        con.close()


def figures(con: Any, relation: str, names: list[str], table: Table) -> None:
    """Rows, missing and distinct values and ranges of a relation, in one pass over it."""
    markers = ", ".join(map(_sql, sorted(MARKERS)))
    asked = ["count(*)"]
    for name in names[:300]:
        c = f"CAST({_name(name)} AS VARCHAR)"
        given = f"CASE WHEN lower(trim({c})) IN ({markers}) THEN NULL ELSE {c} END"
        asked += [f"count({given})", f"approx_count_distinct({given})", f"min(TRY_CAST({c} AS DOUBLE))",
                  f"max(TRY_CAST({c} AS DOUBLE))", f"left(min({given}), 80)", f"left(max({given}), 80)"]
    total, *rest = con.execute(f"SELECT {', '.join(asked)} FROM {relation}").fetchone()
    table.total = total
    table.whole = []
    for given, distinct, low, high, first, last in zip(*[iter(rest)] * 6):
        table.whole.append({"gone": total - given, "distinct": min(distinct, given), "numbers": [low, high],
                            "texts": [show(first), show(last)]})


def _json(source: texts.Text, ending: str) -> Found | None:
    text = source.text
    lines = [x for x in source.lines()[: texts.ROWS] if x.strip()]
    name = "GeoJSON" if ending == ".geojson" else "JSON"
    found = Found(name)
    try:
        if ending in (".jsonl", ".ndjson") or len(lines) > 1 and _one(lines[0]) and _one(lines[1]):
            values, bad = [], 0
            for line in lines:
                try:
                    values.append(json.loads(line))
                except ValueError:
                    bad += 1
            found.format = "JSON Lines"
            found.tables, found.lines = nested.tables(values, "(lines)")
            if bad:
                found.warnings.append(f"{bad} lines are no JSON")
            if not source.whole:
                found.warnings.append("figures are from the beginning of the file")
        elif source.whole:
            value = json.loads(text)
            found.tables, found.lines = nested.tables(value)
            if ending == ".ipynb" and isinstance(value, dict) and "cells" in value:
                cells = ["".join(c.get("source", "")) for c in value["cells"]]
                return document("Jupyter notebook (the sources of its cells)", "\n\n".join(cells))
        else:
            values = _elements(text)
            if not values:
                found = document("JSON", text[:4000])
                found.cut = True
                found.warnings.append("too large to be read whole: only its beginning was read, and no list in it")
                return found
            found.tables, found.lines = nested.tables(values, "$")
            found.warnings.append("figures are from the elements at the beginning of the file")
    except (ValueError, RecursionError) as error:
        if ending not in (".json", ".geojson", ".jsonl", ".ndjson"):
            return None
        found = document("JSON", text[:4000])
        found.cut = len(text) > 4000
        found.warnings.append(f"not valid JSON: {show(error, 160)}" if isinstance(error, ValueError)
                              else "nested too deeply to be read")
    return found


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

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=not source.whole,
                             huge_tree=False, remove_comments=True)
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
    if not source.whole:
        found.warnings.append("figures are from the beginning of the file")
    return found


def _html(text: str) -> Found:
    from lxml import html

    page = html.fromstring(text.encode("utf-8", "replace"), parser=html.HTMLParser(encoding="utf-8", huge_tree=False))
    found = Found("HTML")
    for junk in page.xpath("//script|//style|//noscript"):
        junk.drop_tree()
    if title := page.xpath("string(//title)").strip():
        found.lines.append("title: " + show(title, 200))
    number = 0
    for table in page.xpath("//table[not(.//table)]")[:60]:
        number += 1
        rows = [_cells(tr) for tr in table.xpath(".//tr")[:20_000]]
        caption = show(" ".join(table.xpath("string(./caption)").split()), 120)
        rows = _spanned(rows)
        if len(rows) > 1 and max(map(len, rows)) > 1:
            found.tables += grids.tables(rows, f"table {number}" + (f" ({caption})" if caption else ""), True)
            table.drop_tree()
    for t in found.tables:
        t.extra.pop("skip", None)
    words = "\n".join(filter(None, (" ".join(x.split()) for x in page.text_content().split("\n"))))
    found.text, found.cut = clean(words)[:TEXT], len(words) > TEXT
    return found


def _cells(tr: Any) -> list[tuple[str, int, int]]:
    def span(cell: Any, name: str) -> int:
        text = cell.get(name) or "1"
        return max(1, min(int(text), 50)) if text.isdigit() else 1

    return [(" ".join(c.text_content().split()), span(c, "colspan"), span(c, "rowspan")) for c in tr.xpath("./td|./th")]


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


# Tables in formats of their own

def parquet(path: str, deadline: Deadline) -> Found:
    with duckdb_connection(deadline) as con:
        relation = f"read_parquet({_sql(path)})"
        rows = con.execute(f"SELECT sum(num_rows) FROM parquet_file_metadata({_sql(path)})").fetchone()[0]
        return Found("Parquet", [_relation(con, relation, "", rows)])


def _relation(con: Any, relation: str, name: str, rows: int | None = None) -> Table:
    described = con.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    names, kinds = [d[0] for d in described], [d[1] for d in described]
    most = max(1000, min(texts.ROWS, grids.MOST_CELLS // max(1, len(names))))
    some = con.execute(f"SELECT * FROM {relation} LIMIT {most + 1}").fetchall()
    table = Table(name, names, some[:most], extra={"types": kinds[: grids.MOST_COLUMNS]})
    if rows is None or rows > most:
        table.total = rows
    if len(some) > most:
        try:
            figures(con, relation, names, table)
        except Exception as error:
            table.total = rows or len(some)
            table.warnings.append(f"figures are from the first {most} rows: {show(error, 160)}")
    return table


def feather(path: str, deadline: Deadline) -> Found:
    import pyarrow.dataset as dataset

    data = dataset.dataset(path, format="feather")
    try:
        with duckdb_connection(deadline) as con:
            con.register("feather_file", data)
            return Found("Feather (Arrow)", [_relation(con, "feather_file", "", data.count_rows())])
    except ImportError:
        head = data.head(texts.ROWS, batch_readahead=1, fragment_readahead=1)
        rows = list(zip(*(c.to_pylist() for c in head.columns)))
        return Found("Feather (Arrow)", [Table("", head.column_names, rows, data.count_rows())])


def duckdb_file(path: str, deadline: Deadline) -> Found:
    found = Found("DuckDB")
    with duckdb_connection(deadline, path) as con:
        query = "SELECT schema_name, table_name, 'table', estimated_size FROM duckdb_tables() UNION ALL " \
            "SELECT schema_name, view_name, 'view', NULL FROM duckdb_views() WHERE NOT internal ORDER BY 1, 2"
        for schema, name, kind, _ in con.execute(query).fetchall()[:60]:
            try:
                table = _relation(con, f"{_name(schema)}.{_name(name)}", name if schema == "main" else f"{schema}.{name}")
            except Exception as error:
                found.warnings.append(f"{kind} {show(name)} cannot be read: {show(error, 160)}")
                continue
            table.where = "a view" if kind == "view" else ""
            found.tables.append(table)
        keys = con.execute("SELECT constraint_text, table_name FROM duckdb_constraints() WHERE constraint_type IN "
                           "('PRIMARY KEY', 'FOREIGN KEY')").fetchall()
        found.lines = [f"{show(t)}: {show(k, 120)}" for k, t in keys[:40]]
    return found


def sqlite(path: str, deadline: Deadline) -> Found:
    found = Found("SQLite")
    fixed = "" if os.path.exists(path + "-wal") else "&immutable=1"
    con = sqlite3.connect(f"file:{urllib.parse.quote(os.path.abspath(path))}?mode=ro{fixed}", uri=True)
    con.text_factory = lambda b: b.decode("utf-8", "replace")
    con.execute("PRAGMA trusted_schema=OFF")
    con.set_progress_handler(lambda: deadline.left() == 0, 100_000)
    with contextlib.closing(con):
        listed = con.execute("SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') "
                             "AND name NOT LIKE 'sqlite_%' ORDER BY rowid").fetchall()
        for kind, name in listed[:60]:
            try:
                info = con.execute(f"PRAGMA table_info({_name(name)})").fetchall()
                names = [r[1] for r in info]
                most = max(1000, min(texts.ROWS, grids.MOST_CELLS // max(1, len(names))))
                rows = con.execute(f"SELECT * FROM {_name(name)} LIMIT {most}").fetchall()
                total = len(rows) if len(rows) < most else \
                    con.execute(f"SELECT count(*) FROM {_name(name)}").fetchone()[0]
                table = Table(name, names, rows, total, extra={"types": [r[2] for r in info][: grids.MOST_COLUMNS]})
                foreign = con.execute(f"PRAGMA foreign_key_list({_name(name)})").fetchall()
            except sqlite3.Error as error:
                found.warnings.append(f"{kind} {show(name)} cannot be read: {show(error, 160)}")
                continue
            table.where = "a view" if kind == "view" else ""
            keys = [r[1] for r in sorted(info, key=lambda r: r[5]) if r[5]]
            if keys:
                found.lines.append(f"{show(name)}: primary key {', '.join(map(show, keys))}")
            found.lines += [f"{show(name)}.{show(f[3])} refers to {show(f[2])}.{show(f[4])}" for f in foreign[:20]]
            found.tables.append(table)
        if len(listed) > 60:
            found.warnings.append(f"{len(listed) - 60} more tables are not shown")
    return found


def xlsx(path: str, deadline: Deadline) -> Found:
    import openpyxl

    with zipfile.ZipFile(path) as archive:
        sizes = {i.filename: i.file_size for i in archive.infolist()}
        strings = sum(n for name, n in sizes.items() if not name.startswith(("xl/worksheets/", "xl/media/")))
        if strings > WHOLE:
            return Found("Excel", warnings=[f"not read: {strings >> 20} MB of texts when unpacked"])
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        found = Found("Excel")
        for sheet in book.worksheets[:40]:
            hidden = "" if sheet.sheet_state == "visible" else " (hidden sheet)"
            notes = []
            part = str(getattr(sheet, "_worksheet_path", "")).lstrip("/")
            if sizes.get(part, WHOLE) < WHOLE // 2:
                notes = _marks(archive.read(part))
            sheet.reset_dimensions()
            rows: list[tuple] = []
            for row in itertools.islice(sheet.iter_rows(max_col=grids.MOST_COLUMNS, values_only=True), 1_048_576):
                rows.append(_short(row))
                if len(rows) * len(row) > 2_000_000 or deadline.left() == 0:
                    notes.append(f"only its first {len(rows)} rows were read")
                    break
            tables = grids.tables(rows, f"sheet {json.dumps(show(sheet.title), ensure_ascii=False)}{hidden}", False, True)
            _sheet(found, sheet.title + hidden, tables, notes)
        book.close()
    return found


def _sheet(found: Found, title: str, tables: list[Table], notes: list[str]) -> None:
    for t in tables:
        t.extra.pop("skip", None)
    if tables:
        tables[0].warnings += notes
        if len(tables) > 1:
            tables[0].warnings.append(f"the sheet has {len(tables)} tables")
    else:
        found.lines.append(f"sheet {show(title)} is empty")
    found.tables += tables


def _short(row: tuple) -> tuple:
    end = len(row)
    while end and row[end - 1] is None:
        end -= 1
    return tuple(row[:end])


def _marks(data: bytes) -> list[str]:
    """What the XML of a sheet says and its values do not."""
    notes = []
    if merged := re.findall(rb'<mergeCell ref="([A-Z0-9:]+)"', data):
        notes.append(f"{len(merged)} merged ranges of cells, such as {merged[0].decode()}")
    bare = len(re.findall(rb"</f>\s*(?:<v\s*/>|<v></v>)?\s*</c>|<f[^>]*/>\s*(?:<v\s*/>|<v></v>)?\s*</c>", data))
    if bare:
        notes.append(f"{bare} cells have a formula without a value: they read as empty")
    if hidden := len(re.findall(rb'<row [^>]*hidden="1"', data)):
        notes.append(f"{hidden} hidden rows")
    return notes


def xls(path: str, deadline: Deadline) -> Found:
    import xlrd

    if os.path.getsize(path) > WHOLE:
        return Found("Excel (xls)", warnings=["not read: too large"])
    found = Found("Excel (xls)")
    with xlrd.open_workbook(path, on_demand=True, logfile=open(os.devnull, "w")) as book:
        for sheet in map(book.sheet_by_index, range(min(book.nsheets, 40))):
            def value(c: Any) -> Any:
                if c.ctype == xlrd.XL_CELL_DATE:
                    with contextlib.suppress(ValueError, OverflowError):
                        return xlrd.xldate_as_datetime(c.value, book.datemode)
                return None if c.ctype in (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK) else bool(c.value) \
                    if c.ctype == xlrd.XL_CELL_BOOLEAN else c.value

            rows = [_short(tuple(map(value, sheet.row(n)))) for n in range(sheet.nrows)]
            hidden = " (hidden sheet)" if sheet.visibility else ""
            title = f"sheet {json.dumps(show(sheet.name), ensure_ascii=False)}{hidden}"
            _sheet(found, sheet.name, grids.tables(rows, title, False, True), [])
    return found


# Documents, images, archives

def pdf(path: str, deadline: Deadline) -> Found:
    from pypdf import PdfReader

    if os.path.getsize(path) > WHOLE:
        return Found("PDF", warnings=["not read: too large"])
    reader = PdfReader(path)
    parts, size = [], 0
    for n, page in enumerate(reader.pages, 1):
        if size > TEXT or deadline.left() == 0:
            break
        text = page.extract_text()
        parts.append(f"[page {n}]\n{text}")
        size += len(text)
    found = document("PDF", "\n".join(parts), lines=[f"{len(reader.pages)} pages"])
    found.cut = found.cut or len(parts) < len(reader.pages)
    if size < 20 * len(parts):
        found.warnings.append("it has next to no text: perhaps scanned pages")
    return found


def docx(path: str, deadline: Deadline) -> Found:
    from lxml import etree

    with zipfile.ZipFile(path) as archive:
        part = archive.getinfo("word/document.xml")
        if part.file_size > WHOLE // 2:
            return Found("Word", warnings=["not read: too large"])
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        body = etree.fromstring(archive.read(part), parser).find("{*}body")
    lines, found = [], Found("Word")
    number = 0
    for block in body if body is not None else ():
        if block.tag.endswith("}p"):
            lines.append("".join(t.text or "" for t in block.iter("{*}t")))
        elif block.tag.endswith("}tbl"):
            number += 1
            rows = [tuple("".join(t.text or "" for t in cell.iter("{*}t")) for cell in row.iterfind("{*}tc"))
                    for row in block.iterfind("{*}tr")]
            found.tables += grids.tables(rows, f"table {number}", True)
            lines.append(f"[table {number}]")
    for t in found.tables:
        t.extra.pop("skip", None)
    text = clean("\n".join(lines))
    found.text, found.cut = text[:TEXT], len(text) > TEXT
    return found


def image(path: str, deadline: Deadline) -> Found:
    from PIL import Image

    with Image.open(path) as picture:  # which reads its header only
        return Found("image", lines=[f"{picture.format} image, {picture.width} x {picture.height} pixels, "
                                     f"mode {picture.mode}"])


def archive(path: str, deadline: Deadline) -> Found:
    """What an archive contains. Nothing is unpacked."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            members = [(i.filename, i.file_size) for i in packed.infolist() if not i.is_dir()]
        kind = "ZIP archive"
    else:
        members = []
        with tarfile.open(path, "r|*") as packed:
            for m in packed:
                if m.isfile():
                    members.append((m.name, m.size))
                if len(members) >= 2000 or deadline.left() == 0:
                    break
        kind = "tar archive"
    found = Found(kind, lines=[f"{show(name, 120)}: {size} bytes" for name, size in members[:100]])
    found.warnings.append(f"{len(members)} files in it, which are not unpacked"
                          + (", the first 100 of them" if len(members) > 100 else ""))
    return found
