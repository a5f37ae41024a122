"""What only rows have that are in no sample counts as well."""

# Codes that only rows outside of the sample have are no numbers.
late = "k,zip\n" + "some words that fill the row,\n" * 400_000 + "x,00123\n" * 5
told = columns_of(table_of("late.csv", late))
same("late.csv", told, "zip number" in told, False)

# What stands for no value is missing, whatever its case and the spaces around it, and infinite numbers
# and dates are in no range.
marks = ["NaN", " NAN ", "N/a", "nUlL", "inf", "-inf", "Infinity", " -INF"]
text = ["id,d,a,b,c,d2,e,f,g,h,note\n"]
for n in range(60_000):
    odd = n % 1000 == 7
    day = "infinity" if odd else f"2024-01-{n % 28 + 1:02d}"
    values = marks if odd else [str(n % 900)] * len(marks)
    text.append(f"{n},{day},{','.join(values)},{n:0120d}\n")
is_ = table_of("marks.csv", "".join(text))
same("marks.csv", said(is_), (is_["rows"], "from a sample" in said(is_)), (60_000, False))
numbers = columns_of(is_).split(", ")
same("marks.csv", "dates", numbers[1], "d date 2024-01-01 2024-01-28")
for n, mark in enumerate(marks, 2):
    same(mark, "range", numbers[n][-13:], " number 0 899")
    notes = "; ".join(is_["columns"][n].get("notes", ()))
    same(mark, notes, "60 values of all rows are no numbers" in notes, "inf" in mark.lower())

# They decide whether numbers are whole, what stands for missing and what a column without values in the
# sample has; else a type is of the sample.
text = ["id,half,gap,late,word,euros,land,note\n"]
for n in range(80_000):
    row = [n, n % 90, n % 80, "", "", "€ 5", ("NA", "NO", "DE", "FR")[n % 4]]
    if n == 40_000:
        row = [n, 0.5, " nA ", 7, "x", "€ 5", "NA"]
    text.append(",".join(map(str, row)) + f",{n:0120d}\n")
is_ = table_of("unseen.csv", "".join(text))
same("unseen.csv", "rows", is_["rows"], 80_000)
same("unseen.csv", "columns", columns_of(is_),
     "id number 0 79999, half number 0 89, gap number 0 79, late number 7 7, word text, "
     "euros number 5 5, land text, note text")
same("unseen.csv", is_["call"], '" nA "' in is_["call"], True)
told = "\n".join(f"{c['name']}: {c['line']}" for c in is_["columns"])
for want in ("half: number 0 to 89 (of all rows)", "late: integer", "missing in 1 of all rows",
             "euros: integer in the sample", "land: text; 4 values"):
    same("unseen.csv", f"it says {want} in\n{told}", want in told, True)
