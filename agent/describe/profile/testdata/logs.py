"""Writes databases as programs leave them that are at work, have ended or were killed: in each, the
table t has the rows 0 to 99."""

import os
import shutil
import sqlite3

import duckdb


def logged(name: str) -> sqlite3.Connection:
    """One row is in the database, and all others are in its log."""
    con = sqlite3.connect(name, isolation_level=None)
    con.execute("PRAGMA journal_mode=WAL")
    con.execute("CREATE TABLE t(n INTEGER)")
    con.execute("INSERT INTO t VALUES (0)")
    con.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    con.execute("PRAGMA wal_autocheckpoint=0")
    con.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(1, 100)])
    return con


logged("closed.sqlite").close()
at_work = logged("at-work.sqlite")
for ending in ("", "-wal"):
    shutil.copy("at-work.sqlite" + ending, "copied.sqlite" + ending)

idle = logged("idle.sqlite")
idle.execute("PRAGMA wal_checkpoint(TRUNCATE)")

plain = sqlite3.connect("plain.sqlite", isolation_level=None)
plain.execute("CREATE TABLE t(n INTEGER)")
plain.execute("PRAGMA journal_mode=PERSIST")
plain.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(100)])

cut = sqlite3.connect("at-change.sqlite", isolation_level=None)
cut.execute("CREATE TABLE t(n INTEGER, x TEXT)")
cut.executemany("INSERT INTO t VALUES (?, ?)", [(n, "x" * 500) for n in range(100)])
cut.execute("PRAGMA cache_size=5")
cut.execute("BEGIN IMMEDIATE")
cut.execute("UPDATE t SET n = -1")
for ending in ("", "-journal"):
    shutil.copy("at-change.sqlite" + ending, "cut.sqlite" + ending)

store = duckdb.connect("store.duckdb")
store.execute("CREATE TABLE t AS SELECT range AS n FROM range(50)")
store.execute("CHECKPOINT")
store.execute("INSERT INTO t SELECT range + 50 FROM range(50)")
os._exit(0)  # nothing is closed
