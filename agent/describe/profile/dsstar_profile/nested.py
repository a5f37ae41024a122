"""JSON and XML: which tables are in them, and their paths."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from dsstar_profile.grids import MOST_CELLS, Table
from dsstar_profile.hints import Call, python
from dsstar_profile.values import show

Json = dict[str, Any]
DEEP = 8  # levels of objects that become columns


def tables(value: Any, name: str = "$", at: str = "") -> tuple[list[Table], list[str]]:
    """The tables of a document, which are its lists of objects and its objects of like objects,
    and a line for each of its other paths. The Python at gives the document, for calls of pandas.
    """
    found: list[Table] = []
    lines: list[str] = []
    _walk(value, name, at, found, lines, 0)
    return found, lines[:60]


def _walk(value: Any, path: str, at: str, found: list[Table], lines: list[str], depth: int) -> None:
    if depth > DEEP or len(found) > 20 or len(lines) > 80:
        return
    if isinstance(value, list):
        objects = [v for v in value if isinstance(v, dict)]
        if objects and len(objects) * 2 > len(value):
            all_objects = len(objects) == len(value)
            of = at if all_objects else f"[v for v in {at} if isinstance(v, dict)]"
            table = records(objects, path, of if at else "")
            if not all_objects:
                table.warnings.append(f"{len(value) - len(objects)} of the elements are no objects")
            found.append(table)
            _inner(objects, path, of if at else "", found)
        elif (
            value
            and all(isinstance(v, list) for v in value)
            and len(value) > 1
            and not isinstance(value[0][0] if value[0] else [], (list, dict))
        ):
            width = max(map(len, value))
            names = [f"[{n}]" for n in range(width)]
            table = Table(path, names, [tuple(v) for v in value[:50000]], len(value))
            table.calls = _frames(at)
            found.append(table)
        else:
            lines.append(f"{path}: list of {len(value)}: {show(value, 120)}")
    elif isinstance(value, dict):
        parts = list(value.values())
        objects = [v for v in parts if isinstance(v, dict)]
        keys = Counter(k for v in objects[:1000] for k in v)
        lists = [v for v in parts if isinstance(v, list)]
        if (
            len(objects) == len(parts) > 2
            and keys
            and max(keys.values()) > 0.6 * min(len(objects), 1000)
        ):
            of = f'[{{"(key)": k}} | v for k, v in {at}.items()]' if at else ""
            keyed = [{"(key)": k} | v for k, v in value.items()]
            found.append(records(keyed, path + ".*", of))
            _inner(objects, path + ".*", f"{at}.values()" if at else "", found)
        elif (
            len(parts) > 1
            and lists == parts
            and len(set(map(len, lists))) == 1
            and len(lists[0]) > 1
            and not any(isinstance(x, (list, dict)) for v in lists for x in v[:5])
        ):
            name = path + " (a list for each column)"
            found.append(Table(name, list(map(str, value)), list(zip(*lists)), calls=_frames(at)))
        elif len(parts) > 20 and not any(isinstance(v, (dict, list)) for v in parts):
            name, both = path + " (an object of plain values)", ["(key)", "(value)"]
            calls = [Call(f"pd.DataFrame({at}.items()", {"columns": both})] if at else []
            found.append(Table(name, list(both), list(value.items()), calls=calls))
        else:
            for key, part in value.items():
                if isinstance(part, (dict, list)):
                    inner = f"{at}[{python(key)}]" if at else ""
                    _walk(part, f"{path}.{show(key, 60)}", inner, found, lines, depth + 1)
                else:
                    lines.append(
                        f"{path}.{show(key, 60)}: {type(part).__name__} "
                        f"{show(json.dumps(part), 120)}"
                    )
    else:
        lines.append(f"{path}: {type(value).__name__} {show(value, 120)}")


def _frames(at: str) -> list[Call]:
    """Calls that make a table of rows or columns; the second keeps long numbers as they are."""
    made = f"pd.DataFrame({at}"
    return [Call(made, {}), Call(made + ", dtype=object", {})] if at else []


def records(objects: list[Json], path: str, at: str = "") -> Table:
    """Objects as a table: the parts of an object in an object are columns with a dotted name."""
    flat = [_flat(o) for o in objects[:50000]]
    names = list(dict.fromkeys(k for o in flat for k in o))[:2000]
    flat = flat[: max(200, MOST_CELLS // max(1, len(names)))]
    table = Table(path, names, [tuple(o.get(n) for n in names) for o in flat], len(objects))
    absent = {n: sum(n not in o for o in flat) for n in names}
    if gone := [f"{show(n, 40)} in {k}" for n, k in absent.items() if k][:8]:
        table.warnings.append("keys that objects lack: " + ", ".join(gone))
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


def _inner(objects: list[Json], path: str, at: str, found: list[Table]) -> None:
    """The lists of objects within the objects of a list are tables, too."""
    parts: dict[str, list[Json]] = {}
    for o in objects:
        for key, part in _flat(o).items():
            if isinstance(part, list) and part and isinstance(part[0], dict):
                parts.setdefault(key, []).extend(p for p in part if isinstance(p, dict))
    for key, inner in list(parts.items())[:8]:
        each = "o" + "".join(f".get({python(k)}, {{}})" for k in key.split(".")[:-1])
        each += f".get({python(key.split('.')[-1])}) or []"
        of = f"[p for o in {at} for p in {each}]" if at else ""
        found.append(records(inner, f"{path}[].{key}[]", of))


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
