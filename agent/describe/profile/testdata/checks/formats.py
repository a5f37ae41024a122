"""Of files that are no text, which binaries.py makes, rows, columns, types, ranges and the call that
reads them are right, as the file has them."""

os.environ["DSSTAR_DB_SERVED"] = "sqlite:///" + os.path.abspath("served.sqlite")
PARQUET = "pd.read_parquet(path)"
TYPED = (
    "ns date 2023-11-14 22:13:20.123456789 2023-11-14 22:13:20.123456828, "
    "zone date 1970-01-01 01:00:00+01:00 1970-01-02 16:00:00+01:00, price number 0 3.9, "
    "big number 9223372036854775808 9223372036854775847, wait duration 0:00:00 0:00:39, blob binary, "
)
LAST = "sort text, far date 1970-01-01 00:00:00.000000 20983-03-30 10:40:00.000000"
KNOWN = {}


def case(file, table=0, rows=0, columns="", kinds="", call="", count="", again=0, says="", lacks=""):
    """Compares a table of a file, if it has one, with what is not empty. What is said and what is not
    has | between its parts."""
    if file not in KNOWN:
        KNOWN[file] = found(file)
    told = KNOWN[file]
    tables = told.get("tables", [])
    if told.get("problem") or len(tables) <= (table or 0) and table is not None or table is None and tables:
        print(f"{file}: {told}")
        return
    is_ = tables[table] if table is not None else {"rows": 0, "columns": []}
    name = f"{file}, table {table}"
    same(name, "rows", is_["rows"], rows)
    same(name, "columns", columns and columns_of(is_), columns)
    same(name, "kinds", kinds and ", ".join(c["kind"] for c in is_["columns"]), kinds)
    same(name, "call", call and is_.get("call", "none"), call)
    same(name, "count", count and is_["count"], count)
    same(name, "rows that repeat another", again and is_.get("duplicates"), again)
    text = said(told, is_)
    for word in says.split("|"):
        same(name, f"it says {word!r} in\n{text}", word in text, True)
    same(name, f"it says {lacks!r} in\n{text}", bool(lacks) and lacks in text, False)


case("typed.parquet", rows=40, columns=TYPED + "part struct, " + LAST, call=PARQUET,
     says="Europe/Berlin|decimal128(12, 2)|2 bytes each|categorical")
case("typed.feather", rows=40, columns=TYPED + LAST, call="pd.read_feather(path)")
case("typed.arrows", rows=40, columns=TYPED + "part struct, " + LAST,
     call="pa.ipc.open_stream(path).read_all().to_pandas()")
case("plain.orc", rows=40, columns="id number 0 39, name text", call="pd.read_orc(path)")
case("many.parquet", rows=120_000, call=PARQUET, says="1 infinite",
     kinds="integer, number, date",
     columns="id number 0 119999, value number 0.5 119999, day date 1970-01-01 1973-04-14")
case("ids.parquet", rows=40, columns="id number 1152921504606846976 1152921504606847014",
     call='pd.read_parquet(path, dtype_backend="numpy_nullable")')
case("wide.parquet", rows=3, call=PARQUET)
case("doubled.parquet", rows=2, columns="a number 1 2, a number 3 4", lacks="puts .1",
     call="pq.ParquetFile(path).read().to_pandas()")
case("index.parquet", rows=40, columns="id text, v number 0 39", says="pandas' index",
     call=PARQUET + ".reset_index()")
case("unnamed.parquet", rows=39, columns="index number 0 39, id text, v number 0 39",
     call=PARQUET + ".reset_index()", says="without a name")
case("lake/year=2024/month=01/part-0.parquet", rows=40, columns="id text, v number 0 39",
     call=PARQUET, says='(year, month) are no columns|pd.read_parquet("lake")',
     lacks="if they have")
case("pond/year=2023/0.parquet", rows=40, says="if they have the same columns")
case("shop.sqlite", rows=40, says="computed from others|2 bytes each",
     columns="qty number 0 3, total number 0 58.5, price number 0 19.5, day date 2024-01-01 2024-01-28, photo binary",
     call='pd.read_sql("SELECT * FROM \\"line\\"", sqlite3.connect(path))')
