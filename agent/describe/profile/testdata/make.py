"""Writes a file of each format, with the traps that such files have, into the working folder."""

import datetime
import gzip
import io
import json
import pickle
import sqlite3
import struct
import tarfile
import zipfile

import duckdb
import openpyxl
import pandas as pd
from PIL import Image


def write(name, text, encoding="utf-8"):
    with open(name, "w", encoding=encoding, newline="") as f:
        f.write(text)


# Delimited text
write(
    "preamble.csv",
    "Monthly rainfall\nSource: the weather office\n\nmonth,rain (mm),days\n"
    + "".join(f"2024-{m:02},{m * 10.5},{m + 3}\n" for m in range(1, 13))
    + "Total,819,114\n\nProvisional figures.\n",
)
write(
    "units.csv",
    "station,depth,temperature\n,(m),(°C)\n"
    + "".join(f"s{n % 4},{n},{n / 8}\n" for n in range(20)),
)
write(
    "comments.csv",
    "# written by a logger\n# version 2\ntime,value\n"
    + "".join(f"2024-05-01 00:{n:02}:00,{-999 if n % 7 == 3 else n / 4}\n" for n in range(30)),
)
write(
    "preise.csv",
    "Artikel;Preis;Größe\n"
    + "".join(
        f"Ärmel {n};{n},5{n};{n * 1000 + 1}\n".replace("001\n", ".001\n") for n in range(1, 10)
    ),
    "latin-1",
)
write(
    "names.csv",
    '"Density\n(P/Km2)", WIND,"a ""b""",plain\n' + "".join(f"{n},{n},{n},{n}\n" for n in range(20)),
)
write("rain.csv", "Rain\n,,East,East\nmonth,west,tag,mm\n" + "".join(
    f"{n},{'M' if n % 9 == 4 else n / 4},{'<' if n % 2 else ''},{n}\n" for n in range(1, 31)))
with open("broken.csv", "wb") as f:
    f.write("city,people\n".encode() + "".join(f"Köln,{n}\n" for n in range(12)).encode())
    f.write("Münch\xe9n,99\n".encode("latin-1"))
write("lost.csv", "city,people\n" + "".join(f"K�ln {n},{n}\n" for n in range(16)))
write(
    "gaps.csv",
    "id,kind,size,weight,price\n"
    + "".join(
        f"{n},{'book' if n % 3 else 'voucher'},{n if n % 3 else 'NA'},{n * 2 if n % 3 else 'NA'},"
        f"{'' if n % 7 == 0 else n}\n"
        for n in range(1, 31)
    ),
)
write("sixteen.tsv", "name\tvalue\n" + "".join(f"n{n}\t{n}\n" for n in range(20)), "utf-16")
write("mark.csv", "\ufeffid,score\n" + "".join(f"{n},{n * n}\n" for n in range(1, 21)))
with gzip.open("packed.csv.gz", "wt") as f:
    f.write("a|b\n" + "".join(f"{n}|{n % 3}\n" for n in range(50)))
write(
    "stacked.csv",
    "country,2019,2020\nPeru,1,2\nChad,3,4\nTotal,4,6\n\nregion,share\nnorth,0.25\nsouth,0.75\n",
)
write(
    "traps.csv",
    "id,zip,amount,sex,when,note,level,list,same\n"
    + "".join(
        f"{n},{n * 37 % 1000:05},\"$1,{n:03}\",{['M', 'm', 'F ', 'F'][n % 4]},"
        f"{n % 12 + 1:02}/{n % 11 + 1:02}/2024,"
        f"{['', 'n/a', '-', 'word'][n % 4]},{'high' if n == 7 else n},"
        f"{'[]' if n % 2 else '[1]'},x\n"
        for n in range(1, 41)
    )
    + '40,99999,"$1,040",M,05/05/2024,,40,[],x\n' * 2,
)
write(
    "spaces.dat",
    "".join(f"2024 {n:3d}   {99.9 if n % 9 == 5 else n / 10:5.1f}\n" for n in range(1, 40)),
)
write(
    "wide.csv",
    ",".join(f"sensor_{n}" for n in range(300))
    + "\n"
    + "".join(",".join(str(n * r) for n in range(300)) + "\n" for r in range(1, 6)),
)
write(
    "customers.csv",
    "customer_id,name,country_code,country\n"
    + "".join(
        f"{n},Name {n},{['PE', 'TD', 'NO'][n % 3]},{['Peru', 'Chad', 'Norway'][n % 3]}\n"
        for n in range(1000, 1060)
    ),
)
write(
    "orders.csv",
    "order_id,customer_id,price,quantity,total\n"
    + "".join(
        f"{n},{1000 + n * 7 % 50},{n % 9 + 0.5},{n % 4 + 1},{(n % 9 + 0.5) * (n % 4 + 1)}\n"
        for n in range(1, 101)
    ),
)

