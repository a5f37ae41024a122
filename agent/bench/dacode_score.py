"""Scores what an agent left for one task of DA-Code, with the packages of the managed environment alone.

It does what the public evaluator does (yiyihum/da-code, da_agent/evaluators); with FIXED, its faults are put right.
dsstar runs this text in a Python session and calls score_task.
"""
import difflib
import json
import math
import os
import pathlib
import re
import sqlite3
import tempfile
import warnings

import numpy as np
import pandas as pd

MAX_ROWS = 10000
TOLERANCE = 1e-2
LOSSES = {"logloss_class", "logloss_total", "rmsle", "rmse", "mae", "mse", "smape", "medae", "crps"}
MISSPELT = {"conditon_cols": "condition_cols", "cleaned_condition_cols": "condition_cols", "target_colunm": "target_column"}


# --- files and metrics of one task ------------------------------------------------------------------------------------

def score_task(task):
    """Returns {score, detail, parts} for {config, result, dir, gold_dir, fixed, value}."""
    config, fixed = task["config"], task["fixed"]
    pairs = aligned(config, task["result"], task["dir"], task["gold_dir"])
    scores, details, parts = [], [], {}
    try:
        for func, result, gold, options in pairs:
            if fixed:
                options = {MISSPELT.get(k, k): v for k, v in options.items()}
            options["config"] = config.get("config", {})
            try:
                one, detail, part = METRICS[func](result, gold, options, fixed)
            except FileNotFoundError as e:
                one, detail, part = 0.0, f"no file {os.path.basename(e.filename or str(e))}", {}
            scores.append(one)
            details.append(detail)
            parts.update(part)
    except Exception as e:  # what upstream's evaluator catches ends the task's metrics too
        scores.append(0.0)
        details.append(f"{type(e).__name__}: {e}".split("\n")[0][:300])
    scores = [float(s) if s is not None and not math.isnan(float(s)) else 0.0 for s in scores]
    if not scores:
        scores, details = [0.0], ["nothing to compare"]
    conj = {"avg": lambda s: sum(s) / len(s), "max": max, "min": min,
            "and": lambda s: float(all(s)), "or": lambda s: float(any(s))}[config.get("conj", "avg")]
    return {"score": conj(scores), "detail": "; ".join(d for d in details if d), "parts": parts}


def as_list(x):
    return list(x) if isinstance(x, list) else [x]


def aligned(config, result, directory, gold_dir):
    """The (metric, result, gold, options) to compare: single ones are repeated, longer ones cut to the shortest."""
    wanted = as_list(config["result"])
    is_plot = config.get("config", {}).get("task") == "data visualization"
    funcs = as_list(config["func"])
    options = config.get("options", [{}] * len(funcs))
    options = [dict(o or {}) for o in as_list(options)]
    if "number" in wanted[0]:
        golds = [wanted[0]["number"]]
        is_file = result.endswith((".txt", ".json", ".png", ".jpg", ".csv", ".npy"))
        results = named_files(result, directory, is_plot) if is_file else [result]
    else:
        golds = config_files(wanted, gold_dir, base=True)
        results = named_files(result, directory, is_plot)
        if len(results) != len(golds):
            results = config_files(wanted, directory, base=False)
    size = max(len(results), len(golds), len(funcs))
    columns = [c * size if len(c) == 1 and size > 1 else c for c in (funcs, results, golds, options)]
    size = min(map(len, columns))
    return [] if size == 0 else list(zip(*(c[:size] for c in columns)))


def named_files(text, directory, is_plot):
    names = [m[0] for m in re.findall(r"\b(?:[\w/\-_]+/)?([\w\-_]+(\.\w+)+)\b", text)]
    if not names:
        return []
    files = [os.path.join(directory, n) for n in names]
    if is_plot:
        return [files + [os.path.join(directory, "dabench/plot.json"), os.path.join(directory, "dabench/result.npy")]]
    return files


def config_files(wanted, directory, base):
    files = []
    for entry in wanted:
        paths = [os.path.join(directory, os.path.basename(f) if base else f) for f in as_list(entry["file"])]
        if entry.get("multi"):
            files.append(paths)
        else:
            files.extend(paths)
    return files


