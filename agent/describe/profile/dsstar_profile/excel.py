"""Reader of workbooks: of their sheets the tables, and what their cells show besides values."""

from __future__ import annotations

import array
import bisect
import itertools
import json
import os
import re
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from dsstar_profile import grids
from dsstar_profile.found import WHOLE, Deadline, Found
from dsstar_profile.grids import Rows, Table, letters
from dsstar_profile.hints import FILE, NAMED, Call, python
from dsstar_profile.values import show

SHEETS = 40
CELLS = 4_000_000  # of a sheet, up to which it is read at once
QUICK = 1 << 20  # bytes of XML up to which a call needs no faster engine
STRICT = b"http://purl.oclc.org/ooxml/"
# What a cell shows besides its value: text in quotes or brackets, after colours and conditions.
COLOUR = re.compile(r"\[(?!\$)[^\]]*\]|\\.|_.|\*.")
SHOWN = re.compile(r'"([^"]+)"|\[\$([^\]-]+)[^\]]*\]|([$€£¥₹])')
CONDITION = re.compile(r"\[([<>=]+-?[\d.]+)\]")
BUILT_IN = {"9": "0%", "10": "0.00%"}
Merged = tuple[int, int, int, int]  # the first and the last row and column, from 0


@dataclass
class Marks:
    """What the XML of a sheet says and its values do not."""

    notes: list[str] = field(default_factory=list)
    merged: list[Merged] = field(default_factory=list)
    # By column and number format: the rows of numbers, from 1.
    formats: dict[int, dict[str, array.array]] = field(default_factory=dict)
    cells: int = 0  # from the first to the last
    size: int = 0  # bytes


def lock(path: str, deadline: Deadline) -> Found:
    name = re.sub(r"^~\$|^\.~lock\.|#$", "", os.path.basename(path))
    note = (
        f"no data: it is there while {show(name)}, or a file with such a name, is open in a program"
    )
    return Found("lock file", warnings=[note])


def book(path: str, deadline: Deadline) -> Found:
    """A workbook of Excel or LibreOffice."""
    with open(path, "rb") as f:
        magic = f.read(8)
        locked = "EncryptedPackage".encode("utf-16-le")
        if magic[:4] == b"\xd0\xcf\x11\xe0" and locked in f.read(WHOLE):
            return Found("Excel, encrypted", warnings=["not read: it needs a password"])
    if os.path.getsize(path) > WHOLE:
        return Found("Excel", warnings=["not read: too large"])
    packed = Package(path)
    found = Found(packed.format)
    for size, most, of in ((packed.unpacked, 8 * WHOLE, ""), (packed.texts, WHOLE, " of texts")):
        if size > most:
            found.warnings.append(f"not read: {size >> 20} MB{of} when unpacked")
            return found
    sheets = _sheets(path, packed)
    names = [name for name, *_ in sheets]
    for n, (name, hidden, read) in enumerate(sheets[:SHEETS]):
        options = {"sheet_name": name} if n or len(names) > 1 else {}
        title = f"sheet {json.dumps(show(name), ensure_ascii=False)}{' (hidden sheet)' * hidden}"
        try:
            marks = packed.marks(name)
            tables = _tables(title, options, marks, packed, read(marks, deadline))
        except Exception as error:
            found.warnings.append(
                f"{title} cannot be read: {type(error).__name__}: {show(error, 160)}"
            )
            continue
        if not tables:
            found.lines.append(f"sheet {show(name)} is empty")
        found.tables += tables
    if len(sheets) > SHEETS:
        found.warnings.append(f"{len(sheets) - SHEETS} more sheets are not shown")
    return found


def _tables(
    title: str, options: dict, marks: Marks, packed: Package, read: tuple[Rows, bool]
) -> list[Table]:
    """The tables of a sheet, of which so many rows were read, and whether there are more."""
    rows, cut = read
    tables = grids.tables(rows, title, False, True)
    for table in tables:
        _shown(table, marks)
        _filled(table, marks)
        if cut:
            table.extra["least"] = cut and table.end >= len(rows)
        table.calls = _calls(table, options, packed, rows, marks)
    if tables:
        tables[0].warnings += marks.notes
        if cut:
            tables[0].warnings.append(f"only its first {len(rows)} rows were read")
        if len(tables) > 1:
            tables[0].warnings.append(f"the sheet has {len(tables)} tables")
    return tables


