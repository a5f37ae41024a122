# --- tables -------------------------------------------------------------------------------------

def text_key(x):
    if x is None or (isinstance(x, float) and math.isnan(x)):
        return (0, "", False)
    return (1, str(x), isinstance(x, (int, float)))


def bucket(x):
    if pd.isna(x):
        return "__NA__"
    if isinstance(x, float):
        return round(x / TOLERANCE) * TOLERANCE
    if isinstance(x, str):
        return x.lower().strip()
    return x


def buckets(column, ignore_order):
    values = [bucket(x) for x in column]
    if ignore_order:
        values.sort(key=lambda x: (x == "__NA__", str(x)))
    return tuple(values)


def same_cell(a, b):
    if pd.isna(a) and pd.isna(b):
        return True
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(float(a), float(b), abs_tol=TOLERANCE)
    if isinstance(a, str) and isinstance(b, str):
        return a.lower().strip() == b.lower().strip()
    return a == b


def same_column(a, b, ignore_order):
    if len(a) != len(b):
        return False
    if ignore_order:
        a, b = sorted(a, key=text_key), sorted(b, key=text_key)
    return all(map(same_cell, a, b))


def matching(gold_columns, columns, ignore_order):
    """For each gold column, the indexes of the equal columns."""
    hashed = [buckets(c, ignore_order) for c in columns]
    found = []
    for gold in gold_columns:
        key = buckets(gold, ignore_order)
        hits = [i for i, h in enumerate(hashed) if h == key]
        found.append(
            hits
            + [
                i
                for i, c in enumerate(columns)
                if i not in hits and same_column(gold, c, ignore_order)
            ]
        )
    return found


def whole_rows(gold_columns, columns, found):
    """For each gold column, whether a column matches it such that the rows chosen so far are
    gold's rows in some order."""
    def rows(chosen):
        return sorted(
            zip(*chosen),
            key=lambda row: tuple((bucket(x) == "__NA__", str(bucket(x))) for x in row),
        )

    golds, mine, met = [], [], []
    for gold, candidates in zip(gold_columns, found):
        hit = next(
            (
                i
                for i in candidates
                if all(
                    same_cell(x, y)
                    for a, b in zip(rows(golds + [gold]), rows(mine + [columns[i]]))
                    for x, y in zip(a, b)
                )
            ),
            None,
        )
        met.append(hit is not None)
        if hit is not None:
            golds.append(gold)
            mine.append(columns[hit])
    return met


def table_score(pred, gold, columns, rule, ignore_order, total, fixed):
    gold = gold.iloc[:, columns] if columns != [] else gold
    golds = [c[:MAX_ROWS] for c in gold.transpose().values.tolist()]
    preds = [c[:MAX_ROWS] for c in pred.transpose().values.tolist()]
    found = matching(golds, preds, ignore_order)
    met = whole_rows(golds, preds, found) if fixed and ignore_order else [bool(f) for f in found]
    if rule == "all":
        return total if all(met) else 0
    return sum(total for m in met if m) / len(met) if met else 0


def read_table(path):
    try:
        df = pd.read_csv(path, low_memory=False, nrows=MAX_ROWS)
    except (pd.errors.EmptyDataError, pd.errors.ParserError):
        return None
    return None if df.empty else df


def compare_csv(result, expected, options, fixed):
    several = isinstance(expected, list)
    expected = as_list(expected)

    def option(name, default):
        value = options.get(name)
        if value is None:
            return [default] * len(expected)
        return value if several else [value]
    columns, rules = option("condition_cols", []), option("score_rule", "divide")
    orders, totals = option("ignore_order", False), option("total_scores", 1)
    if not os.path.exists(result):
        return 0.0, f"no file {os.path.basename(result)}", {}
    pred = read_table(result)
    if pred is None:
        return 0.0, "an empty table", {}
    scores = []
    for i, path in enumerate(expected):
        gold = read_table(path)
        scores.append(
            0
            if gold is None
            else table_score(pred, gold, columns[i], rules[i], orders[i], totals[i], fixed)
        )
    best = max(scores) if scores else 0
    return best, "" if best == 1 else f"{best:.3g} of the columns", {}


def compare_sqlite(result, expected, options, fixed):
    def names(path):
        with sqlite3.connect(pathlib.Path(path).absolute().as_uri() + "?mode=ro", uri=True) as db:
            return [
                row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")
            ]

    def dump(path, tables, into):
        if not os.path.exists(path):
            raise FileNotFoundError(2, "no such file", path)
        written = []
        db = sqlite3.connect(pathlib.Path(path).absolute().as_uri() + "?mode=ro", uri=True)
        try:
            for table in tables:
                name = '"' + table.replace('"', '""') + '"' if fixed else table
                rows = pd.read_sql_query(f"SELECT * FROM {name} LIMIT {MAX_ROWS}", db)
                written.append(os.path.join(into, f"{len(written)}.csv"))
                rows.to_csv(written[-1], index=False)
        except Exception:  # a missing table: what came before it counts
            pass
        finally:
            db.close()
        return written

    with tempfile.TemporaryDirectory() as scratch:
        for side in ("gold", "pred"):
            os.mkdir(os.path.join(scratch, side))
        tables = options.get("condition_tabs", []) or names(expected)
        golds = dump(expected, tables, os.path.join(scratch, "gold"))
        if not os.path.exists(result):
            return 0.0, f"no file {os.path.basename(result)}", {}
        preds = dump(result, tables, os.path.join(scratch, "pred"))
        if len(golds) != len(preds):
            return 0.0, f"{len(preds)} of {len(golds)} tables", {}
        columns = options.get("condition_cols", [[]] * len(golds))
        orders = options.get("ignore_order", [False] * len(golds))
        scores = [
            compare_csv(p, g, {"condition_cols": columns[i], "ignore_order": orders[i]}, fixed)[0]
            for i, (p, g) in enumerate(zip(preds, golds))
        ]
    parts = {f"table {tables[i]}": s for i, s in enumerate(scores)}
    return (min(scores) if scores else 0), "", parts
