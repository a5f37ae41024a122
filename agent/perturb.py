"""Runs cells again with the largest table that they read perturbed, and prints in one line what
becomes of their answer."""

import contextlib
import functools
import importlib
import io
import json
import os
import re
import select
import signal
import sys
import time

CELLS, LAST, RELATION, QUESTION = json.loads("GIVEN")
LEAST = 10  # seconds that all runs together have; more if the cells take more
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files")
READERS = {
    "pandas": "csv table fwf excel parquet feather orc json html xml stata sas spss sql",
    "polars": "csv parquet excel json ndjson ipc database",
}
WAYS = ["leave", "resample", "shuffle", "leave", "leave", "leave", "resample"]
NUMBER = re.compile(r"[-\u2212]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


def columns(table):
    return [str(c) for c in table.columns]


def perturbed(table, way, seed):
    """A table with a tenth of its rows left out, its rows drawn again, or its columns shuffled."""
    import numpy

    rng, n = numpy.random.default_rng(seed), len(table)
    if way == "leave":
        rows = numpy.sort(rng.permutation(n)[: n - max(1, n // 10)])
    else:
        rows = numpy.sort(rng.integers(0, n, n))
    if type(table).__module__.startswith("polars"):
        if way == "shuffle":
            return table.select([s.gather(rng.permutation(n)) for s in table.get_columns()])
        return table[rows.tolist()]
    if way == "shuffle":
        table = table.copy()
        for c in range(table.shape[1]):
            table.isetitem(c, table.iloc[rng.permutation(n), c].set_axis(table.index))
        return table
    import pandas

    plain = isinstance(table.index, pandas.RangeIndex)
    return table.iloc[rows].reset_index(drop=True) if plain else table.iloc[rows]


def wrap(read, seen, targets, way, seed):
    """A reader that notes the sizes of tables, or perturbs those of the targets."""

    def change(source, table):
        if isinstance(table, dict):
            return {k: change(f"{source} {k}", v) for k, v in table.items()}
        if isinstance(table, list):
            return [change(f"{source} {k}", v) for k, v in enumerate(table)]
        if type(table).__name__ != "DataFrame":
            return table
        seen.setdefault(source, [len(table), columns(table)])
        changes = way and source in targets and len(table) > 1
        return perturbed(table, way, seed) if changes else table

    @functools.wraps(read)
    def reader(*args, **kw):
        if wrap.inside:
            return read(*args, **kw)
        wrap.inside = True
        try:
            source = f"{[*args[:1], *kw.values()][:1]} {kw.get('sheet_name', '')}"
            return change(source, read(*args, **kw))
        finally:
            wrap.inside = False

    return reader


wrap.inside = False


def answer(n, targets, way, seed):
    """What the cells print at last, and which tables they read."""
    seen = {}
    for library, kinds in READERS.items():
        if library == "polars" and not re.search(r"\bpolars\b", CELLS + LAST):
            continue
        module = importlib.import_module(library)
        for kind in kinds.split():
            if read := getattr(module, "read_" + kind, None):
                setattr(module, "read_" + kind, wrap(read, seen, targets, way, seed))
    base = os.path.join(FOLDER, f"perturbed{n}")
    os.makedirs(base, exist_ok=True)
    names = {"__name__": "__main__", "__file__": os.path.join(base, "solution.py")}
    printed = io.StringIO()
    exec(compile(CELLS, "solution.py", "exec"), names)
    with contextlib.redirect_stdout(printed):
        exec(compile(LAST, "solution.py", "exec"), names)
    return printed.getvalue().strip(), seen


def run(n, limit, targets=(), way="", seed=0):
    """What a child gives within a limit: its answer and tables, or why there are none."""
    out, put = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.close(out)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        try:
            said = [*answer(n, targets, way, seed), ""]
        except BaseException as error:
            said = ["", {}, f"{type(error).__name__}: {error}"[:200]]
        with os.fdopen(put, "w") as pipe:
            json.dump(said, pipe)
        os._exit(0)
    os.close(put)
    text, end = b"", time.monotonic() + limit
    while select.select([out], [], [], max(0, end - time.monotonic()))[0]:
        if not (part := os.read(out, 1 << 16)):
            break
        text += part
    os.close(out)
    for kill in (lambda: os.killpg(child, signal.SIGKILL), lambda: os.kill(child, signal.SIGKILL)):
        with contextlib.suppress(OSError):
            kill()
    os.waitpid(child, 0)
    try:
        return json.loads(text)
    except ValueError:
        return ["", {}, "time" if time.monotonic() >= end else "the cells ended Python"]


# The first word that asks says whether a name is asked for: "what is" asks for a figure.
ASKS = re.compile(
    r"(?i)\b(?:(which|who|whose|welche[rs]?|wer|when (?=did|does|do|was|were|is|are|has|had)|wann"
    r"|what (?!is|was|are|were|percent|share|fraction|proportion|number|amount|difference|correlation))"
    r"|what|how|is there|are there|does|did|calculate|compute|correlat\w+)\b"
)
NAMED = bool((asks := ASKS.search(QUESTION)) and asks[1])
P_VALUE = re.compile(r"(?i)p-?\s?values?\b|significan|signifikan").search(QUESTION)
DATE = re.compile(r"\d{1,4}([-/.])\d\d?\1\d{1,4}|\d{4}-\d\d(?!\d)|\d\d?:\d\d(?::\d\d)?")


def names(text):
    """An answer without its figures. Years, dates and what is joined to letters are names, and where a
    name is asked for, so are whole numbers without a sign of their unit. Of figures the sign counts."""
    dates = [range(*m.span()) for m in DATE.finditer(text)]

    def figure(m):
        value = float(m[0].replace(",", "").replace("\u2212", "-"))
        year = value == int(value) and 1900 <= value <= 2100 and m[0].isdigit()
        unit = text[m.end() : m.end() + 2].strip()[:1] in "%€$£" and m.end() < len(text)
        unit = unit or text[: m.start()].strip()[-1:] in tuple("€$£")
        glued = re.search(r"[^\W\d]-?$", text[: m.start()]) or any(m.start() in d for d in dates)
        name = year or glued or NAMED and m[0].isdigit() and not unit
        return m[0] if name else "-#" if value < 0 else "0" if value == 0 else "#"

    return " ".join(NUMBER.sub(figure, text).casefold().split())


def number(text):
    bare = names(text).rstrip("% ")
    return float(text.replace(",", "").rstrip("% ")) if bare in ("#", "-#", "0") else None


def span(values):
    texts = sorted({f"{v + 0:.4g}" for v in values}, key=float)
    return texts[0] if len(texts) == 1 else f"{texts[0]} to {texts[-1]}"


def told():
    begin = time.monotonic()
    base, seen, problem = run(0, 1e6)
    budget = max(LEAST, time.monotonic() - begin)
    if problem or not base:
        return f"not perturbed: the cells fail in plain Python: {problem or 'no answer'}"
    if not any(n > 1 for n, _ in seen.values()):
        return "not perturbed: the cells read no table by a function of pandas or Polars"
    most, has = max(seen.values())
    targets = {source for source, (_, c) in seen.items() if c == has}
    got, end = {}, time.monotonic() + budget
    for seed, way in enumerate(WAYS, 1):
        if way == "shuffle" and not RELATION:
            continue
        again, _, problem = run(seed, end - time.monotonic(), targets, way, seed)
        if problem == "time":
            break
        if problem or not again:
            if way == "shuffle":
                continue
            what = {"leave": "a tenth of the rows left out", "resample": "rows drawn again"}[way]
            return f"not perturbed: with {what} the cells fail: {problem or 'no answer'}"
        got.setdefault(way, []).append(again)
    kept = got.get("leave", []) + got.get("resample", [])
    if not kept:
        return "not perturbed: there was no time for it"
    same = sum(names(a) == names(base) for a in kept)
    figures = {way: [number(a) for a in all] for way, all in got.items()}
    left = len(got.get("leave", []))
    ways = [("leave", f"leaving out a tenth of the rows {left} time{'s' * (left > 1)}"),
            ("resample", "rows drawn again"), ("shuffle", "columns shuffled")]
    parts = [
        f"{what} gives {span(figures[way])}"
        for way, what in ways
        if figures.get(way) and None not in [*figures[way], number(base)]
    ]
    if P_VALUE and None not in (values := [number(a) for a in [base, *kept]]):
        sides = {v < 0.05 for v in values}
        return ", ".join(parts) + "; the claim does not hold: it is on both sides of 0.05" * (len(sides) > 1)
    same_in = f"the same answer in {same} of {len(kept)} runs with rows left out or drawn again"
    said = (", ".join(parts) or same_in) + "; "
    if same < len(kept):
        return said + "the claim does not hold"
    shuffled, near = figures.pop("shuffle", [None])[0], sum(figures.values(), [])
    if parts and shuffled is not None and min(near) <= shuffled <= max(near):
        return said + "the claim does not hold: shuffled columns give as much"
    return said + "the claim holds"


if __name__ == "__main__":
    for library in ("pandas", "numpy"):
        with contextlib.suppress(ImportError):
            importlib.import_module(library)
    print("\n" + told())