def _sheets(path: str, packed: Package) -> list[tuple[str, bool, Any]]:
    """The sheets with cells: their names, whether they are hidden, and what reads their rows."""
    try:
        import python_calamine as calamine
    except ImportError:
        return _by_pandas(path, packed)
    try:
        opened = calamine.CalamineWorkbook.from_path(path)
    except calamine.CalamineError:  # such as files of Excel 4
        return _by_pandas(path, packed)
    seen, cells = calamine.SheetVisibleEnum.Visible, calamine.SheetTypeEnum.WorkSheet

    def reader(name: str) -> Any:
        def read(marks: Marks, deadline: Deadline) -> tuple[Rows, bool]:
            if marks.cells > CELLS:
                return _streamed(path, name, deadline)
            values = opened.get_sheet_by_name(name).to_python(skip_empty_area=False)
            return [_short(row) for row in values], False

        return read

    sheets = [m for m in opened.sheets_metadata if m.typ == cells]
    return [(m.name, m.visible != seen, reader(m.name)) for m in sheets]


def _by_pandas(path: str, packed: Package) -> list[tuple[str, bool, Any]]:
    """The sheets, as pandas reads them with what is installed."""
    import pandas as pd

    opened = pd.ExcelFile(path, engine="xlrd" if packed.format == "Excel (xls)" else None)

    def reader(name: str) -> Any:
        def read(marks: Marks, deadline: Deadline) -> tuple[Rows, bool]:
            frame = opened.parse(
                name, header=None, keep_default_na=False, na_values=[""], nrows=50_000
            )
            values = frame.astype(object).where(frame.notna(), None)
            rows = [_short(row) for row in values.itertuples(index=False, name=None)]
            return rows, len(frame) == 50_000

        return read

    return [(str(name), False, reader(name)) for name in opened.sheet_names]


def _streamed(path: str, name: str, deadline: Deadline) -> tuple[Rows, bool]:
    """The first rows of a sheet that is too large, and whether there are more."""
    import openpyxl

    opened = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
    sheet = opened[name]
    sheet.reset_dimensions()
    rows: Rows = []
    cells = 0
    for row in itertools.islice(sheet.iter_rows(values_only=True), 1_048_576):
        rows.append(_short(row[: grids.MOST_COLUMNS]))
        cells += len(rows[-1])
        if cells > 600_000 or len(rows) >= 100_000 or deadline.left() == 0:
            return rows, True
    return rows, False


def _short(row: Any) -> tuple:
    """A row without empty cells at its end; whole numbers are int, as in pandas."""
    end = len(row)
    while end and row[end - 1] in (None, ""):
        end -= 1
    return tuple(
        int(v) if isinstance(v, float) and v.is_integer() else None if v == "" else v
        for v in row[:end]
    )


