"""Wherever a column stands, its values are listed, or it is told that not all of them can be, or that a
text has its name. A pattern that is for no column is an error."""

PROBLEM, NAMED = "problem", "named"
CASES = {  # what is listed of a file, or what is told
    "levels.csv": "Ann Bob Abe Bea", "dressed.csv": "Ann Bob", "twice.csv": "Ann Bob Abe Bea",
    "short.csv": NAMED, "wide.csv": "Ann", "page.html": "Ann Bob", "people.xml": PROBLEM,
    "people.yaml": "0123456 Bob", "lines.jsonl": "1234567.50 Bob", "readme.md": NAMED,
    "report.txt": NAMED, "other.md": "", "broken.parquet": PROBLEM,
    "deep.json": "Top Deep0 Deep2 Low0 Low2", "book.xlsx": "Ann Bob Cat Dan",
    "nested.parquet": "Ann Bob Cat", "object.pkl": PROBLEM, "some.zip": "Ann Bob", "more.zip": PROBLEM,
    "object.zip": PROBLEM, "many.sqlite": PROBLEM,
}
*told, of_all = listings(list(CASES), ["patient"])
for (file, want), listing in zip(CASES.items(), told):
    has = [] if want in (PROBLEM, NAMED) else want.split()
    values = {v for values in listing.get("columns", {}).values() for v in values}
    same(file, f"values of {listing}", set(has) - values, set())
    same(file, "any values", bool(values), bool(has))
    same(file, "problem", bool(listing.get("problem")), want == PROBLEM)
    same(file, "named", listing.get("named", False), want == NAMED)
same("all", "problem", of_all, {})
lacks = listings(["levels.csv", "lines.jsonl"], ["patient", "patent"])[2]["problem"]
same("patent", lacks, "patent" in lacks and "2020 / patient" in lacks, True)
