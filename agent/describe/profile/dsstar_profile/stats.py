"""Reader of the files of Stata, SPSS and SAS: their tables, and the code book that they bring."""

from __future__ import annotations

import os
from typing import Any

from dsstar_profile.found import WHOLE, Deadline, Found, sample_size
from dsstar_profile.grids import Table
from dsstar_profile.hints import FILE, Call
from dsstar_profile.values import show

LABELS = 60  # of the values of a column that are told
# By the ending: the program, the reader of pyreadstat, and calls of pandas.
CODES = {"convert_categoricals": False}
KINDS: dict[str, tuple[str, str, list[Call]]] = {
    ".dta": ("Stata", "read_dta", [Call(f"pd.read_stata({FILE}", CODES)]),
    ".sav": ("SPSS", "read_sav", [Call(f"pd.read_spss({FILE}", CODES)]),
    ".zsav": ("SPSS", "read_sav", [Call(f"pd.read_spss({FILE}", CODES)]),
    ".por": ("SPSS portable", "read_por", []),
    ".xpt": ("SAS transport", "read_xport", []),
    ".sas7bdat": ("SAS", "read_sas7bdat", []),
}
STARTS = {
    ".dta": (b"<stata_dta>", *(bytes([n]) for n in range(104, 116))),
    ".sav": (b"$FL2", b"$FL3"),
    ".zsav": (b"$FL2", b"$FL3"),
    ".xpt": (b"HEADER RECORD*******",),
    ".sas7bdat": (b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60",),
}


def known(ending: str, magic: bytes) -> bool:
    return ending in KINDS and magic.startswith(STARTS.get(ending, (b"",)))


def survey(path: str, deadline: Deadline) -> Found:
    import pyreadstat

    program, name, calls = KINDS[os.path.splitext(path.lower())[1]]
    read = getattr(pyreadstat, name)
    declared = {"user_missing": True} if name == "read_sav" else {}  # else they are not told
    about = read(path, metadataonly=True, **declared)[1]
    missing = about.missing_ranges
    rows, most = about.number_rows, sample_size(about.number_columns)
    whole = rows is not None and rows <= most or rows is None and os.path.getsize(path) <= WHOLE
    frame, about = read(path, **({} if whole else {"row_limit": most}))
    found = Found(program, warnings=[show(n, 300) for n in about.notes[:20]])
    if about.file_label:
        found.lines.append(f"label: {show(about.file_label, 200)}")
    table = Table(show(about.table_name or "", 60), list(frame.columns), [])
    table.rows = list(
        frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    )
    if not whole:
        table.total = rows if rows is not None else len(frame)
        if rows is None:
            table.warnings.append(f"only its first {len(frame)} rows were read")
    table.notes = [_notes(about, n, missing.get(n, [])) for n in frame.columns]
    if about.variable_value_labels:
        table.warnings.append(
            "values are codes, whose labels are told of each column"
            + ": without convert_categoricals=False pandas has the labels instead" * bool(calls)
        )
    table.calls = [*calls, Call(f"pyreadstat.{name}({FILE}", {}, "[0]")]
    if os.path.getsize(path) > WHOLE:
        table.calls = [c.having(row_limit=...) for c in table.calls[-1:]]
        table.calls[0].less = f"pyreadstat.{name}(path, row_limit={most})[0]"
    found.tables.append(table)
    return found


def _notes(about: Any, column: str, missing: list[dict[str, Any]]) -> list[str]:
    """What the code book says of a column."""
    notes = []
    if label := about.column_names_to_labels.get(column):
        notes.append(f"label: {show(label, 300)}")
    if labels := about.variable_value_labels.get(column):
        told = ", ".join(f"{_code(v)} = {show(t, 80)}" for v, t in list(labels.items())[:LABELS])
        more = f" and {len(labels) - LABELS} more" if len(labels) > LABELS else ""
        notes.append(f"codes: {told}{more}")
    if missing:
        ends = [" to ".join(dict.fromkeys((_code(r["lo"]), _code(r["hi"])))) for r in missing]
        notes.append(f"declared missing, and read so: {', '.join(ends)}")
    if gone := about.missing_user_values.get(column):
        notes.append(f"special missing values, read as missing: {', '.join(map(str, gone))}")
    return notes


def _code(value: Any) -> str:
    return show(int(value) if isinstance(value, float) and value.is_integer() else value)