class Package:
    """The parts of a workbook that is a ZIP file."""

    def __init__(self, path: str) -> None:
        self.parts: dict[str, str] = {}  # of sheets
        self.codes: list[str] = []  # of number formats, by style
        self.path, self.strict, self.format = path, False, "Excel (xls)"
        self.sizes: dict[str, int] = {}
        self.unpacked = self.texts = 0  # bytes
        if not zipfile.is_zipfile(path):
            return
        with zipfile.ZipFile(path) as archive:
            self.sizes = {i.filename: i.file_size for i in archive.infolist()}
            self.unpacked = sum(self.sizes.values())
            apart = ("xl/worksheets/", "xl/media/", "content.xml")
            self.texts = sum(n for name, n in self.sizes.items() if not name.startswith(apart))
            self.format = "Excel (xlsb)" if "xl/workbook.bin" in self.sizes else "Excel"
            if "content.xml" in self.sizes:
                self.format = "OpenDocument spreadsheet"
            if "xl/workbook.xml" not in self.sizes:
                return
            about = archive.read("xl/workbook.xml")
            self.strict = STRICT in about
            self.format += ", strict OOXML" * self.strict
            related = self._read(archive, "_rels/workbook.xml.rels")
            targets = {
                _attribute(part, "Id"): _attribute(part, "Target")
                for part in re.findall(rb"<(?:\w+:)?Relationship [^>]*>", related)
            }
            for sheet in re.findall(rb"<(?:\w+:)?sheet [^>]*>", about):
                target = targets.get(_attribute(sheet, r"\w+:id"), "")
                part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
                self.parts[_attribute(sheet, "name")] = part
            self._styles(self._read(archive, "styles.xml"))

    def _read(self, archive: zipfile.ZipFile, name: str) -> bytes:
        return (
            archive.read(f"xl/{name}") if self.sizes.get(f"xl/{name}", WHOLE) < WHOLE // 2 else b""
        )

    def _styles(self, styles: bytes) -> None:
        own = {
            _attribute(f, "numFmtId"): _attribute(f, "formatCode")
            for f in re.findall(rb"<(?:\w+:)?numFmt [^>]*>", styles)
        }
        cells = re.search(rb"<(?:\w+:)?cellXfs.*?</(?:\w+:)?cellXfs>", styles, re.S)
        for style in re.findall(rb"<(?:\w+:)?xf [^>]*>", cells[0] if cells else b""):
            kind = _attribute(style, "numFmtId")
            self.codes.append(own.get(kind, BUILT_IN.get(kind, "")))

    def marks(self, name: str) -> Marks:
        """What the XML of a sheet says, if it is not too large."""
        part = self.parts.get(name, "")
        marks = Marks(size=self.sizes.get(part, 0))
        if not 0 < marks.size < WHOLE * 2:
            marks.cells = CELLS + 1 if marks.size else 0
            return marks
        with zipfile.ZipFile(self.path) as archive:
            data = archive.read(part)
        numbers = rb'<(?:\w+:)?c r="([A-Z]+)(\d+)"(?: s="(\d+)")?(?: t="n")?>\s*<(?:\w+:)?v>'
        for column, row, style in re.findall(numbers, data):
            code = self.codes[int(style)] if style and int(style) < len(self.codes) else ""
            by_code = marks.formats.setdefault(_place(column.decode()), {})
            by_code.setdefault(code, array.array("Q")).append(int(row))
        last = [0, 0]
        for column, row in set(re.findall(rb'<(?:\w+:)?c r="([A-Z]{1,3})(\d{1,7})"', data)):
            last = [max(last[0], _place(column.decode()) + 1), max(last[1], int(row))]
        marks.cells = last[0] * last[1]
        for a, b, c, d in re.findall(
            rb'<(?:\w+:)?mergeCell ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"', data
        ):
            marks.merged.append((int(b) - 1, int(d) - 1, _place(a.decode()), _place(c.decode())))
        _told(data, marks)
        return marks


def _told(data: bytes, marks: Marks) -> None:
    """Notes of a sheet as a whole."""
    bare = rb"(?:</f>|<f[^>]*/>)\s*(?:<v\s*/>|<v></v>)?\s*</c>"
    if n := len(re.findall(bare, data)):
        marks.notes.append(f"{n} cells have a formula without a value: they read as empty")
    errors = Counter(re.findall(rb't="e"[^>]*>(?:<f[^>]*/>|<f.*?</f>)?<v>([^<]{1,20})</v>', data))
    if errors:
        told = ", ".join(
            f"{show(e.decode('utf-8', 'replace'))} ({n})" for e, n in errors.most_common(8)
        )
        marks.notes.append(f"cells with errors, which read as missing: {told}")
    if n := len(re.findall(rb'<row [^>]*hidden="(?:1|true)"', data)):
        marks.notes.append(f"{n} hidden rows, which are read as the others")
    hidden = []
    for column in re.findall(rb'<col [^>]*hidden="(?:1|true)"[^>]*>', data):
        low, high = int(_attribute(column, "min")), int(_attribute(column, "max"))
        hidden.append(
            letters(low - 1) + (f"-{letters(min(high, 16_384) - 1)}" if high > low else "")
        )
    if hidden:
        marks.notes.append(
            f"hidden columns, which are read as the others: {', '.join(hidden[:20])}"
        )


def _attribute(tag: bytes, name: str) -> str:
    import html

    m = re.search(rf'\b{name}="([^"]*)"', tag.decode("utf-8", "replace"))
    return html.unescape(m[1]) if m else ""


def _place(column: str) -> int:
    """The number of a column, from 0, by its letters."""
    n = 0
    for c in column:
        n = n * 26 + ord(c) - 64
    return n - 1


def _shown(table: Table, marks: Marks) -> None:
    """Notes of the columns whose cells show numbers in other words than their values."""
    left = table.extra["left"]
    table.notes = [[] for _ in table.names]
    for n, notes in enumerate(table.notes):
        formats = {
            code: bisect.bisect(rows, table.end) - bisect.bisect(rows, table.skip)
            for code, rows in marks.formats.get(left + n, {}).items()
        }
        for code, many in Counter(formats).most_common(3):
            if many > 1 and (said := dressed(code)):
                notes.append(
                    f"Excel shows {'them' if many == sum(formats.values()) else many} {said}"
                )


