"""Reader of databases behind an address: their catalog, and of each table its first rows and
figures that the database computes, within bounds. Nothing is written, and no statement takes
long."""

from __future__ import annotations

import contextlib
import decimal
import json
import math
from collections.abc import Iterator
from typing import Any

from dsstar_profile import grids
from dsstar_profile.values import show
from dsstar_profile.found import Deadline, Found, address, exact
from dsstar_profile.grids import Table
from dsstar_profile.hints import python

ENDING = ".database.json"
TABLES = 2000  # that are named
ROWS = 1000  # that are read of a table
TOGETHER = 50_000  # that are read of all tables, but of none less than 20
COUNTED = 2_000_000  # estimated rows up to which figures are of all
CALLED = 1_000_000  # rows up to which a call reads all of a table
EXACT = 100_000  # estimated rows up to which they are counted, however many tables there are
STATEMENT = 10  # seconds that a statement may take at most
PLANNED = "of large tables, and of many, ranges and distinct values are estimates of the planner's"
OURS = set(
    "information_schema pg_catalog pg_toast mysql performance_schema sys crdb_internal "
    "_timescaledb_internal _timescaledb_catalog _timescaledb_config _timescaledb_cache".split()
)
# Types of columns that their values show.
PLAIN = set(
    "integer int bigint smallint text boolean date varchar char varying character "
    "character_varying real float double double_precision timestamp datetime "
    "timestamp_without_time_zone tinyint".split()
)


def database(path: str, deadline: Deadline) -> Found:
    import sqlalchemy as sa

    name, at = address(path, ENDING, "database")
    engine = sa.create_engine(at, poolclass=sa.NullPool)
    with contextlib.closing(_connect(engine, deadline)) as con:
        return _read(sa, con, name, deadline)


def _connect(engine: Any, deadline: Deadline) -> Any:
    """A connection that only reads, and none of whose statements takes all of the time."""
    con = engine.connect()
    most = max(1, min(STATEMENT, int(deadline.left() / 4)))
    for statement in {
        "postgresql": (
            "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
            f"SET statement_timeout = {most * 1000}",
            "SET client_connection_check_interval = '5s'",  # since 14
            "SET datestyle = 'ISO'",  # in which the order of texts is that of time
        ),
        "mysql": (
            "SET SESSION TRANSACTION READ ONLY",
            f"SET SESSION max_execution_time = {most * 1000}",
            f"SET SESSION max_statement_time = {most}",  # MariaDB
        ),
    }.get("mysql" if engine.dialect.name == "mariadb" else engine.dialect.name, ()):
        try:
            con.exec_driver_sql(statement)
            con.commit()
        except Exception:
            con.rollback()  # else the next ones would fail
    return con