# --- tables -----------------------------------------------------------------------------------------------------------

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
    """For each gold column the numbers of the columns that are equal to it."""
    hashed = [buckets(c, ignore_order) for c in columns]
    found = []
    for gold in gold_columns:
        key = buckets(gold, ignore_order)
        hits = [i for i, h in enumerate(hashed) if h == key]
        found.append(hits + [i for i, c in enumerate(columns) if i not in hits and same_column(gold, c, ignore_order)])
    return found


def whole_rows(gold_columns, columns, found):
    """Which gold columns can be met by columns whose rows, taken together, are gold's rows in some order."""
    def rows(chosen):
        return sorted(zip(*chosen), key=lambda row: tuple((bucket(x) == "__NA__", str(bucket(x))) for x in row))

    golds, mine, met = [], [], []
    for gold, candidates in zip(gold_columns, found):
        hit = next((i for i in candidates if all(
            same_cell(x, y) for a, b in zip(rows(golds + [gold]), rows(mine + [columns[i]])) for x, y in zip(a, b))), None)
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
        scores.append(0 if gold is None else table_score(pred, gold, columns[i], rules[i], orders[i], totals[i], fixed))
    best = max(scores) if scores else 0
    return best, "" if best == 1 else f"{best:.3g} of the columns", {}


def compare_sqlite(result, expected, options, fixed):
    def names(path):
        with sqlite3.connect(pathlib.Path(path).absolute().as_uri() + "?mode=ro", uri=True) as db:
            return [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]

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
        except Exception:  # a table that is not there: what came before it counts
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
        scores = [compare_csv(p, g, {"condition_cols": columns[i], "ignore_order": orders[i]}, fixed)[0]
                  for i, (p, g) in enumerate(zip(preds, golds))]
    parts = {f"table {tables[i]}": s for i, s in enumerate(scores)}
    return (min(scores) if scores else 0), "", parts


# --- JSON text --------------------------------------------------------------------------------------------------------

class JSON5:
    """Reads JSON5 (json5.org): comments, single quotes, bare keys, trailing commas, hexadecimal, Infinity, NaN."""
    NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|Infinity|NaN|(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)")
    NAME = re.compile(r"[^\W\d][\w$\u200c\u200d]*|\$[\w$\u200c\u200d]*")
    SPACE = re.compile(r"(?:[\s\ufeff]|//[^\n\r\u2028\u2029]*|/\*[\s\S]*?\*/)*")

    def __init__(self, text):
        self.text, self.at = text, 0

    def load(self):
        value = self.value()
        self.space()
        if self.at != len(self.text):
            raise ValueError(f"unexpected {self.text[self.at:self.at + 20]!r}")
        return value

    def space(self):
        self.at = self.SPACE.match(self.text, self.at).end()

    def peek(self):
        self.space()
        return self.text[self.at:self.at + 1]

    def take(self, pattern):
        m = pattern.match(self.text, self.at)
        if not m:
            raise ValueError(f"unexpected {self.text[self.at:self.at + 20]!r}")
        self.at = m.end()
        return m.group()

    def value(self):
        c = self.peek()
        if c == "{":
            return dict(self.items("}", self.member))
        if c == "[":
            return list(self.items("]", self.value))
        if c in ('"', "'") and c:
            return self.string()
        for word, value in (("null", None), ("true", True), ("false", False)):
            if self.text.startswith(word, self.at) and not re.match(r"[\w$]", self.text[self.at + len(word):self.at + len(word) + 1]):
                self.at += len(word)
                return value
        text = self.take(self.NUMBER)
        if re.match(r"[\w$]", self.text[self.at:self.at + 1]):
            raise ValueError("a name after a number")
        if "x" in text.lower():
            return int(text, 16)
        if text.endswith(("Infinity", "NaN")):
            return float(text.replace("Infinity", "inf"))
        return float(text) if any(c in text for c in ".eE") else int(text)

    def items(self, end, one):
        self.at += 1
        while self.peek() != end:
            yield one()
            if self.peek() == ",":
                self.at += 1
            elif self.peek() != end:
                raise ValueError(f"unexpected {self.text[self.at:self.at + 20]!r}")
        self.at += 1

    def member(self):
        key = self.string() if self.peek() in ('"', "'") else self.take(self.NAME)
        if self.peek() != ":":
            raise ValueError("a key without a value")
        self.at += 1
        return key, self.value()

    def string(self):
        quote, out = self.text[self.at], []
        self.at += 1
        simple = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0", "\n": "", "\u2028": "", "\u2029": ""}
        while True:
            c = self.text[self.at:self.at + 1]
            self.at += 1
            if c == quote:
                return "".join(out)
            if c == "" or c in "\n\r":
                raise ValueError("text that does not end")
            if c != "\\":
                out.append(c)
                continue
            c = self.text[self.at:self.at + 1]
            self.at += 1
            if c in ("x", "u"):
                digits = self.take(re.compile(r"[0-9a-fA-F]{%d}" % (2 if c == "x" else 4)))
                out.append(chr(int(digits, 16)))
            elif c == "\r":
                self.at += self.text.startswith("\n", self.at)
            else:
                out.append(simple.get(c, c))


