"""Rows are counted, and what is no row is none: footnotes, headers, and what stands in the place of
data."""

# Values of which the same is shown are told apart by what is not.
rows = []
for n in range(40):
    name, size = ("z", "5") if n % 3 == 2 else ("a" * 60 + "xyz"[n % 3], "null")
    long = "b" * 700 + str(n // 2)
    rows.append(f'{{"name": "{name}", "size": {size}, "of": {size}, "wide": 1.0000000000{n // 2:02d}, '
                f'"in": [1, "{long}"]}}')
is_ = table_of("alike.json", f"[{','.join(rows)}]")
same("alike.json", "rows that repeat another", is_.get("duplicates", 0), 0)
same("alike.json", "gaps", [len(is_["gaps"]), "aaa" in str(is_["gaps"])], [1, False])
same("alike.json", "values", [c["distinct"] for c in is_["columns"]], [3, 1, 1, 20, 21])

# A last line with one field is no row of a table of two columns, also where not all rows are looked at.
for pairs, name in (15, "short.csv"), (25_500, "sample.csv"), (26_000, "parts.csv"):
    row = "A" * (1 + pairs // 26_000 * 340) + ",5\nB,7\n"
    is_ = table_of(name, "k,n\n" + row * pairs + "Source: the office\n")
    same(name, "rows and columns", (is_["rows"], columns_of(is_)), (2 * pairs, "k text, n number 5 7"))
    same(name, is_["call"], "skipfooter=1" in is_["call"], True)

# The last lines of a text are rows where they may be: a number, or a part of a cell.
WORDS = '"the last words\nhave three lines\nand end here"'
many = "id,n,text\n" + "".join(f"{n},{n % 7},some words\n" for n in range(51_000))
for name, end in {
    "alone.csv": "51000\n51001\n",
    "cell.csv": f"51000,,{WORDS}\n51001,1,x\n",
    "open.csv": f"51000,1,x\n51001,,{WORDS}\n",
}.items():
    is_ = table_of(name, many + end)
    same(name, "rows", is_["rows"], 51_002)
    same(name, is_["call"] + said(is_), "skipfooter" in is_["call"] or " -" in said(is_), False)
same("two.csv", "rows", table_of("two.csv", "id,text\n" + "7,a b\n" * 30 + "30\n31\n")["rows"], 32)
few = "name,mon,tue\nAnn,1,0\nBo,0,1\nCy,0,0\nMax,1,1\n"
same("people.csv", "rows", table_of("people.csv", few)["rows"], 4)

# Numbers and dates are no names, however they are dressed.
bare = "1990-02-19,-38'181.01,12/05/24\n1990-05-13,-7'555.88,04/30/25\n1991-11-03,12'309.71,05/03/24\n"
is_ = table_of("bare.csv", bare)
same("bare.csv", columns_of(is_), (is_["rows"], columns_of(is_)[:13]), (3, "column 1 date"))

# Of a long file, no place is read twice, each figure says whether it is of all rows, and rows that only
# the end has are counted.
lines = ["id;steps;place;day\n"]
for n in range(120_000):
    steps = "late" if n > 119_000 else f"{n % 900},5"
    day = f"{n % 28 + 1:02d}.01.{2000 + n // 40_000}"
    lines.append(f"{n};{steps};\u2028{n * 7919 % 120_000:060d};{day}\n")
is_ = table_of("long.csv", "".join(lines))
same("long.csv", "rows", (is_["rows"], is_.get("duplicates", 0)), (120_000, 0))
same("long.csv", "call", is_["call"], 'pd.read_csv(path, sep=";", decimal=",")')
same("long.csv", "columns", columns_of(is_),
     "id number 0 119999, steps number 0.5 899.5, place text, day date 01.01.2000 28.01.2002")
same("long.csv", said(is_), "999 values of all rows are no numbers" in said(is_), True)

# What stands in the place of data is called what it is.
for name, (text, kind, says) in {
    "lfs.csv": ("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "Git LFS pointer", "12345"),
    "page.csv": ('<!DOCTYPE html><html><body><form><input type="password"></form></body></html>', "HTML", "login page"),
    "blank.json": (" " * (33 << 20), "JSON", "nothing was read"),
    "~$sales.xlsx": ("\x05Alice" + " \0" * 80, "Excel lock file", "sales.xlsx"),
}.items():
    is_ = found(name, text)
    same(name, said(is_), (is_["format"], says in said(is_), len(is_.get("tables", ()))), (kind, True, 0))