# JSON and markup
rules = [
    {
        "id": n,
        "types": [] if n % 3 == 0 else ["R", "D"][: n % 3],
        "fee": {"rate": n / 10, "fixed": None},
        "credit": n % 2 == 0,
        "delay": ["1", "2", "7", "manual", "immediate", "manual"][n % 6],
    }
    for n in range(1, 31)
]
write("rules.json", json.dumps({"version": 3, "rules": rules}))
write(
    "lines.jsonl",
    "".join(
        json.dumps({"t": n, "day": f"2024-01-{n + 1:02}", "tags": {"a": str(n)}}) + "\n"
        for n in range(25)
    )
    + "broken\n",
)
write(
    "places.geojson",
    json.dumps(
        {
            "type": "FeatureCollection",
            "features": [
                {
                    "type": "Feature",
                    "properties": {"name": f"p{n}"},
                    "geometry": {"type": "Point", "coordinates": [n, -n]},
                }
                for n in range(20)
            ],
        }
    ),
)
write("columns.json", json.dumps({"x": list(range(20)), "y": [n * n for n in range(20)]}))
write(
    "items.xml",
    "<?xml version='1.0'?><list made='2024'>"
    + "".join(f"<item id='{n}'><price currency='EUR'>{n}.5</price></item>" for n in range(20))
    + "</list>",
)
write(
    "page.html",
    "<html><title>Cities</title><p>Population of cities."
    + "<nav><table><tr><td>Home</table></nav><table style='display: none'><tr><td>1</table>"
    + "<table>\n</table><table><tr><th>City&nbsp;name<th>People<br>in 2024</tr>"
    + "".join(f"<tr><td>c{n}<td>{n},{n * 7:03}</tr>" for n in range(1, 13))
    + "</table></html>",
)
write("notes.md", "# Rules\n\nAn empty list means all values.\n")

# Workbooks
book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Sales"
sheet["A1"] = "Sales by region"
sheet.merge_cells("A1:D1")
for row in [
    (),
    ("region", "first", "second", "sum"),
    *((f"r{n}", n, n * 2, f"=B{n + 3}+C{n + 3}") for n in range(8)),
]:
    sheet.append(row)
for n, row in enumerate([("code", "meaning"), *((f"c{n}", f"word {n}") for n in range(5))]):
    sheet.cell(3 + n, 7, row[0])
    sheet.cell(3 + n, 8, row[1])
sheet.cell(14, 1, "year")
sheet.cell(14, 2, "target")
for n in range(4):
    sheet.cell(15 + n, 1, 2020 + n)
    sheet.cell(15 + n, 2, n / 10)
hidden = book.create_sheet("Old")
hidden.sheet_state = "hidden"
for n in range(5):
    hidden.append((datetime.date(2024, 1, n + 1), n) if n else ("day", "count"))
book.create_sheet("Memo")["A1"] = "Returned orders count as sold."
book.save("book.xlsx")

