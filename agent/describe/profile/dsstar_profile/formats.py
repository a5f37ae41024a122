"""Readers of formats that are no text. Each imports what it needs itself, as a user's own Python
may lack it."""

from __future__ import annotations

import contextlib
import os
import re
import zipfile
from typing import Any

from dsstar_profile import arrow, grids, nested
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
from dsstar_profile.hints import ENDS, FILE, Call, python
from dsstar_profile.values import show

REPEATED = 100_000  # values of a YAML text that its aliases may stand for
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
        found.more = len(listed[MOST:])
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
    start = f"duckdb.connect({FILE}, read_only=True).sql("
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


def yaml_text(path: str, deadline: Deadline) -> Found:
    """YAML, of which only plain values are made."""
    import yaml

    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read(WHOLE // 8)
    found = Found("YAML")
    if len(text) < WHOLE // 8:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        with contextlib.suppress(yaml.YAMLError, RecursionError, ValueError):
            if re.search(r"[*]\w", text) and _repeated(yaml, text, loader) > REPEATED:
                warning = "not read as tables: its aliases repeat too much of it"
                return document("YAML", text, warnings=[warning])
            documents = list(yaml.load_all(text, Loader=loader))
            at = f'yaml.safe_load(open({FILE}, encoding="utf-8"))'
            if len(documents) == 1:
                found.tables, found.lines = nested.tables(documents[0], "$", at)
            else:
                found.tables, found.lines = nested.tables(
                    documents, "$", at.replace("_load(", "_load_all(")
                )
    return found if found.tables else document("YAML", text)


def _repeated(yaml: Any, text: str, loader: Any) -> int:
    """How many values the aliases of a text stand for; one within what it stands for, for many."""
    sizes: dict[str, int] = {}
    begun: list[tuple[str | None, int]] = []
    values = repeated = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.AliasEvent):
            more = sizes.get(event.anchor, REPEATED + 1)
            values, repeated = values + more, repeated + more
            if repeated > REPEATED:
                break
        elif isinstance(event, yaml.ScalarEvent):
            values += 1
            sizes[event.anchor or ""] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            begun.append((event.anchor, values))
            sizes.pop(event.anchor or "", None)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = begun.pop()
            values += 1
            sizes[anchor or ""] = values - before
    return repeated
