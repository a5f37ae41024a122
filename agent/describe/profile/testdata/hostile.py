"""Writes large files that are meant to hurt into the working folder."""

import gzip
import io
import json
import tarfile
import zipfile

import openpyxl

MB = 1 << 20

book = openpyxl.Workbook()
book.active.append(["a", "b"])
plain = io.BytesIO()
book.save(plain)
with zipfile.ZipFile(plain) as old, zipfile.ZipFile("rows.xlsx", "w", zipfile.ZIP_DEFLATED) as z:
    for name in old.namelist():
        if "sheet1" not in name:
            z.writestr(name, old.read(name))
    with z.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as f:
        f.write(
            b'<worksheet xmlns="'
            b'http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        )
        for _ in range(1000):
            f.write(b"<row><c><v>1</v></c><c><v>2</v></c></row>" * 25_000)
with open("line.csv", "wb") as f:
    for _ in range(1024):
        f.write(b"x" * MB)
with open("wide.csv", "w") as f:
    f.write(",".join(f"c{n}" for n in range(1_000_000)) + "\n" + "1," * 999_999 + "1\n")
with open("words.json", "w") as f:
    f.write('{"a": "' + "word " * (60 * MB) + '"}')
with open("deep.json", "w") as f:
    f.write('{"a":[' * 5_000_000)
with open("numbers.json", "w") as f:
    json.dump([{"n": [[i] * 10] * 10} for i in range(100_000)], f)
part = gzip.compress(b"a,b,c\n" * (10 * MB))
with open("endless.csv.gz", "wb") as f:
    f.write(part * 80)
header = tarfile.TarInfo("endless")
header.size = 8000 * MB
with open("endless.tar.gz", "wb") as f:
    f.write(gzip.compress(header.tobuf()) + gzip.compress(bytes(100 * MB)) * 80)
with zipfile.ZipFile("many.zip", "w") as z:
    for n in range(100_000):
        z.writestr(f"folder/{n}", "")
laughs = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
with open("laughs.xml", "w") as f:
    f.write(f'<!DOCTYPE a [<!ENTITY e0 "ha">{laughs}]><a>&e11;</a>')
with open("markup.html", "w") as f:
    f.write("<table><tr><td>" * 300_000)