def read_text_answer(x):
    if isinstance(x, dict):
        return x
    if not isinstance(x, str):
        return None
    if x.endswith(".json"):
        try:
            with open(x) as f:
                text = f.read()
        except FileNotFoundError:
            return None
        for form in (text, text.replace("'", '"')):
            try:
                return json.loads(form)
            except ValueError:
                continue
        return None
    found = re.search(r"\{.*\}", x, re.DOTALL)
    if not found:
        return None
    try:
        return JSON5(found.group()).load()
    except ValueError:
        return None


def same_value(gold, said, ignore_order):
    kind = type(gold)
    if kind is float:
        return abs(gold - said) <= TOLERANCE
    if kind is int:
        return gold == said
    if kind is str:
        return gold.lower().strip() == said.lower().strip()
    if kind is list:
        if len(gold) != len(said) or len(gold) == 0:
            return False
        if ignore_order:
            key = lambda x: (x is None, str(x), isinstance(x, (int, float)))
            gold, said = sorted(gold, key=key), sorted(said, key=key)
        return all(type(g) is type(s) and same_value(g, s, ignore_order) for g, s in zip(gold, said))
    if kind is dict:
        return (gold.keys() == said.keys() and len(gold) > 0
                and all(type(g) is type(said[k]) and same_value(g, said[k], ignore_order) for k, g in gold.items()))
    raise AttributeError(f"no way to compare a {kind.__name__}")


def text_field(gold, said, ignore_order):
    def single(x):
        return x[0] if isinstance(x, list) and len(x) == 1 else x

    if type(single(gold)) is type(single(said)):
        gold, said = single(gold), single(said)
    elif isinstance(gold, list) and not isinstance(said, list):
        said = [said]
    elif isinstance(said, list) and not isinstance(gold, list):
        gold = [gold]
    try:
        said = type(gold)(said)
    except Exception:
        return False
    return same_value(gold, said, ignore_order)


def text_score(gold, said, rule, ignore_order, fixed):
    gold = {k.lower().strip(): v for k, v in gold.items()}
    said = {k.lower().strip(): v for k, v in said.items()}
    fields = {}
    for key, value in gold.items():
        mine = key
        if fixed and key not in said:  # a key that is misspelt in the right answer
            near = difflib.get_close_matches(key, [k for k in said if k not in gold], n=1, cutoff=0.9)
            mine = near[0] if near else key
        fields[key] = mine in said and text_field(value, said[mine], ignore_order)
    if rule == "all":
        return float(all(fields.values())), fields
    if rule == "devide" or fixed and rule == "divide":
        return sum(fields.values()) / len(fields), fields
    raise ValueError(f"no score rule {rule}")


