"""Compares what profiles of the tables of made.py say, and what their calls read, with what was
made, and prints what is not so: check.py PROGRAM FIRST-SEED COUNT [large]."""

import collections
import contextlib
import copy
import datetime
import gzip
import importlib
import json
import math
import os
import re
import sys
import tempfile
import traceback

import pandas as pd

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(__file__))
from made import TEXTS, as_text, make, names_of, write  # noqa: E402

MODULES = {"pa": "pyarrow", "pq": "pyarrow.parquet", "np": "numpy"}


def faults(case, path, log=None):
    """What the profile says, or its call reads, that is not so."""
    of = sys.modules["dsstar_profile.profile"]
    found = json.loads(of.in_words(of.profile(path, 60)))
    out = []
    if found.get("problem"):
        return [f"problem: {found['problem']}"]
    tables = found.get("tables", [])
    if len(tables) != len(case.tables):
        return [f"tables: {len(tables)} of {found['headline']}: {str(found)[:300]}"]
    about = " ".join([*found.get("warnings", []), *(w for t in tables for w in t.get("warnings", []))])
    notes = " ".join(n for t in tables for c in t["columns"] for n in c.get("notes", []))
    encoding = "guess by its letters" in about and found.get("encoding") != case.dress["encoding"]
    numbers = "guess in this file" in notes or "which is decimal is a guess" in notes
    marked = {"encoding": encoding, "numbers": numbers, "names": "is a guess: the first ones" in about,
              "totals": "may be totals of others, a guess" in about}
    if log is not None:
        log.update(k for k, v in marked.items() if v)
    for columns, said in zip(case.tables, tables):
        if marked["totals"]:
            continue  # a total counts as a row then
        try:
            out += of_table(columns, said, case, marked, path, log)
        except Exception:
            out.append("checker: " + traceback.format_exc()[-600:])
    return out


def of_table(columns, said, case, marked, path, log):
    rows, out = len(columns[0].values), []
    names = [label(n) for n in names_of(columns, case)]
    fewer = said.get("least") and said["rows"] <= rows  # "at least"
    if said["rows"] != rows and not said.get("guessed") and not fewer:
        out.append(f"rows: {said['rows']}, made {rows}")
    if not said.get("guessed") and not fewer and f"{rows:d} row" not in said["headline"]:
        out.append(f"headline: {said['headline']}")
    if [c["name"] for c in said["columns"]] != names and not marked["encoding"] and not marked["names"]:
        out.append(f"names: {[c['name'] for c in said['columns']]}, made {names}")
    if out or len(said["columns"]) != len(columns):
        return out + ["call of these: " + said.get("call", "none")]
    if "sample" not in said and said.get("duplicates", 0) != rows - len(set(zip(*(map(str, c.values) for c in columns)))):
        out.append(f"duplicates: {said.get('duplicates')}")
    names = [c["name"] for c in said["columns"]]  # which differ where the encoding is a guess
    for key in said.get("keys", []) if "sample" not in said else ():
        of = [c.values for c, n in zip(columns, names) if n in key]
        if of and len(set(zip(*of))) < rows:
            out.append(f"key: {key}")
    out += [f"relation: {f}" for f in said.get("follows", ()) if "sample" not in said and not holds(f, dict(zip(names, columns)))]
    for c, told in zip(columns, said["columns"]):
        out += [f"{c.kind} {c.form} {told['name']}: {f}" for f in of_column(c, told, said, case, marked)]
    if call := said.get("call"):
        try:
            out += read_by(call, columns, said, case, marked, path)
        except Exception as error:
            out.append(f"call fails: {call}: {error!r}")
    elif log is not None:
        log["no call"] += 1
        log[f"no call: {case.format}"] += 1
        print("no call", case.seed, case.format)
    if call is None and not re.search("no call (of pandas|that reads)|no time to try", " ".join(said.get("warnings", []))):
        out.append("silent: no call and no word of it")
    return out


