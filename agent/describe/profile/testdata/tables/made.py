"""Makes tables at random and writes each to a file of a random format and dress."""

import csv
import dataclasses
import datetime
import gzip
import html
import io
import json
import lzma
import os
import random
import re
import sqlite3
import zipfile

import pandas as pd
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet

POOLS = {  # words, and encodings that have them
    "ascii": ("river stone amber cobalt north hill oak maple tin copper".split(), ["utf-8"]),
    "west": (
        "Zürich Köln Málaga Orléans Genève Århus Straße Añejo Crème Böblingen".split(),
        ["utf-8", "utf-8-sig", "utf-16", "cp1252", "iso8859-15", "cp850"],
    ),
    "russian": (
        "Москва Казань Тверь Самара Омск Пермь Тула Рязань Волга Дом".split(),
        ["utf-8", "utf-16", "cp1251", "koi8-r"],
    ),
    "polish": (
        "Łódź Kraków Gdańsk Poznań Toruń Żary Sopot Słupsk Płock Bełżec".split(),
        ["utf-8", "cp1250", "iso8859-2"],
    ),
    "japanese": ("東京 大阪 京都 奈良 札幌 福岡 仙台 神戸 広島 長崎".split(), ["utf-8", "cp932", "euc-jp"]),
}
NAMES = (
    "amount|unit price|Total|depth (m)|temp_c|share %|x1|x2|y|station|kind|remark|ref.|when|Opened on|"
    "level|n|rate/h|Grade|Area [km²]|state|key 2|value|score|Name|city|last, first|no.|ratio|result"
).split("|")
PLAIN = "amount price total depth temp share xa xb yy station kind remark ref whence opened level cnt".split()
LANDS = "NA DE FR US GB IT NO SE NL BE".split()
DAYS = ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%b-%Y", "%Y/%m/%d", "%Y%m%d", "%m/%d/%y"]
MOMENTS = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M", "%Y-%m-%d %H:%M"]
TEXTS = ["csv", "csv", "csv", "csv", "tsv", "txt", "csv.gz", "csv.zip", "csv.zst", "csv.xz", "fixed"]
OTHERS = "json jsonl xlsx xlsx ods parquet feather orc sqlite duckdb dta sav html yaml".split()
LARGE = "csv csv csv tsv csv.gz csv.zip csv.zst csv.xz jsonl json parquet sqlite duckdb feather orc xlsx dta".split()


@dataclasses.dataclass
class Column:
    name: str
    kind: str
    values: list  # None: missing
    form: str = ""  # of dates, or how numbers are dressed
    digits: int = 0  # after the decimal mark

    @property
    def type(self):
        if all(v is None for v in self.values):
            return "empty"
        return {"day": "date", "moment": "date", "word": "text", "note": "text", "code": "text",
                "land": "text", "flag": "flag"}.get(self.kind, "number")


@dataclasses.dataclass
class Case:
    seed: int
    format: str
    tables: list  # of lists of columns
    dress: dict


