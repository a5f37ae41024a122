package profile_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestFormats: of files that are no text, rows, columns, types, ranges and the call that reads them
// are right, as the file has them.
func TestFormats(t *testing.T) {
	t.Parallel()
	dir, _ := made(t, "binaries.py")
	p := start(t, dir, `import os
os.environ["DSSTAR_DB_SERVED"] = "sqlite:///" + os.path.abspath("served.sqlite")`)
	const none = -1
	const parquet = "pd.read_parquet(path)"
	const typed = "ns date 2023-11-14 22:13:20.123456789 2023-11-14 22:13:20.123456828, " +
		"zone date 1970-01-01 01:00:00+01:00 1970-01-02 16:00:00+01:00, price number 0 3.9, " +
		"big number 9223372036854775808 9223372036854775847, wait duration 0:00:00 0:00:39, blob binary, "
	const last = "sort text, far date 1970-01-01 00:00:00.000000 20983-03-30 10:40:00.000000"
	lines := map[string]string{}
	for _, c := range []struct {
		file    string
		table   int
		rows    int
		columns string // "": any
		kinds   string // of the columns; "": any
		call    string // "": any; "none": none
		count   string // how the rows are known; "": any
		again   int    // rows that repeat another; 0: any
		says    string // in the notes and warnings, parted by |
		not     string // not there
	}{
		{file: "typed.parquet", rows: 40, columns: typed + "part struct, " + last, call: parquet,
			says: "Europe/Berlin|decimal128(12, 2)|2 bytes each|categorical"},
		{file: "typed.feather", rows: 40, columns: typed + last, call: "pd.read_feather(path)"},
		{file: "typed.arrows", rows: 40, columns: typed + "part struct, " + last,
			call: "pa.ipc.open_stream(path).read_all().to_pandas()"},
		{file: "plain.orc", rows: 40, columns: "id number 0 39, name text", call: "pd.read_orc(path)"},
		{file: "many.parquet", rows: 120_000, call: parquet, says: "1 infinite", kinds: "integer, number, date",
			columns: "id number 0 119999, value number 0.5 119999, day date 1970-01-01 1973-04-14"},
		{file: "ids.parquet", rows: 40, columns: "id number 1152921504606846976 1152921504606847014",
			call: `pd.read_parquet(path, dtype_backend="numpy_nullable")`},
		{file: "wide.parquet", rows: 3, call: parquet},
		{file: "doubled.parquet", rows: 2, columns: "a number 1 2, a number 3 4", not: "puts .1",
			call: "pq.ParquetFile(path).read().to_pandas()"},
		{file: "index.parquet", rows: 40, columns: "id text, v number 0 39", says: "pandas' index",
			call: parquet + ".reset_index()"},
		{file: "unnamed.parquet", rows: 39, columns: "index number 0 39, id text, v number 0 39",
			call: parquet + ".reset_index()", says: "without a name"},
		{file: "lake/year=2024/month=01/part-0.parquet", rows: 40, columns: "id text, v number 0 39",
			call: parquet, says: `(year, month) are no columns|pd.read_parquet("lake")`, not: "if they have"},
		{file: "pond/year=2023/0.parquet", rows: 40, says: "if they have the same columns"},
		{file: "shop.sqlite", rows: 40, says: "computed from others|2 bytes each",
			columns: "qty number 0 3, total number 0 58.5, price number 0 19.5, day date 2024-01-01 2024-01-28, photo binary",
			call:    `pd.read_sql("SELECT * FROM \"line\"", sqlite3.connect(path))`},
		{file: "shop.sqlite", table: 1, rows: 60_000, kinds: "integer, number, text, integer",
			columns: `id number 0 59999, seconds number 0 5000, note text, odd "name" number 1 1`,
			call:    `pd.read_sql("SELECT * FROM \"log\"", sqlite3.connect(path))`},
		{file: "shop.sqlite", table: 3, rows: 28, columns: "day date 2024-01-01 2024-01-28, n number 1 2"},
		{file: "days.sqlite", rows: 51_000, columns: "day date 1/1/2000 28/12/2009, iso date 2000-01-01 2024-05-05, " +
			"short date 2000-1-1 2009-12-28, late date 2000-01-01 2009-12-28"},
		{file: "days.sqlite", table: 1, rows: 40, again: 1},
		{file: "served.database.json", rows: 2000, count: "2000 rows", columns: "id number 0 1999, kind text",
			call: `pd.read_sql("SELECT * FROM base", db["served"])`},
		{file: "served.database.json", table: 1, rows: 1000, count: "at least 1000 rows", call: "none"},
		{file: "served.database.json", table: 2, count: "rows not counted", call: "none", says: "cannot be read"},
		{file: "places.gpkg", rows: 40, columns: "fid number 0 39, geom binary, name text", says: "POINT in|EPSG:4326|29 bytes each"},
		{file: "ticks.duckdb", table: 1, rows: 40, says: "decimal(12,4)|blob",
			columns: "id number 0 39, ns date 2023-11-14 22:13:20 2023-11-14 22:13:20.000000039, " +
				"huge number 170141183460469231731687303715884105000 170141183460469231731687303715884105039, " +
				"price number 0 0.39, photo binary",
			call: `duckdb.connect(path, read_only=True).sql("SELECT * REPLACE (\"huge\"::VARCHAR AS \"huge\") FROM \"ticks\"").df()`},
		{file: "merged.xlsx", rows: 40, columns: "region text, shop text, sold number 0 39", says: "merged over rows",
			call: `pd.read_excel(path).assign(**{"region": lambda d: d["region"].ffill()})`},
		{file: "groups.xlsx", rows: 40, call: `pd.read_excel(path, header=None, skiprows=3, names=["store", ` +
			`"2023 / Q1 / units", "2023 / Q2 / units", "2024 / Q1 / units", "2024 / Q2 / units"])`,
			columns: "store text, 2023 / Q1 / units number 0 39, 2023 / Q2 / units number 1 40, " +
				"2024 / Q1 / units number 2 41, 2024 / Q2 / units number 3 42"},
		{file: "codes.xlsx", rows: 40, columns: "zip text, land text, n number 1 39", call: "pd.read_excel(path, " +
			`keep_default_na=False, na_values=["", "-"], dtype={"zip": "string"})`},
		{file: "mixed.xlsx", rows: 40, says: "25 dates|10 texts that are dates, form %d/%m/%Y|5 numbers"},
		{file: "marks.xlsx", rows: 40, call: `pd.read_excel(path, sheet_name="Sheet")`,
			says: "as percent|with €|divided by 1000|7 as 00007|#N/A (1), #DIV/0! (1)|1 cells have a formula|" +
				"1 hidden rows|hidden columns, which are read as the others: D|" +
				`by the format [>=20]0.0,,"M";[>=9]0.0,"K";0|by the format [<9]0" g";[<20]0.0," kg";0.0,," t"|` +
				`by the format [>=9]0" t";0;0`},
		{file: "marks.xlsx", table: 1, rows: 40, call: `pd.read_excel(path, sheet_name="old", header=None)`},
		{file: "title.xlsx", rows: 40, columns: "name text, id number 0 39", call: "pd.read_excel(path, header=2, nrows=40)"},
		{file: "stacked.xlsx", rows: 6, columns: "name text, share number 0 7, mass number 0 270, kind text",
			says: "shows 4 as percent|as percent: 0.25 is shown as 25%, where >=100, with kg, where not >=100"},
		{file: "stacked.xlsx", table: 1, rows: 6, columns: "name text, count number 0 5, size number 0 10", not: "shows"},
		{file: "damaged.xlsx", rows: 40, columns: "k text, v number 0 39", call: `pd.read_excel(path, sheet_name="other", engine="calamine")`},
		{file: "strict.xlsx", rows: 40, columns: "id number 0 39, name text", call: `pd.read_excel(path, engine="calamine")`},
		{file: "long.xlsx", rows: 20_000, columns: "id number 0 19999, name text",
			call: `pd.read_excel(path, engine="calamine")`},
		{file: "sparse.xlsx", rows: 1, columns: "id number 1 1, name text", says: "first 100000 rows"},
		{file: "sheet.ods", rows: 40, columns: "id number 0 39, name text", call: `pd.read_excel(path, engine="calamine")`},
		{file: "survey.dta", rows: 40, columns: "id number 0 39, grp number 1 2, pay number 0 58.5",
			says: "label: Pay in EUR|1 = low, 2 = high", call: "pd.read_stata(path, convert_categoricals=False)"},
		{file: "survey.sav", rows: 40, columns: "id number 0 39, grp number 1 2, pay number 0 58.5",
			says: "label: Pay in EUR|1 = low, 2 = high|declared missing, and read so: 9",
			call: "pd.read_spss(path, convert_categoricals=False)"},
		{file: "survey.xpt", rows: 40, columns: "id number 0 39, grp number 1 9, pay number 0 58.5",
			call: "pyreadstat.read_xport(path)[0]"},
		{file: "station.h5", rows: 40, columns: "n number 0 39, v number 0 19.5", call: `pd.DataFrame(h5py.File(path)["log"][:])`},
		{file: "station.h5", table: 1, rows: 40, columns: "level number 0 4.875, time number 0 39", says: "units m",
			call: `pd.DataFrame({"level": h5py.File(path)["day/level"][:], "time": h5py.File(path)["day/time"][:]})`},
		{file: "station.nc", rows: 40, columns: "level number 0 4.875, time number 0 39", says: "units m"},
		{file: "station.cdf", rows: 40, columns: "level number 0 4.875", says: "UNITS m",
			call: `pd.DataFrame({"level": cdflib.CDF(path).varget("level")})`},
		{file: "plain.npy", rows: 40, columns: "0 number 0 39", call: `pd.DataFrame({"0": np.load(path)})`},
		{file: "plain.npz", rows: 40, columns: "a number 0 39", call: `pd.DataFrame({"a": np.load(path)["a"]})`},
		{file: "parts.npz", rows: 40, says: "cut is not opened|1 more variables", not: "run code"},
		{file: "cut.mat", table: none, says: "does not read it"},
		{file: "streets.dbf", rows: 40, columns: "name text, length number 0 19.5", says: "a guess"},
		{file: "objects.npy", table: none, says: "could run code"},
		{file: "roads.dbf", rows: 40, columns: "name text, length number 0 19.5",
			call: `pd.DataFrame(r.as_dict() for r in shapefile.Reader(dbf=path).iterRecords())`},
		{file: "one.csv.zip", rows: 40, columns: "id number 0 39, name text", call: "pd.read_csv(path)"},
		{file: "more.zip", rows: 40, columns: "id number 0 39, name text",
			call: `pd.read_csv(zipfile.ZipFile(path).open("data/one.csv"), sep=";")`},
		{file: "more.zip", table: 1, rows: 40, columns: "k number 0 39",
			call: `pd.json_normalize(json.load(zipfile.ZipFile(path).open("data/two.json"))["rows"])`},
		{file: "one.csv.zst", rows: 40, columns: "id number 0 39, name text",
			call: `pd.read_csv(pa.CompressedInputStream(path, "zstd"))`},
		{file: "zones.yaml", rows: 2, columns: "at date 2024-01-02 01:00:00+05:00 2024-01-01 23:00:00-05:00"},
		{file: "long.csv.zst", rows: 110_000, columns: "id number 0 109999, name text"},
		{file: "rules.yaml", rows: 40, columns: "id number 0 39, name text",
			call: `pd.json_normalize(yaml.safe_load(open(path, encoding="utf-8"))["rules"])`},
		{file: "quoted.yaml", table: none, says: "aliases"},
		{file: "within.yaml", table: none, says: "aliases"},
		{file: "merged.yaml", rows: 40, columns: "unit text, id number 0 39",
			call: `pd.json_normalize(yaml.safe_load(open(path, encoding="utf-8"))["rows"])`},
		{file: "bad.zip", rows: 40, columns: "id number 0 39, name text",
			call: `pd.read_csv(zipfile.ZipFile(path).open("second.csv"))`},
		{file: "~$merged.xlsx", table: none, says: "no data"},
		{file: "secret.xlsx", table: none, says: "needs a password"},
	} {
		t.Run(c.file, func(t *testing.T) {
			var found struct {
				Problem  string
				Warnings []string
				Tables   []facts
			}
			if lines[c.file] == "" {
				lines[c.file] = p.line(t, c.file)
			}
			err := json.Unmarshal([]byte(lines[c.file]), &found)
			if err != nil || found.Problem != "" || len(found.Tables) <= c.table || c.table == none && found.Tables != nil {
				t.Fatalf("%v, %+v", err, found)
			}
			is := facts{Warnings: found.Warnings}
			if c.table != none {
				is = found.Tables[c.table]
				is.Warnings = append(found.Warnings, is.Warnings...)
			}
			if is.Rows != c.rows {
				t.Errorf("%d rows, want %d", is.Rows, c.rows)
			}
			if c.count != "" && is.Count != c.count {
				t.Errorf("%s, want %s", is.Count, c.count)
			}
			if c.again > 0 && is.Duplicates != c.again {
				t.Errorf("%d rows repeat another, want %d", is.Duplicates, c.again)
			}
			if got := is.columns(); c.columns != "" && got != c.columns {
				t.Errorf("the columns are %s\nwant            %s", got, c.columns)
			}
			var kinds []string
			for _, column := range is.Columns {
				kinds = append(kinds, column.Kind)
			}
			if got := strings.Join(kinds, ", "); c.kinds != "" && got != c.kinds {
				t.Errorf("the kinds are %s, want %s", got, c.kinds)
			}
			if want := strings.TrimPrefix(c.call, "none"); c.call != "" && is.Call != want {
				t.Errorf("the call is %s\nwant        %s", is.Call, want)
			}
			for _, word := range strings.Split(c.says, "|") {
				if !strings.Contains(is.said(), word) {
					t.Errorf("nothing says %q:\n%s", word, is.said())
				}
			}
			if c.not != "" && strings.Contains(is.said(), c.not) {
				t.Errorf("it says %q:\n%s", c.not, is.said())
			}
			if c.file == "wide.parquet" && len(is.Columns) != 2000 {
				t.Errorf("%d columns", len(is.Columns))
			}
		})
	}
}
