"""Reader of clusters: what they have, and of Spark's catalog the tables with their first rows."""

from __future__ import annotations

import contextlib
import socket
from typing import Any
from urllib.parse import urlsplit

from dsstar_profile.values import show
from dsstar_profile.databases import plain
from dsstar_profile.found import Deadline, Found, address
from dsstar_profile.grids import Table

ENDING = ".cluster.json"
TABLES = 1000  # that are named
LOOKED = 50  # tables whose rows are looked at
ROWS = 100  # that are read of a table
CONNECT = 10  # seconds


def cluster(path: str, deadline: Deadline) -> Found:
    kind, to = address(path, ENDING, "cluster")
    at = urlsplit(to)
    socket.create_connection((at.hostname, at.port), timeout=CONNECT).close()
    return {"spark": spark, "dask": dask, "ray": ray}[kind](to, deadline)


def spark(address: str, deadline: Deadline) -> Found:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(address).create()
    try:
        return _catalog(session, deadline)
    finally:
        session.stop()


def _catalog(session: Any, deadline: Deadline) -> Found:
    found = Found(f"Spark {session.version} cluster", most=TABLES)
    found.lines.append("in cells: spark, a session of Spark Connect; this file is not read")
    current = session.catalog.currentDatabase()
    for database in session.catalog.listDatabases():
        for t in session.catalog.listTables(database.name):
            bare = t.isTemporary or database.name == current
            name = t.name if bare else f"{database.name}.{t.name}"
            where = "a view" if "VIEW" in t.tableType else ""
            found.tables.append(Table(name, [], [], where=where))
            if t.description:
                found.tables[-1].warnings.append("comment: " + show(t.description, 300))
    if not found.tables:
        found.lines.append("its catalog has no tables")
    found.more = len(found.tables[TABLES:])
    del found.tables[TABLES:]
    for n, table in enumerate(found.tables):
        _columns(session, table, n < LOOKED and deadline.left() > 0)
    return found


def _columns(session: Any, table: Table, rows: bool) -> None:
    quoted = ".".join(f"`{part}`" for part in table.name.split("."))
    if not rows:
        table.extra["least"] = True
        table.warnings.append("its columns and rows were not looked at")
        return
    try:
        frame = session.table(quoted)
        table.names = frame.columns
        table.rows = [tuple(map(plain, row)) for row in frame.limit(ROWS).collect()]
        if len(table.rows) == ROWS:
            table.total = frame.count()
            table.warnings.append(f"figures are from {ROWS} of its rows")
    except Exception as error:
        table.extra["least"] = True
        table.warnings.append(f"it cannot be read: {show(str(error), 160)}")


def dask(address: str, deadline: Deadline) -> Found:
    import distributed

    client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    with contextlib.closing(client):
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        found = Found(f"Dask {distributed.__version__} cluster")
        found.lines.append(
            "in cells: client, and dask.dataframe takes it by itself; this file is not read"
        )
        found.lines.append(
            f"{len(workers)} workers, with {sum(w['nthreads'] for w in workers)} threads and "
            f"{sum(w['memory_limit'] for w in workers) / 1e9:.1f} GB of memory together"
        )
        for name in client.list_datasets():
            kept = client.get_dataset(name)
            found.lines.append(
                f"client.get_dataset({show(repr(name))}): a {type(kept).__name__}" + _named(kept)
            )
    return found


def _named(kept: Any) -> str:
    columns = getattr(kept, "columns", None)
    return "" if columns is None else ", columns " + ", ".join(show(str(c)) for c in columns)


def ray(address: str, deadline: Deadline) -> Found:
    import ray as library

    library.init(address, log_to_driver=False, logging_level="ERROR")
    try:
        found = Found(f"Ray {library.__version__} cluster")
        found.lines.append("in cells: ray, connected; this file is not read")
        has = library.cluster_resources()
        found.lines.append(
            f"{len(library.nodes())} nodes, {has.get('CPU', 0):.0f} processors, "
            f"{has.get('memory', 0) / 1e9:.1f} GB of memory"
        )
    finally:
        library.shutdown()
    return found