def make(seed, large):
    rng = random.Random(f"{seed} {large}")
    pool = rng.choice(["ascii", "ascii", *POOLS])
    format = rng.choice(LARGE if large else TEXTS + OTHERS)
    dress = {
        "mark": rng.choice(",,,;;\t|") if format != "tsv" else "\t",
        "numbers": rng.choice([".", ".", ".", ",", ".,", ",.", ".'", ". ", ", "]),
        "missing": rng.choice(["", "", "", "NA", "N/A", "null", "-", "n/a", ".", "?", "missing", "NaN"]),
        "encoding": rng.choice(POOLS[pool][1]),
        "newline": rng.choice(["\n", "\n", "\r\n"]),
        "quoting": rng.choice([csv.QUOTE_MINIMAL] * 3 + [csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
        "header": rng.choice(["one"] * 8 + ["none", "units", "groups"]),
        "above": rng.choice([0] * 8 + [1, 2, 3]),
        "blank": rng.random() < 0.5,  # between what is above and the table
        "below": rng.choice([""] * 8 + ["note", "total"]),
        "trail": rng.choice([""] * 20 + ["rows", "all"]),
        "nested": rng.random() < 0.3,
    }
    if format in OTHERS:
        dress["header"] = rng.choice(["one"] * 5 + ["groups"]) if format == "xlsx" else "one"
    if format == "fixed":
        dress |= {"numbers": rng.choice([".", ","]), "missing": rng.choice(["NA", "-", "."]), "header": "one"}
    several = format in ("xlsx", "ods", "html", "sqlite", "duckdb") and rng.random() < 0.3 and not large
    rows = rng.choice([8, 20, 60, 200, 700]) if not large else 1
    if dress["numbers"] == ",." and dress["mark"] != ";":
        dress["numbers"] = ","  # a point before three digits is a decimal one elsewhere
    tables = [table(rng, rows, POOLS[pool][0], format, dress) for _ in range(1 + several)]
    if large:
        width = sum(len(str(c.values[0])) + 2 for c in tables[0]) + len(tables[0]) * 2
        size = rng.uniform(8.5, 15) * 2**20
        rows = int(size / width / (4 if format == "xlsx" else 1))
        state = random.Random(seed)
        tables = [table(state, rows, POOLS[pool][0], format, dress)]
    if dress["trail"]:
        dress["header"] = "one"
    if dress["trail"] == "all" and format in TEXTS and format != "fixed":
        tables[0].append(Column("", "none", [None] * rows))
    return Case(seed, format, tables, dress)


def table(rng, rows, words, format, dress):
    kinds = "count count big signed measure measure share money day day moment word word note code land flag same none long".split()
    chosen = [rng.choice(["id", "word", "code", "day"]), rng.choice(["count", "measure"])]
    chosen += rng.choices(kinds, k=rng.choice([0, 1, 2, 3, 4, 6, 10]))
    plain = format in ("dta", "sav", "fixed", "orc")
    names = rng.sample(PLAIN if plain else fit(NAMES, dress), len(chosen))
    columns = [column(rng, k, n, rows, words, format, dress) for k, n in zip(chosen, names)]
    if None in columns[0].values:  # no row is empty
        columns[0].values = [columns[0].values[0] if v is None else v for v in columns[0].values]
    if rng.random() < 0.2 and rows > 10:  # rows that repeat others
        for _ in range(3):
            a, b = rng.sample(range(1, rows), 2)
            for c in columns:
                c.values[a] = c.values[b]
    return columns


def fit(names, dress):
    return [n for n in names if n == n.encode(dress["encoding"], "replace").decode(dress["encoding"])]


def column(rng, kind, name, rows, words, format, dress):
    text = format in TEXTS or format == "html"
    if kind == "long" and format in ("xlsx", "ods", "dta", "sav") or kind == "none" and format in ("dta", "sav", "fixed", "orc"):
        kind = "count"
    if kind == "flag" and format in ("dta", "sav"):
        kind = "count"
    if kind in ("share", "money") and (not text or format == "fixed"):
        kind = "measure"
    out = Column(name, kind, [])
    start, step = rng.choice([0, 1, 1000, 5000]), rng.choice([3, 400, 20000])
    out.digits = rng.choice([1, 2, 2, 3, 4]) if kind in ("measure", "share", "money") else 0
    if out.digits == 3 and dress["numbers"][0] == "," == dress["mark"]:
        out.digits = 2  # nobody could tell
    if format == "html" and dress["numbers"] == ",.":
        step = min(step, 400)  # as there is no other mark in it
    first = datetime.datetime(rng.choice([1990, 2019, 2023]), 1, 1)
    many = words[: rng.choice([2, 4, len(words)])]
    if kind == "note" and format == "fixed":
        kind = out.kind = "word"
    draw = {
        "id": lambda n: start + n,
        "count": lambda n: rng.randrange(step),
        "big": lambda n: rng.randrange(9_000_000),
        "signed": lambda n: rng.randrange(-step, step),
        "measure": lambda n: round(rng.gauss(step / 2, step), out.digits) + 0.0,
        "share": lambda n: round(rng.uniform(0, 100), out.digits),
        "money": lambda n: round(rng.uniform(0, step), out.digits),
        "day": lambda n: first + datetime.timedelta(rng.randrange(900)),
        "moment": lambda n: first + datetime.timedelta(rng.randrange(900), 60 * rng.randrange(1440)),
        "word": lambda n: rng.choice(many),
        "note": lambda n: rng.choice(['{0}, then {1}', '{1} "{0}" {1}', "{0} {1}", "{0};{1}"]).format(
            rng.choice(words), f"{rng.choice(words)} {rng.randrange(rows * 3)}"),
        "code": lambda n: f"{n * 7:05}" if rows < 1000 else f"{n * 7:09}",
        "land": lambda n: rng.choice(LANDS),
        "flag": lambda n: rng.random() < 0.4,
        "same": lambda n: start,
        "none": lambda n: None,
        "long": lambda n: 1344800117571260000 + rng.randrange(10**6),
    }[kind]
    out.values = [draw(n) for n in range(rows)]
    out.form = {
        "day": rng.choice(DAYS),
        "moment": rng.choice(MOMENTS if format != "fixed" else MOMENTS[1:2]),
        "share": rng.choice(["{}%", "{} %"]),
        "money": rng.choice(["${}", "€ {}", "{} EUR", "{} €", "CHF {}"]),
        "flag": rng.choice(["True False", "yes no", "TRUE FALSE", "Y N", "1 0"]),
    }.get(kind, "")
    if out.form == "{} €" and dress["encoding"] not in ("utf-8", "utf-8-sig", "utf-16") or "€" in out.form and dress["encoding"] not in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        out.form = "{} EUR"
    coded = kind == "land" and (text or format == "xlsx") and dress["missing"] in ("NA", "null")
    if rng.random() < 0.3 and kind not in ("id", "none", "same") and not coded and format != "dta":
        share = rng.choice([0.01, 0.1, 0.4])
        out.values = [None if n and rng.random() < share else v for n, v in enumerate(out.values)]
    if kind == "land" and len(set(out.values) - {"NA", None}) < 3:  # nothing says that it is a code
        out.values = ["DE" if v == "NA" else v for v in out.values]
    return out


def as_text(c, value, dress):
    """A value as it is written in a text."""
    if value is None:
        return dress["missing"] if c.name else ""
    if isinstance(value, datetime.datetime):
        return value.strftime(c.form)
    if isinstance(value, bool):
        return c.form.split()[not value]
    if isinstance(value, str):
        return value
    decimal, group = (dress["numbers"] + " ")[:2]
    grouped = len(dress["numbers"]) > 1 and c.kind not in ("id", "long", "same")
    text = f"{value:{',' * grouped}}" if isinstance(value, int) else f"{value:{',' * grouped}.{c.digits}f}"
    text = text.replace(",", "\0").replace(".", decimal).replace("\0", group)
    return (c.form or "{}").format(text)


def lines_of(columns, dress):
    """The rows of a text, and the names that the table has in it."""
    names = [c.name for c in columns]
    rows = [[as_text(c, v, dress) for v, c in zip(row, columns)] for row in zip(*(c.values for c in columns))]
    header = dress["header"]
    typed = [c.type in ("number", "date") or c.kind == "code" for c in columns]
    if header == "groups" and len(columns) > 2:
        groups = ["" if n == 0 else "North" if n == 1 else "South" if n == 1 + len(columns) // 2 else "" for n in range(len(columns))]
        rows = [groups, names, *rows]
    elif header == "units":
        rows = [names, [("kg", "m", "s")[n % 3] if t else "" for n, t in enumerate(typed)], *rows]
    elif header != "none":
        rows = [names, *rows]
    return rows


def names_of(columns, case):
    names = [c.name or f"column {n + 1} (no name; Unnamed: {n} in pandas)" for n, c in enumerate(columns)]
    header = case.dress["header"]
    if header == "none" and case.format in TEXTS:
        return [f"column {n + 1}" for n in range(len(names))]
    if header == "groups" and len(names) > 2 and case.format in (*TEXTS, "xlsx"):
        at = 1 + len(names) // 2
        return [n if not i else f"{'North' if i < at else 'South'} / {n}" for i, n in enumerate(names)]
    return names


def write(case, folder):
    path = os.path.join(folder, "file." + case.format.replace("fixed", "txt"))
    first, dress = case.tables[0], case.dress
    if os.path.exists(path):
        os.remove(path)
    if case.format == "fixed":
        rows = lines_of(first, dress)
        widths = [max(map(len, c)) + 2 for c in zip(*rows)]
        text = "".join("".join(v.ljust(w) for v, w in zip(row, widths)).rstrip() + "\n" for row in rows)
        with open(path, "w", encoding=dress["encoding"]) as f:
            f.write(text)
    elif case.format in TEXTS:
        data = delimited(first, dress).encode(dress["encoding"], "replace")
        packed = {"gz": gzip.compress, "xz": lzma.compress, "zst": lambda d: pa.compress(d, "zstd", asbytes=True)}
        if case.format == "csv.zip":
            with zipfile.ZipFile(path, "w") as z:
                z.writestr("inner.csv", data)
        else:
            with open(path, "wb") as f:
                f.write(packed.get(case.format[4:], bytes)(data))
    else:
        globals()["write_" + WRITERS.get(case.format, case.format)](case, path)
    return path


def delimited(columns, dress):
    out = io.StringIO()
    mark, end = dress["mark"], dress["newline"]
    for n in range(dress["above"]):
        out.write(("Annual report", "Prepared by the office", "Draft 3")[n] + end)
    if dress["above"] and dress["blank"]:
        out.write(end)
    last = mark + end if dress["trail"] == "rows" else end
    head, to = (csv.writer(out, delimiter=mark, quoting=dress["quoting"], lineterminator=e) for e in (end, last))
    rows = lines_of(columns, dress)
    quoted = dress["quoting"] == csv.QUOTE_NONNUMERIC
    for n, row in enumerate(rows):
        (to if n else head).writerow([float(v) if quoted and re.fullmatch(r"-?[1-9]\d*\.\d*[1-9]", v) and float(v) < 1e9 else v for v in row])
    if dress["below"] == "total" and columns[0].kind == "word":
        sums = [as_text(c, sum(v for v in c.values if v is not None), dress) if c.type == "number" else "" for c in columns]
        to.writerow(["Total", *sums[1:]])
    elif dress["below"] == "note":
        out.write(end * dress["blank"] + "Source: the office of statistics" + end)
    return out.getvalue()


WRITERS = {"jsonl": "json", "dta": "frame", "sav": "frame", "parquet": "frame", "feather": "frame", "orc": "frame"}


def records(columns, plain=False):
    def value(c, v):
        return v.strftime("%Y-%m-%d" if c.kind == "day" else "%Y-%m-%d %H:%M:%S") if isinstance(v, datetime.datetime) and plain else v
    return [{c.name: value(c, v) for c, v in zip(columns, row)} for row in zip(*(c.values for c in columns))]


def write_json(case, path):
    rows = records(case.tables[0], True)
    with open(path, "w", encoding="utf-8") as f:
        if case.format == "jsonl":
            f.writelines(json.dumps(r, ensure_ascii=case.dress["nested"]) + "\n" for r in rows)
        else:
            json.dump({"meta": {"made": 1}, "rows": rows} if case.dress["nested"] else rows, f, ensure_ascii=False)


def write_yaml(case, path):
    import yaml

    rows = [{k: v.date() if isinstance(v, datetime.datetime) and v.time() == datetime.time() else v for k, v in r.items()} for r in records(case.tables[0])]
    with open(path, "w", encoding="utf-8") as f:
        made = {"rows": rows} if case.dress["nested"] else rows
        yaml.dump(made, f, yaml.CSafeDumper, allow_unicode=True, sort_keys=False)


def frame_of(columns):
    made = {}
    for c in columns:
        s = pd.Series(c.values, dtype=object)
        if c.type == "number":
            s = s.astype("float64" if c.digits else "Int64")
        elif c.type == "date":
            s = pd.to_datetime(s)
        elif c.type == "flag":
            s = s.astype("boolean")
        made[c.name] = s
    return pd.DataFrame(made)


def write_frame(case, path):
    import pyreadstat

    frame = frame_of(case.tables[0])
    if case.format == "dta":
        frame.to_stata(path, write_index=False, version=118)
    elif case.format == "sav":
        for c in case.tables[0]:
            if c.type == "number":
                frame[c.name] = frame[c.name].astype("float64")
        pyreadstat.write_sav(frame, path)
    elif case.format == "orc":
        pa.orc.write_table(pa.Table.from_pandas(frame), path)
    else:
        getattr(frame, "to_" + case.format)(path)


def write_xlsx(case, path):
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet, dress = book.create_sheet("Data"), case.dress
    for n in range(dress["above"]):
        sheet.append(["Annual report"] if n == 0 else [None])
    if dress["above"] and dress["blank"]:
        sheet.append([])
    for n, columns in enumerate(case.tables):
        if n and dress["blank"]:
            sheet = book.create_sheet("More")
        elif n:
            sheet.append([])
            sheet.append([])
        head = [r for r in lines_of([dataclasses.replace(c, values=[]) for c in columns], dress)]
        for row in head:
            sheet.append([v or None for v in row])
        for row in zip(*(c.values for c in columns)):
            sheet.append([dress["missing"] or None if v is None and c.name else v for c, v in zip(columns, row)])
    book.save(path)


def write_ods(case, path):
    spaces = " ".join(f'xmlns:{p}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for p, n in (("office", "office"), ("table", "table"), ("text", "text")))

    def cell(v):
        if v is None:
            return "<table:table-cell/>"
        if isinstance(v, bool):
            return f'<table:table-cell office:value-type="boolean" office:boolean-value="{str(v).lower()}"><text:p>{v}</text:p></table:table-cell>'
        if isinstance(v, datetime.datetime):
            return f'<table:table-cell office:value-type="date" office:date-value="{v.isoformat()}"><text:p>{v}</text:p></table:table-cell>'
        kind = "string" if isinstance(v, str) else "float"
        more = "" if kind == "string" else f' office:value="{v}"'
        return f'<table:table-cell office:value-type="{kind}"{more}><text:p>{html.escape(str(v))}</text:p></table:table-cell>'

    sheets = ""
    for n, columns in enumerate(case.tables):
        rows = [[c.name for c in columns], *zip(*(c.values for c in columns))]
        body = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
        sheets += f'<table:table table:name="S{n}">{body}</table:table>'
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        z.writestr("content.xml", f"<office:document-content {spaces}><office:body><office:spreadsheet>{sheets}</office:spreadsheet></office:body></office:document-content>")
        z.writestr("META-INF/manifest.xml", "<manifest/>")


def write_html(case, path):
    dress = case.dress | {"header": "one"}
    page = "<html><body><h1>Report</h1>"
    for columns in case.tables:
        head, *rows = lines_of(columns, dress)
        page += "<table><tr>" + "".join(f"<th>{html.escape(v)}</th>" for v in head) + "</tr>"
        page += "".join("<tr>" + "".join(f"<td>{html.escape(v)}</td>" for v in row) + "</tr>\n" for row in rows) + "</table>"
    with open(path, "w", encoding="utf-8") as f:
        f.write('<meta charset="utf-8">' + page + "</body></html>")


def write_sqlite(case, path):
    con = sqlite3.connect(path)
    for n, columns in enumerate(case.tables):
        names = ", ".join('"' + c.name + '"' for c in columns)
        con.execute(f"CREATE TABLE t{n} ({names})")
        rows = [tuple(r.values()) for r in records(columns, True)]
        con.executemany(f"INSERT INTO t{n} VALUES ({', '.join('?' * len(columns))})", rows)
    con.commit()
    con.close()


def write_duckdb(case, path):
    import duckdb

    con = duckdb.connect(path)
    for n, columns in enumerate(case.tables):
        frame = frame_of(columns)
        con.execute(f"CREATE TABLE t{n} AS SELECT * FROM frame")
    con.close()
