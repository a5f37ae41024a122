"""Writes files that are no text, with the traps of their formats, into the working folder."""

import datetime
import decimal
import os
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq

START = 1_700_000_000_123_456_789
SMALL = range(40)


def arrow_files():
    far = pa.array([0] * 39 + [600_000_000_000_000_000], pa.timestamp("us"))
    typed = pa.table(
        {
            "ns": pa.array([START + n for n in SMALL], pa.timestamp("ns")),
            "zone": pa.array([n * 3_600_000 for n in SMALL], pa.timestamp("ms", tz="Europe/Berlin")),
            "price": pa.array([decimal.Decimal(n) / 10 for n in SMALL], pa.decimal128(12, 2)),
            "big": pa.array([2**63 + n for n in SMALL], pa.uint64()),
            "wait": pa.array([n * 1000 for n in SMALL], pa.duration("ms")),
            "blob": pa.array([bytes([n, 255]) for n in SMALL]),
            "part": pa.array([{"k": n} for n in SMALL]),
            "sort": pa.array(["a", "b"] * 20).dictionary_encode(),
            "far": far,
        }
    )
    pq.write_table(typed, "typed.parquet")
    feather.write_feather(typed.drop_columns("part"), "typed.feather")
    with pa.ipc.new_stream("typed.arrows", typed.schema) as to:
        to.write_table(typed)
    orc.write_table(pa.table({"id": list(SMALL), "name": [f"n{n}" for n in SMALL]}), "plain.orc")
    rows = 120_000
    value = np.arange(rows, dtype="float64")
    value[::1000] = np.nan
    value[7] = np.inf
    day = pa.array(np.arange(rows) // 100, pa.int32()).cast(pa.date32())
    many = pa.table({"id": np.arange(rows), "value": value, "day": day})
    pq.write_table(many, "many.parquet", row_group_size=20_000)
    pq.write_table(pa.table([[n] * 3 for n in range(5000)], [f"{'xyz'[n % 3]}{n}" for n in range(5000)]), "wide.parquet")
    pq.write_table(pa.table([[1, 2], [3, 4]], ["a", "a"]), "doubled.parquet")
    frame = pd.DataFrame({"id": [f"k{n}" for n in SMALL], "v": SMALL})
    frame.set_index("id").to_parquet("index.parquet")
    frame[frame.v != 3].to_parquet("unnamed.parquet")
    for year in (2023, 2024):
        for month in ("01", "02"):
            os.makedirs(f"lake/year={year}/month={month}")
            frame.to_parquet(f"lake/year={year}/month={month}/part-0.parquet", index=False)


def databases():
    con = sqlite3.connect("shop.sqlite")
    con.execute("CREATE TABLE line(qty, total REAL GENERATED ALWAYS AS (qty * price), price, day, photo BLOB)")
    con.executemany(
        "INSERT INTO line VALUES (?, ?, ?, ?)",
        [(n % 4, n / 2, f"2024-01-{n % 28 + 1:02}", bytes([n, 255])) for n in SMALL],
    )
    con.execute("CREATE TABLE log(id INTEGER PRIMARY KEY, seconds, note, 'odd \"name\"')")
    con.executemany(
        "INSERT INTO log VALUES (?, ?, ?, 1)",
        ((n, 5000 if n == 55_000 else n % 500, "late" if n > 50_500 else None) for n in range(60_000)),
    )
    con.execute("CREATE VIRTUAL TABLE notes USING fts5(body)")
    con.execute("CREATE VIEW gone AS SELECT * FROM nowhere")
    con.execute("CREATE VIEW days AS SELECT day, count(*) AS n FROM line GROUP BY day")
    con.commit()
    con.close()
    con = sqlite3.connect("places.gpkg")
    con.execute("CREATE TABLE gpkg_contents(table_name)")
    con.execute("CREATE TABLE gpkg_geometry_columns(table_name, column_name, geometry_type_name, srs_id)")
    con.execute("INSERT INTO gpkg_geometry_columns VALUES ('places', 'geom', 'POINT', 4326)")
    con.execute("CREATE TABLE places(fid INTEGER PRIMARY KEY, geom BLOB, name TEXT)")
    con.executemany("INSERT INTO places VALUES (?, ?, ?)", [(n, b"GP\0\1" + bytes(25), f"p{n}") for n in SMALL])
    con.commit()
    con.close()
    con = duckdb.connect("ticks.duckdb")
    con.execute(
        "CREATE TABLE ticks AS SELECT n AS id, make_timestamp_ns(1700000000000000000 + n) AS ns, "
        "170141183460469231731687303715884105000::HUGEINT + n AS huge, (n / 100)::DECIMAL(12, 4) AS price, "
        "encode(n::VARCHAR) || '\\xFF'::BLOB AS photo FROM range(40) t(n)"
    )
    con.execute("CREATE VIEW seen AS SELECT id FROM ticks")
    con.execute("CREATE TABLE gone_soon AS SELECT 1 AS x")
    con.execute("CREATE VIEW gone AS SELECT x FROM gone_soon")
    con.execute("DROP TABLE gone_soon")
    con.close()


arrow_files()
databases()
