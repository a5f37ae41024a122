# Watches what pandas does for the cells of a session: merges, and comparisons with strings that
# stand in the cells. install(cells) begins it; report(globals()) ends it and prints what was seen
# as JSON. It comes after constants.py, whose names it uses.
import functools
import json
import linecache
import sys

import pandas as pd

merges, compared, undo = [], {}, []


def cell_line():
    """The line of the cell that has called a watched function, perhaps through pandas; None:
    another caller did."""
    frame = sys._getframe(1)
    while frame.f_globals is globals() or frame.f_globals["__name__"].startswith("pandas."):
        frame = frame.f_back
    if frame.f_globals.get("__name__") != "__main__":
        return None
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()[:100]


def watch(owner, name, note):
    original = getattr(owner, name)
    undo.append((owner, name, owner.__dict__.get(name)))

    @functools.wraps(original)
    def watched(*args, **kwargs):
        result = original(*args, **kwargs)
        try:
            note(result, *args, **kwargs)
        except Exception:
            pass  # whatever it is, the cell must not see it
        return result

    setattr(owner, name, watched)


def keys(table, columns, index):
    """The values by which a merge finds the rows of a table."""
    if index:
        return table.index
    columns = [columns] if isinstance(columns, str) else list(columns)
    table = pd.DataFrame(table)[columns]
    return pd.MultiIndex.from_frame(table) if len(columns) > 1 else pd.Index(table.iloc[:, 0])


def hashes(index):
    return sorted(pd.util.hash_pandas_object(index, index=False))


def partners(left, right, on=None, left_on=None, right_on=None, left_index=False,
             right_index=False, **kwargs):
    """How many rows of each side of a merge have a partner; None: the sides have the same keys,
    so that it pairs rows with each other."""
    if on is None and left_on is None and not left_index:
        on = [c for c in left.columns if c in right.columns]
    mine = keys(left, on if left_on is None else left_on, left_index)
    its = keys(right, on if right_on is None else right_on, right_index)
    if len(mine) == len(its) and hashes(mine) == hashes(its):
        return None
    return int(mine.isin(its).sum()), int(its.isin(mine).sum())


def merged(result, left, right, how="inner", on=None, *args, **kwargs):
    line = cell_line()
    if line is None or left is right or how == "cross":
        return
    rows, sides = result.shape[0], (left.shape[0], right.shape[0])
    matching = partners(left, right, on, *args, **kwargs)
    alone = sum(sides[n] - matching[n] for n, side in enumerate(("left", "right"))
                if how in (side, "outer")) if matching else 0
    many = matching is not None and rows - alone > max(matching)
    merges.append({"line": line, "left": sides[0], "rows": rows, "many": many,
                   "pairs": rows - alone, "matching": matching or sides})


def joined(result, left, other, on=None, how="left", *args, **kwargs):
    on = {"left_on": on} if on is not None else {"left_index": True}
    merged(result, left, other, how, right_index=True, **on)


def equal(result, series, other, *args, denies=False, **kwargs):
    asked = [other] if isinstance(other, str) else other
    if not isinstance(asked, (list, tuple, set)) or not len(series) or cell_line() is None:
        return
    holds = bool((~result if denies else result).any())
    numbers = pd.api.types.is_numeric_dtype(series.dtype)
    categories = series.cat.categories if isinstance(series.dtype, pd.CategoricalDtype) else ()
    rows = None
    for v in [v for v in asked if isinstance(v, str) and v in known.all]:
        was = compared.setdefault((str(series.name), v), {
            "matches": False, "like": "", "numbers": numbers,
            "alone": v in known.named and not denies})
        if holds and len(asked) > 1 and rows is None:
            rows = set(series.unique())
        matches = v in categories or (holds if rows is None else v in rows)
        was["matches"] = was["matches"] or matches
        was["alone"] = was["alone"] and not (holds or matches)
        if not matches and not was["like"]:
            was["like"] = next((x for x in series.unique()[:10_000] if isinstance(x, str)
                                and x.strip().casefold() == v.strip().casefold()), "")


def unequal(result, series, other, *args, **kwargs):
    if isinstance(other, str):
        equal(result, series, other, denies=True)


def install(cells):
    global known
    known = Constants(cells)
    for owner, name, note in [
            (pd.DataFrame, "merge", merged), (pd, "merge", merged), (pd.DataFrame, "join", joined),
            (pd.Series, "__eq__", equal), (pd.Series, "eq", equal), (pd.Series, "isin", equal),
            (pd.Series, "__ne__", unequal), (pd.Series, "ne", unequal)]:
        watch(owner, name, note)


def texts(session):
    """The different strings in the columns of the tables of a session, and its column names."""
    found, names = set(), set()
    for x in list(session.values()):
        if not isinstance(x, (pd.DataFrame, pd.Series)):
            continue
        table = pd.DataFrame(x)
        names |= {c for c in [*table.columns, *table.index.names] if isinstance(c, str)}
        levels = [table.index.get_level_values(n) for n in range(table.index.nlevels)]
        for c in [table.iloc[:, n] for n in range(table.shape[1])] + levels:
            try:
                kinds = isinstance(c.dtype, pd.CategoricalDtype)
                found |= {v for v in (c.cat.categories if kinds else c.unique()) if isinstance(v, str)}
            except TypeError:
                pass  # it holds lists
    return found, names


def absent(session):
    """What cells look for that no row has, each with what rows have instead, if they do."""
    met = {v for (_, v), was in compared.items() if was["matches"]}
    unmet = [(*key, was) for key, was in compared.items() if not was["matches"]]
    sought = known.sought - {v for _, v in compared}
    if not unmet and not sought:
        return []
    found, names = texts(session)
    told = []
    for column, v, was in unmet:
        digits = any(c.isdigit() for c in v)
        if was["numbers"] and v not in met and (digits or v in known.telling - found):
            told.append({"column": column, "value": v, "numbers": True})
        elif v in known.telling - found and (
                was["alone"] or was["like"] and was["like"] not in known.all):
            told.append({"column": column, "value": v, "like": was["like"]})
    alike = {known.alike(v): v for v in found}
    for v in sorted(sought - names - found):
        like = alike.get(known.alike(v), "")
        if like and like not in known.all and not any(v in x for x in found):
            told.append({"value": v, "like": like})
    return told


def report(session):
    for owner, name, was in undo:
        if was is None:
            delattr(owner, name)
        else:
            setattr(owner, name, was)
    print(json.dumps({"merges": merges, "absent": absent(session)}))
