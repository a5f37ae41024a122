"""Readers of formats that are no text. Each imports what it needs itself, as a user's own Python
may lack it."""

from __future__ import annotations

import itertools
import json
import os
import re
import tarfile
import zipfile
from typing import Any

from dsstar_profile import arrow, grids, texts
from dsstar_profile.found import (
    TEXT,
    WHOLE,
    Deadline,
    Found,
    clean,
    document,
    duckdb_connection,
    named,
)
from dsstar_profile.grids import Table
from dsstar_profile.hints import ENDS, Call, python
from dsstar_profile.values import show

MOST = 60  # tables of a file that are shown


def duckdb_file(path: str, deadline: Deadline) -> Found:
    found = Found("DuckDB")
    with duckdb_connection(deadline, path) as con:
        query = (
            "SELECT schema_name, table_name, 'table' FROM duckdb_tables() UNION ALL "
            "SELECT schema_name, view_name, 'view' FROM duckdb_views() WHERE NOT internal "
            "ORDER BY 1, 2"
        )
        listed = con.execute(query).fetchall()
        for schema, name, kind in listed[:MOST]:
            relation = f"{named(schema)}.{named(name)}"
            try:
                table = arrow.relation(con, relation)
            except Exception as error:
                found.warnings.append(f"{kind} {show(name)} cannot be read: {show(error, 160)}")
                continue
            table.name = name if schema == "main" else f"{schema}.{name}"
            table.where = "a view" if kind == "view" else ""
            _call_duckdb(table, named(name) if schema == "main" else relation)
            found.tables.append(table)
        if len(listed) > MOST:
            found.warnings.append(f"{len(listed) - MOST} more tables are not shown")
        keys = con.execute(
            "SELECT constraint_text, table_name FROM duckdb_constraints() WHERE constraint_type IN "
            "('PRIMARY KEY', 'FOREIGN KEY')"
        ).fetchall()
        found.lines = [f"{show(t)}: {show(k, 120)}" for k, t in keys[:40]]
    return found


def _call_duckdb(table: Table, relation: str) -> None:
    """The call that reads a table, with numbers that pandas has no type for as texts."""
    huge = [n for n, notes in zip(table.names, table.notes) if arrow.LOSSY in notes]
    texts = ", ".join(f"{named(n)}::VARCHAR AS {named(n)}" for n in huge)
    query = f"SELECT *{f' REPLACE ({texts})' if huge else ''} FROM {relation}"
    start = "duckdb.connect(path, read_only=True).sql("
    table.calls = [Call(start + python(query), {}, ".df()")]
    if (table.total or 0) > ENDS:
        table.calls[0].less = f"{start}{python(f'{query} LIMIT {ENDS}')}).df()"


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