case("shop.sqlite", table=1, rows=60_000, kinds="integer, number, text, integer",
     columns='id number 0 59999, seconds number 0 5000, note text, odd "name" number 1 1',
     call='pd.read_sql("SELECT * FROM \\"log\\"", sqlite3.connect(path))')
case("shop.sqlite", table=3, rows=28, columns="day date 2024-01-01 2024-01-28, n number 1 2")
case("days.sqlite", rows=51_000,
     columns="day date 1/1/2000 28/12/2009, iso date 2000-01-01 2024-05-05, short date 2000-1-1 2009-12-28, late date 2000-01-01 2009-12-28")
case("days.sqlite", table=1, rows=40, again=1)
case("served.database.json", rows=2000, count="2000 rows",
     columns="id number 0 1999, kind text",
     call='pd.read_sql("SELECT * FROM base", db["served"])')
case("served.database.json", table=1, rows=1000, count="at least 1000 rows", call="none")
case("served.database.json", table=2, count="rows not counted", call="none",
     says="cannot be read")
case("places.gpkg", rows=40, columns="fid number 0 39, geom binary, name text",
     says="POINT in|EPSG:4326|29 bytes each")
case("ticks.duckdb", table=1, rows=40, says="decimal(12,4)|blob",
     columns="id number 0 39, ns date 2023-11-14 22:13:20 2023-11-14 22:13:20.000000039, huge number 170141183460469231731687303715884105000 170141183460469231731687303715884105039, price number 0 0.39, photo binary",
     call='duckdb.connect(path, read_only=True).sql("SELECT * REPLACE (\\"huge\\"::VARCHAR AS \\"huge\\") FROM \\"ticks\\"").df()')
case("merged.xlsx", rows=40, columns="region text, shop text, sold number 0 39",
     says="merged over rows",
     call='pd.read_excel(path).assign(**{"region": lambda d: d["region"].ffill()})')
case("groups.xlsx", rows=40,
     call='pd.read_excel(path, header=None, skiprows=3, names=["store", "2023 / Q1 / units", "2023 / Q2 / units", "2024 / Q1 / units", "2024 / Q2 / units"])',
     columns="store text, 2023 / Q1 / units number 0 39, 2023 / Q2 / units number 1 40, 2024 / Q1 / units number 2 41, 2024 / Q2 / units number 3 42")
case("codes.xlsx", rows=40, columns="zip text, land text, n number 1 39",
     call='pd.read_excel(path, keep_default_na=False, na_values=["", "-"], dtype={"zip": "string"})')
case("mixed.xlsx", rows=40, says="25 dates|10 texts that are dates, form %d/%m/%Y|5 numbers")
case("marks.xlsx", rows=40, call='pd.read_excel(path, sheet_name="Sheet")',
     says='as percent|with €|divided by 1000|7 as 00007|#N/A (1), #DIV/0! (1)|1 cells have a formula|1 hidden rows|hidden columns, which are read as the others: D|by the format [>=20]0.0,,"M";[>=9]0.0,"K";0|by the format [<9]0" g";[<20]0.0," kg";0.0,," t"|by the format [>=9]0" t";0;0')
case("marks.xlsx", table=1, rows=40,
     call='pd.read_excel(path, sheet_name="old", header=None)')
case("title.xlsx", rows=40, columns="name text, id number 0 39",
     call="pd.read_excel(path, header=2, nrows=40)")
case("stacked.xlsx", rows=6,
     columns="name text, share number 0 7, mass number 0 270, kind text",
     says="shows 4 as percent|as percent: 0.25 is shown as 25%, where >=100, with kg, where not >=100")
case("stacked.xlsx", table=1, rows=6, columns="name text, count number 0 5, size number 0 10",
     lacks="shows")
case("damaged.xlsx", rows=40, columns="k text, v number 0 39",
     call='pd.read_excel(path, sheet_name="other", engine="calamine")')
case("strict.xlsx", rows=40, columns="id number 0 39, name text",
     call='pd.read_excel(path, engine="calamine")')