def holds(said, columns):
    """Whether what is said of columns is so in all rows."""
    def pairs(*names):
        return set(zip(*(columns[n].values for n in names)))

    if m := re.fullmatch("(.+) follows from (.+)", said):
        return len(pairs(*m.groups())) == len(pairs(m[2]))
    if m := re.fullmatch("(.+) and (.+) correspond one to one", said):
        return len(pairs(*m.groups())) == len(pairs(m[1])) == len(pairs(m[2]))
    made, how = said.split(" = ", 1)
    if m := re.match(r"sum of (.+) … (.+) \(", how):
        names = list(columns)
        rows = pairs(made, *names[names.index(m[1]) : names.index(m[2]) + 1])
        signs = "+"
    else:
        m = re.fullmatch(r"(.+) ([-+−×/]) (.+?)( × 100)?", how)
        rows, signs = pairs(made, m[1], m[3]), m[2] + (m[4] or "")
    of = {"+": sum, "−": lambda v: v[0] - v[1], "×": math.prod, "/": lambda v: v[0] / v[1] if v[1] else math.inf,
          "/ × 100": lambda v: 100 * v[0] / v[1] if v[1] else math.inf}[signs]
    slack = 0.51 * 10 ** -columns[made].digits
    return all(None in row or not math.isfinite(of(row[1:])) or abs(row[0] - of(row[1:])) <= slack for row in rows)


def label(name):
    return sys.modules["dsstar_profile.values"].label(name)


def of_column(c, told, said, case, marked):
    """What is said of a column that is not so."""
    text = case.format in TEXTS or case.format == "html"
    given = [v for v in c.values if v is not None]
    notes, rows = " ".join(told.get("notes", [])), len(c.values)
    guess = "guess" in notes or marked["numbers"] and c.type == "number" or marked["encoding"] and (c.type == "text" or c.kind == "money")
    whole, sample = told.get("whole"), "sample" in said
    kinds = {"flag": {"boolean", "text", "number"}}.get(c.type, {c.type})
    if told["type"] not in kinds and not guess:
        return [f"type {told['type']}, made {c.type}: {told['line'][:200]}"]
    out = []
    gone = told["gone"] if whole else sum(told.get("missing", {}).values())
    if told["type"] != "empty" and "may stand for missing" not in notes and (whole or not sample) and gone != rows - len(given):
        out.append(f"missing {gone}, made {rows - len(given)}: {told['line'][:200]}")
    distinct = len(set(given))
    if (not sample or whole and told.get("counted")) and told.get("distinct", 0) != distinct and not guess:
        out.append(f"distinct {told.get('distinct')}, made {distinct}: {told['line'][:200]}")
    if told.get("unique") and (distinct < rows if not sample else not whole and distinct < rows):
        out.append("unique")
    if told.get("integer") and not guess and not sample and any(v != int(v) for v in given if c.type == "number"):
        out.append("integer")
    if not sample and told.get("zeros", 0) != sum(v == 0 for v in given) and told["type"] == "number" == c.type and not guess:
        out.append(f"zeros {told.get('zeros')}")
    if told.get("values") and not sample and sorted(n for _, n in told["values"]) != sorted(collections.Counter(given).values()) and not guess:
        out.append(f"values {told['values']}")
    if given and told.get("range") and not guess and c.type in ("number", "date"):
        low, high = min(given), max(given)
        exact = not sample or whole and not told.get("sampled")
        ends = [as_value(c, v, text) for v in told["range"]]
        if not all(inside(a, b, exact, n) for n, (a, b) in enumerate(zip(ends, (low, high)))):
            out.append(f"range {told['range']}, made {low} to {high}: {notes}")
        if exact and c.type == "number" and (m := re.match(r"(?:integer|number) (about )?(-?[\d.e+]+) to (-?[\d.e+]+)", told["line"])):
            if not all(math.isclose(float(x), v, rel_tol=1e-5 if m[1] else 1e-9) for x, v in zip(m.groups()[1:], (low, high))):
                out.append(f"words {told['line'][:100]}, made {low} to {high}")
    return out


def as_value(c, value, text):
    if c.type != "date":
        return value
    try:
        return datetime.datetime.strptime(str(value), c.form if text else "%Y-%m-%d" if len(str(value)) == 10 else "%Y-%m-%d %H:%M:%S")
    except ValueError:
        return pd.Timestamp(value).to_pydatetime()


def inside(a, b, exact, end):
    if isinstance(a, datetime.datetime):
        return a == b if exact else a <= b if end else a >= b
    close = math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    return close or not exact and (a <= b if end else a >= b)


