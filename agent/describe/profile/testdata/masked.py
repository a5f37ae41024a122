"""Writes files with a column "patient" in places where it is easy to miss, into the working folder."""

import json
import pickle
import sqlite3
import zipfile

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

TEXTS = {
    "levels.csv": "2020,,2021,\npatient,dose,patient,dose\n" + "Ann,1,Abe,2\nBob,3,Bea,4\n" * 2,
    "dressed.csv": '" Patient ",v\nAnn,1\nBob,2\n',
    "twice.csv": "patient,patient,v\nAnn,Abe,1\nBob,Bea,2\n",
    "short.csv": "patient,1,2\nAnn,3,4,5\nBob,5,6,7\n",
    "wide.csv": ",".join(f"c{n}" for n in range(1100)) + ",patient\n" + ("0," * 1100 + "Ann\n") * 3,
    "page.html": "<table><tr><th>a</th></tr><tr><td>1</td></tr></table><table><tr><th>patient</th><th>b</th></tr>"
    + "<tr><td>Ann</td><td>1</td></tr><tr><td>Bob</td><td>2</td></tr></table>",
    "people.xml": "<r>" + "".join(f"<p><patient>P{n}</patient><v>{n}</v></p>" for n in range(4)) + "</r>",
    "people.yaml": "people:\n- patient: 0123456\n  n: 1\n- patient: Bob\n  n: 2\n",
    "lines.jsonl": '{"patient": 1234567.50, "v": 1}\n{"patient": "Bob", "v": 2}\n',
    "readme.md": "The column patient has names.\n",
    "report.txt": "Visits of the year\npatient   dose\nAnnabel   12\nBert      13\n",
    "other.md": "Nothing of them: outpatients, patients.\n",
    "broken.parquet": "PAR1xxxxPAR1",
}
for name, text in TEXTS.items():
    with open(name, "w") as f:
        f.write(text)
with open("deep.json", "w") as f:
    visits = [{"id": n, "who": {"patient": f"Deep{n}"}, "more": [{"patient": f"Low{n}"}]} for n in range(3)]
    json.dump({"patient": "Top", "visits": visits}, f)
with pd.ExcelWriter("book.xlsx") as book:
    pd.DataFrame({"a": [1, 2], "b": [3, 4]}).to_excel(book, sheet_name="one", index=False)
    pd.DataFrame({"patient": ["Ann", "Bob"], "b": [3, 4]}).to_excel(book, sheet_name="two", index=False)
    pd.DataFrame({"x": [1, 2], "y": ["p", "q"]}).to_excel(book, sheet_name="three", index=False)
    pd.DataFrame({"patient": ["Cat", "Dan"], "z": [3, 4]}).to_excel(book, sheet_name="three", startrow=6)
nested = {"v": [[{"patient": "Ann"}], []], "s": [{"patient": "Bob"}, {"patient": "Cat"}]}
pq.write_table(pa.table({"id": [1, 2]} | nested), "nested.parquet")
with open("object.pkl", "wb") as f:
    pickle.dump(1, f)
with zipfile.ZipFile("some.zip", "w") as packed:
    packed.writestr("a.csv", "patient,b\nAnn,2\nBob,3\n")
for name, more in {"more.zip": {f"m{n}.csv": "u,b\n1,2\n" for n in range(25)}, "object.zip": {"o.pkl": "x"}}.items():
    with zipfile.ZipFile(name, "w") as packed:
        for member, text in more.items():
            packed.writestr(member, text)
with sqlite3.connect("many.sqlite") as con:
    for n in range(70):
        con.execute(f"CREATE TABLE t{n} (a, {'patient' if n > 65 else 'b'} text)")
