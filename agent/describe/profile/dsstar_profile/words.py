"""What was found, in words: the pieces of a description, of which a request has as many as fit."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from dsstar_profile import sections
from dsstar_profile.columns import unread, years
from dsstar_profile.found import HOLLOW
from dsstar_profile.values import literal, show

Json = dict[str, Any]

FULL = 400  # characters of the values of a column that is told in full
NAMED = 20_000  # of those that a question may name
OF_FILE = 500_000  # of both in a file
FREQUENT = 8  # values that are told in full of a column with too many
NUMBERS = 5  # of those that are numbers
MEASURES = 60  # numbers of a column that are told in full at most
ROWS = 1500  # characters of the rows of a small table
WORDY = 12_000  # and of one that explains something in words
LETTERS = 4  # of a value that a question may name
FEW = 5  # columns that are told of together at least
LINE = 250  # bytes of the line about a file that is far from the question
CALL = 100  # bytes of a call in it
RANKED = 60  # values of a column that tell what a file is about
FIRST = "header in line 1"  # where the names of columns go without saying
# Names of columns that say whether a row counts, and how it is to be read.
DECIDING = set(
    "excluded exclude exclusion valid invalid validity validated flag flags flagged qc qa "
    "qualifier quality status unit units uom outlier outliers remark remarks note notes comment "
    "comments is has censored suppressed deleted cancelled canceled missing imputed estimated "
    "provisional approved duplicate test violation footnote footnotes".split()
)
# Values that say so.
TELLING = set(
    "y n yes no true false valid invalid ok good bad pass passed fail failed flagged excluded "
    "included include exclude missing outlier suspect approved rejected provisional estimated "
    "active inactive deleted cancelled canceled complete completed incomplete".split()
)
EXPLAINS = re.compile(r"\b(read ?me|notes?|legend|dictionary|code ?book|about)\b", re.I)
BEGINS = re.compile(r"rows 1-\d+, columns A-[A-Z]+, header in row 1")  # goes without saying
# Calls that go without saying, and what of a call the columns say.
USUAL = re.compile(
    r"pd\.read_\w+\(path(, sheet_name=\"[^\"]*\")?\)|pd\.read_html\(path\)\[\d+\]"
    r"|pd\.read_sql\(.SELECT \* FROM [^()]*, sqlite3\.connect\(path\)\)"
)
NAMING = re.compile(r", (names|dtype|usecols)=(\[[^\]]*\]|\{[^}]*\}|\"[^\"]*\")")
# What differs in notes everywhere: examples, and how often.
QUOTED = re.compile(r'"(\\.|[^"\\])*" ?|,? some without|\((once|\d+ times)\)')
WORD = re.compile(r"[^\W_]+")


def render(found: Json) -> None:
    """Adds the words to a profile, without the tables of which it has none to say."""
    room = OF_FILE
    for table in found.get("tables", ())[:]:
        try:
            room = _table(table, room)
            json.dumps(table, default=str, allow_nan=False)
        except Exception as error:
            found["tables"] = [t for t in found["tables"] if t is not table]
            told = f"table {show(table.get('name', ''))} is left out: {show(error, 160)}"
            found["warnings"] = [*found.get("warnings", ()), told]
    tables = found.get("tables", ())
    if tables and all(t.get("call") and not t.get("sample") for t in tables):  # they leave them out
        found["warnings"] = [w for w in found.get("warnings", ()) if HOLLOW not in w]
    found["headline"] = _headline(found)
    encoding, mark = found.get("encoding", ""), found.get("delimiter", "")
    found["reads"] = {
        "encoding": encoding and f"encoding {encoding}",
        "delimiter": mark and f"fields between {_mark(mark)}",
    }
    found["holds"] = {}
    if tables and not found.get("problem"):
        structure = [found["format"], [[c["name"] for c in t["columns"]] for t in tables]]
        found["structure"] = hashlib.sha256(repr(structure).encode()).hexdigest()
    for n, t in enumerate(tables):
        _differs(found, n, t, f"{t['name']}: " if len(tables) > 1 else "")
    sampled = ", figures from a sample"
    found["count"] = "; ".join(t["count"] + sampled * bool(t.get("sample")) for t in tables)
    found["notes"] = _noted(found)
    found["line"] = _line(found)
    found["headline"] = "\n".join([found["headline"], *found.get("lines", ())])
    for n, t in enumerate(tables):
        if len(tables) > 1:
            t["headline"] = f"\n{t.get('name') or f'table {n + 1}'}: {t['headline']}"
        elif t.get("name", "") not in ("", "$"):
            t["headline"] = f"{t['name']}: {t['headline']}"
    found["about"] = _about(found)
    if text := found.get("text"):
        plain = found["format"] in ("text", "source code", "PDF", "Word") and not found["notes"]
        found["whole"] = plain and not tables and not found.get("cut")
        found["sections"] = sections.starts(text)
        found["codebook"] = sections.lists(text)
        found["lists"] = sections.each(text, found["sections"])


def _line(p: Json) -> str:
    """What is told of a file that has little to do with the question."""
    tables, parts = p.get("tables", ()), [p["headline"]]
    for t in tables:
        size = t["headline"].split(";")[0]
        call = t.get("call", "")
        if len(tables) == 1 and not USUAL.fullmatch(call):
            place = t["reads"]["place"]
            if 0 < _bytes(call) < CALL:
                parts[0], size = p["format"], f"{call}; {size}"  # it has all of the headline
            elif place != FIRST:
                size += f"; {place}"
        name = f"{t['name']}: " if t.get("name") else ""
        room = max(LINE // 2, LINE - _bytes(p["headline"]) - _bytes(size) - 10)
        parts.append(f"{name}{size}: {_joined(t['names'], room)}")
    if not tables:
        said = [*p.get("warnings", ()), p.get("problem", ""), _head(p.get("text", ""), LINE)]
        parts.append(" ".join(" ".join(said).split()))
    line = "; ".join(parts).rstrip("; ")
    if _bytes(line) <= LINE + 20:
        return line
    line = _head(line, LINE)
    words = re.sub(r"[ \n][^ \n]*$", "", line)
    return (words if _bytes(words) > LINE // 2 else line).rstrip(" ,;\n") + " …"


def _about(p: Json) -> str:
    """The names in the file, the words among its values, and what is said around its tables: what
    the file is about."""
    words = [_head(p.get("text", ""), 2000)]
    for t in p.get("tables", ()):
        words += [t.get("name", ""), *t.get("head", ()), *t.get("raw", ())[:2]]
        for c in t["columns"]:
            values = c.get("among", ()) if c["type"] != "number" else ()
            words += [c["name"], *values[:RANKED]]
    return "\n".join(words)


def _bytes(text: str) -> int:
    return len(text.encode(errors="replace"))


def _head(text: str, most: int) -> str:
    """The first bytes of a text."""
    return text[:most].encode(errors="replace")[:most].decode(errors="ignore")


def _joined(names: list[str], room: int) -> str:
    """As many names as there is room for, and how many more there are."""
    for n, name in enumerate(names):
        room -= _bytes(name) + 2
        if room < 0 < n:
            return f"{', '.join(names[:n])} … and {len(names) - n} more"
    return ", ".join(names)


def plural(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "s")


def figure(v: Any) -> str:
    """A number or a date: every digit of it, or "about"."""
    if isinstance(v, float) and v == int(v):
        v = int(v)
    if not isinstance(v, float):
        return str(v)
    short = f"{v:.15g}"
    return short if float(short) == v else f"about {v:.6g}"


def between(low: Any, high: Any) -> str:
    """A range. If one end is rounded, both may be."""
    ends = [figure(low), figure(high)]
    about = "about " if any(e.startswith("about ") for e in ends) else ""
    return about + " to ".join(e.removeprefix("about ") for e in ends)


def _headline(p: Json) -> str:
    parts = [p.get("format") or "unknown"]
    encoding = p.get("encoding", "")
    called = all(t.get("call") for t in p.get("tables", ())) and p.get("tables")
    if encoding not in ("", "utf-8"):
        parts.append(
            f"encoding {encoding}" + ("" if called else f' (pandas: encoding="{encoding}")')
        )
    mark = p.get("delimiter", "")
    if mark == "spaces" and not called:
        parts.append(r'fields between spaces (pandas: sep=r"\s+")')
    elif mark not in ("", ","):
        parts.append(f"fields between {_mark(mark)}")
    n, more = len(p.get("tables", ())), p.get("more", 0)
    if n + more > 1:
        parts.append(plural(n + more, "table") + f", {n} of them shown" * bool(more))
    return ", ".join(parts)


def _mark(mark: str) -> str:
    return {"tab": "tabs"}.get(mark, mark if mark == "spaces" else json.dumps(mark))


def _table(t: Json, room: int) -> int:
    """Adds the words to a table, and returns how much room is left for values."""
    for c in t["columns"]:
        _column(c, t["rows"])
        room -= sum(map(len, c.get("among", ()))) + len(c.get("full", ""))
        if room < 0:
            c.pop("full", None)
            c.pop("among", None)
    columns, first = t["columns"], t.get("first", [])
    t["all"] = len(first) == t["rows"] > 0 and not t.get("sample")
    about = "at least " if t.get("least") else "about " if t.get("guessed") else ""
    t["count"] = about + plural(t["rows"], "row")
    if t.get("least") and not t["rows"]:
        t["count"] = "rows not counted"
    t["headline"] = _size(t)
    t["explains"] = bool(EXPLAINS.search(t.get("name", "")))
    around, raw = [], t.get("raw")
    if raw and t.get("call"):
        around += filter(None, [_above(t)])  # what stands there otherwise, the call says
    elif raw:
        around.append("first lines of the file:\n  " + "\n  ".join(raw))
    for name, place in (("head", "above it"), ("foot", "below it")):
        if (lines := t.get(name)) and not (name == "head" and around):
            around.append(f"{place}: " + "\n  ".join(lines))
    t["around"] = "\n".join(around)
    t["holds"] = "\n".join(
        t.get("gaps", [])[:3] + [f"in all rows read: {f}" for f in t.get("follows", ())]
    )
    call = t.get("call", "")
    read = f"read: {call}" if call and not USUAL.fullmatch(call) else ""
    t["misleads"] = "\n".join(filter(None, (read, _noted(t))))
    rows, written = ["  " + " | ".join(row) for row in first], t.pop("written", ())
    if t["all"] and sum(map(len, rows)) <= (WORDY if _wordy(t) else ROWS):
        t["every"] = "all rows:\n" + "\n".join(rows)
    if written:
        t["row"] = "first rows as they are written:\n  " + "\n  ".join(written)
    elif rows and (t.get("call") or not raw):
        t["row"] = "first row:\n" + shortened(rows[0], 200)
    t["names"] = _names(columns)
    t["reads"] = _reads(t)
    if "every" not in t:
        _group(columns, t["rows"])
    return room


def _noted(part: Json) -> str:
    """The warnings of a file or a table."""
    said = [*part.get("warnings", ()), part.get("problem", "")]
    return "\n".join(f"Note: {note}" for note in said if note)


def _reads(t: Json) -> Json:
    """What a table has to be read with, and what misleads who does not know it: in the words for a
    table whose equal in another file has it otherwise."""
    place = re.sub(r"^rows \d+-\d+", "", t.get("where", "")).strip(", ")
    call = t.get("call", "")
    return {
        "place": place or FIRST,
        "~" + NAMING.sub("", call): call,
        "head": _above(t),
    } | _said(t.get("warnings", []))


def _differs(found: Json, n: int, t: Json, name: str) -> None:
    """Adds to a profile what a file of the same structure may have otherwise in a table: under keys
    that such a file has, too."""

    def put(what: str, place: str, name: str, said: Json) -> None:
        for key, text in said.items():
            once = "~" * key.startswith("~")  # told only of the one that has it alone
            found[what][f"{once}{place}{key}"] = text and f"{name}{text}"

    put("reads", f"{n:04} ", name, t["reads"])
    for m, c in enumerate(t["columns"]):
        for what in ("reads", "holds"):
            put(what, f"{n:04} {m:04} ", f"{name}{c['name']}: ", c[what])


def _said(notes: list[str]) -> Json:
    """Notes by what they say but for examples and figures, with which they differ everywhere; without
    guesses at numbers, which are settled where another file of the structure has more of them."""
    notes = [n for n in notes if " are a guess in this file: " not in n]
    keys = [re.sub(r"\d+", "#", QUOTED.sub("", n)) for n in notes]
    notes = (shortened(n.split(" in this file: ")[0], 160) for n in notes)
    return {"~" + k[: k.rfind(": ") + 1 or None]: n for k, n in zip(keys, notes)}


def _above(t: Json) -> str:
    """What stands above the names of a table."""
    if head := t.get("head"):
        return f"above it: {shortened(' '.join(head), 200)}"
    at = re.search(r"header in lines? (\d+)", t.get("where", ""))
    lines = [x.strip(",; ") for x in t.get("raw", [])[: int(at[1]) - 1 if at else 0]]
    return f"above it: {shortened(' / '.join(filter(None, lines)), 200)}" if any(lines) else ""


def _wordy(t: Json) -> bool:
    """Whether a table explains something in words."""
    total = t["rows"]
    return len(t["columns"]) <= 6 and any(
        sum(v.count(" ") for v in values) > 3 * total for values in zip(*t["first"])
    )


def _size(t: Json) -> str:
    columns = plural(len(t["columns"]) + t.get("columns_left_out", 0), "column")
    parts = [f"{t['count']}, {columns}"]
    if (where := t.get("where", "")) and not BEGINS.fullmatch(where):
        parts.append(where)
    if sample := t.get("sample"):
        parts.append(
            f"figures and types from a sample of {sample} rows except where they are said to be of "
            "all"
        )
    of = " in the sample" if t.get("sample") else ""
    if (keys := t.get("keys")) and (not t["all"] or len(t["columns"]) == 1):
        parts.append(f"unique{of}: " + "; ".join(" + ".join(k) for k in keys))
    if again := t.get("duplicates"):
        said = "1 row repeats another" if again == 1 else f"{again} rows repeat another"
        parts.append(said + of)
    return "; ".join(parts)


def shortened(text: str, most: int) -> str:
    """The beginning of a text, which ends with a word; as it is where little would be saved."""
    if len(text) <= most + 20:
        return text
    return re.sub(r"\W*\w*$", "", text[:most]) + " …"


def in_a_row(columns: list[Json]) -> list[str]:
    """The names of columns; of numbered ones the first and the last."""
    parts, n = [], 0
    bases = [c["name"].rstrip("0123456789") for c in columns]
    while n < len(columns):
        last = n
        while (
            bases[n] != columns[n]["name"]
            and last + 1 < len(columns)
            and bases[last + 1] == bases[n] != columns[last + 1]["name"]
        ):
            last += 1
        if last > n + 3:
            parts.append(f"{columns[n]['name']} … {columns[last]['name']}")
            n = last
        else:
            parts.append(columns[n]["name"])
        n += 1
    return parts


def _names(columns: list[Json]) -> list[str]:
    """The names in the order of the file, with a type after the last that has it."""
    types = [c["kind"] + (", mixed" if c.get("mixed") and not c.get("texts") else "") for c in columns]
    parts: list[str] = []
    n = 0
    while n < len(columns):
        last = n
        while last + 1 < len(columns) and types[last + 1] == types[n]:
            last += 1
        parts += in_a_row(columns[n : last + 1])
        parts[-1] += f" ({types[n]})"
        n = last + 1
    return parts


def _group(columns: list[Json], rows: int) -> None:
    """Tells together of columns in a row of which the same is said but for the range of their
    numbers, if their ranges are alike."""
    n = 0
    while n < len(columns):
        last = n
        while last + 1 < len(columns) and _alike(columns[n], columns[last + 1], rows):
            last += 1
        some = columns[n : last + 1]
        if len(some) >= FEW:
            ends = [c["range"] for c in some]
            each = columns[n] | {"range": [min(e[0] for e in ends), max(e[1] for e in ends)]}
            text = "; ".join(_parts(_plain(each), rows, True))
            columns[n]["group"] = f"- {', '.join(in_a_row(some))}, each: {text}"
            for c in some:
                c["grouped"] = True
        n = last + 1


def _plain(c: Json) -> Json:
    return {k: v for k, v in c.items() if k not in ("unique", "distinct", "values", "frequent")}


def _alike(a: Json, b: Json, rows: int) -> bool:
    for c in (a, b):
        always = len(c.get("values", ())) == 1
        if c["type"] != "number" or "range" not in c or c.get("without") or c["keep"] or always:
            return False

    def said(c: Json) -> str:
        text = "; ".join(_parts(_plain(c) | {"range": a["range"]}, rows, True))
        return QUOTED.sub("", text)

    size = [max(map(abs, c["range"])) for c in (a, b)]
    same = min(size) * 10 >= max(size) and (a["range"][0] < 0) == (b["range"][0] < 0)
    base, other = (c["name"].rstrip("0123456789") for c in (a, b))
    numbered = base == other != a["name"]
    return (same or numbered) and said(a) == said(b)


def _kind(c: Json) -> str:
    if c["type"] == "number":
        whole = c.get("integer") and not (c.get("pointed") and c.get("distinct") == 1)
        return ("whole number" if c.get("pointed") else "integer") if whole else "number"
    return {"empty": "no values"}.get(c["type"], c["type"])


def _column(c: Json, rows: int) -> None:
    c["kind"] = _kind(c) + " in the sample" * c.get("sampled", False)
    words = _words(c["name"])
    values = {v.strip().lower() for v, _ in c.get("values", ())}
    telling = len(values & TELLING) * 2 >= len(values) > 0
    c["keep"] = bool(words & DECIDING) or telling and len(values) > 1
    c["line"] = "; ".join(_parts(c, rows, False))
    if (short := "; ".join(_parts(c, rows, True))) != c["line"]:
        c["brief"] = short
    if (full := "; ".join(_parts(c, rows, False, True))) != c["line"]:
        c["full"] = full
    c["said"] = "; ".join(_notes(c))
    values = c.get("values", ())
    c["reads"] = {
        "kind": _kind(c),
        "form": c.get("form", "") and f"form {c['form']}",
        "missing": ", ".join(f"missing written {literal(m)}" for m in sorted(unread(c))),
    } | _said(_notes(c))
    planned = c.get("planned", False)
    few = c["type"] == "text" and 1 < len(values) <= 6 and not c.get("unique")
    c["holds"] = {
        "range": f"{'about ' * planned}{between(*c['range'])}"
        if c["type"] == "date" and c.get("range")
        else "",
        "always": f"always {values[0][0]}" if len(values) == 1 and rows > 1 else "",
        "~missing": "" if c.get("whole") else _missing(c, rows),
        "values": f"values {', '.join(sorted(v for v, _ in values))}" if few else "",
    }
    everything = c.pop("all", ())
    if c["type"] in ("text", "list") or years(c):
        room = NAMED
        c["among"] = [
            v for v, _ in everything if len(v) >= LETTERS and (room := room - len(v)) > 0
        ]


def _words(name: str) -> set[str]:
    return {w.lower() for w in WORD.findall(re.sub(r"([a-z])([A-Z])", r"\1 \2", name))}


def _notes(c: Json) -> list[str]:
    return c.get("notes", []) + ([c["notes_form"]] if c.get("notes_form") else [])


def _parts(c: Json, rows: int, short: bool, full: bool = False) -> list[str]:
    """What is said of a column after its name."""
    parts = [c["kind"]]
    of_all = " (of all rows)" if c.get("whole") and not c.get("sampled") else ""
    if of_all and c.get("planned"):
        of_all = " (an estimate of the planner's)"
    if c.get("range") and len(c.get("values", ())) != 1:
        parts[0] += f" {between(*c['range'])}{of_all}"
    if c.get("without"):
        parts.append(
            f"otherwise {between(*c['without'])}" + " in the sample" * c.get("whole", False)
        )
    form = c.get("form", "")
    if form and not short and not form.startswith("%Y-%m-%d"):
        parts.append(f"form {form}")
    if c["type"] == "list":
        low, high = c["lengths"]
        parts[0] += f" of {low} to {high} values"
        if c.get("empty"):
            parts.append(f"{c['empty']} empty lists")
    parts += _values(c, short, full)
    if full and c.get("zeros") and not c.get("values"):
        parts.append(f"zero in {c['zeros']}")
    if c.get("whole"):
        if c.get("gone"):
            parts.append(f"missing in {'about ' * c.get('planned', False)}{c['gone']} of all rows")
    elif gone := _missing(c, rows):
        parts.append(gone)
    return parts + _notes(c)


def _values(c: Json, short: bool, full: bool) -> list[str]:
    values, everything = c.get("values", []), c.get("all", [])
    if len(values) == 1:
        return [f"always {values[0][0]}"]
    numeric = c["type"] == "number"
    listed = not numeric or len(everything) <= MEASURES and not c.get("unique")
    if full and everything and len(everything) == c.get("distinct") and listed:
        if len(told := _counted(everything)) <= FULL:
            return [f"{len(everything)} values: {told}"]
    if c.get("unique"):
        said = [] if numeric else ["all different" + (" in the sample" if c.get("whole") else "")]
        if numeric:
            return said
    elif values:
        return [f"{len(values)} values: {_counted(values)}"]
    elif numeric and not (full and everything):
        return []
    else:
        about = "about " if c.get("whole") and not c.get("counted") else ""
        said = [about + plural(c["distinct"], "value")] if c.get("distinct") else []
    most = NUMBERS if numeric else FREQUENT
    frequent = [v for v in everything[:most] if full and v[1] > 1] or c.get("frequent", [])[:3]
    if frequent:
        said.append(f"most frequent {_counted(frequent)}")
    elif c.get("examples") and not short:
        said.append(f"such as {', '.join(c['examples'])}")
    if c.get("endings"):
        said.append(f"ending in {_counted(c['endings'])}" + " in the sample" * bool(c.get("whole")))
    return said


def _missing(c: Json, rows: int) -> str:
    gone = c.get("missing", {})
    if sum(gone.values()) == rows:
        return ""
    return ", ".join(
        f"{n} {marker or 'missing'}"
        if marker in ("", "null")
        else f"{n} missing written {literal(marker)}"
        for marker, n in sorted(gone.items())
    )


def _counted(values: list) -> str:
    once = len(values) > 12 or all(n == 1 for _, n in values)
    return ", ".join(
        (literal(v, 80) if re.search(r"[,()]", v) or v != v.strip() else v)
        + ("" if once else f" ({n})")
        for v, n in values
    )
