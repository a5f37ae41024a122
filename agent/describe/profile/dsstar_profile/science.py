"""Readers of measurements: HDF5, NetCDF, CDF, arrays of NumPy and MATLAB, shapefiles. Variables
have names, shapes, units and other attributes; those of one dimension and one length are a
table."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from typing import Any

from dsstar_profile.found import WHOLE, Deadline, Found, sample_size
from dsstar_profile.grids import Table
from dsstar_profile.hints import FILE, Call, python
from dsstar_profile.values import show

VARIABLES = 200  # that are told of
OBJECTS = "its objects could run code"
COLUMNS = 60  # of a table of variables
# Attributes of a variable that say how it is read, in several conventions.
TELLING = (
    "long_name standard_name units calendar scale_factor add_offset _FillValue missing_value "
    "valid_range CATDESC UNITS FILLVAL description"
).split()
Variable = tuple[str, tuple, str, dict[str, str], Any]  # name, shape, type, attributes, values


def hdf5(path: str, deadline: Deadline) -> Found:
    """HDF5, which NetCDF 4 and MATLAB 7.3 are too. Objects of Python in it are not opened."""
    import h5py

    with h5py.File(path, "r") as file:
        found = Found("NetCDF 4 (HDF5)" if "_NCProperties" in file.attrs else "HDF5")
        found.lines = _attributes(file.attrs, "")
        return _variables(
            found, _datasets(h5py, file, found.warnings), f"h5py.File({FILE})[{{}}][:]"
        )


def _datasets(h5py: Any, file: Any, warnings: list[str]) -> Iterator[Variable]:
    """The datasets of a file but for those whose values are in other files, which may be any."""
    names: list[str] = []
    links: list[str] = []
    file.visit(names.append)
    file.visit_links(links.append)
    outside = h5py.ExternalLink
    elsewhere = [n for n in links if isinstance(file.get(n, getlink=True), outside)]
    for name in names:
        item = file.get(name)
        if isinstance(item, h5py.Dataset) and (item.external or item.is_virtual):
            elsewhere.append(name)
            continue
        if not isinstance(item, h5py.Dataset) or item.shape is None:
            continue
        kind = item.dtype
        if b"not a netCDF variable" in bytes(str(item.attrs.get("NAME", "")), "utf-8"):
            continue
        told = "text" if h5py.check_string_dtype(kind) else str(kind)
        values = None if kind.kind == "O" and told != "text" else item
        yield name, item.shape, told, _told(item.attrs), values
    if elsewhere:
        told = ", ".join(show(n, 60) for n in elsewhere[:20])
        warnings.append(f"not read, as their values are in other files: {told}")


def netcdf(path: str, deadline: Deadline) -> Found:
    """NetCDF 3."""
    import scipy.io

    with scipy.io.netcdf_file(path, "r", mmap=os.path.getsize(path) > WHOLE) as file:
        found = Found("NetCDF 3", lines=_attributes(file._attributes, ""))
        some = [
            (n, tuple(v.shape), v.data.dtype.name + _dimensions(v), _told(v._attributes), v.data)
            for n, v in file.variables.items()
        ]
        call = f"scipy.io.netcdf_file({FILE}, mmap=False).variables[{{}}][:].tolist()"
        return _variables(found, iter(some), call)


def _dimensions(variable: Any) -> str:
    return f" by {', '.join(variable.dimensions)}" if variable.dimensions else ""


def cdf(path: str, deadline: Deadline) -> Found:
    import cdflib

    file = cdflib.CDF(path)
    about = file.cdf_info()
    found = Found("CDF")
    some = []
    for name in [*about.zVariables, *about.rVariables]:
        is_ = file.varinq(name)
        rows = is_.Last_Rec + 1
        shape = ((rows,) if is_.Rec_Vary else ()) + tuple(is_.Dim_Sizes or ())
        values = None
        if len(shape) == 1 and rows:
            values = file.varget(name, startrec=0, endrec=min(rows, sample_size(1)) - 1)
        some.append((name, shape, is_.Data_Type_Description, _told(file.varattsget(name)), values))
    if any("EPOCH" in kind or "TIME" in kind for _, _, kind, _, _ in some):
        found.lines.append("cdflib.cdfepoch.to_datetime() makes dates of its times")
    return _variables(found, iter(some), f"cdflib.CDF({FILE}).varget({{}})")


def arrays(path: str, deadline: Deadline) -> Found:
    """Arrays of NumPy, without objects, which could run code."""
    import numpy as np

    if path.lower().endswith(".npy"):
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            return Found("array of NumPy", warnings=[f"not opened: {_refused(error)}"])
        some = [("", array.shape, str(array.dtype), {}, array)]
        return _variables(Found("array of NumPy"), iter(some), f"np.load({FILE})")
    found = Found("arrays of NumPy")
    with np.load(path, allow_pickle=False) as file:
        some = []
        for name in file.files:
            try:
                array = np.asarray(file[name])  # bytes of what is no array
                some.append((name, array.shape, str(array.dtype), {}, array))
            except Exception as error:
                found.warnings.append(f"{show(name, 60)} is not opened: {_refused(error)}")
    return _variables(found, iter(some), f"np.load({FILE})[{{}}]")


def _refused(error: Exception) -> str:
    objects = re.search("object array|python object", str(error), re.IGNORECASE)
    return OBJECTS if objects else show(error, 160)


def matlab(path: str, deadline: Deadline) -> Found:
    import scipy.io

    with open(path, "rb") as f:
        if f.read(10) == b"MATLAB 7.3":
            return hdf5(path, deadline)
    some = [(n, tuple(shape), kind, {}, None) for n, shape, kind in scipy.io.whosmat(path)]
    found = Found("MATLAB")
    if sum(math.prod(shape) for _, shape, *_ in some) > WHOLE // 8:
        found.warnings.append("too large to try whether scipy.io.loadmat(path) reads it")
        return _variables(found, iter(some), "")
    try:
        scipy.io.loadmat(path)
        found.lines.append("scipy.io.loadmat(path) reads it")
    except Exception as error:
        found.warnings.append(f"scipy.io.loadmat(path) does not read it: {show(error, 160)}")
    return _variables(found, iter(some), "")


def _told(attributes: Any) -> dict[str, str]:
    """The attributes of a variable that say how it is read."""
    return {n: _text(attributes[n]) for n in TELLING if n in attributes}


def _attributes(attributes: Any, before: str) -> list[str]:
    names = [n for n in attributes if not str(n).startswith("_")]
    return [f"{show(n, 60)}: {_text(attributes[n])}" for n in names[:30]]


def _text(value: Any) -> str:
    value = value.tolist() if hasattr(value, "tolist") else value
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    return show(value.decode("utf-8", "replace") if isinstance(value, bytes) else value, 160)


def _variables(found: Found, variables: Iterator[Variable], reading: str) -> Found:
    """Says what each variable is, and makes tables of those of one dimension. The reading has {}
    where the name of a variable is put."""
    tables: dict[tuple[str, int], list[Variable]] = {}
    counted = 0
    for name, shape, kind, attributes, values in variables:
        counted += 1
        if counted > VARIABLES:
            continue
        told = [f"{' x '.join(map(str, shape)) or 'one value'}, {show(kind, 80)}"]
        told += [f"{n} {v}" for n, v in attributes.items()]
        group = name.rpartition("/")[0]
        fields = getattr(getattr(values, "dtype", None), "names", None)
        if values is None or len(shape) != 1 or not shape[0] or fields:
            if not shape and values is not None and not fields:
                told.append(f"= {_text(values[()])}")
            found.lines.append(f"{show(name or 'array', 80)}: {'; '.join(told)}")
        if fields and len(shape) == 1 and values is not None:
            call = Call(f"pd.DataFrame({reading.format(python(name))}", {})
            rows = [tuple(r) for r in values[: sample_size(len(fields))].tolist()]
            found.tables.append(Table(name, list(fields), rows, shape[0], calls=[call]))
        elif values is not None and len(shape) == 1 and shape[0]:
            tables.setdefault((group, shape[0]), []).append((name, shape, kind, attributes, values))
    for (group, rows), some in tables.items():
        _columns(found, group, rows, some[:COLUMNS], reading)
        if more := len(some[COLUMNS:]):
            found.tables[-1].warnings.append(f"{more} more variables of this length are not shown")
    if counted > VARIABLES:
        found.warnings.append(f"{counted - VARIABLES} more variables are not shown")
    return found


def _columns(found: Found, group: str, rows: int, some: list[Variable], reading: str) -> None:
    """A table of variables of one length."""
    names = [v[0] for v in some]
    short = [n.rpartition("/")[2] or "0" for n in names]
    most = min(rows, sample_size(len(some)))
    values = [_python(v[4][:most]) for v in some]
    table = Table(f"{group or 'variables'} of {rows} values", short, list(zip(*values)))
    table.total = rows if most < rows else None
    table.notes = [[f"{n} {v}" for n, v in attributes.items()] for _, _, _, attributes, _ in some]
    for notes, (_, _, kind, attributes, _) in zip(table.notes, some):
        notes += [show(kind, 40)] if kind not in ("float64", "int64", "text") else []
        if {"scale_factor", "add_offset"} & set(attributes):
            notes.append("the values here are those stored: times scale_factor, plus add_offset")
    every, part = (
        "pd.DataFrame({"
        + ", ".join(f"{python(s)}: {way.format(python(n))}" for s, n in zip(short, names))
        for way in (reading, reading.replace("[:]", f"[:{most}]"))
    )
    table.calls = [Call(every + "}", {}, less=part + "})" if most < rows and part != every else "")]
    found.tables.append(table)


def _python(values: Any) -> list:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def shapefile_table(path: str, deadline: Deadline) -> Found:
    """The geometries of a shapefile, and the attributes that a .dbf file has."""
    import shapefile

    base = os.path.splitext(path)[0]
    encoding = "utf-8"
    for ending in (".cpg", ".CPG"):
        if os.path.exists(base + ending):
            with open(base + ending, encoding="ascii", errors="replace") as f:
                encoding = f.read(40).strip() or encoding
    if path.lower().endswith(".dbf"):
        return _attributes_of(shapefile, path, encoding)
    if path.lower().endswith(".shx"):
        return Found("index of a shapefile")
    found = Found("shapefile")
    with shapefile.Reader(shp=path) as reader:
        box = ", ".join(f"{v:.6g}" for v in reader.bbox or ())
        found.lines.append(f"{len(reader)} shapes, {reader.shapeTypeName}; x and y between {box}")
    if os.path.exists(base + ".prj"):
        with open(base + ".prj", encoding="utf-8", errors="replace") as f:
            found.lines.append(f"coordinates: {show(f.read(400), 200)}")
    found.lines.append(f"its attributes are in {show(os.path.basename(base))}.dbf")
    return found


def _attributes_of(shapefile: Any, path: str, encoding: str) -> Found:
    found = Found("dBASE table")
    for way in (encoding, "cp1252"):
        options = "" if way == "utf-8" else f", encoding={python(way)}"
        try:
            with shapefile.Reader(dbf=path, encoding=way) as reader:
                names = [f[0] for f in reader.fields if f[0] != "DeletionFlag"]
                rows: list[tuple] = []
                for record in reader.iterRecords():
                    rows += [tuple(record)] if len(rows) < sample_size(len(names)) else []
                total = len(reader)
        except Exception:
            if way == "cp1252":
                raise
            continue
        records = f"shapefile.Reader(dbf={FILE}{options}).iterRecords()"
        call = Call(f"pd.DataFrame(r.as_dict() for r in {records}", {})
        found.encoding = way
        if way != encoding:
            found.warnings.append(f"the encoding {way} is a guess: its texts are no {encoding}")
        found.tables.append(Table("", names, rows, total, calls=[call]))
        return found
    return found
