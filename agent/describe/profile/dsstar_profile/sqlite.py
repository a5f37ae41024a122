"""Reader of SQLite, and of GeoPackage, which is a database of it."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import urllib.parse
from typing import Any

from dsstar_profile.found import Deadline, Found, named, sample_size
from dsstar_profile.grids import Table
from dsstar_profile.hints import ENDS, FILE, Call, python
from dsstar_profile.values import show

Json = dict[str, Any]
MOST = 60  # tables that are shown
COLUMNS = 200  # whose figures are of all rows
OURS = ("gpkg_", "rtree_", "sqlite_")  # tables of GeoPackage's own
GENERATED = (2, 3)  # as table_xinfo says of columns
# Dates whose order is that of their text.
DATE = re.compile(r"\d{4}([-/.]?)\d\d\1\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?")


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
            'con.execute("PRAGMA locking_mode=EXCLUSIVE"), as its log has no index; with '
            'immutable=1 '
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
        listed = _listed(con, path, found)
        geometries = _geopackage(con, listed, found)
        for kind, name in listed[:MOST]:
            try:
                table = _table(con, name, found)
            except Exception as error:
                found.warnings.append(f"{kind} {show(name)} cannot be read: {show(error, 160)}")
                continue
            table.where = "a view" if kind == "view" else ""
            if name in geometries and geometries[name][0] in table.names:
                table.notes[table.names.index(geometries[name][0])].append(geometries[name][1])
            query = f"SELECT * FROM {named(name)}"
            opened = f"sqlite3.connect({FILE})"
            if "immutable" in how:
                opened = 'sqlite3.connect(f"file:{path}?immutable=1", uri=True)'
            call = Call(f"pd.read_sql({python(query)}, {opened}", {})
            if (table.total or 0) > ENDS:
                call.less = f"pd.read_sql({python(query + f' LIMIT {ENDS}')}, {opened})"
            table.calls = [call]
            found.tables.append(table)
        found.more = len(listed[MOST:])
    return found


def _listed(con: Any, path: str, found: Found) -> list[tuple[str, str]]:
    """The kinds and names of tables and views, without those that others are made of."""
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
    shadows = set()
    with contextlib.suppress(sqlite3.Error):
        kinds = con.execute("PRAGMA table_list").fetchall()
        shadows = {row[1] for row in kinds if row[2] == "shadow"}
    if shadows:
        found.lines.append(
            f"{len(shadows)} tables are parts of virtual tables and are not shown: "
            + ", ".join(map(show, sorted(shadows)[:5]))
        )
    return [(kind, name) for kind, name in listed if name not in shadows]


def _geopackage(
    con: Any, listed: list[tuple[str, str]], found: Found
) -> dict[str, tuple[str, str]]:
    """What a GeoPackage says of the geometries of tables: their columns, and a note of each."""
    if ("table", "gpkg_contents") not in listed:
        return {}
    found.format = "GeoPackage (SQLite)"
    geometries = {}
    with contextlib.suppress(sqlite3.Error):
        for table, column, kind, srs in con.execute(
            "SELECT table_name, column_name, geometry_type_name, srs_id FROM gpkg_geometry_columns"
        ):
            note = f"{kind} in coordinates EPSG:{srs}, as WKB after a header of GeoPackage"
            geometries[table] = (column, show(note, 160))
    listed[:] = [(kind, name) for kind, name in listed if not name.startswith(OURS)]
    return geometries


def _table(con: Any, name: str, found: Found) -> Table:
    info = con.execute(f"PRAGMA table_xinfo({named(name)})").fetchall()
    cursor = con.execute(f"SELECT * FROM {named(name)}")
    names = [c[0] for c in cursor.description]
    most = sample_size(len(names))
    table = Table(name, names, cursor.fetchmany(most))
    generated = {r[1] for r in info if r[6] in GENERATED}
    table.notes = [["computed from others"] if n in generated else [] for n in names]
    if len(table.rows) == most:
        table.total = con.execute(f"SELECT count(*) FROM {named(name)}").fetchone()[0]
    if (table.total or 0) > most:
        with contextlib.suppress(sqlite3.Error):  # a view has no rowid
            backwards = f"SELECT * FROM {named(name)} ORDER BY rowid DESC LIMIT {most // 2}"
            table.rows = table.rows[: most // 2] + con.execute(backwards).fetchall()[::-1]
        try:
            table.whole = _figures(con, name, names)
        except sqlite3.Error as error:
            table.warnings.append(f"figures are from {most} of its rows: {show(error, 160)}")
    keys = [r[1] for r in sorted(info, key=lambda r: r[5]) if r[5]]
    if keys:
        found.lines.append(f"{show(name)}: primary key {', '.join(map(show, keys))}")
    found.lines += [f"{show(name)}.{key}" for key in _foreign(con, name, names)]
    return table


def _foreign(con: Any, name: str, names: list[str]) -> list[str]:
    """What columns of a table refer to. SQLite accepts keys of columns that no table has."""
    keys = []
    for _, at, of, own, to, *_ in con.execute(f"PRAGMA foreign_key_list({named(name)})").fetchall():
        there = con.execute(f"PRAGMA table_xinfo({named(of)})").fetchall()
        if to is None:  # its primary key
            to = next((c[1] for c in there if c[5] == at + 1), "")
        if own in names and to.lower() in (c[1].lower() for c in there):
            keys.append(f"{show(own)} refers to {show(of)}.{show(to)}")
    return keys[:20]


def _figures(con: Any, name: str, names: list[str]) -> list[Json | None]:
    """Figures of all rows. A column may have values of several types: its range is that of numbers,
    if all are numbers, or of dates, if all are texts of one form whose order is theirs."""
    whole: list[Json | None] = []
    for column in map(named, names[:COLUMNS]):
        numeric = f"FILTER (WHERE typeof({column}) IN ('integer', 'real'))"
        texts = f"FILTER (WHERE typeof({column}) = 'text')"
        rows, given, distinct, numbers, parts, low, high, words, first, last = con.execute(
            f"SELECT count(*), count({column}), count(DISTINCT {column}), count(*) {numeric}, "
            f"count(*) FILTER (WHERE typeof({column}) = 'real' AND {column} <> round({column})), "
            f"min({column}) {numeric}, max({column}) {numeric}, count(*) {texts}, "
            f"min({column}) {texts}, max({column}) {texts} FROM {named(name)}"
        ).fetchone()
        out: Json = {"gone": rows - given, "distinct": distinct, "counted": True, "type": "text"}
        if given and numbers == given:
            out |= {"type": "number", "range": [low, high], "integer": not parts}
        elif given and words == given and DATE.fullmatch(first):
            alike = f"SELECT count(*) FROM {named(name)} WHERE {column} GLOB ?"
            if con.execute(alike, [re.sub(r"\d", "[0-9]", first)]).fetchone()[0] == given:
                out |= {"type": "date", "range": [first, last]}
        whole.append(out)
    return whole
