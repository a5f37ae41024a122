"""Readers of what Arrow reads: Parquet, Feather, Arrow streams and ORC. Names, types and the index
are those of the file, and not what DuckDB makes of them; its figures are of all rows."""

from __future__ import annotations

import contextlib
import functools
import glob
import io
import os
import re
from collections.abc import Iterator
from typing import Any

from dsstar_profile import grids
from dsstar_profile.found import (
    WHOLE,
    Deadline,
    Found,
    duckdb_connection,
    exact,
    figures,
    quoted,
    sample_size,
    trouble,
)
from dsstar_profile.grids import Table, infinite
from dsstar_profile.hints import ENDS, FILE, Call, python
from dsstar_profile.values import show

Json = dict[str, Any]
FILES = 200  # of a folder whose types are looked at
BUFFER = 1 << 18  # bytes of a column of Parquet that are read at once
AT_ONCE = 10  # columns of Parquet that are read at once
PARTS = 8  # of a file that a sample is from, where it is quick to go there
# Types that need no words, and those of DuckDB.
USUAL = set(
    "int8 int16 int32 int64 uint8 uint16 uint32 double string large_string bool null date32[day] "
    "timestamp[s] timestamp[ms] timestamp[us] timestamp[ns]".split()
)
PLAIN = set("TINYINT SMALLINT INTEGER BIGINT DOUBLE VARCHAR BOOLEAN DATE TIMESTAMP".split())
LOSSY = "float64 in pandas, which loses digits"