def _read(sa: Any, con: Any, name: str, deadline: Deadline) -> Found:
    dialect = con.dialect
    version = ".".join(map(str, (dialect.server_version_info or ())[:2]))
    product = "MariaDB" if getattr(dialect, "is_mariadb", False) else dialect.name
    found = Found(f"{product} {version} database".replace("  ", " "), most=TABLES)
    found.lines.append(
        f"in cells: db[{json.dumps(name)}], an engine of SQLAlchemy, such as "
        f'pd.read_sql("SELECT ...", db[{json.dumps(name)}]); this file is not read'
    )
    inspector = sa.inspect(con)
    default = inspector.default_schema_name
    schemas = [default] + [
        s for s in inspector.get_schema_names() if s != default and s not in OURS
    ]
    known = _catalog(sa, inspector, schemas, default)
    guesses = _estimates(con, dialect.name)
    stats = _statistics(con) if dialect.name == "postgresql" else {}
    types = _types(con, dialect.name)
    parts = _partitions(con) if dialect.name == "postgresql" else {}
    for schema, table in [key for key in known if (key[0] or default, key[1]) in parts]:
        del known[schema, table]
    most = max(20, min(ROWS, TOGETHER // max(1, len(known))))
    for (schema, table), entry in list(known.items())[:TABLES]:
        whole = table if schema in (None, default) else f"{schema}.{table}"
        quote = dialect.identifier_preparer.quote
        relation = ".".join(map(quote, filter(None, (schema, table))))
        made = Table(whole, entry["names"], [], guesses.get((schema or default, table)))
        made.where, made.notes = entry["where"], entry["notes"]
        for n, notes in zip(made.names, made.notes):
            kind = types.get((schema or default, table), entry["kinds"]).get(n, "")
            notes[:0] = [show(kind, 60)] if kind and not _plain(kind) else []
        if of := [p for p, whole in parts.items() if whole == (schema or default, table)]:
            named = [p[1] if p[0] == (schema or default) else ".".join(p) for p in sorted(of)]
            entry["said"].append(
                f"{len(of)} partitions, {show(named[0])} to {show(named[-1])}: their rows are this "
                "table's"
            )
        made.extra = {"least" if made.total is None else "guessed": True}
        if deadline.left() > 0:
            try:
                some = min(most, max(20, grids.MOST_CELLS // max(1, len(made.names))))
                _figures(con, relation, made, entry["sorts"], some)
                _call(con, f"db[{json.dumps(name)}]", relation, made)
            except Exception as error:
                con.rollback()
                made.warnings.append(f"its rows cannot be read: {_reason(error)}")
            known_of = stats.get((schema or default, table))
            if made.total and made.whole is None and known_of:
                made.whole = [
                    _planned(known_of.get(n), sort, made.total)
                    for n, sort in zip(entry["names"], entry["sorts"])
                ]
                if PLANNED not in found.lines:
                    found.lines.append(PLANNED)
        else:
            made.warnings.append("its rows were not looked at: there was no time left")
        made.warnings = entry["said"] + made.warnings
        found.tables.append(made)
    found.more = max(0, len(known) - TABLES)
    return found


def _reason(error: Exception) -> str:
    return show(str(getattr(error, "orig", None) or error).split("\n")[0], 160)


def _catalog(sa: Any, inspector: Any, schemas: list, default: Any) -> dict:
    """What the catalog says of every table and view, by schema and name."""
    from sqlalchemy.engine.reflection import ObjectKind

    known: dict = {}
    for schema in schemas:
        at = None if schema == default else schema
        views = set(inspector.get_view_names(schema=at))
        with contextlib.suppress(NotImplementedError):
            views |= set(inspector.get_materialized_view_names(schema=at))
        kinds = {"schema": at, "kind": ObjectKind.ANY}
        keys = inspector.get_multi_pk_constraint(**kinds)
        foreign = inspector.get_multi_foreign_keys(**kinds)
        comments: dict = {}
        with contextlib.suppress(NotImplementedError):
            comments = inspector.get_multi_table_comment(**kinds)
        every = inspector.get_multi_columns(**kinds)
        have = {t.lower(): {c["name"].lower() for c in cs} for (_, t), cs in every.items()}
        for key, columns in sorted(every.items(), key=lambda i: i[0][1]):
            name = key[1]
            where = ["a view"] if name in views else []
            if primary := (keys.get(key) or {}).get("constrained_columns"):
                where.append(f"primary key {' + '.join(map(show, primary))}")
            said = [
                f"{', '.join(map(show, f['constrained_columns']))} refers to "
                f"{show(f['referred_table'])}.{', '.join(map(show, f['referred_columns']))}"
                for f in (foreign.get(key) or [])[:20]
                if f["referred_schema"] != at or _there(f, have)
            ]
            if comment := (comments.get(key) or {}).get("text"):
                said.insert(0, "comment: " + show(comment, 300))
            sorts = [_sort(sa, c["type"]) for c in columns]
            known[at, name] = {
                "names": [c["name"] for c in columns],
                "sorts": sorts,
                "notes": [
                    [f"comment: {show(c['comment'], 200)}"] if c.get("comment") else []
                    for c in columns
                ],
                "kinds": {c["name"]: _kind(c["type"]) for c in columns},
                "where": ", ".join(where),
                "said": said,
            }
    return known


def _there(key: dict, have: dict) -> bool:
    """Whether the columns that a key refers to are there: not every database asks for that."""
    names = have.get(key["referred_table"].lower(), ())
    return all(n.lower() in names for n in key["referred_columns"])


def _kind(kind: Any) -> str:
    try:
        return show(str(kind).lower(), 40)
    except Exception:
        return type(kind).__name__.lower()


def _sort(sa: Any, kind: Any) -> str:
    if isinstance(kind, sa.Boolean):
        return "boolean"
    if isinstance(kind, sa.Float):
        return "float"
    if isinstance(kind, sa.Numeric | sa.Integer):
        return "number"
    if isinstance(kind, sa.Date | sa.DateTime | sa.Time):
        return "date"
    return "text" if isinstance(kind, sa.String | sa.Enum | sa.Uuid) else "other"  # such as JSON


def _plain(kind: str) -> bool:
    """Whether a type goes without saying: its name without a length is of the plain ones."""
    return kind.lower().split("(")[0].strip().replace(" ", "_") in PLAIN


def _rows(con: Any, query: str | None) -> list:
    """What a query of the catalog gives; nothing if there is none, or this server knows no such."""
    try:
        return con.exec_driver_sql(query).fetchall() if query else []
    except Exception:
        con.rollback()  # else the next ones would fail
        return []


def _types(con: Any, dialect: str) -> dict:
    """The types of columns as the server names them, by schema and table."""
    query = {
        "postgresql": "SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, "
        "a.atttypmod) FROM "
        "pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = "
        "c.relnamespace "
        "WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'm', 'p', 'f')",
        "mysql": "SELECT table_schema, table_name, column_name, column_type FROM "
        "information_schema.columns",
    }.get("mysql" if dialect == "mariadb" else dialect)
    found: dict = {}
    for schema, table, column, kind in _rows(con, query):
        found.setdefault((schema, table), {})[column] = kind
    return found


def _partitions(con: Any) -> dict[tuple[str, str], tuple[str, str]]:
    """The tables that are partitions of PostgreSQL, each with the table that it is a part of."""
    found = {
        (schema, part): (above, whole)
        for schema, part, above, whole in _rows(
            con,
            "SELECT pn.nspname, p.relname, wn.nspname, w.relname FROM pg_inherits i "
            "JOIN pg_class p ON p.oid = i.inhrelid JOIN pg_namespace pn ON pn.oid = p.relnamespace "
            "JOIN pg_class w ON w.oid = i.inhparent JOIN pg_namespace wn ON wn.oid = "
            "w.relnamespace WHERE p.relispartition AND p.relkind IN ('r', 'p', 'f')",
        )
    }
    for part in found:  # a partition may have partitions
        while found[part] in found:
            found[part] = found[found[part]]
    return found


def _estimates(con: Any, dialect: str) -> dict:
    """About how many rows each table has, where the database knows it without counting."""
    query = {
        "postgresql": "SELECT n.nspname, c.relname, c.reltuples FROM pg_class c JOIN pg_namespace "
        "n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'm') AND c.reltuples >= 0",
        "mysql": "SELECT table_schema, table_name, table_rows FROM information_schema.tables "
        "WHERE table_rows IS NOT NULL",
    }.get("mysql" if dialect == "mariadb" else dialect)
    return {(s, t): int(n) for s, t, n in _rows(con, query)}


def _statistics(con: Any) -> dict:
    """What PostgreSQL's planner knows of columns, by schema and table: from its own sample."""
    found: dict = {}
    for schema, table, column, *known in _rows(
        con,
        "SELECT schemaname, tablename, attname, null_frac, n_distinct, histogram_bounds::text, "
        "most_common_vals::text FROM pg_stats WHERE schemaname NOT IN ('pg_catalog', "
        "'information_schema')",
    ):
        found.setdefault((schema, table), {})[column] = tuple(known)
    return found


def _planned(known: tuple | None, sort: str, rows: int) -> Any:
    """The figures of a column of which the planner knows something."""
    sort = "number" if sort == "float" else sort
    if not known or sort not in ("number", "date"):
        return None
    gone, distinct, *lists = known
    ends = [v.strip('"') for text in lists if text for v in text.strip("{}").split(",")]
    out = {
        "gone": round(gone * rows),
        "distinct": round(distinct if distinct >= 0 else -distinct * rows),
        "type": sort,
        "planned": True,
    }
    if sort == "number":
        numbers = [n for n in map(float, ends) if math.isfinite(n)]
        return out | ({"range": [min(numbers), max(numbers)]} if numbers else {})
    return out | ({"range": [show(min(ends), 40), show(max(ends), 40)]} if ends else {})


def _figures(con: Any, relation: str, table: Table, sorts: list, most: int) -> None:
    """The first rows of a table, and of one that has more, figures of all rows."""
    table.rows = [
        tuple(map(plain, row)) for row in con.exec_driver_sql(_first(con, relation, most))
    ]
    if len(table.rows) < most:
        table.total, table.extra = None, {}
        return
    many = most < ROWS and table.total is not None  # tables
    table.total = max(table.total or 0, most)
    if table.total > (EXACT if most < ROWS else COUNTED):
        return
    if many:
        table.total = con.exec_driver_sql(f"SELECT count(*) FROM {relation}").scalar()
        table.extra = {}
        return
    try:
        _of_all(con, relation, table, sorts)
        table.extra = {}
    except Exception as error:
        con.rollback()
        table.warnings.append(f"figures are from the first {most} rows: {_reason(error)}")


def _first(con: Any, relation: str, most: int) -> str:
    """A statement that gives so many rows of a table at most."""
    return {
        "mssql": f"SELECT TOP {most} * FROM {relation}",
        "oracle": f"SELECT * FROM {relation} FETCH FIRST {most} ROWS ONLY",
    }.get(con.dialect.name, f"SELECT * FROM {relation} LIMIT {most}")


def _of_all(con: Any, relation: str, table: Table, sorts: list) -> None:
    """Figures of all rows of a table in one statement."""
    quote = con.dialect.identifier_preparer.quote
    asked = []
    for name, sort in zip(table.names[: grids.MOST_COLUMNS], sorts):
        column, some, given = quote(name), "", f"count({quote(name)})"
        if sort == "float" and con.dialect.name == "postgresql":  # which takes NaN for the greatest
            given += f" FILTER (WHERE {column} <> 'NaN')"
            some = f" FILTER (WHERE {column} < 'Infinity' AND {column} > '-Infinity')"
        ends = "NULL, NULL"
        if sort in ("number", "float", "date"):
            ends = f"min({column}){some}, max({column}){some}"
        distinct = f"count(DISTINCT {column})" if sort != "other" else "NULL"
        asked.append(f"{given}, {distinct}, {ends}")
    got = con.exec_driver_sql(f"SELECT count(*), {', '.join(asked)} FROM {relation}").fetchone()
    table.total, *got = got
    table.whole = [
        _whole(sort, table.total, *got[4 * n : 4 * n + 4])
        for n, sort in enumerate(sorts[: grids.MOST_COLUMNS])
    ]


def _whole(sort: str, rows: int, given: int, distinct: int | None, low: Any, high: Any) -> Any:
    """The figures of a column, of all rows."""
    if distinct is None:
        return None
    out = {"gone": rows - given, "distinct": distinct, "counted": True}
    out["type"] = "number" if sort == "float" else sort
    if sort == "date" and low is not None:
        out["range"] = [show(low, 40), show(high, 40)]
    elif out["type"] == "number" and low is not None and math.isfinite(low) and math.isfinite(high):
        out |= {"range": [exact(low), exact(high)], "integer": isinstance(low, int)}
    return out


def _call(con: Any, engine: str, relation: str, table: Table) -> None:
    """Gives a table the call that reads it, if pandas gets its columns and first rows so. One that
    is large, or may be, has none."""
    import pandas as pd

    if "least" in table.extra or (table.total or 0) > CALLED:
        return
    try:
        frame = pd.read_sql(_first(con, relation, max(1, len(table.rows))), con)
    except Exception:
        con.rollback()
        return
    if list(frame.columns) == table.names and len(frame) == len(table.rows):
        table.extra["call"] = f"pd.read_sql({python(f'SELECT * FROM {relation}')}, {engine})"


def plain(value: Any) -> Any:
    """A value as the other readers have it."""
    if isinstance(value, decimal.Decimal):
        return exact(value)
    if isinstance(value, (memoryview, bytearray)):
        return bytes(value)
    if isinstance(value, (set, tuple)):
        return str(value)
    return value
