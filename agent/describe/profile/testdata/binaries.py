"""Writes files that are no text, with the traps of their formats, into the working folder."""

import datetime
import decimal
import os
import sqlite3
import zipfile

import cdflib.cdfwrite
import duckdb
import h5py
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pyreadstat
import scipy.io
import shapefile

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
    value[7], value[15_001] = np.inf, 0.5  # the latter in no sample
    day = pa.array(np.arange(rows) // 100, pa.int32()).cast(pa.date32())
    many = pa.table({"id": np.arange(rows), "value": value, "day": day})
    pq.write_table(many, "many.parquet", row_group_size=20_000)
    pq.write_table(pa.table([[n] * 3 for n in range(2000)], [f"{'xyz'[n % 3]}{n}" for n in range(2000)]), "wide.parquet")
    pq.write_table(pa.table({"id": [None, *range(2**60, 2**60 + 39)]}), "ids.parquet")
    pq.write_table(pa.table([[1, 2], [3, 4]], ["a", "a"]), "doubled.parquet")
    frame = pd.DataFrame({"id": [f"k{n}" for n in SMALL], "v": SMALL})
    frame.set_index("id").to_parquet("index.parquet")
    frame[frame.v != 3].to_parquet("unnamed.parquet")
    for year in (2023, 2024):
        for month in ("01", "02"):
            os.makedirs(f"lake/year={year}/month={month}")
            frame.to_parquet(f"lake/year={year}/month={month}/part-0.parquet", index=False)
        os.makedirs(f"pond/year={year}")
        frame.astype({"v": str if year == 2024 else int}).to_parquet(f"pond/year={year}/0.parquet", index=False)


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
        ((n, {55_000: 5000, 30_000: 0.5}.get(n, n % 500), "late" if n > 50_500 else None) for n in range(60_000)),
    )
    con.execute("CREATE VIRTUAL TABLE notes USING fts5(body)")
    con.execute("CREATE VIEW gone AS SELECT * FROM nowhere")
    con.execute("CREATE VIEW days AS SELECT day, count(*) AS n FROM line GROUP BY day")
    con.commit()
    con.close()
    con = sqlite3.connect("days.sqlite")
    con.execute("CREATE TABLE days(day, iso, short, late)")
    for n in range(51_000):
        y, m, d = n // 336 % 10 + 2000, n // 28 % 12 + 1, n % 28 + 1
        iso = [f"{y}-{m:02}-{d:02}"] * 2 if n != 30_000 else ["2024-05-05", "unknown"]
        con.execute("INSERT INTO days VALUES (?, ?, ?, ?)", (f"{d}/{m}/{y}", iso[0], f"{y}-{m}-{d}", iso[1]))
    con.execute("CREATE TABLE alike(size, photo)")  # two rows are equal
    con.executemany("INSERT INTO alike VALUES (?, ?)", [(1 + n // 2 / 1e12, bytes([max(n, 1) % 39])) for n in SMALL])
    con.commit()
    con.close()
    con = sqlite3.connect("served.sqlite")  # of which the server counts no rows
    con.execute("CREATE TABLE base(id INTEGER, kind TEXT)")
    con.executemany("INSERT INTO base VALUES (?, ?)", [(n, "{}" if n < 1500 else "{") for n in range(2000)])
    con.execute("CREATE VIEW ends AS SELECT id, json(kind) AS kind FROM base")
    con.execute("CREATE VIEW fails AS SELECT json(kind) AS kind FROM base WHERE id > 1800")
    con.commit()
    con.close()
    with open("served.database.json", "w") as f:
        f.write('{"variable": "DSSTAR_DB_SERVED"}')
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


def sheet(name, rows, change=None):
    """A workbook of one sheet."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if change:
        change(book, book.active)
    book.save(name)


def bare(name, cells, space="http://schemas.openxmlformats.org/spreadsheetml/2006/main"):
    """A workbook of one sheet, of XML."""
    relation = space.replace("spreadsheetml/2006/main", "officeDocument/2006/relationships")
    relation = relation.replace("spreadsheetml/main", "officeDocument/relationships")
    packages = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{packages}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        )
        for at, kind, target in (
            ("_rels/.rels", "officeDocument", "xl/workbook.xml"),
            ("xl/_rels/workbook.xml.rels", "worksheet", "worksheets/sheet1.xml"),
        ):
            z.writestr(
                at,
                f'<Relationships xmlns="{packages}/relationships"><Relationship Id="rId1" '
                f'Type="{relation}/{kind}" Target="{target}"/></Relationships>',
            )
        z.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{space}" xmlns:r="{relation}"><sheets><sheet name="S" sheetId="1" r:id="rId1"/>'
            "</sheets></workbook>",
        )
        z.writestr(
            "xl/worksheets/sheet1.xml",
            f'<worksheet xmlns="{space}"><sheetData>{cells}</sheetData></worksheet>',
        )


def cell(at, value):
    if isinstance(value, str):
        return f'<c r="{at}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{at}"><v>{value}</v></c>'


def lines(rows):
    return "".join(
        f'<row r="{n}">' + "".join(cell(f"{c}{n}", v) for c, v in zip("ABC", row)) + "</row>"
        for n, row in enumerate(rows, 1)
    )


def workbooks():
    def merge(book, sheet):
        for top in range(2, 42, 4):
            sheet.merge_cells(f"A{top}:A{top + 3}")

    sheet("merged.xlsx", [("region", "shop", "sold")] + [(f"r{n // 4}", f"s{n}", n) for n in SMALL], merge)
    groups = [(None, 2023, None, 2024, None), (None, "Q1", "Q2", "Q1", "Q2"), ("store", *["units"] * 4)]
    sheet("groups.xlsx", groups + [(f"s{n}", n, n + 1, n + 2, n + 3) for n in SMALL])
    days = [datetime.datetime(2024, 1, 1) + datetime.timedelta(n) for n in SMALL]
    mixed = [f"{d:%d/%m/%Y}" if n % 4 == 1 else 45_292 + n if n % 8 == 3 else d for n, d in enumerate(days)]
    lands = ["NA", "NO", "DE", "FR"] * 10
    sheet("codes.xlsx", [("zip", "land", "n"), *((f"{n:05}", lands[n], n or "-") for n in SMALL)])
    sheet("mixed.xlsx", [("order", "day"), *enumerate(mixed)])

    def mark(book, sheet):
        for row in range(2, 42):
            for column, code in zip("BCDE", ("0.0%", '#,##0.00 [$€-407]', '#,##0,"k"', "00000")):
                sheet[f"{column}{row}"].number_format = code
            sheet[f"A{row}"].number_format = ('[>=20]0.0,,"M";[>=9]0.0,"K";0', '[<9]0" g";[<20]0.0," kg";0.0,," t"',
                '[>=9]0" t";0;0')[row % 3]
        sheet["F3"], sheet["F4"], sheet["F5"] = "#N/A", "#DIV/0!", "=A2*2"
        sheet.row_dimensions[9].hidden = True
        sheet.column_dimensions["D"].hidden = True
        more = book.create_sheet("old")
        for n in SMALL:
            more.append((n, n * 2))
        more.sheet_state = "hidden"

    names = ("id", "share", "price", "people", "zip", "value")
    sheet("marks.xlsx", [names] + [(n, n / 100, n * 1.5, n * 1000, n + 100, n) for n in SMALL], mark)
    title = [("A report",), (), ("name", "id")] + [(f"n{n}", n) for n in SMALL]
    sheet("title.xlsx", [*title, ("Total", 780), (), ("Source: us",)])

    def stack(book, sheet):
        for row in range(2, 6):
            sheet[f"B{row}"].number_format, sheet[f"C{row}"].number_format = "0%", '[>=100]0%;0.0" kg"'
        sheet.merge_cells("D2:D4")
        other = book.create_sheet("other")
        for row in [("k", "v"), *((f"k{n}", n) for n in SMALL)]:
            other.append(row)

    first = [("name", "share", "mass", "kind")] + [(f"a{n}", n / 8, n * 90, "x") for n in range(4)]
    more = [(), (None, 5, 6), (None, 7, 8), (), ("name", "count", "size")]
    stacked = [*first, *more, *((f"b{n}", n, n * 2) for n in range(6))]
    sheet("stacked.xlsx", stacked, stack)
    with zipfile.ZipFile("stacked.xlsx") as old, zipfile.ZipFile("damaged.xlsx", "w") as new:
        for part in old.namelist():
            new.writestr(part, b"<worksheet><sheetData><row" if part.endswith("sheet1.xml") else old.read(part))
    strict = "http://purl.oclc.org/ooxml/spreadsheetml/main"
    bare("strict.xlsx", lines([("id", "name"), *((n, f"n{n}") for n in SMALL)]), strict)
    bare("long.xlsx", lines([("id", "name"), *((n, f"n{n}") for n in range(20_000))]))
    bare("sparse.xlsx", lines([("id", "name"), (1, "a")]) + f'<row r="1048576">{cell("XFD1048576", 5)}</row>')
    with open("~$merged.xlsx", "wb") as f:
        f.write(b"\3Ada" + bytes(160))
    with open("secret.xlsx", "wb") as f:
        f.write(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le"))
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    table = "".join(
        f'<table:table-row><table:table-cell office:value-type="float" office:value="{n}"/><table:table-cell '
        f'office:value-type="string"><text:p>n{n}</text:p></table:table-cell></table:table-row>'
        for n in SMALL
    )
    head = "".join(
        f'<table:table-cell office:value-type="string"><text:p>{n}</text:p></table:table-cell>' for n in ("id", "name")
    )
    spaces = " ".join(f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "table", "text"))
    with zipfile.ZipFile("sheet.ods", "w") as z:
        z.writestr("mimetype", kind)
        z.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet><table:table table:name='S'>"
            f"<table:table-row>{head}</table:table-row>{table}</table:table></office:spreadsheet></office:body>"
            "</office:document-content>",
        )
        z.writestr("META-INF/manifest.xml", "<manifest/>")


def surveys():
    frame = pd.DataFrame({"id": SMALL, "grp": [n % 2 + 1 for n in SMALL], "pay": [n * 1.5 for n in SMALL]})
    names = {"grp": {1: "low", 2: "high"}}
    frame.to_stata(
        "survey.dta", write_index=False, variable_labels={"pay": "Pay in EUR"}, value_labels=names
    )
    frame.loc[5, "grp"] = 9
    pyreadstat.write_sav(
        frame, "survey.sav", column_labels=["Person", "Group", "Pay in EUR"], variable_value_labels=names,
        missing_ranges={"grp": [9]}, file_label="A survey",
    )
    pyreadstat.write_xport(frame, "survey.xpt")


def measurements():
    with h5py.File("station.h5", "w") as f:
        f.attrs["station"] = "North"
        f["day/time"], f["day/level"] = np.arange(40), np.arange(40) / 8
        f["day/level"].attrs["units"], f["grid"] = "m", np.zeros((3, 4), "float32")
        f["grid"].attrs["scale_factor"] = 0.01
        f["log"] = np.array([(n, n / 2) for n in SMALL], [("n", "i8"), ("v", "f8")])
        f["when"] = "noon"
    with scipy.io.netcdf_file("station.nc", "w") as f:
        f.createDimension("time", 40)
        level = f.createVariable("level", "f8", ("time",))
        level[:], level.units = np.arange(40) / 8, b"m"
        f.createVariable("time", "i4", ("time",))[:] = np.arange(40)
    with cdflib.cdfwrite.CDF("station.cdf", delete=True) as f:
        about = {"Data_Type": 45, "Num_Elements": 1, "Rec_Vary": True, "Dim_Sizes": []}
        f.write_var(about | {"Variable": "level"}, {"UNITS": "m"}, np.arange(40) / 8)
    np.save("plain.npy", np.arange(40))
    np.savez("plain.npz", a=np.arange(40), b=np.zeros((2, 3)), c=np.array([{}], dtype=object))
    np.savez("parts.npz", **{f"a{n}": np.arange(40) for n in range(61)})
    with zipfile.ZipFile("plain.npz") as old, zipfile.ZipFile("parts.npz", "a") as new:
        new.writestr("cut.npy", old.read("a.npy")[:-8])
        new.writestr("note.txt", "x")
    np.save("objects.npy", np.array([{}], dtype=object))
    scipy.io.savemat("plain.mat", {"a": np.arange(40), "grid": np.zeros((2, 3))})
    with open("plain.mat", "rb") as f, open("cut.mat", "wb") as to:
        to.write(f.read()[:-8])
    for name, encoding in (("roads", "utf-8"), ("streets", "cp1252")):
        with shapefile.Writer(name, encoding=encoding) as w:
            w.field("name", "C", size=20)
            w.field("length", "N", decimal=1)
            for n in SMALL:
                w.point(n, n)
                w.record(f"Straße {n}", n / 2)
    os.remove("streets.cpg") if os.path.exists("streets.cpg") else None


def packed():
    with pa.CompressedOutputStream("long.csv.zst", "zstd") as f:
        f.write(b"id,name\n" + b"".join(b"%d,a name of %060d\n" % (n, n) for n in range(110_000)))
    text = "id,name\n" + "".join(f"{n},n{n}\n" for n in SMALL)
    with zipfile.ZipFile("one.csv.zip", "w") as z:
        z.writestr("one.csv", text)
    with zipfile.ZipFile("more.zip", "w") as z:
        z.writestr("data/one.csv", text.replace(",", ";"))
        z.writestr("data/two.json", '{"rows": [%s]}' % ", ".join('{"k": %d}' % n for n in SMALL))
        z.writestr("__MACOSX/data/._one.csv", "x")
    with pa.CompressedOutputStream("one.csv.zst", "zstd") as f:
        f.write(text.encode())
    with open("zones.yaml", "w") as f:
        f.write("- at: 2024-01-01T23:00:00-05:00\n- at: 2024-01-02T01:00:00+05:00\n")
    with open("rules.yaml", "w") as f:
        f.write("rules:\n" + "".join(f"  - {{id: {n}, name: n{n}}}\n" for n in SMALL))
    with zipfile.ZipFile("bad.zip", "w") as z:
        z.writestr("first.csv", text.replace("n", "N"))
        z.writestr("second.csv", text)
    with open("bad.zip", "rb") as f:
        packed = f.read()
    with open("bad.zip", "wb") as f:
        f.write(packed.replace(b"N7", b"X7", 1))
    with open("merged.yaml", "w") as f:
        f.write("base: &base {unit: kg}\nrows:\n" + "".join(f"- {{id: {n}, <<: *base}}\n" for n in SMALL))
    with open("quoted.yaml", "w") as f:
        f.write('a: &b0 ["x", "x"]\n' + "".join(f'"b{n + 1}": &b{n + 1} ["x", *b{n}, *b{n}]\n' for n in range(60)))
    with open("within.yaml", "w") as f:
        f.write('"a": &a ["x", *a]\n')


arrow_files()
databases()
workbooks()
surveys()
measurements()
packed()