def compare_text(result, expected, options, fixed):
    golds = [g for g in map(read_text_answer, as_list(expected)) if g is not None]
    saids = [s for s in map(read_text_answer, as_list(result)) if s is not None]
    if len(saids) == 1 and isinstance(saids[0], list):
        saids = [s for s in saids[0] if isinstance(s, dict)][:1]
    if not saids:
        return 0.0, "no JSON object in the answer", {}
    rule = options.get("score_rule", ["all"] * len(golds))
    ignore_order = options.get("ignore_order", False)
    ignore_order = ignore_order[0] if isinstance(ignore_order, list) and ignore_order else bool(ignore_order)
    best, fields = max((text_score(g, s, rule[i], ignore_order, fixed) for i, g in enumerate(golds) for s in saids),
                       key=lambda x: x[0])
    return best, "", {k: float(v) for k, v in fields.items()}


# --- charts -----------------------------------------------------------------------------------------------------------

def fuzz_ratio(a, b):
    """fuzz.ratio of fuzzywuzzy over difflib."""
    if a == b:
        return 100
    if not a or not b:
        return 0
    return int(round(100 * difflib.SequenceMatcher(None, a, b).ratio()))


def same_setting(key, result, gold, fixed):
    key = key.lower()
    if key == "figsize":
        return list(result.get(key, [])) == list(gold.get(key, []))
    if key == "color":
        def rgb(c):
            c = c.lstrip("#")
            return np.array([int(c[i:i + 2], 16) for i in (0, 2, 4)])

        def near(xs, ys):
            return all(any(np.sqrt(np.sum((x - y) ** 2)) <= 15 for y in ys) for x in xs)
        mine, theirs = [list(map(rgb, side.get(key, []))) for side in (result, gold)]
        return near(mine, theirs) and (not fixed or near(theirs, mine))
    if key == "type":
        return result.get(key, "").lower() == gold.get(key, "").lower()
    if key in ("graph_title", "x_label", "y_label", "legend_title"):
        mine, theirs = result.get(key, ""), gold.get(key, "")
        return not (theirs and not mine) and fuzz_ratio(mine.lower(), theirs.lower()) >= 90
    if key in ("labels", "xtick_labels", "ytick_labels"):
        mine, theirs = result.get(key, []), gold.get(key, [])
        return len(mine) == len(theirs) and all(any(fuzz_ratio(x.lower(), y.lower()) > 95 for y in theirs) for x in mine)
    raise ValueError(f"no key {key} of a plot")


def same_arrays(result, gold):
    if not os.path.exists(result):
        return False
    mine, theirs = np.load(result), np.load(gold)  # without pickles: they could run anything
    mine = mine.reshape(-1, 1) if mine.ndim == 1 else mine
    theirs = theirs.reshape(-1, 1) if theirs.ndim == 1 else theirs
    if mine.shape != theirs.shape:
        return False

    def close(a, b):
        return np.allclose(np.sort(a, axis=0), np.sort(b, axis=0), atol=TOLERANCE, equal_nan=True)
    with np.errstate(all="ignore"):
        return bool(close(mine, theirs) or close(mine / np.sum(mine), theirs / np.sum(theirs)))


def same_images(results, golds, color, size):
    from PIL import Image
    for gold in golds:
        if not os.path.exists(gold):
            raise AssertionError(f"gold path {gold} does not exist")
        mine = next((f for f in results if os.path.basename(gold) in f), "")
        if not mine or not os.path.exists(mine):
            return False
        a, b = Image.open(mine), Image.open(gold)
        if not color:
            a, b = a.convert("L"), b.convert("L")
        a, b = np.array(a), np.array(b)
        if a.shape != b.shape:
            if size or a.shape[2:] != b.shape[2:]:
                return False
            a = np.array(Image.fromarray(a).resize((b.shape[1], b.shape[0]), Image.Resampling.BILINEAR))
        if not np.allclose(a, b, atol=TOLERANCE):
            return False
    return True


