"""What is said of a column is said once, and of rows only what their figures may bear out."""

# Name, content, what stands in the words, or after "!", does not.
money = "".join(f"Land{n},{code},{n * 37 % 101}.5\n" for n, code in
                enumerate("USD EUR ALL CHF NOK SEK DKK GBP PLN USD EUR".split()))
kinds = "".join(f"{place},{kind},{n}\n" for place in ("North", "South") for kind, n in
                (("Men", 17), ("Women", 5), ("All", 23)))
CASES = [
    ("money.csv", "land,currency,rate\n" + money, "!totals of others"),
    ("sum.csv", "land,currency,rate\n" + money.replace("Land2,ALL,74.5", ",ALL,432.1"), "totals of others"),
    ("near.csv", "currency,rate\n" + "USD,10\nEUR,20\nUSD,12\nCHF,30\nNOK,40\nEUR,7\nALL,119.5\nSEK,1\n",
     "totals of others"),
    ("kinds.csv", "place,kind,n\n" + kinds, "totals of others"),
    ("share.csv", "kind,way,n\n" + "A,x,4\nB,y,7\nC,z,3\nD,x,9\n,38% of the total,8\n", "!totals of others"),
    ("sentence.csv", "kind,way,n\n" + "A,x,4\nB,y,7\nC,z,3\n,These are not counted in the total,8\nD,x,9\n",
     "!totals of others"),
    ("empty.csv", "day,sum\n" + "".join(f"2024-01-{n + 1:02d},0.0\n" for n in range(20)), "number; always 0.0"),
    ("whole.csv", "k,n\n" + "".join(f"A{n},{n % 3}.0\n" for n in range(30)), "whole number 0 to 2; 3 values: 0.0 (10)"),
    ("codes.json", json.dumps([{"k": n, "delay": ["1", "2", "manual"][n % 3]} for n in range(30)]),
     'delay: text; 3 values: 1 (10), 2 (10), manual (10); all are texts: 20 that are numbers (1 to 2), 10 such as "manual"'),
    ("both.json", json.dumps([{"k": n, "delay": [1, "2", "manual"][n % 3]} for n in range(30)]),
     'mixed: 10 numbers (1 to 1), 10 texts that are numbers (2 to 2), 10 texts such as "manual"'),
    ("codes.json", None, "!text, mixed"),
    ("both.json", None, "text, mixed"),
    ("both.json", None, "!text and int"),
    ("unique.csv", "Name\n" + "".join(f"Town{chr(65 + n)}\n" for n in range(15)), "unique: Name"),
]
for name, content, says in CASES:
    is_ = table_of(name, content)
    words = "\n".join([is_["headline"], ", ".join(is_["names"]), is_["misleads"], *(f"{c['name']}: {c['line']}" for c in is_["columns"])])
    same(name, f"{says!r} in\n{words}", says.strip("!") in words, says[0] != "!")
