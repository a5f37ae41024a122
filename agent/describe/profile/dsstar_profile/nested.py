"""JSON and XML: which tables are in them, and their paths."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from dsstar_profile.grids import MOST_CELLS, Table
from dsstar_profile.hints import Call, python
from dsstar_profile.values import show, spread

Json = dict[str, Any]
DEEP = 8  # levels of objects that become columns
MOST = 50_000  # elements of a list that are looked at
TABLES = 20  # of a document
LISTS = 8  # within the objects of a list


# The arguments of read_json for a document that is one table, by the name of that table.
ORIENTS: dict[str, Json] = {
    "$": {},
    "$ (a column for each key)": {},
    "$ (columns, index and data)": {"orient": "split"},
}


@dataclass
class Walk:
    """What is found on the way through a document."""

    found: list[Table] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    more: int = 0  # lists and objects that were not looked at

    def full(self, depth: int) -> bool:
        if depth <= DEEP and len(self.found) <= TABLES and len(self.lines) <= 80:
            return False
        self.more += 1
        return True


def tables(value: Any, name: str = "$", at: str = "") -> tuple[list[Table], list[str]]:
    """The tables of a document, which are its lists of objects and its objects of like objects,
    and a line for each of its other paths. The Python at gives the document, for calls of pandas.
    """
    walk = Walk()
    _walk(value, name, at, walk, 0)
    more = [f"{walk.more} more lists and objects are not shown"] if walk.more else []
    return walk.found, walk.lines[:60] + more


def _walk(value: Any, path: str, at: str, walk: Walk, depth: int) -> None:
    if walk.full(depth):
        return
    if isinstance(value, list):
        _list(value, path, at, walk)
    elif isinstance(value, dict):
        if tabular := _columns(value, path, at):
            walk.found.append(tabular)
            return
        parts = list(value.values())
        objects = [v for v in parts if isinstance(v, dict)]
        keys = Counter(k for v in objects[:1000] for k in v)
        if (
            len(objects) == len(parts) > 2
            and keys
            and max(keys.values()) > 0.6 * min(len(objects), 1000)
        ):
            of = f'[{{"(key)": k}} | v for k, v in {at}.items()]' if at else ""
            keyed = [{"(key)": k} | v for k, v in value.items()]
            walk.found.append(records(keyed, path + ".*", of))
            _inner(objects, path + ".*", f"{at}.values()" if at else "", walk)
        elif len(parts) > 20 and not any(isinstance(v, (dict, list)) for v in parts):
            name, both = path + " (an object of plain values)", ["(key)", "(value)"]
            calls = [Call(f"pd.DataFrame({at}.items()", {"columns": both})] if at else []
            walk.found.append(Table(name, list(both), list(value.items()), calls=calls))
        else:
            for key, part in value.items():
                if isinstance(part, (dict, list)):
                    inner = f"{at}[{python(key)}]" if at else ""
                    _walk(part, f"{path}.{show(key, 60)}", inner, walk, depth + 1)
                else:
                    walk.lines.append(
                        f"{path}.{show(key, 60)}: {type(part).__name__} "
                        f"{show(json.dumps(part), 120)}"
                    )
    else:
        walk.lines.append(f"{path}: {type(value).__name__} {show(value, 120)}")


def _list(value: list, path: str, at: str, walk: Walk) -> None:
    objects = [v for v in value if isinstance(v, dict)]
    if objects and len(objects) * 2 > len(value):
        whole = len(objects) == len(value)
        of = at if whole or not at else f"[v for v in {at} if isinstance(v, dict)]"
        table = records(objects, path, of)
        if not whole:
            table.warnings.append(f"{len(value) - len(objects)} of the elements are no objects")
        walk.found.append(table)
        _inner(objects, path, of, walk)
    elif (
        value
        and all(isinstance(v, list) for v in value)
        and len(value) > 1
        and not isinstance(value[0][0] if value[0] else [], (list, dict))
    ):
        names = [f"[{n}]" for n in range(max(map(len, value)))]
        rows = [tuple(v) for v in spread(value, MOST)]
        walk.found.append(Table(path, names, rows, len(value), calls=_frames(at)))
    else:
        walk.lines.append(f"{path}: list of {len(value)}: {show(value, 120)}")


def _columns(value: Json, path: str, at: str) -> Table | None:
    """An object that pandas has written column by column, as its default is, or as parts."""
    parts = list(value.values())
    if set(value) == {"columns", "index", "data"} and all(isinstance(v, list) for v in parts):
        names = [str(n) for n in value["columns"]]
        rows = [tuple(v) for v in spread(value["data"], MOST) if isinstance(v, list)]
        made = f'pd.DataFrame({at}["data"], columns={at}["columns"]'
        name = path + " (columns, index and data)"
        return Table(name, names, rows, len(value["data"]), calls=[Call(made, {})] if at else [])
    if len(parts) < 2 or not isinstance(parts[0], (list, dict)) or len(parts[0]) < 2:
        return None
    first = parts[0]
    if not all(type(v) is type(first) and len(v) == len(first) for v in parts):
        return None
    if isinstance(first, list):
        if any(isinstance(x, (list, dict)) for v in parts for x in v[:5]):
            return None
        name = path + " (a list for each column)"
        return Table(name, list(map(str, value)), list(zip(*parts, strict=True)), calls=_frames(at))
    keys = list(first)
    if not all(list(v) == keys for v in parts) or any(
        isinstance(x, (list, dict)) for v in parts for x in v.values()
    ):
        return None
    numbered = keys == [str(n) for n in range(len(keys))]
    kinds = [{type(x) for x in v.values()} - {type(None)} for v in parts]
    across = {type(v[keys[0]]) for v in parts} - {type(None)}
    if not numbered and not (all(len(k) < 2 for k in kinds) and len(across) > 1):
        return None
    table = Table(
        path + " (a column for each key)",
        list(map(str, value)),
        list(zip(*(v.values() for v in parts), strict=True)),
        calls=_frames(at),
    )
    if not numbered:
        table.names.insert(0, "column 1 (no name; the index in pandas)")
        table.rows = [(k, *row) for k, row in zip(keys, table.rows, strict=True)]
        table.index = 1
    return table


def _frames(at: str) -> list[Call]:
    """Calls that make a table of rows or columns; the second keeps long numbers as they are."""
    made = f"pd.DataFrame({at}"
    return [Call(made, {}), Call(made + ", dtype=object", {})] if at else []


def records(objects: list[Json], path: str, at: str = "") -> Table:
    """Objects as a table: the parts of an object in an object are columns with a dotted name."""
    flat = [_flat(o) for o in spread(objects, MOST)]
    names = list(dict.fromkeys(k for o in flat for k in o))[:2000]
    flat = spread(flat, max(200, MOST_CELLS // max(1, len(names))))
    table = Table(path, names, [tuple(o.get(n) for n in names) for o in flat], len(objects))
    absent = {n: sum(n not in o for o in flat) for n in names}
    if gone := [f"{show(n, 40)} in {k}" for n, k in absent.items() if k][:8]:
        where = "" if len(flat) == len(objects) else ", in the sample"
        table.warnings.append("keys that objects lack: " + ", ".join(gone) + where)
    if at:
        table.calls = [Call(f"pd.json_normalize({at}", {}), *_frames(at)]
        table.ordered = False
    return table


def _flat(value: Json, before: str = "", depth: int = 0) -> Json:
    out: Json = {}
    for key, part in value.items():
        name = f"{before}{show(key, 60)}"
        if isinstance(part, dict) and part and depth < DEEP and len(part) < 200:
            out |= _flat(part, name + ".", depth + 1)
        else:
            out[name] = part
        if len(out) > 2000:
            break
    return out


def _inner(objects: list[Json], path: str, at: str, walk: Walk) -> None:
    """The lists of objects within the objects of a list are tables, too."""
    parts: dict[str, list[Json]] = {}
    for o in objects:
        for key, part in _flat(o).items():
            if isinstance(part, list) and part and isinstance(part[0], dict):
                parts.setdefault(key, []).extend(p for p in part if isinstance(p, dict))
    for key, inner in list(parts.items())[:LISTS]:
        each = "o" + "".join(f".get({python(k)}, {{}})" for k in key.split(".")[:-1])
        each += f".get({python(key.split('.')[-1])}) or []"
        of = f"[p for o in {at} for p in {each}]" if at else ""
        walk.found.append(records(inner, f"{path}[].{key}[]", of))
    walk.more += len(parts) - min(LISTS, len(parts))


def of_xml(element: Any, depth: int = 0) -> Any:
    """An element as a value of JSON: attributes are keys with @, equal children a list."""
    out: Json = {"@" + _local(k): v for k, v in element.attrib.items()}
    text = (element.text or "").strip()
    for child in element:
        if not isinstance(child.tag, str):
            continue  # a comment
        part = of_xml(child, depth + 1) if depth < 50 else show("".join(child.itertext()))
        key = _local(child.tag)
        if key not in out:
            out[key] = part
        elif isinstance(out[key], list):
            out[key].append(part)
        else:
            out[key] = [out[key], part]
    if not out:
        return text or None
    return out | ({"(text)": text} if text else {})


def _local(tag: str) -> str:
    return tag.rsplit("}", 1)[-1]