def parquet(path: str, deadline: Deadline) -> Found:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path, buffer_size=BUFFER)
    schema, rows = file.schema_arrow, file.metadata.num_rows
    most = each = sample_size(len(schema))
    groups = [g for g in range(file.num_row_groups) if file.metadata.row_group(g).num_rows]
    if rows > most:
        groups = list(dict.fromkeys(groups[len(groups) * n // PARTS] for n in range(PARTS)))
        each = most // len(groups)
    few = schema.names[: grids.MOST_COLUMNS]
    batches = [b for group in groups for b in _first(file, group, each, few).to_batches()]
    table, order = described(schema, batches, rows)
    doubled = len(set(schema.names)) < len(schema)
    start = f"pq.ParquetFile({FILE}).read().to_pandas(" if doubled else f"pd.read_parquet({FILE}"
    table.calls = [_call(start, table)]
    if doubled:
        table.warnings.append(
            "several columns have one name: pd.read_parquet refuses the file, and of such a name "
            "df[name] is a table of them all"
        )
    if sum(file.metadata.row_group(g).total_byte_size for g in range(file.num_row_groups)) > WHOLE:
        table.parts = lambda: _parts(file, {groups[0], groups[-1]})
    name = quoted(glob.escape(path))  # DuckDB takes patterns
    _of_all(f"read_parquet({name}, hive_partitioning=false)", None, table, order, deadline)
    _of_path(path, table)
    return Found("Parquet", [table])


def _call(start: str, table: Table) -> Call:
    """A call that gives the table with its index as columns."""
    return Call(start, {}, ".reset_index()" if table.extra.pop("index", False) else "")


def _first(file: Any, group: int, rows: int, names: list[str]) -> Any:
    """The first rows of a group, with its first columns, of these names: a few of them at once,
    since each takes a page of the file at least, as what was read of it does until it is copied."""
    import pyarrow as pa

    several: list[Any] = [names[n : n + AT_ONCE] for n in range(0, len(names), AT_ONCE)]
    if len(set(names)) < len(names) or any("." in n for n in names):
        several = [None]  # a name may stand for more than one column
    columns: list[Any] = []
    for some in several:
        batches = _head(file.iter_batches(rows, [group], some), rows)
        with pa.BufferOutputStream() as copy:
            with pa.ipc.new_stream(copy, batches[0].schema) as stream:
                for batch in batches:
                    stream.write_batch(batch)
            columns += pa.ipc.open_stream(copy.getvalue()).read_all().columns
    return pa.table(columns[: len(names)], names).combine_chunks()


def _parts(file: Any, groups: set[int]) -> Iterator[io.BytesIO]:
    """Files with the first rows of some groups of a large one."""
    import pyarrow.parquet as pq

    schema = file.schema_arrow
    most = min(ENDS, sample_size(len(schema)))
    for group in sorted(groups):
        part = io.BytesIO()
        first = _first(file, group, most, schema.names)
        pq.write_table(first.replace_schema_metadata(schema.metadata), part)
        part.seek(0)
        yield part


def feather(path: str, deadline: Deadline) -> Found:
    import pyarrow as pa
    import pyarrow.dataset as dataset
    import pyarrow.feather as first_version

    with open(path, "rb") as f:
        old = f.read(4) == b"FEA1"
    if old:
        data = first_version.read_table(path, memory_map=True)
        schema, rows, parts = data.schema, data.num_rows, iter(data.to_batches())
    else:
        reader = pa.ipc.open_file(pa.memory_map(path))
        data = dataset.dataset(path, format="feather")
        schema, rows = reader.schema, data.count_rows()
        parts = (reader.get_batch(n) for n in range(reader.num_record_batches))
    table, order = described(schema, _head(parts, sample_size(len(schema))), rows)
    table.calls = [_call(f"pd.read_feather({FILE}", table)]
    return _rest("Feather (Arrow)", path, data, table, order, deadline)


def stream(path: str, deadline: Deadline) -> Found:
    import pyarrow as pa

    with pa.ipc.open_stream(pa.memory_map(path)) as reader:
        schema = reader.schema
        batches = _head(iter(reader), sample_size(len(schema)))
        rows = sum(b.num_rows for b in batches)
        if rows == sample_size(len(schema)):
            with pa.ipc.open_stream(pa.memory_map(path)) as again:
                rows = sum(b.num_rows for b in again)
    table, order = described(schema, batches, rows)
    call = _call("", table)
    table.calls = [Call(f"pa.ipc.open_stream({FILE}", {}, ".read_all().to_pandas()" + call.after)]
    again = pa.ipc.open_stream(pa.memory_map(path))
    return _rest("Arrow stream", path, again, table, order, deadline)


def orc(path: str, deadline: Deadline) -> Found:
    import pyarrow.dataset as dataset

    data = dataset.dataset(path, format="orc")
    head = data.head(sample_size(len(data.schema)), batch_readahead=1, fragment_readahead=1)
    table, order = described(data.schema, head.to_batches(), data.count_rows())
    table.calls = [_call(f"pd.read_orc({FILE}", table)]
    return _rest("ORC", path, data, table, order, deadline)


def relation(con: Any, name: str) -> Table:
    """A table or view of DuckDB, with the types that DuckDB names."""
    kinds = {c[0]: c[1] for c in con.execute(f"DESCRIBE SELECT * FROM {name}").fetchall()}
    most = sample_size(len(kinds))
    got = con.execute(f"SELECT * FROM {name} LIMIT {most}").fetch_arrow_table()
    rows = got.num_rows
    if rows == most:
        rows = con.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
    table, order = described(got.schema, got.to_batches(), rows)
    table.extra.pop("index")
    table.notes = [[show(k.lower(), 60)] if k not in PLAIN else [] for k in kinds.values()]
    for kind, notes in zip(kinds.values(), table.notes):
        notes += [LOSSY] if kind in ("HUGEINT", "UHUGEINT") else []
    if table.total is not None:
        _figures(con, name, table, order)
    return table


def _head(batches: Iterator[Any], rows: int) -> list[Any]:
    found: list[Any] = []
    for batch in batches:
        found.append(batch[:rows])
        rows -= found[-1].num_rows
        if rows <= 0:
            break
    return found


def _rest(
    kind: str, path: str, data: Any, table: Table, order: list[int], deadline: Deadline
) -> Found:
    if os.path.getsize(path) > WHOLE:
        table.calls = []  # they take all of it
    _of_all("arrow_file", data, table, order, deadline)
    return Found(kind, [table])


def described(schema: Any, batches: list, rows: int) -> tuple[Table, list[int]]:
    """A table with its index first, as reset_index() has it, and the places of its columns."""
    import pyarrow as pa

    names = list(schema.names)
    index = [n for n in (schema.pandas_metadata or {}).get("index_columns", []) if n in names]
    order = [names.index(n) for n in index]
    order += [n for n in range(len(names)) if n not in set(order)]
    table = Table("", [names[n] for n in order], [], extra={"index": bool(index)})
    columns = []
    for n in order:
        kind, column = schema.field(n).type, None
        if len(columns) < grids.MOST_COLUMNS:
            column = pa.chunked_array(
                [b.column(n) for b in batches if b.num_columns > n], type=kind
            )
            columns.append(_values(column))
        known, notes = _known(kind, column, rows)
        table.known.append(known)
        table.notes.append(notes)
    table.rows = list(zip(*columns))
    for at, name in enumerate(index):
        hidden = re.fullmatch(r"__index_level_\d+__", name)
        told = f" without a name, {name} in other readers" if hidden else ""
        table.notes[at].insert(0, f"pandas' index{told}")
        if hidden:
            table.names[at] = "index" if len(index) == 1 else f"level_{at}"
    if index:
        table.warnings.append(
            f"pandas takes {', '.join(map(show, table.names[: len(index)]))} for the index, which "
            "is no column before reset_index()"
        )
    if len(table.rows) < rows:
        table.total = rows
    return table, order


def _values(column: Any) -> list:
    """The values as Python has them; as texts where it has none for them."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    try:
        values = column.to_pylist()
    except (ValueError, OverflowError):  # beyond the years of Python
        return column.cast(pa.string()).to_pylist()
    if pa.types.is_map(kind):
        return [None if v is None else dict(v) for v in values]
    return values


def _known(kind: Any, column: Any, rows: int) -> tuple[Json, list[str]]:
    """What the type says of a column, with the exact range where all of its rows are there, and
    notes of it."""
    import pyarrow as pa

    types = pa.types
    notes = [] if str(kind) in USUAL else [show(kind, 60)]
    if types.is_dictionary(kind):
        notes = ["categorical in pandas"]
    word = _word(types, kind)
    known: Json = {"type": word} if word else {}
    if column is None:
        return {"type": word or "text"}, notes
    if column.null_count == len(column):
        return {}, notes
    if word in ("number", "date"):
        known |= _range(kind, column, len(column) == rows, notes)
    return known, notes


def _word(types: Any, kind: Any) -> str:
    """The type of a column in a profile; "": its values show it."""
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_temporal(kind):
        return "duration" if types.is_duration(kind) or types.is_interval(kind) else "date"
    if types.is_struct(kind) or types.is_map(kind):
        return "struct" if types.is_struct(kind) else "map"
    return "boolean" if types.is_boolean(kind) else ""


def _range(kind: Any, column: Any, whole: bool, notes: list[str]) -> Json:
    """The exact range of a column that is whole, and what is wrong of it in a profile of its
    values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known: Json = {}
    if pa.types.is_floating(kind) and (n := pc.sum(pc.is_inf(column)).as_py()):
        known = {"mixed": False, "notes": []}
        column = column.filter(pc.is_finite(column))
        if whole:
            notes.append(infinite(n))
    if not whole:
        return known
    ends = pc.min_max(column)
    try:
        low, high = ends["min"].as_py(), ends["max"].as_py()
    except (ValueError, OverflowError):
        low, high = (ends[e].cast(pa.string()).as_py() for e in ("min", "max"))
        notes.append("some are beyond the years of Python's dates")
        known = {"notes": [], "form": ""}
    if low is None or low != low:
        return known
    if pa.types.is_temporal(kind):
        return known | {"range": [show(low), show(high)]}
    return known | {"range": [exact(low), exact(high)]}


def _of_all(relation: str, data: Any, table: Table, order: list[int], deadline: Deadline) -> None:
    """Figures of all rows of a table that has more than a sample."""
    if table.total is None:
        return
    with contextlib.suppress(ImportError), duckdb_connection(deadline) as con:
        if data is not None:
            con.register(relation, data)
        _figures(con, relation, table, order)


def _figures(con: Any, relation: str, table: Table, order: list[int]) -> None:
    rows = table.total
    try:
        figures(con, relation, table, order)
    except Exception as error:
        table.whole = None
        table.warnings.append(f"figures are from a sample: {trouble(error)}")
    table.total = rows


def _of_path(path: str, table: Table) -> None:
    """What a path like year=2024/region=eu/part.parquet says, and how all files are read at
    once."""
    parts = path.split("/")[:-1]
    keys = [n for n, p in enumerate(parts) if re.fullmatch(r"[^=]+=[^=]*", p)]
    if not keys:
        return
    names = [parts[n].split("=")[0] for n in keys]
    told = ", ".join(map(show, names))
    if both := [n for n in names if n in table.names]:
        table.warnings.append(
            f"its path has keys ({told}); {', '.join(map(show, both))} is also a column of the "
            "file, and may have other values: read the files one by one"
        )
        return
    root = "/".join(parts[: keys[0]]) or "."
    text = f"keys of its path ({told}) are no columns of the file"
    together, alike = _together(root)
    if set(names) <= together:
        text += f", but of pd.read_parquet({python(root)}), which reads all files of the folder"
        text += "" if alike else " if they have the same columns and types"
    table.warnings.append(text)


@functools.lru_cache(maxsize=8)  # each file of the folder asks
def _together(root: str) -> tuple[frozenset[str], bool]:
    """The columns of a folder that is read at once, none if it cannot be, and whether all of its
    files are known to have them."""
    import pyarrow.dataset as dataset

    try:
        folder = dataset.dataset(root, format="parquet", partitioning="hive")
        files = list(folder.get_fragments())
        alike = len(files) <= FILES and all(
            f.physical_schema == files[0].physical_schema for f in files
        )
        return frozenset(folder.schema.names), alike
    except Exception:
        return frozenset(), False
