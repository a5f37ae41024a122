"""Readers of formats that are no text. Each imports what it needs itself, as a user's own Python
may lack it."""

from __future__ import annotations

import contextlib
import glob
import itertools
import json
import os
import re
import sqlite3
import tarfile
import urllib.parse
import zipfile
from typing import Any

from dsstar_profile import grids, texts
from dsstar_profile.values import show
from dsstar_profile.found import (
    TEXT,
    WHOLE,
    Deadline,
    Found,
    clean,
    document,
    duckdb_connection,
    figures,
    named,
    quoted,
)
from dsstar_profile.grids import Table


def parquet(path: str, deadline: Deadline) -> Found:
    with duckdb_connection(deadline) as con:
        name = quoted(glob.escape(path))  # DuckDB takes patterns
        relation = f"read_parquet({name})"
        rows = con.execute(f"SELECT sum(num_rows) FROM parquet_file_metadata({name})").fetchone()[0]
        return Found("Parquet", [_relation(con, relation, "", rows, apart=True)])


PARTS = 8  # of a table that a sample is from, where it is quick to go there


def _relation(
    con: Any, relation: str, name: str, rows: int | None = None, apart: bool = False
) -> Table:
    described = con.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    names = [d[0] for d in described]
    most = max(1000, min(texts.ROWS, grids.MOST_CELLS // max(1, len(names))))
    parts = [(0, most + 1)]
    if apart and rows and rows > most:
        parts = [(rows * n // PARTS, most // PARTS) for n in range(PARTS)]
    some = [
        row
        for start, size in parts
        for row in con.execute(f"SELECT * FROM {relation} LIMIT {size} OFFSET {start}").fetchall()
    ]
    table = Table(name, names, some[:most])
    if rows is None or rows > most:
        table.total = rows
    if len(some) > most or len(parts) > 1:
        try:
            figures(con, relation, table)
        except Exception as error:
            table.total = rows or len(some)
            where = f"the first {most} rows" if len(parts) == 1 else f"{PARTS} places"
            table.warnings.append(f"figures are from {where}: {show(error, 160)}")
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
        query = (
            "SELECT schema_name, table_name, 'table', 0 FROM duckdb_tables() UNION ALL "
            "SELECT schema_name, view_name, 'view', 0 FROM duckdb_views() WHERE NOT internal "
            "ORDER BY 1, 2"
        )
        for schema, name, kind, _ in con.execute(query).fetchall()[:60]:
            try:
                table = _relation(
                    con,
                    f"{named(schema)}.{named(name)}",
                    name if schema == "main" else f"{schema}.{name}",
                )
            except Exception as error:
                found.warnings.append(f"{kind} {show(name)} cannot be read: {show(error, 160)}")
                continue
            table.where = "a view" if kind == "view" else ""
            found.tables.append(table)
        keys = con.execute(
            "SELECT constraint_text, table_name FROM duckdb_constraints() WHERE constraint_type IN "
            "('PRIMARY KEY', 'FOREIGN KEY')"
        ).fetchall()
        found.lines = [f"{show(t)}: {show(k, 120)}" for k, t in keys[:40]]
    return found


def _sqlite(path: str) -> tuple[sqlite3.Connection, str]:
    """A connection to a database that may be in a folder that cannot be written to; what says how
    to make one where sqlite3.connect(path) fails for that."""
    real = os.path.realpath(path)  # beside which SQLite looks for the log
    uri = f"file:{urllib.parse.quote(real)}?mode=ro"
    with open(real, "rb") as f:
        logs = f.read(19)[18:] == b"\2"
    if os.path.exists(real + "-wal") and os.path.exists(real + "-shm"):
        return sqlite3.connect(uri, uri=True), ""
    if os.path.exists(real + "-wal") and os.path.getsize(real + "-wal"):
        con = sqlite3.connect(f"{uri}&vfs=unix-none", uri=True)
        con.execute("PRAGMA locking_mode=EXCLUSIVE")  # with an index in memory
        return con, (
            'con = sqlite3.connect("file:PATH?mode=ro&vfs=unix-none", uri=True); '
            'con.execute("PRAGMA locking_mode=EXCLUSIVE"), as its log has no index; with immutable=1 '
            "the rows of the log would be missing"
        )
    if os.path.exists(real + "-journal"):
        return sqlite3.connect(uri, uri=True), ""
    how = 'con = sqlite3.connect("file:PATH?immutable=1", uri=True), as it has no log now'
    return sqlite3.connect(f"{uri}&immutable=1", uri=True), how if logs else ""


def sqlite(path: str, deadline: Deadline) -> Found:
    found = Found("SQLite")
    con, how = _sqlite(path)
    if how:
        found.lines.append(f"opens, where its folder cannot be written to, with {how}")
    con.text_factory = lambda b: b.decode("utf-8", "replace")
    con.execute("PRAGMA trusted_schema=OFF")
    con.set_progress_handler(lambda: deadline.left() == 0, 100_000)
    with contextlib.closing(con):
        try:
            listed = con.execute(
                "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') "
                "AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
            ).fetchall()
        except sqlite3.OperationalError as error:
            if os.path.exists(os.path.realpath(path) + "-journal"):
                error.args = (
                    f"{error}: a change of it was cut off or is under way; it can be read when a "
                    "program that may write to it has opened it",
                )
            raise
        for kind, name in listed[:60]:
            try:
                info = con.execute(f"PRAGMA table_info({named(name)})").fetchall()
                names = [r[1] for r in info]
                most = max(1000, min(texts.ROWS, grids.MOST_CELLS // max(1, len(names))))
                rows = con.execute(f"SELECT * FROM {named(name)} LIMIT {most}").fetchall()
                total = (
                    len(rows)
                    if len(rows) < most
                    else con.execute(f"SELECT count(*) FROM {named(name)}").fetchone()[0]
                )
                table = Table(name, names, rows, total)
                foreign = con.execute(f"PRAGMA foreign_key_list({named(name)})").fetchall()
            except sqlite3.Error as error:
                found.warnings.append(f"{kind} {show(name)} cannot be read: {show(error, 160)}")
                continue
            table.where = "a view" if kind == "view" else ""
            keys = [r[1] for r in sorted(info, key=lambda r: r[5]) if r[5]]
            if keys:
                found.lines.append(f"{show(name)}: primary key {', '.join(map(show, keys))}")
            found.lines += [
                f"{show(name)}.{show(f[3])} refers to {show(f[2])}.{show(f[4])}"
                for f in foreign[:20]
                if f[3] in names  # SQLite accepts a key of a column that the table does not have
            ]
            found.tables.append(table)
        if len(listed) > 60:
            found.warnings.append(f"{len(listed) - 60} more tables are not shown")
    return found


def xlsx(path: str, deadline: Deadline) -> Found:
    import openpyxl

    with zipfile.ZipFile(path) as archive:
        sizes = {i.filename: i.file_size for i in archive.infolist()}
        strings = sum(
            n for name, n in sizes.items() if not name.startswith(("xl/worksheets/", "xl/media/"))
        )
        if sum(sizes.values()) > 8 * WHOLE:
            return Found(
                "Excel", warnings=[f"not read: {sum(sizes.values()) >> 20} MB when unpacked"]
            )
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
            stated = sheet.max_row
            sheet.reset_dimensions()
            rows: list[tuple] = []
            cells = 0
            for row in itertools.islice(sheet.iter_rows(values_only=True), 1_048_576):
                rows.append(_short(row[: grids.MOST_COLUMNS]))
                cells += len(rows[-1])
                if cells > 600_000 or len(rows) >= 100_000 or deadline.left() == 0:
                    notes.append(
                        f"only its first {len(rows)} rows were read, of {stated or 'more'}"
                    )
                    break
            tables = grids.tables(
                rows,
                f"sheet {json.dumps(show(sheet.title), ensure_ascii=False)}{hidden}",
                False,
                True,
            )
            _sheet(found, sheet.title + hidden, tables, notes)
        book.close()
    return found


def _sheet(found: Found, title: str, tables: list[Table], notes: list[str]) -> None:
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
    bare = len(
        re.findall(
            rb"</f>\s*(?:<v\s*/>|<v></v>)?\s*</c>|<f[^>]*/>\s*(?:<v\s*/>|<v></v>)?\s*</c>", data
        )
    )
    if bare:
        notes.append(f"{bare} cells have a formula without a value: they read as empty")
    if hidden := len(re.findall(rb'<row [^>]*hidden="1"', data)):
        notes.append(f"{hidden} hidden rows")
    return notes


def xls(path: str, deadline: Deadline) -> Found:
    if os.path.getsize(path) > WHOLE:
        return Found("Excel (xls)", warnings=["not read: too large"])
    import pandas as pd

    found = Found("Excel (xls)")
    with pd.ExcelFile(path, engine="xlrd") as book:
        for name in book.sheet_names[:40]:
            frame = book.parse(name, header=None, keep_default_na=False, na_values=[""])
            values = (
                frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
            )
            hidden = " (hidden sheet)" if book.book.sheet_by_name(name).visibility else ""
            title = f"sheet {json.dumps(show(name), ensure_ascii=False)}{hidden}"
            rows = [_short(row) for row in values]
            _sheet(found, name, grids.tables(rows, title, False, True), [])
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
            rows = [
                tuple(
                    "".join(t.text or "" for t in cell.iter("{*}t"))
                    for cell in row.iterfind("{*}tc")
                )
                for row in block.iterfind("{*}tr")
            ]
            found.tables += grids.tables(rows, f"table {number}", True)
            lines.append(f"[table {number}]")
    text = clean("\n".join(lines))
    found.text, found.cut = text[:TEXT], len(text) > TEXT
    return found


def image(path: str, deadline: Deadline) -> Found:
    from PIL import Image

    with Image.open(path) as picture:  # which reads its header only
        return Found(
            "image",
            lines=[
                f"{picture.format} image, {picture.width} x {picture.height} pixels, "
                f"mode {picture.mode}"
            ],
        )


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
    found.warnings.append(
        f"{len(members)} files in it, which are not unpacked"
        + (", the first 100 of them" if len(members) > 100 else "")
    )
    return found