def dressed(code: str) -> str:
    """How a number format shows numbers, if not as they are."""
    if conditions := CONDITION.findall(code):
        each = [dressed(c) for c in CONDITION.sub("", code).split(";")[:3]]
        if len(set(each)) == 1:
            return each[0]
        if len(conditions) > 1 or len(each) > 2 or not CONDITION.search(code.split(";")[0]):
            return f"by the format {show(code)}"
        told = zip(each, (f"where {conditions[0]}", f"where not {conditions[0]}"))
        return ", ".join(f"{e}, {w}" for e, w in told if e)
    code = code.split(";")[0]
    if re.search(r"[ymdhs]", re.sub(r'"[^"]*"|\[[^\]]*\]', "", code), re.I):
        return ""  # a date
    said = []
    words = [next(filter(None, m)).strip() for m in SHOWN.findall(code)]
    bare = SHOWN.sub("", COLOUR.sub("", code)).strip()
    if "%" in bare:
        said.append("as percent: 0.25 is shown as 25%")
    if word := " ".join(filter(None, words)):
        said.append(f"with {show(word, 40)}")
    if m := re.search(r"[0#?](,+)(?![0#?,])", bare):
        said.append(f"divided by {1000 ** len(m[1])}")
    if re.fullmatch(r"0{2,}", bare):
        said.append(f"with zeros before them: 7 as {'7'.rjust(len(bare), '0')}")
    return ", ".join(said)


def _filled(table: Table, marks: Marks) -> None:
    """Puts the value of cells that are merged over rows into each of these rows, where that leaves
    no empty cell: then ffill() of pandas does the same."""
    left, first = table.extra["left"], table.skip
    columns: dict[int, list[Merged]] = {}
    for top, bottom, start, end in marks.merged:
        if start == end and top < bottom and first <= top and bottom < table.end:
            columns.setdefault(start - left, []).append((top, bottom, start, end))
    filled = []
    for column, merged in sorted(columns.items()):
        if not 0 <= column < len(table.names):
            continue
        values = [row[column] for row in table.rows]
        whole = len(values) == table.end - first  # no blank rows were left out
        for top, bottom, _, _ in merged if whole else ():
            values[top - first : bottom - first + 1] = [values[top - first]] * (bottom - top + 1)
        name = table.names[column]
        if not whole or any(map(grids.empty, values)):
            table.warnings.append(
                f"{show(name)} has {len(merged)} cells that are merged over rows: only the first "
                "row of each has the value"
            )
            continue
        table.rows = [(*r[:column], v, *r[column + 1 :]) for r, v in zip(table.rows, values)]
        table.notes[column].append(
            f"{len(merged)} cells are merged over rows: in pandas only the first row of each has "
            "the value, which is for all of them: ffill()"
        )
        filled.append(name)
    table.extra["filled"] = filled


def _calls(table: Table, options: dict, packed: Package, rows: Rows, marks: Marks) -> list[Call]:
    """Calls that may read a table."""
    left, right = table.extra.pop("left"), table.extra.pop("right")
    filled = table.extra.pop("filled")
    options = dict(options)
    if not table.header:
        options |= {"header": None} | ({"skiprows": table.skip} if table.skip else {})
    elif len(table.header) > 1 or table.header[0]:
        options["header"] = table.header if len(table.header) > 1 else table.header[0]
    if left or right < max(map(len, rows), default=0):
        options["usecols"] = f"{letters(left)}:{letters(right - 1)}"
    if table.end < len(rows):
        options["nrows"] = table.end - table.skip
    after = ""
    if filled:
        told = ", ".join(f"{python(n)}: lambda d: d[{python(n)}].ffill()" for n in filled)
        after = f".assign(**{{{told}}})"
    forms = [options]
    if len(table.header) > 1 and len(table.names) <= NAMED:
        forms.insert(0, options | {"header": None, "skiprows": table.skip, "names": table.names})
    engines: list[dict] = [{}, {"engine": "calamine"}]
    if packed.format == "Excel (xls)":
        engines.append({"engine": "xlrd"})  # pandas does not know files of Excel 4
    if packed.strict or marks.size > QUICK:
        engines.reverse()
    calls = [
        Call(f"pd.read_excel({FILE}", form | engine, after) for form in forms for engine in engines
    ]
    return calls + [c.having(after=f'.dropna(how="all"){after}') for c in calls[:2]]