def read_by(call, columns, said, case, marked, path):
    """What the call reads that is not what was made."""
    names = {"pd": pd, "json": json, "gzip": gzip, "path": path}
    names |= {m: importlib.import_module(MODULES.get(m, m)) for m in re.findall(r"\b(pa|pq|np|sqlite3|duckdb|yaml|zipfile|pyreadstat)\.", call)}

    frame = eval(call, names)
    index = frame.index.nlevels if re.search(r"index_col=[\[\d]", call) else 0
    if index:
        frame = frame.reset_index()
    if case.dress["below"] == "total" and said.get("guessed"):
        frame = frame[: len(columns[0].values)]  # whose last row nobody has seen
    if frame.shape != (len(columns[0].values), len(columns)):
        return [f"call gives {frame.shape}: {call}"]
    out = []
    by = {"orc", "json", "jsonl"}
    for n, (c, told) in enumerate(zip(columns, said["columns"])):
        got = frame.columns[n]
        parts = [str(g) for g in got if not str(g).startswith("Unnamed: ")] if isinstance(got, tuple) else [str(got)]
        name = told["name"]
        if not (n < index or " / ".join(parts) == name or label(parts[-1] if parts else "") == name or re.match(rf"column {n + 1}\b", name) or parts[-1:] == [name.split(" / ")[-1]]):
            out.append(f"call names {got}, said {name}: {call}")
        wrong = [(g, v) for g, v in zip(frame.iloc[:, n].tolist(), c.values) if not equal(g, v, c, told, case, marked)]
        if wrong:
            out.append(f"call reads {c.kind} {c.form} {name} wrongly {len(wrong)} times: {wrong[:2]}: {call}: {told['line'][:160]}")
    return out


def equal(got, value, c, told, case, marked):
    """Whether a value that a call reads is the one that was made, as far as a call can tell."""
    gone = got is None or got is pd.NA or got != got
    if value is None or gone:
        return value is None and (gone or case.format in ("dta", "sav") and got == "")
    if isinstance(got, str):
        if isinstance(value, str):
            return got == value or marked["encoding"]
        if case.format not in TEXTS and case.format != "html":
            return isinstance(value, datetime.datetime) and pd.Timestamp(got) == value
        if marked["encoding"] and c.kind == "money":
            return True
        said = "text" in told["line"] or case.format == "html" and "written as" in told["line"]
        return got == as_text(c, value, case.dress) and (c.type != "number" or said or told.get("long") or c.kind == "money")
    if isinstance(value, datetime.datetime):
        return str(int(got)) == value.strftime("%Y%m%d") if isinstance(got, (int, float)) else pd.Timestamp(got) == value
    if isinstance(value, bool):
        return bool(got) == value
    if isinstance(value, str):
        return False
    return math.isclose(got, value, rel_tol=1e-9, abs_tol=1e-12) and (c.kind != "long" or int(got) == value) or marked["numbers"]


def smaller(case, path_of):
    """A case with fewer columns and rows that still has a fault."""
    def fails(case):
        try:
            return bool(faults(case, path_of(case)))
        except Exception:
            return True

    for t in range(len(case.tables) - 1, -1, -1):
        for n in range(len(case.tables[t]) - 1, 1, -1):
            less = copy.deepcopy(case)
            del less.tables[t][n]
            if fails(less):
                case = less
    for share in (2, 2, 2, 2, 2, 2):
        less = copy.deepcopy(case)
        for columns in less.tables:
            for c in columns:
                c.values = c.values[: len(c.values) // share]
        if len(less.tables[0][0].values) > 3 and fails(less):
            case = less
    return case


def main(program, first, count, size=""):
    exec(open(program).read(), {})
    folder, log, bad = tempfile.mkdtemp(), collections.Counter(), 0
    def path_of(case):
        return write(case, folder)

    for seed in range(int(first), int(first) + int(count)):
        case = make(seed, bool(size))
        try:
            path = path_of(case)
            found = faults(case, path, log)
        except Exception:
            found = ["checker: " + traceback.format_exc()[-900:]]
        log["pairs"] += 1
        if found:
            bad += 1
            print(f"== {seed} {case.format} {len(case.tables[0][0].values)} rows {case.dress}")
            if not size:
                case = smaller(case, path_of)
                with contextlib.suppress(Exception):
                    found = faults(case, path_of(case))
                print(f"   smaller: {len(case.tables[0][0].values)} rows of {[c.name for c in case.tables[0]]}")
            for f in found[:4]:
                print("  ", f[:700])
            sys.stdout.flush()
    print("figures:", json.dumps(log), file=sys.stderr)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