case("long.xlsx", rows=20_000, columns="id number 0 19999, name text",
     call='pd.read_excel(path, engine="calamine")')
case("sparse.xlsx", rows=1, columns="id number 1 1, name text", says="first 100000 rows")
case("sheet.ods", rows=40, columns="id number 0 39, name text",
     call='pd.read_excel(path, engine="calamine")')
case("survey.dta", rows=40, columns="id number 0 39, grp number 1 2, pay number 0 58.5",
     says="label: Pay in EUR|1 = low, 2 = high",
     call="pd.read_stata(path, convert_categoricals=False)")
case("survey.sav", rows=40, columns="id number 0 39, grp number 1 2, pay number 0 58.5",
     says="label: Pay in EUR|1 = low, 2 = high|declared missing, and read so: 9",
     call="pd.read_spss(path, convert_categoricals=False)")
case("survey.xpt", rows=40, columns="id number 0 39, grp number 1 9, pay number 0 58.5",
     call="pyreadstat.read_xport(path)[0]")
case("station.h5", rows=40, columns="n number 0 39, v number 0 19.5",
     call='pd.DataFrame(h5py.File(path)["log"][:])')
case("station.h5", table=1, rows=40, columns="level number 0 4.875, time number 0 39",
     says="units m",
     call='pd.DataFrame({"level": h5py.File(path)["day/level"][:], "time": h5py.File(path)["day/time"][:]})')
case("station.nc", rows=40, columns="level number 0 4.875, time number 0 39", says="units m")
case("station.cdf", rows=40, columns="level number 0 4.875", says="UNITS m",
     call='pd.DataFrame({"level": cdflib.CDF(path).varget("level")})')
case("plain.npy", rows=40, columns="0 number 0 39",
     call='pd.DataFrame({"0": np.load(path)})')
case("plain.npz", rows=40, columns="a number 0 39",
     call='pd.DataFrame({"a": np.load(path)["a"]})')
case("parts.npz", rows=40, says="cut is not opened|1 more variables", lacks="run code")
case("cut.mat", table=None, says="does not read it")
case("streets.dbf", rows=40, columns="name text, length number 0 19.5", says="a guess")
case("objects.npy", table=None, says="could run code")
case("roads.dbf", rows=40, columns="name text, length number 0 19.5",
     call="pd.DataFrame(r.as_dict() for r in shapefile.Reader(dbf=path).iterRecords())")
case("one.csv.zip", rows=40, columns="id number 0 39, name text", call="pd.read_csv(path)")
case("more.zip", rows=40, columns="id number 0 39, name text",
     call='pd.read_csv(zipfile.ZipFile(path).open("data/one.csv"), sep=";")')
case("more.zip", table=1, rows=40, columns="k number 0 39",
     call='pd.json_normalize(json.load(zipfile.ZipFile(path).open("data/two.json"))["rows"])')
case("one.csv.zst", rows=40, columns="id number 0 39, name text",
     call='pd.read_csv(pa.CompressedInputStream(path, "zstd"))')
case("zones.yaml", rows=2,
     columns="at date 2024-01-02 01:00:00+05:00 2024-01-01 23:00:00-05:00")
case("long.csv.zst", rows=110_000, columns="id number 0 109999, name text")
case("rules.yaml", rows=40, columns="id number 0 39, name text",
     call='pd.json_normalize(yaml.safe_load(open(path, encoding="utf-8"))["rules"])')
case("quoted.yaml", table=None, says="aliases")
case("within.yaml", table=None, says="aliases")
case("merged.yaml", rows=40, columns="unit text, id number 0 39",
     call='pd.json_normalize(yaml.safe_load(open(path, encoding="utf-8"))["rows"])')
case("bad.zip", rows=40, columns="id number 0 39, name text",
     call='pd.read_csv(zipfile.ZipFile(path).open("second.csv"))')
case("~$merged.xlsx", table=None, says="no data")
case("secret.xlsx", table=None, says="needs a password")
same("wide.parquet", "columns", len(KNOWN["wide.parquet"]["tables"][0]["columns"]), 2000)
