"""The values of columns are listed as files have them, and as pandas reads them."""

with open("people.csv", "w") as f:
    f.write('id,Full Name,born,n\n0012345,Ann,1980-01-05,7\n1234567,"O\'Brien, Bob",2001-02-03,8\n,,,9\n')
CASES = [
    ("people.csv", "id", ["0012345", "1234567"]), ("people.csv", "Full Name", ["Ann", "O'Brien, Bob"]),
    ("people.csv", "born", ["1980-01-05", "2001-02-03"]), ("merged.xlsx", "shop", []),
    ("shop.sqlite", "note", []), ("typed.parquet", "sort", []),
]
*told, of_all = listings([c[0] for c in CASES], ["id", "*NAME", "born", "shop", "note", "sort"])
for (file, column, has), listing in zip(CASES, told):
    values = listing.get("columns", {}).get(column, [])
    same(file, f"{column} of {listing}", (bool(values), set(has) <= set(values)), (True, True))
    same(file, "problem", listing.get("problem"), None)
    same(file, "a column that no pattern matches", listing["columns"].get("n"), None)
same("all", "problem", of_all, {})
