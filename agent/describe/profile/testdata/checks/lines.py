"""A line about a file that is far from the question is of whole names, and says how the file is read, and
where a column has more than values of its type."""

NAMES = (
    "municipality,inhabitants,elevation,households,population density,neighbouring districts,founded,mayor,"
    "surface of the water,surface of the woods,distance to the capital,length of the roads,schools"
)
text = NAMES + "\n" + "".join(",".join([str(n)] * 13) + "\n" for n in range(20))
same("far.csv", "line", found("far.csv", text)["line"],
     "delimited text; 20 rows, 13 columns: municipality, inhabitants, elevation, households, population "
     "density, neighbouring districts, founded, mayor, surface of the water, surface of the woods, "
     "distance to the capital, length of the roads … and 1 more")
text = "Water of the beaches,,\n,North station of the whole bay,\nday,depth,tag\n2024-03-01,1,a\n2024-03-02,2,b\n"
line = found("titled.csv", text)["line"]
same("titled.csv", line, "header in lines 2 and 3" in line, True)
rain = "".join(f"{n},1.{n}\n" for n in range(2000, 2026)) + "Mean,1.5\nMax,1.25 2025\nMin,1.0 2000\n"
same("rain.csv", "line", found("rain.csv", "Year,Jan\n" + rain)["line"],
     "delimited text; 29 rows, 2 columns: Year (integer, mixed), Jan (number, mixed)")
