"""Readers of archives and of what is packed in another way than text is: what their members are."""

from __future__ import annotations

import os
import re
import tarfile
import tempfile
import zipfile
from typing import Any

from dsstar_profile.found import WHOLE, Deadline, Found
from dsstar_profile.hints import FILE, Call, python
from dsstar_profile.values import show

SHOWN = 100  # members that are named
LOOKED = 20  # members that are looked into
COUNTED = 100_000
ZSTD = b"\x28\xb5\x2f\xfd"
JUNK = re.compile(r"(^|/)(__MACOSX/|\.|Thumbs\.db$|desktop\.ini$)")


def archive(path: str, deadline: Deadline) -> Found:
    """What a ZIP archive has, each of its tables; of a tar archive the names."""
    if zipfile.is_zipfile(path):
        return _zip(path, deadline)
    members, counted, all_of_them = [], 0, True
    with tarfile.open(path, "r|*") as packed:
        for m in packed:
            if m.isfile():
                members += [(m.name, m.size)] if counted < SHOWN else []
                counted += 1
            if counted >= COUNTED or deadline.left() == 0:
                all_of_them = False
                break
    return _listed("tar archive", members, counted if all_of_them else -counted)


def _listed(kind: str, members: list[tuple[str, int]], counted: int) -> Found:
    """The names of members; fewer than none: that there are more than so many."""
    found = Found(
        kind, lines=[f"{show(name, 120)}: {size} bytes" for name, size in members[:SHOWN]]
    )
    found.warnings.append(
        f"{'' if counted >= 0 else 'more than '}{abs(counted)} files in it"
        + (f", the first {SHOWN} of them" if abs(counted) > SHOWN else "")
    )
    return found


def _zip(path: str, deadline: Deadline) -> Found:
    with zipfile.ZipFile(path) as packed:
        members = [i for i in packed.infolist() if not i.is_dir() and not JUNK.search(i.filename)]
        found = _listed("ZIP archive", [(i.filename, i.file_size) for i in members], len(members))
        room = WHOLE
        for info in members[:LOOKED]:
            room -= info.file_size
            if room < 0 or deadline.left() == 0 or info.flag_bits & 1:
                found.warnings.append(f"{show(info.filename, 120)} is not looked into")
                continue
            try:
                with packed.open(info) as member:
                    inner = _member(member, info.filename, deadline)
            except Exception as error:
                why = f"{type(error).__name__}: {show(error, 160)}"
                found.warnings.append(f"{show(info.filename, 120)} cannot be read: {why}")
                continue
            name = python(info.filename)
            opened = [FILE] if len(members) == len(packed.infolist()) == 1 else []
            opened.append(f"zipfile.ZipFile({FILE}).open({name})")
            _added(found, inner, info.filename, opened)
        if (left := len(members) - LOOKED) > 0:
            found.warnings.append(f"{left} more of them are not looked into")
    return found


def zstd(path: str, deadline: Deadline) -> Found:
    """A file that is packed with Zstandard, which PyArrow unpacks."""
    import pyarrow as pa

    with pa.CompressedInputStream(path, "zstd") as packed:
        found = Found("packed with Zstandard")
        inner = _member(packed, os.path.basename(path).removesuffix(".zst"), deadline)
        found.format = f"{inner.format}, packed with Zstandard"
        _added(found, inner, "", [FILE, f'pa.CompressedInputStream({FILE}, "zstd")'])
    return found


def _member(packed: Any, name: str, deadline: Deadline) -> Found:
    """What is in a member, which is unpacked into a temporary file for that."""
    from dsstar_profile.profile import reader_of

    folder = tempfile.TemporaryDirectory()  # which goes with the tables that are counted in it
    local = os.path.join(folder.name, os.path.basename(name) or "member")
    with open(local, "wb") as f:
        while f.tell() <= WHOLE and (part := packed.read(1 << 20)):
            f.write(part)
        if f.tell() > WHOLE:
            return Found("large file", warnings=["too large to be looked into"])
    reader = reader_of(local)
    if reader in (None, archive):
        return Found("not looked into", warnings=["it is not looked into"])
    found = reader(local, deadline)
    for table in found.tables:
        if table.count:
            table.count = lambda columns, count=table.count, _=folder: count(columns)
    return found


def _added(found: Found, inner: Found, name: str, opened: list[str]) -> None:
    """Adds what is in a member, whose calls read what is opened in one of several ways."""
    for table in inner.tables:
        table.name = " ".join(filter(None, (show(name, 120), table.name)))
        told = [inner.encoding and inner.encoding != "utf-8" and f"encoding {inner.encoding}"]
        table.where = ", ".join(filter(None, (table.where, *told)))
        table.calls = [_reading(c, way) for c in table.calls for way in opened]
        table.parts = None
        found.tables.append(table)
    found.warnings += [f"{show(name, 120)}: {w}" if name else w for w in inner.warnings]
    if inner.text and not inner.tables:
        found.text += f"[{show(name, 120)}]\n{inner.text}\n"
        found.cut = found.cut or inner.cut


def _reading(call: Call, opened: str) -> Call:
    way = rf'\bopen\({FILE}(, encoding="[^"]*")?\)|{FILE}' if opened != FILE else FILE
    return Call(re.sub(way, lambda _: opened, call.start), call.options, call.after)