def compare_image(results, expected, options, fixed):
    keys = options.get("keys", [])

    def kind(files, *ends):
        return [f for f in files if f.endswith(ends)]
    golds, npy = kind(expected, ".png", "jpg"), kind(expected, ".npy")
    if not golds or not npy:
        raise ValueError("the right answer needs an image and an array")
    if same_images(kind(results, ".png", "jpg"), golds, "color" in keys, "figsize" in keys):
        return 1.0, "", {"image": 1.0}
    data = same_arrays(kind(results, ".npy")[0], npy[0])
    parts = {"image": 0.0, "data": float(data)}
    mine, theirs = kind(results, ".json"), kind(expected, ".json")
    settings = True
    if mine and theirs:
        if os.path.exists(mine[0]):
            with open(mine[0]) as f, open(theirs[0]) as g:
                mine, theirs = json.load(f), json.load(g)
            same = {k: bool(same_setting(k, mine, theirs, fixed)) for k in (keys or theirs.keys())}
            parts.update({k: float(v) for k, v in same.items()})
            settings = all(same.values())
        else:
            settings = False
    return float(data and settings), "" if data else "other data", parts


# --- predictions ------------------------------------------------------------------------------------------------------

KINDS = ["binary classification", "multi classification", "cluster", "regression"]
LABELS = ["label", "labels", "class", "classes", "results", "result"]


def nearest(query, choices):
    """(choice, score) of fuzzywuzzy's extractOne, for scores over 90, which only texts of like length reach."""
    def plain(s):
        return re.sub(r"\W", " ", str(s).encode("ascii", "ignore").decode()).lower().strip()

    def score(a, b):
        if not a or not b or max(len(a), len(b)) / min(len(a), len(b)) >= 1.5:
            return 0
        x, y = " ".join(sorted(a.split())), " ".join(sorted(b.split()))
        s, t = set(a.split()), set(b.split())
        both = " ".join(sorted(s & t))
        left, right = ((both + " " + " ".join(sorted(d))).strip() for d in (s - t, t - s))
        sets = max(fuzz_ratio(both, left), fuzz_ratio(both, right), fuzz_ratio(left, right))
        return int(round(max(fuzz_ratio(a, b), fuzz_ratio(x, y) * 0.95, sets * 0.95)))
    query = plain(query)
    scored = [(c, score(query, plain(c))) for c in choices]
    return max(scored, key=lambda x: x[1])


def id_and_target(df, kind, wanted):
    if len(df.columns) == 1:
        return [], df.columns[0]
    target = wanted if wanted and wanted in df.columns else ""

    def incremental(column):
        values = column.sort_values().values
        return all(values[i] - values[i - 1] == 1 for i in range(1, len(values)))

    def could_be(column):
        n = df[column].nunique()
        if kind == "binary":
            return n == 2
        if kind == "multi":
            return 2 < n < 10
        if kind == "cluster":
            return 1 <= n < max(0.01 * len(df), 10)
        return (kind == "regression" and str(df[column].dtype) in ("int64", "float64")
                and not incremental(df[column]) and n > max(3, 0.1 * len(df)))
    ids, targets = [], []
    for column in df.columns:
        if ("id" in column.lower() or "unnamed" in column.lower()) and df[column].nunique() > 0.8 * len(df):
            ids.append(column)
        elif not target and could_be(column):
            targets.append(column)
    if not target:
        target = targets[0] if len(targets) == 1 else next((c for c in targets if c.lower() in LABELS), "")
    return ids, target


def prepare(df, kind, wanted):
    """The table without its id columns, these, and the name of the column that is predicted."""
    wanted = "Cluster" if kind == "cluster" else wanted
    target = ""
    if wanted:
        best, score = nearest(wanted, list(df.columns))
        target = best if score > 90 else ""
    ids, found = id_and_target(df, kind, wanted)
    ids = [c for c in ids if "pca" not in c.lower() and "feature" not in c.lower()]
    return df.drop(columns=ids), ids, target or found


def kind_of(config):
    best, score = nearest(config.get("type", ""), KINDS)
    if score <= 90:
        raise ValueError(f"no type of task {config.get('type')}")
    return best.split(" ")[0]


