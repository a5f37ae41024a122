"""Reader of buckets: what files they have, and of each kind the first, by its own reader. Of a
Parquet file only its footer and first rows are fetched, of another its beginning."""

from __future__ import annotations

import datetime
import json
import os
import re
import tempfile
from typing import Any

from dsstar_profile import arrow, grids
from dsstar_profile.values import show
from dsstar_profile.found import Deadline, Found, address
from dsstar_profile.grids import Table

ENDING = ".bucket.json"
FILES = 10_000  # that are listed
FETCHED = 8 << 20  # bytes of a file that is no Parquet
ROWS = 1000  # of a Parquet file
GROUPS = 40  # of files that are looked into
# Files that have to be whole.
UNDIVIDED = tuple(
    ".zip .xlsx .xlsb .xls .ods .pdf .docx .sqlite .db .gpkg .duckdb .feather .arrow .orc .dta "
    ".sav .sas7bdat .h5 .hdf5 .nc .cdf .mat .npy .npz .dbf .zst".split()
)
COUNTED = 200  # files of a group whose rows are counted


def bucket(path: str, deadline: Deadline) -> Found:
    import pyarrow.fs as fs

    name, at = address(path, ENDING, "bucket")
    scheme, _, root = at.partition("://")
    store = {"s3": _s3, "gs": _gs, "az": _az}[scheme](fs)
    return _read(fs, fs.SubTreeFileSystem(root.strip("/"), store), json.dumps(name), deadline)


def _server(variable: str) -> tuple[str, str]:
    scheme, _, host = os.environ.get(variable, "").rpartition("://")
    return scheme or "https", host.partition("/")[0]


def _s3(fs: Any) -> Any:
    scheme, host = _server("AWS_ENDPOINT_URL")
    return fs.S3FileSystem(
        anonymous="AWS_ACCESS_KEY_ID" not in os.environ,
        region=os.environ.get("AWS_REGION"),
        scheme=scheme,
        endpoint_override=host or None,
        connect_timeout=10,
        request_timeout=20,
    )


def _gs(fs: Any) -> Any:
    scheme, host = _server("STORAGE_EMULATOR_HOST")
    token = os.environ.get("GOOGLE_OAUTH_ACCESS_TOKEN")
    return fs.GcsFileSystem(
        anonymous=not token,
        access_token=token,
        credential_token_expiration=datetime.datetime.now() + datetime.timedelta(hours=1)
        if token
        else None,
        scheme=scheme,
        endpoint_override=host or None,
        retry_time_limit=datetime.timedelta(seconds=20),
    )


def _az(fs: Any) -> Any:
    scheme, host = _server("AZURE_STORAGE_SERVICE_ENDPOINT")
    at = {f"{part}_storage_authority": host for part in ("blob", "dfs")}
    at |= {f"{part}_storage_scheme": scheme for part in ("blob", "dfs")}
    return fs.AzureFileSystem(
        os.environ["AZURE_STORAGE_ACCOUNT"],
        account_key=os.environ.get("AZURE_STORAGE_KEY"),
        sas_token=os.environ.get("AZURE_STORAGE_SAS_TOKEN"),
        **(at if host else {}),
    )


def _read(fs: Any, store: Any, name: str, deadline: Deadline) -> Found:
    listed = store.get_file_info(fs.FileSelector("", recursive=True))
    files = sorted(
        (i for i in listed if i.type == fs.FileType.File and i.size), key=lambda i: i.path
    )
    found = Found(f"bucket with {len(files)} files")
    found.lines.append(
        f"in cells: bucket[{name}], a file system of PyArrow with these paths; this file is not "
        "read"
    )
    groups: dict[str, list] = {}
    for info in files[:FILES]:
        groups.setdefault(_form(info.path), []).append(info)
    for n, (form, members) in enumerate(groups.items()):
        size = sum(i.size for i in members)
        title = form if len(members) > 1 else members[0].path
        where = (
            f"{len(members)} files, {size} bytes together" if len(members) > 1 else f"{size} bytes"
        )
        if len(members) > 1:
            where += f", {show(members[0].path)} to {show(members[-1].path)}"
        if n >= GROUPS or deadline.left() == 0:
            found.lines.append(f"{show(title)}: {where}; not looked into")
            continue
        try:
            tables = _tables(store, members, deadline, found, title)
        except Exception as error:
            found.warnings.append(f"{show(title)} cannot be read: {show(error, 160)}")
            continue
        if not tables:
            found.lines.append(f"{show(title)}: {where}")
        for table in tables:
            table.name = " ".join(filter(None, (title, table.name)))
            table.where = ", ".join(filter(None, (where, table.where)))
        found.tables += tables
    if len(files) > FILES:
        found.warnings.append(f"{len(files) - FILES} more files are not listed")
    return found


def _form(path: str) -> str:
    """What files of one kind have in common: the path without its numbers."""
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+", "*", path)


def _tables(store: Any, members: list, deadline: Deadline, found: Found, title: str) -> list[Table]:
    first = members[0]
    if first.path.lower().endswith((".parquet", ".pq")):
        return [_parquet(store, members, deadline)]
    if first.path.lower().endswith(UNDIVIDED) and first.size > FETCHED:
        return []
    with store.open_input_file(first.path) as f:
        content = f.read(min(first.size, FETCHED))
    whole = len(content) == first.size
    if not whole and not first.path.lower().endswith((".gz", ".bz2", ".xz")):
        content = content[: content.rfind(b"\n") + 1]
    from dsstar_profile.profile import reader_of

    with tempfile.NamedTemporaryFile(suffix=os.path.basename(first.path)) as local:
        local.write(content)
        local.flush()
        if not (reader := reader_of(local.name)):
            return []
        inner = reader(local.name, deadline)
    for table in inner.tables:
        table.calls, table.parts = [], None  # of a file that is no longer there
        if not whole or len(members) > 1:
            table.extra["guessed"] = True
            rows = len(table.rows) if table.total is None else table.total
            table.total = int(rows * sum(i.size for i in members) / max(1, len(content)))
            table.warnings.append(
                f"figures are from the first {len(content)} bytes of {show(first.path)}"
            )
    if inner.text and not inner.tables:
        found.text += f"[{show(title)}]\n{inner.text}\n"
    return inner.tables


def _parquet(store: Any, members: list, deadline: Deadline) -> Table:
    import pyarrow.parquet as pq

    with store.open_input_file(members[0].path) as f:
        file = pq.ParquetFile(f)
        most = max(50, min(ROWS, grids.MOST_CELLS // max(1, len(file.schema_arrow))))
        batch = next(file.iter_batches(batch_size=most), None)
        total = file.metadata.num_rows
        table, _ = arrow.described(file.schema_arrow, [] if batch is None else [batch], total)
    table.extra.pop("index")
    counted = 1
    for info in members[1:COUNTED]:
        if deadline.left() == 0:
            break
        with store.open_input_file(info.path) as f:
            total += pq.read_metadata(f).num_rows
        counted += 1
    if counted < len(members):
        total, table.extra["guessed"] = total * len(members) // counted, True
    if total != len(table.rows):
        table.total = total
        table.warnings.append(
            f"figures are from the first {len(table.rows)} rows of {show(members[0].path)}"
        )
        for known in table.known:
            known.pop("range", None)  # of the first file
    return table
