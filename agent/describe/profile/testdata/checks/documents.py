"""Of JSON in the forms that programs write, and of tables with totals in their middle, the columns,
rows and the call are right."""

LINES = "".join(
    '{"n": %d, "kind": "%s"}\n' % (n, "late" if n > 50_500 else "soon") for n in range(51_000)
)
SUMS = "a,m,1,2,3,4,5,6,7,8\na,f,1,2,3,4,5,6,7,8\na,all,2,4,6,8,10,12,14,16\n" * 7000
PAD = "x" * 3000
LOAD = 'json.load(open(path, encoding="utf-8"))'
AS_WRITTEN = ", dtype=False, convert_dates=False)"


def long(row):
    """9 MB of rows."""
    return row * ((9 << 20) // len(row))


CASES = [  # name, text, rows, columns, call, what is said
    ("columns.json",
     '{"city":{"0":"a","1":"b","2":"c"},"day":{"0":1704067200000,"1":1704153600000,"2":1704240000000}}',
     3, "city text, day number 1704067200000 1704240000000", "pd.read_json(path" + AS_WRITTEN,
     "milliseconds"),
    ("dated.json",
     '{"price":{"2024-01-01":1.5,"2024-01-02":2.5},"note":{"2024-01-01":"x","2024-01-02":"y"}}', 2,
     "column 1 (no name; the index in pandas) date 2024-01-01 2024-01-02, price number 1.5 2.5, note text",
     "pd.read_json(path" + AS_WRITTEN, ""),
    ("index.json", '{"a":{"x":1,"y":"p"},"b":{"x":2,"y":"q"},"c":{"x":3,"y":"r"}}', 3,
     "(key) text, x number 1 3, y text",
     'pd.json_normalize([{"(key)": k} | v for k, v in ' + LOAD + ".items()])", ""),
    ("split.json", '{"columns":["a","b"],"index":[0,1],"data":[[1,"x"],[2,"y"]]}', 2,
     "a number 1 2, b text", 'pd.read_json(path, orient="split"' + AS_WRITTEN, ""),
    ("ids.json",
     '[{"id":1344800117571260417,"to":null},{"id":1344800117571260419,"to":1344800117571260418}]',
     2,
     "id number 1344800117571260417 1344800117571260419, to number 1344800117571260418 1344800117571260418",
     "pd.DataFrame(" + LOAD + ", dtype=object)", ""),
    ("zips.json", '[{"zip":"00501","n":{"a":1}},{"zip":"10001","n":{"a":2}}]', 2,
     "zip text, n.a number 1 2", "pd.json_normalize(" + LOAD + ")", "leading zeros"),
    ("keys.json", '{"a\\"] + [1, \\\\":[{"x":1},{"x":2}]}', 2, "x number 1 2",
     "pd.json_normalize(" + LOAD + '["a\\"] + [1, \\\\"])', ""),
    ("jobs.jsonl", '{"done":"2024-05-01"}\n{"done":"2024-05-02"}\n{"done":1714550400}\n', 3,
     "done date 2024-05-01 2024-05-02", "pd.read_json(path, lines=True" + AS_WRITTEN, "1 numbers"),
    ("long.ndjson", LINES, 51_000, "n number 0 50999, kind text",
     "pd.read_json(path, lines=True" + AS_WRITTEN, ""),
    ("sales.csv",
     "region,amount\nNorth,1\nNorth,2\nNorth Total,3\nSouth,4\nSouth,5\nSouth Total,9\nEast,1\n",
     7, "region text, amount number 1 9", "pd.read_csv(path)",
     '2 rows with "North Total", "South Total" in region are sums'),
    ("cube.csv", "region,month,n\nN,Jan,1\nN,Feb,2\nN,All,3\nS,Jan,4\nS,Feb,5\nS,All,9\n", 6,
     "region text, month text, n number 1 9", "pd.read_csv(path)", "are sums"),
    ("cubes.csv", "region,sex,a,b,c,d,e,f,g,h\n" + SUMS, 21_000,
     "region text, sex text, a number 1 2, b number 2 4, c number 3 6, d number 4 8, e number 5 10, f number 6 12, g number 7 14, h number 8 16",
     "pd.read_csv(path)", '7000 rows with "all" in sex are sums'),
    ("zeros.csv", "region,sex,n\n" + "N,all,0\nS,m,0\nN,f,0\n" * 9, 27,
     "region text, sex text, n number 0 0", "pd.read_csv(path)", "a guess"),
    ("chance.csv", "sex,n\nm,3\nall,3\nf,4\nd,1\nx,20\n", 5, "sex text, n number 1 20",
     "pd.read_csv(path)", "a guess"),
    # Of the last row, the figures tell whether it is a total; a word alone may be anyone's name.
    ("muster.csv", "name,kids,age\nAnna,3,40\nBen,1,50\nMax Muster,3,50\n", 3,
     "name text, kids number 1 3, age number 40 50", "pd.read_csv(path)", ""),
    ("max.csv", "name,kids\nAnna,3\nBen,5\nMax,5\n", 3, "name text, kids number 3 5",
     "pd.read_csv(path)", "a guess"),
    ("eve.csv", "title,rank\nAlien,1\nHeat,2\nAll About Eve,3\n", 3, "title text, rank number 1 3",
     "pd.read_csv(path)", ""),
    ("wrong.csv", "name,kids\nAnna,3\nBen,5\nTotal,12\n", 3, "name text, kids number 3 12",
     "pd.read_csv(path)", "a guess"),
    ("ends.csv",
     "name,kids,rate\nAnna,3,0.5\nBen,5,0.7\nCem,1,.9\nTotal sales,9,2.1\nAverage,3,0.7\nMax,5,.9\n",
     3, "name text, kids number 1 5, rate number 0.5 0.9",
     'pd.read_csv(path, skipfooter=3, engine="python")', "are totals"),
    ("rates.csv", "name,kids,rate\nAnna,3,0.5\nBen,5,0.7\nTotal,8,0.62\n", 2,
     "name text, kids number 3 5, rate number 0.5 0.7",
     'pd.read_csv(path, skipfooter=1, engine="python")', "is a total"),
    ("grand.csv",
     "region,n\nNorth,1\nNorth,2\nNorth Total,3\nSouth,4\nSouth,5\nSouth Total,9\nGrand Total,12\n",
     6, "region text, n number 1 9", 'pd.read_csv(path, skipfooter=1, engine="python")',
     "is a total"),
    ("wars.csv", "title,n\nTotal Recall,1\nAlien,2\nAll About Eve,3\nHeat,4\n", 4,
     "title text, n number 1 4", "pd.read_csv(path)", ""),
    # Of a long text, the rows that are read are the least there are.
    ("long.html",
     "<table><tr><th>n<th>note" + long("<tr><td>12345<td>" + PAD + "</tr>") + "</table>", 2775,
     "n number 12345 12345, note text", "pd.read_html(path)[0]", "at least"),
    ("long.rss",
     "<a><title>x</title><b>" + long("<c><note>" + PAD + "</note><n>12345</n></c>") + "</b></a>",
     2766, "note text, n number 12345 12345", "", "at least"),
    ("rows.txt", '{"meta": {"of": [1, 2]}, "data": [' + long('["' + PAD + '", "x", 12345],'), 2780,
     "[0] text, [1] text, [2] number 12345 12345", "", "at least"),
    ("lists.txt",
     '{"of": {"a": [1, 2], "b": [3]}, "rows": [' + long('{"n": 12345, "of": [12345], "note": "' + PAD + '"},'),
     2759, "n number 12345 12345, of list, note text", "", "at least"),
    ("list.txt", "[" + long('{"note": "' + PAD + '", "n": 12345},'), 3119,
     "note text, n number 12345 12345", "", "about"),
]

for name, text, rows, want, call, says in CASES:
    is_ = table_of(name, text)
    same(name, "rows", is_["rows"], rows)
    same(name, "columns", columns_of(is_), want)
    same(name, "call", is_.get("call", ""), call)
    told = said(is_) + is_.get("count", "")
    right = says in told and (says != "" or "total" not in told)
    same(name, f"it says {says!r} in\n{told}", right, True)
