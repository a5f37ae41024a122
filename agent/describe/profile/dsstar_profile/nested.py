"""JSON and XML: which tables are in them, and their paths."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from dsstar_profile.columns import show
from dsstar_profile.grids import MOST_CELLS, Table

Json = dict[str, Any]
DEEP = 8  # levels of objects that become columns


def tables(value: Any, name: str = "$") -> tuple[list[Table], list[str]]:
    """The tables of a document, which are its lists of objects and its objects of like objects,
    and a line for each of its other paths."""
    found: list[Table] = []
    lines: list[str] = []
    _walk(value, name, found, lines, 0)
    return found, lines[:60]


def _walk(value: Any, path: str, found: list[Table], lines: list[str], depth: int) -> None:
    if depth > DEEP or len(found) > 20 or len(lines) > 80:
        return
    if isinstance(value, list):
        objects = [v for v in value if isinstance(v, dict)]
        if objects and len(objects) * 2 > len(value):
            table = records(objects, path)
            if len(objects) < len(value):
                table.warnings.append(f"{len(value) - len(objects)} of the elements are no objects")
            found.append(table)
            _inner(objects, path, found)
        elif (
            value
            and all(isinstance(v, list) for v in value)
            and len(value) > 1
            and not isinstance(value[0][0] if value[0] else [], (list, dict))
        ):
            width = max(map(len, value))
            found.append(
                Table(
                    path,
                    [f"[{n}]" for n in range(width)],
                    [tuple(v) for v in value[:50000]],
                    len(value),
                )
            )
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
            table = records([{"(key)": k} | v for k, v in value.items()], path + ".*")
            found.append(table)
            _inner(objects, path + ".*", found)
        elif (
            len(parts) > 1
            and lists == parts
            and len(set(map(len, lists))) == 1
            and len(lists[0]) > 1
            and not any(isinstance(x, (list, dict)) for v in lists for x in v[:5])
        ):
            found.append(
                Table(path + " (a list for each column)", list(map(str, value)), list(zip(*lists)))
            )
        elif len(parts) > 20 and not any(isinstance(v, (dict, list)) for v in parts):
            found.append(
                Table(
                    path + " (an object of plain values)", ["(key)", "(value)"], list(value.items())
                )
            )
        else:
            for key, part in value.items():
                if isinstance(part, (dict, list)):
                    _walk(part, f"{path}.{show(key, 60)}", found, lines, depth + 1)
                else:
                    lines.append(
                        f"{path}.{show(key, 60)}: {type(part).__name__} "
                        f"{show(json.dumps(part), 120)}"
                    )
    else:
        lines.append(f"{path}: {type(value).__name__} {show(value, 120)}")


def records(objects: list[Json], path: str) -> Table:
    """Objects as a table: the parts of an object in an object are columns with a dotted name."""
    flat = [_flat(o) for o in objects[:50000]]
    names = list(dict.fromkeys(k for o in flat for k in o))[:2000]
    flat = flat[: max(200, MOST_CELLS // max(1, len(names)))]
    table = Table(path, names, [tuple(o.get(n) for n in names) for o in flat], len(objects))
    absent = {n: sum(n not in o for o in flat) for n in names}
    if gone := [f"{show(n, 40)} in {k}" for n, k in absent.items() if k][:8]:
        table.warnings.append("keys that objects lack: " + ", ".join(gone))
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


def _inner(objects: list[Json], path: str, found: list[Table]) -> None:
    """The lists of objects within the objects of a list are tables, too."""
    parts: dict[str, list[Json]] = {}
    for o in objects[:5000]:
        for key, part in _flat(o).items():
            if isinstance(part, list) and part and isinstance(part[0], dict):
                parts.setdefault(key, []).extend(p for p in part[:1000] if isinstance(p, dict))
    for key, inner in list(parts.items())[:8]:
        found.append(records(inner, f"{path}[].{key}[]"))


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