def compare_ml(result, expected, options, fixed):
    config = options["config"]
    kind = kind_of(config)
    gold_path = next((f for f in as_list(expected) if f.endswith(".csv")), "")
    path = next((f for f in as_list(result) if f.endswith(".csv")), "")
    if kind != "cluster" and not os.path.exists(gold_path):
        raise FileNotFoundError(2, "no such file", gold_path)
    if not os.path.exists(path):
        return 0.0, f"no file {os.path.basename(path)}", {}
    mine = pd.read_csv(path)
    if kind == "cluster":
        mine, _, target = prepare(mine, kind, "")
        if not target:
            return 0.0, "no column Cluster", {}
        said, gold = mine[target], pd.Series(dtype="float64")
    else:
        theirs = pd.read_csv(gold_path)
        if len(theirs) != len(mine):
            return 0.0, f"{len(mine)} rows, not {len(theirs)}", {}
        raw_mine, raw_theirs = mine, theirs
        theirs, ids, gold_target = prepare(theirs, kind, options.get("target_column", ""))
        mine, _, target = prepare(mine, kind, gold_target)
        if not target:
            return 0.0, f"no column like {gold_target}", {}
        if fixed and ids and ids[0] in raw_mine.columns:  # by id, not by place
            order = [raw.sort_values(by=ids[0], kind="stable").index for raw in (raw_mine, raw_theirs)]
            mine, theirs = mine.loc[order[0]].reset_index(drop=True), theirs.loc[order[1]].reset_index(drop=True)
        said, gold = mine[target], theirs[gold_target]
    metric = config.get("metric", "")
    if metric == "silhouette":
        return scaled(metric, silhouette(mine, said), config, options, fixed)
    return scaled(metric, measure(metric, said, gold, kind, "", fixed), config, options, fixed)


def compare_competition_ml(result, expected, options, fixed):
    config = options["config"]
    kind = kind_of(config)
    results, golds = as_list(result), as_list(expected)
    if len(results) != 1 or len(golds) != 1:
        raise ValueError("one file is compared with one")
    if not os.path.exists(golds[0]):
        raise FileNotFoundError(2, "no such file", golds[0])
    if not os.path.exists(results[0]):
        return 0.0, f"no file {os.path.basename(results[0])}", {}
    gold, mine = pd.read_csv(golds[0]), pd.read_csv(results[0])
    if len(gold) != len(mine):
        return 0.0, f"{len(mine)} rows, not {len(gold)}", {}
    if set(gold.columns) != set(mine.columns):
        return 0.0, f"other columns: {sorted(map(str, set(gold.columns) ^ set(mine.columns)))}"[:300], {}
    key = next((c for c in gold.columns if "id" in c.lower()), "")
    if key and gold[key].nunique() > max(0.6 * len(gold), 2):
        if set(gold[key]) != set(mine[key]):
            return 0.0, f"other values of {key}", {}
        gold = gold.sort_values(by=key).drop(columns=[key])
        mine = mine.sort_values(by=key).drop(columns=[key])
    gold, mine = gold.sort_index(axis=1), mine.sort_index(axis=1)
    metric = config.get("metric", "").lower().strip().replace(" ", "_")
    return scaled(metric, measure(metric, mine, gold, kind, options.get("average", ""), fixed), config, options, fixed)


def scaled(metric, measured, config, options, fixed):
    score, error = measured
    if error and score == 0.0:
        return 0.0, error, {}
    parts = {metric: float(score)} if math.isfinite(score) else {}
    if options.get("scale", True):
        low, high = config.get("lower_bound", 0.0), config.get("upper_bound", 0.9)
        if fixed and metric in LOSSES:  # the less the better, whichever way round the bounds are written
            low, high = max(low, high), min(low, high)
        score = min(max((score - low) / (high - low), 0), 1)
    return score, f"{metric} {parts.get(metric, math.nan):.6g}", parts