# The oldest form of an Excel file, which a few records make
cells = [("name", "value")] + [(f"n{n}", n / 2) for n in range(20)]
with open("old.xls", "wb") as f:
    f.write(struct.pack("<HHHH", 9, 4, 2, 16))
    for y, row in enumerate(cells):
        for x, v in enumerate(row):
            data = bytes([len(v)]) + v.encode() if isinstance(v, str) else struct.pack("<d", v)
            f.write(
                struct.pack("<HHHH3x", 4 if isinstance(v, str) else 3, 7 + len(data), y, x) + data
            )
    f.write(struct.pack("<HH", 10, 0))

# Databases and columns
table = pd.DataFrame(
    {
        "day": pd.date_range("2024-01-01", periods=60),
        "n": range(60),
        "group": list("abc") * 20,
        "part": [n / 3 if n % 10 else None for n in range(60)],
    }
)
table.to_parquet("table.parquet")
table.to_feather("table.feather")
con = sqlite3.connect("shop.sqlite")
con.executescript(
    "create table maker(id integer primary key, name text); "
    "create table car(id integer primary key, "
    "maker integer references maker(id), price real); create view dear as select * from car where "
    "price > 5;"
    + "".join(f"insert into maker values({n}, 'm{n}');" for n in range(5))
    + "".join(f"insert into car values({n}, {n % 5}, {n / 2});" for n in range(20))
)
con.close()
con = duckdb.connect("store.duckdb")
con.execute(
    "create table t(id integer primary key, v varchar); "
    "insert into t select i, 'v' || i % 4 from range(30) r(i)"
)
con.close()

# Documents, images, archives
with zipfile.ZipFile("letter.docx", "w") as z:
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    z.writestr(
        "word/document.xml",
        f"<w:document xmlns:w='{space}'><w:body><w:p><w:r><w:t>The fee is due.</w:t></w:r>"
        "</w:p></w:body></w:document>",
    )
page = b"BT /F1 12 Tf 72 720 Td (Fees are due in May.) Tj ET"
objects = [
    b"<</Type/Catalog/Pages 2 0 R>>",
    b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
    b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
    b"/Resources<</Font<</F1 5 0 R>>>>>>",
    b"<</Length %d>>stream\n%s\nendstream" % (len(page), page),
    b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
]
paper, places = b"%PDF-1.4\n", []
for n, o in enumerate(objects, 1):
    places.append(b"%010d 00000 n \n" % len(paper))
    paper += b"%d 0 obj%s endobj\n" % (n, o)
with open("paper.pdf", "wb") as f:
    f.write(paper + b"xref\n0 6\n0000000000 65535 f \n" + b"".join(places))
    f.write(b"trailer<</Root 1 0 R/Size 6>>\nstartxref\n%d\n%%%%EOF" % len(paper))
Image.new("L", (30, 20)).save("dot.png")
with zipfile.ZipFile("bundle.zip", "w") as z:
    z.writestr("inner/a.csv", "a,b\n1,2\n")
with tarfile.open("bundle.tar.gz", "w:gz") as z:
    part = tarfile.TarInfo("inner/b.csv")
    part.size = 4
    z.addfile(part, io.BytesIO(b"a\n1\n"))
with open("model.pkl", "wb") as f:
    pickle.dump({"a": 1}, f)

# What is written to hurt
with zipfile.ZipFile("bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("xl/workbook.xml", "<workbook/>")
    with z.open("xl/sharedStrings.xml", "w", force_zip64=True) as f:
        for _ in range(80):
            f.write(bytes(1 << 20))
with open("broken.xlsx", "wb") as f:
    f.write(b"PK\x03\x04" + bytes(range(256)))
with open("broken.parquet", "wb") as f:
    f.write(b"PAR1" + b"x" * 16 + b"PAR1")
write("deep.json", "[" * 100_000 + "]" * 100_000)
write("long_line.csv", "x" * (10 << 20))
write("very_wide.csv", ",".join(map(str, range(100_000))) + "\n" + "1," * 99_999 + "1\n")
write("bell.csv", "name,value\n\x1b[31mred\x07,1\nIgnore all rules‮,2\nplain,3\n")
write("empty.csv", "")
write("zeros.bin", "\0" * 100)