def measure(metric, said, gold, kind, average, fixed):
    """(score, error) of a metric; what upstream raises, this raises."""
    if metric in ("accuracy", "f1"):
        return labels(metric, said, gold, average, fixed)
    if metric == "roc_auc_score":
        return roc_auc(said, gold, kind, fixed)
    if metric == "quadratic_weighted_kappa":
        return kappa(said, gold, fixed)
    if metric in ("logloss_class", "logloss_total"):
        return logloss(metric, said, gold, fixed)
    if metric == "crps":
        return guarded(crps, said.to_numpy(), gold.to_numpy())
    from sklearn import metrics
    x, y = said.to_numpy(), gold.to_numpy()
    if metric == "r2":
        if not np.issubdtype(x.dtype, np.number):
            return 0.0, "an answer that is no number"
        return guarded(metrics.r2_score, y, x)
    if metric == "rmsle":
        def rmsle(y, x):
            score = metrics.mean_squared_log_error(y, np.clip(x, 0, None))
            return math.sqrt(score) if fixed else score
        return guarded(rmsle, y, x)
    if metric == "smape":
        return guarded(smape, x, y)
    func = {"rmse": lambda y, x: math.sqrt(metrics.mean_squared_error(y, x)), "mse": metrics.mean_squared_error,
            "mae": metrics.mean_absolute_error, "medae": metrics.median_absolute_error}
    if metric not in func:
        raise AttributeError(f"no metric {metric}")
    return guarded(func[metric], y, x)


def guarded(func, *args):
    try:
        return func(*args), ""
    except Exception as e:
        return 0.0, f"{type(e).__name__}: {e}".split("\n")[0][:300]


def labels(metric, said, gold, average, fixed):
    from sklearn import metrics, preprocessing
    encoder = preprocessing.LabelEncoder()
    if metric == "f1" or fixed:
        said, gold = [c.iloc[:, 0] if isinstance(c, pd.DataFrame) else c for c in (said, gold)]
    if isinstance(gold, pd.DataFrame):  # upstream hands scikit-learn a dict of columns, which it refuses
        return 0.0, "accuracy of a table"

    def whole(column):
        if any(t in str(column.dtype).lower() for t in ("float", "bool")):
            return list(column.astype(int))
        return list(column) if "int" in str(column.dtype) else None

    def encoded(column):
        names = [x.lower().strip() for x in column]
        return encoder.transform(names) if hasattr(encoder, "classes_") else encoder.fit_transform(names)
    try:
        y, x = whole(gold), whole(said)
        if fixed and (x is None or y is None):
            names = [[str(v).lower().strip() for v in c] for c in (gold, said)]
            encoder.fit(names[0] + names[1])
            y, x = (encoder.transform(n) for n in names)
        y = encoded(gold) if y is None else y
        x = encoded(said) if x is None else x
    except Exception as e:
        return 0.0, f"labels: {e}"[:300]
    if metric == "f1":
        return guarded(lambda: metrics.f1_score(y, x, average=average or "weighted"))
    if not fixed and isinstance(y, np.ndarray):
        y = x  # upstream compares text labels with themselves
    return guarded(lambda: metrics.accuracy_score(y, x))


def roc_auc(said, gold, kind, fixed):
    from sklearn import metrics
    x, y = said.to_numpy(), gold.to_numpy()
    if kind == "binary":
        x, y = (a.reshape(-1, 1) if a.ndim == 1 else a for a in (x, y))
        return guarded(lambda: float(sum(metrics.roc_auc_score(y[:, i], x[:, i]) for i in range(y.shape[1])) / y.shape[1]))
    if kind != "multi":
        raise TypeError(f"roc_auc_score of a {kind}")
    if len(np.argwhere(np.sum(y == 1, axis=1) == 1)) != y.shape[0]:
        raise ValueError("each right row needs one 1")
    if x.ndim != 2 or x.shape[-1] < 3 or not np.allclose(np.sum(x, axis=1), 1):
        raise ValueError("rows of three or more probabilities that add up to 1 are needed")
    classes = np.argmax(y == 1, axis=1)
    if fixed:
        return guarded(lambda: metrics.roc_auc_score(classes, x, multi_class="ovr", labels=np.arange(x.shape[1])))
    return guarded(lambda: metrics.roc_auc_score(classes, x))  # refused, as no way for several classes is named


def kappa(said, gold, fixed):
    from sklearn import metrics
    x, y = said.to_numpy().flatten(), gold.to_numpy().flatten()

    def upstream():
        a = x.astype(y.dtype) if x.dtype != y.dtype else x
        n = len(np.unique(y))
        observed = metrics.confusion_matrix(y, a, labels=np.arange(n))
        place = np.arange(n)
        weights = (place[:, None] - place[None, :]) ** 2 / (n - 1) ** 2
        if min(y) != min(a) or max(y) != max(a):
            raise ValueError("other range of labels")
        least = min(y)
        counts = [np.bincount(v - least, minlength=n) for v in (y, a)]
        chance = np.outer(*counts)
        chance = chance / chance.sum() * observed.sum()
        return 1 - np.sum(weights * observed) / np.sum(weights * chance)
    if fixed:
        return guarded(lambda: metrics.cohen_kappa_score(y, x.astype(y.dtype), weights="quadratic",
                                                         labels=np.arange(min(y.min(), x.min()), max(y.max(), x.max()) + 1)))
    with np.errstate(all="ignore"):
        return guarded(upstream)


def logloss(metric, said, gold, fixed):
    x, y = said.to_numpy(), gold.to_numpy()
    with np.errstate(all="ignore"):
        if metric == "logloss_class":
            x = x / x.sum(axis=0 if x.ndim == 1 else 1, keepdims=True)
        else:
            x = x / (x.sum(axis=1, keepdims=True) + 1e-15)
    x = np.clip(x, 1e-15, 1 - 1e-15)
    if x.shape != y.shape:
        return 0.0, "other shape"

    def loss():
        hit = np.multiply(y, x) != 0
        logs = np.zeros_like(x, dtype=float)
        logs[hit] = np.log(x[hit]) if fixed else np.log2(x[hit])
        sums = np.sum(logs, axis=0)
        per = np.count_nonzero(y, axis=0) if metric == "logloss_class" else y.shape[0]
        total = -float(np.sum(sums / per))
        if fixed:
            return total / (y.shape[1] if metric == "logloss_class" and y.ndim > 1 else 1)
        return total / 2
    with np.errstate(all="ignore"):
        return guarded(loss)


def smape(x, y):
    x, y = (a.reshape(-1, 1) if a.ndim == 1 else a for a in (x, y))
    half = (np.abs(x) + np.abs(y)) / 2.0
    half[half == 0] = np.nan
    with np.errstate(all="ignore"):
        return float(np.nanmean(np.where(np.isnan(half), 0, np.abs(x - y) / half))) * 100


def crps(x, y):
    x, y = (a.reshape(-1, 1) if a.ndim == 1 else a for a in (x, y))
    total = 0.0
    for col in range(y.shape[-1]):
        values, counts = np.unique(x[:, col], return_counts=True)
        share = dict(zip(values, np.cumsum(counts) / len(x)))
        share[-math.inf], share[math.inf] = 0.0, 1.0
        for right in y[:, col]:
            total += sum(q ** 2 if v < right else (q - 1) ** 2 for v, q in share.items())
    return float(total / y.shape[1])


def silhouette(table, clusters):
    from sklearn.metrics.pairwise import pairwise_distances
    from sklearn.preprocessing import LabelEncoder
    from sklearn.utils import resample
    clusters = np.array(clusters)
    table = table.copy()
    for column in table.columns:
        try:
            pd.to_numeric(table[column])
        except ValueError:
            try:
                table[column] = LabelEncoder().fit_transform(table[column])
            except Exception:
                return 0.0, f"a column {column} that is no number"
    if len(np.unique(clusters)) == 1:
        return 0.0, "one cluster only"

    def score():
        data, names = table, clusters
        if len(names) > 6000:
            data, names = resample(data, names, n_samples=6000, random_state=42, stratify=names)
        distances = pairwise_distances(data, metric="euclidean")
        kinds = np.unique(names)
        to = np.stack([distances[:, names == k].mean(axis=1) for k in kinds], axis=1)
        own = names[:, None] == kinds[None, :]
        a = to[own]
        b = np.where(own, np.inf, to).min(axis=1)
        mean = float(np.mean((b - a) / np.maximum(a, b)))
        return 0.0 if mean < 0 else mean
    with np.errstate(all="ignore"):
        return guarded(score)


METRICS = {"compare_csv": compare_csv, "compare_sqlite": compare_sqlite, "compare_text": compare_text,
           "compare_image": compare_image, "compare_ml": compare_ml, "compare_competition_ml": compare_competition_ml}


def main(tasks):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return json.dumps([score_task(t) for t in tasks])
