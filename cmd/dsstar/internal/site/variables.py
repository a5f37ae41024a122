# Describes and carries the variables of a kernel that belongs to the user. It runs inside that
# kernel with the names shell, visit and request, and prints its answer as JSON after a mark.
#
# It binds no names there and calls nothing on an object that could load, compute or change
# anything. It checks type(), never isinstance(), which consults the object, and looks further only
# if it knows the type.
import ast
import hashlib
import json
import os
import pickle
import re
import sys
import symtable
import time
import types
import warnings

CELLS = 2_000_000  # larger tables: no distinct values, ranges or deep sizes
ROWS, WIDTH, COLUMNS, ITEMS = 3, 60, 60, 12
request = {k: [] if v is None else v for k, v in request.items()}
END = time.monotonic() + request["seconds"]


# Secrets are neither shown nor written to a file.

NAMED = re.compile(r"passw|pwd|secret|credential|api_?key|access_?key|private_?key", re.I)
PERHAPS = re.compile(r"token|auth(?!or)|(^|_)key$", re.I)  # if the value is long enough
VALUE = re.compile(
    r"-----BEGIN|^(sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[a-z]|hf|AKIA|AIza|ya29|eyJ)[-_A-Za-z0-9.]{16,}"
    r"|://[^/\s:@]*:[^/\s@]+@|[?&](token|key|sig|signature|password)=[^&\s]{8,}|\bpassword=\S",
    re.I,
)


def looks_secret(text):
    """Whether a text is a key, or contains a password: by its form, or because it looks random."""
    if VALUE.search(text[:4000]):
        return True
    mixed = (
        24 <= len(text) <= 200 and re.fullmatch(r"[-_+=A-Za-z0-9]+", text) and len(set(text)) > 12
    )
    return (
        bool(mixed) and len(re.findall(r"\d+", text)) > 2 and len(re.findall(r"[A-Z]+", text)) > 2
    )


def secret(name, value):
    """Whether a variable is a secret, or directly contains one."""
    if type(value) in (str, bytes):
        text = value if type(value) is str else value[:4000].decode("latin-1")
        named = (
            NAMED.search(name) and text or PERHAPS.search(name) and re.fullmatch(r"\S{16,}", text)
        )
        return bool(named) or looks_secret(text)
    if type(value) is dict:
        return any(
            type(k) is str and type(v) is str and (NAMED.search(k) and v or VALUE.search(v[:4000]))
            for k, v in list(value.items())[:1000]
        )
    if type(value) in (list, tuple):
        return any(type(v) is str and VALUE.search(v[:4000]) for v in value[:1000])
    return False


# How values are shown.

def size(n):
    for unit in ("bytes", "kB", "MB", "GB"):
        if n < 1000 or unit == "GB":
            return f"{n} bytes" if unit == "bytes" else f"{n:.1f} {unit}"
        n /= 1000


def kind(value):
    """The public name of a value's type, such as pandas.DataFrame."""
    t = type(value)
    module, name = t.__module__, t.__qualname__
    if type(module) is not str or module in ("builtins", "__main__"):
        return name
    parts = module.split(".")
    for n in range(1, len(parts) + 1):
        home = ".".join(parts[:n])
        if home in sys.modules and vars(sys.modules[home]).get(name) is t:
            return f"{home}.{name}"
    return f"{module}.{name}"


def pandas_scalars():
    """The types of pandas' scalars, found by public names: modules differ between versions."""
    public = (
        vars(sys.modules["pandas"]) if type(sys.modules.get("pandas")) is types.ModuleType else {}
    )
    found = (
        public.get(name) for name in ("Timestamp", "Timedelta", "Period", "Interval", "NaT", "NA")
    )
    return [x if issubclass(type(x), type) else type(x) for x in found if x is not None]


PANDAS = pandas_scalars()


def brief(value, width=WIDTH):
    """A value in a few characters; only its type, if that is unknown here."""
    t = type(value)
    if t is str:
        return "'(hidden)'" if looks_secret(value) else cut(repr(value[:width + 1]), width)
    if t is bytes:
        return f"bytes of length {len(value)}"
    if t is int and value.bit_length() > 200:
        return f"an int of {value.bit_length()} bits"
    if t in (int, float, bool, complex, type(None)):
        return repr(value)
    if t in (list, tuple, dict, set, frozenset):
        return f"{t.__name__} of {len(value)}"
    if (
        t.__module__ in ("datetime", "decimal", "fractions", "uuid", "pathlib")
        or t.__module__ == "numpy"
        and t.__name__ != "ndarray"
        or any(t is scalar for scalar in PANDAS)
    ):
        return cut(str(value), width)
    return kind(value)


def cut(text, width):
    return text if len(text) <= width else text[:width - 1] + "…"


def table(names, rows):
    """Rows of values; those of a column with secrets are hidden."""
    hidden = [bool(NAMED.search(str(n)[:100])) for n in names]
    yield "first rows:"
    yield " | ".join(cut(str(n), WIDTH) for n in names)
    for row in rows:
        yield " | ".join("(hidden)" if hide else brief(v, 30) for v, hide in zip(row, hidden))


# Descriptions of known types, by the module of the type or of a base class.

def frame(x):
    rows, columns = x.shape
    small = rows * columns <= CELLS
    yield f"{rows} rows, {columns} columns, {size(int(x.memory_usage(index=False, deep=small).sum()))}"
    index = x.index
    if type(index).__name__ != "RangeIndex":
        yield f"index: {type(index).__name__}, {[str(n) for n in index.names]}, from {brief(index[0]) if rows else '-'}"
    if "geometry" in type(x).__mro__[0].__name__.lower() or type(x).__module__.startswith(
        "geopandas"
    ):
        yield f"coordinates: {cut(str(x.crs), WIDTH)}"
    for j in range(min(columns, COLUMNS)):
        yield f"{brief(x.columns[j])}: {x.dtypes.iloc[j]}{column(x.iloc[:, j]) if small else ''}"
    if columns > COLUMNS:
        yield f"and {columns - COLUMNS} more columns: {cut(', '.join(str(c) for c in x.columns[COLUMNS:COLUMNS + 60]), 600)}"
    sample = x.iloc[:ROWS, :ITEMS]
    yield from table(
        list(sample.columns),
        ([sample.iat[i, j] for j in range(sample.shape[1])] for i in range(sample.shape[0])),
    )


def column(x):
    """The range, or the distinct values, of a column."""
    if time.monotonic() > END or NAMED.search(str(x.name)[:100]):
        return ""
    try:
        missing = int(x.isna().sum())
        text = f", {missing} missing" if missing else ""
        if x.dtype.kind in "iufM" and len(x) > missing:
            return f"{text}, {brief(x.min())} to {brief(x.max())}"
        if x.dtype.kind == "O" and any(
            type(v) not in (str, bool, float, type(None)) for v in x.head(1000).tolist()
        ):
            return text  # comparing other objects may run their code
        distinct = x.dropna().unique().tolist()
        if len(distinct) <= ITEMS:
            return f"{text}, {len(distinct)} distinct: {', '.join(brief(v, 30) for v in distinct)}"
        return f"{text}, {len(distinct)} distinct"
    except Exception:
        return ""


def series(x):
    yield f"{len(x)} values named {brief(x.name)}, {x.dtype}, {size(int(x.memory_usage(index=False, deep=len(x) <= CELLS)))}{column(x) if len(x) <= CELLS else ''}"
    if not NAMED.search(str(x.name)[:100]):
        yield "first: " + ", ".join(
            f"{brief(k, 30)}: {brief(v, 30)}"
            for k, v in zip(x.index[:ITEMS].tolist(), x.head(ITEMS).tolist())
        )


def index(x):
    yield f"{len(x)} values, {x.dtype}: {', '.join(brief(v, 30) for v in x[:ITEMS].tolist())}"


def array(x):
    yield f"shape {x.shape}, {x.dtype}, {size(x.nbytes)}"
    if x.dtype.kind in "iuf" and 0 < x.size <= CELLS:
        yield f"from {x.min()} to {x.max()}"
    if x.dtype.kind in "biufcMmSU":
        yield "first values: " + ", ".join(brief(v, 30) for v in x.flat[:ITEMS].tolist())


def tensor(x):
    yield f"shape {tuple(x.shape)}, {x.dtype}, on {x.device}, requires_grad {x.requires_grad}, {size(x.numel() * x.element_size())}"
    if x.device.type == "cpu" and str(x.layout) == "torch.strided":
        yield "first values: " + ", ".join(
            brief(v, 30) for v in x.detach().view(-1)[:ITEMS].tolist()
        )


def polars_frame(x):
    yield f"{x.height} rows, {x.width} columns, {size(x.estimated_size())}"
    for name, dtype in list(zip(x.columns, x.dtypes))[:COLUMNS]:
        yield f"{name!r}: {dtype}"
    yield from table(x.columns[:ITEMS], (row[:ITEMS] for row in x.head(ROWS).rows()))


def polars_series(x):
    yield f"{len(x)} values named {x.name!r}, {x.dtype}: {', '.join(brief(v, 30) for v in x.head(ITEMS).to_list())}"


def arrow(x):
    yield f"{x.num_rows} rows, {x.num_columns} columns, {size(x.nbytes)}"
    for field in list(x.schema)[:COLUMNS]:
        yield f"{field.name!r}: {field.type}"
    some = x.slice(0, ROWS)
    columns = [some.column(j).to_pylist() for j in range(min(x.num_columns, ITEMS))]
    yield from table(x.column_names[:ITEMS], zip(*columns))


def dataset(x):
    yield "sizes " + ", ".join(f"{k}: {v}" for k, v in x.sizes.items())
    for name, v in list(x.variables.items())[:COLUMNS]:
        yield f"{name}: {v.dtype} {tuple(v.dims)}"


def data_array(x):
    yield f"{brief(x.name)}, {x.dtype}, " + ", ".join(f"{k}: {v}" for k, v in x.sizes.items())
    yield f"coordinates: {', '.join(str(c) for c in list(x.coords)[:ITEMS])}"


def dask_frame(x):
    yield f"lazy, not computed: {len(x.columns)} columns, {x.npartitions} partitions"
    for name, dtype in list(zip(x.columns, x.dtypes))[:COLUMNS]:
        yield f"{name!r}: {dtype}"


def dask_array(x):
    yield f"lazy, not computed: shape {x.shape}, {x.dtype}"


def spark_frame(x):
    schema = object.__getattribute__(x, "__dict__").get("_schema")  # x.schema may ask a cluster
    yield "lazy, not computed"
    for field in (schema.fields if schema is not None else [])[:COLUMNS]:
        yield f"{field.name!r}: {field.dataType.simpleString()}"


def lazy(x):
    yield "lazy, not computed"


def model(x):
    have = object.__getattribute__(x, "__dict__")
    fitted = [k for k in have if k.endswith("_") and not k.startswith("_")]
    yield "fitted" if fitted else "not fitted"
    yield "parameters: " + cut(
        ", ".join(f"{k}={brief(v)}" for k, v in x.get_params(deep=False).items()), 400
    )
    for name in ("n_features_in_", "feature_names_in_", "classes_", "coef_", "intercept_"):
        if name in have:
            value = have[name]
            known = type(value).__name__ == "ndarray" and value.dtype.kind != "V"
            yield f"{name}: {cut(', '.join(brief(v, 30) for v in value.flat[:ITEMS].tolist()), 300) if known else brief(value)}"


def sqlite(x):
    cursor = x.cursor()
    cursor.row_factory = None
    in_memory = not any(row[2] for row in cursor.execute("PRAGMA database_list"))
    if (
        x.in_transaction
        and not in_memory
        and (x.isolation_level is None or getattr(x, "autocommit", -1) is False)
    ):
        yield "a transaction is open, and its tables are not looked at"  # reading would take a lock
        return
    names = [
        row
        for row in cursor.execute(
            "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        ).fetchmany(COLUMNS)
    ]
    for name, what in names:
        quoted = name.replace('"', '""')
        columns = cursor.execute(f'PRAGMA table_info("{quoted}")').fetchall()
        yield f"{what} {name}: " + cut(", ".join(f"{c[1]} {c[2]}".strip() for c in columns), 300)
    cursor.close()


def duckdb(x):
    with x.cursor() as cursor:  # another connection: this one's pending result stays
        rows = cursor.execute(
            "SELECT table_name, string_agg(column_name || ' ' || data_type, ', ' ORDER BY column_index) "
            "FROM duckdb_columns() WHERE NOT internal GROUP BY table_name ORDER BY table_name LIMIT 60"
        ).fetchall()
    for name, columns in rows:
        yield f"table {name}: {cut(columns, 300)}"


def engine(x):
    yield f"of {x.url.render_as_string(hide_password=True)}, not connected to"


def engine_connection(x):
    yield f"of {x.engine.url.render_as_string(hide_password=True)}"


KNOWN = {
    ("pandas", "DataFrame"): frame,
    ("pandas", "Series"): series,
    ("pandas", "Index"): index,
    ("numpy", "ndarray"): array,
    ("torch", "Tensor"): tensor,
    ("polars", "DataFrame"): polars_frame,
    ("polars", "Series"): polars_series,
    ("polars", "LazyFrame"): lazy,
    ("pyarrow", "Table"): arrow,
    ("xarray", "Dataset"): dataset,
    ("xarray", "DataArray"): data_array,
    ("dask", "DataFrame"): dask_frame,
    ("dask", "Array"): dask_array,
    ("dask", "Bag"): lazy,
    ("dask", "Delayed"): lazy,
    ("pyspark", "DataFrame"): spark_frame,
    ("pyspark", "RDD"): lazy,
    ("sklearn", "BaseEstimator"): model,
    ("sqlite3", "Connection"): sqlite,
    ("duckdb", "DuckDBPyConnection"): duckdb,
    ("_duckdb", "DuckDBPyConnection"): duckdb,
    ("sqlalchemy", "Engine"): engine,
    ("sqlalchemy", "Connection"): engine_connection,
}


def plain(x):
    """Describes Python's own types."""
    t = type(x)
    if t is str:
        yield f"{len(x)} characters: {cut(repr(x[:400]), 400)}"
    elif t is bytes:
        yield f"{len(x)} bytes"
    elif issubclass(t, dict) and t.__module__ in ("builtins", "collections"):
        yield f"{dict.__len__(x)} entries"
        for key, value in list(zip(dict.keys(x), dict.values(x)))[:ITEMS]:
            yield f"{brief(key)}: {brief(value)}"
    elif t in (list, tuple, set, frozenset):
        yield f"{len(x)} items" + (f", the first of type {kind(next(iter(x)))}" if x else "")
        yield "first: " + ", ".join(brief(v) for _, v in zip(range(ITEMS), x))
        first = next(iter(x)) if x else None
        if type(first) is dict:
            yield "keys of the first: " + cut(", ".join(brief(k) for k in list(first)[:30]), 300)
    elif t is range or brief(x) != kind(x):
        yield brief(x) if t is not range else repr(x)
    elif t not in (types.GeneratorType, types.CoroutineType):
        have = object.__getattribute__(x, "__dict__")
        names = [n for n in list(have)[:200] if type(n) is str and not n.startswith("_")]
        if names:
            yield "attributes: " + cut(", ".join(names), 300)


def described(name, value):
    """Describes one variable in at most request["chars"] characters."""
    if secret(name, value):
        return "hidden: it looks like a secret"
    how = plain
    for t in type(value).__mro__:
        if (t.__module__.split(".")[0], t.__name__) in KNOWN:
            how = KNOWN[t.__module__.split(".")[0], t.__name__]
            break
    lines, left = [], request["chars"]
    try:
        for line in how(value):
            if len(line) > left:
                lines.append(cut(line, max(left, 2)))
                break
            lines.append(line)
            left -= len(line) + 1
    except Exception as e:
        if how is not plain:
            lines.append(f"not described further: {type(e).__name__}")
    return "\n".join(lines)


def own(name, value):
    """Whether a variable is IPython's own, not the user's."""
    hidden = shell.user_ns_hidden
    return (
        re.fullmatch(r"_+|_i+|_i?\d+|_[id]h|_oh|In|Out|exit|quit|get_ipython", name) is not None
        or type(hidden) is dict
        and name in hidden
        and hidden[name] is value
    )


def describe():
    """Describes the user's variables; functions and classes only by their type."""
    answer, written = [], 0
    for name in list(shell.user_ns):
        value = visit.user(name)
        if (
            type(name) is not str
            or name.startswith("_")
            or name in request["reserved"]
            or value is visit
            or own(name, value)
            or type(value) is types.ModuleType
        ):
            continue
        v = {"name": name, "type": "?"}
        answer.append(v)
        try:
            if callable_only(value):
                if getattr(value, "__module__", None) != "__main__":
                    answer.pop()  # it was imported
                v["type"] = "class" if type(value) is type else "function"
                continue
            v["type"] = kind(value)
            if time.monotonic() < END:
                v["text"] = described(name, value)
        except Exception as e:
            v["text"] = f"not described: {type(e).__name__}"
        written += len(v.get("text", ""))
        if (
            len(answer) >= request["most"] or written > 150_000
        ):  # an output holds no more than a megabyte
            break
    return answer


def callable_only(value):
    return type(value) in (
        types.FunctionType,
        types.BuiltinFunctionType,
        types.MethodType,
    ) or issubclass(type(value), type)


# What code reads.

def definite(statement):
    """The names that a top-level statement always binds."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).split(".")[0] for a in statement.names}
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    targets = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        inner = set().union(*(definite(s) for s in statement.body))
        targets = [i.optional_vars for i in statement.items if i.optional_vars is not None]
        return inner | {
            n.id
            for t in targets
            for n in ast.walk(t)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
    return {
        n.id
        for t in targets
        for n in ast.walk(t)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }


def looked_up(statement):
    """The global names that a statement, and the functions in it, look up."""
    found = {
        n.target.id
        for n in ast.walk(statement)
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    }
    found |= {
        n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)
    }
    try:
        tables = [symtable.symtable(ast.unparse(statement), "cell", "exec")]
    except SyntaxError:
        return found | {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
    top = tables[0]
    while tables:
        t = tables.pop()
        found |= {
            s.get_name()
            for s in t.get_symbols()
            if s.is_referenced() and (t is top or s.is_global())
        }
        tables += t.get_children()
    return found


BY_NAME = re.compile(r"\b(sql|query|eval|exec|globals|locals|vars|read_sql\w*|execute)\(")


def parse(code):
    try:
        return ast.parse(code).body
    except SyntaxError:
        try:
            return ast.parse(shell.transform_cell(code)).body
        except SyntaxError:
            return []  # it will not run either


def reads(code, before):
    """The names that code reads from the session, and those that its strings may refer to, as an
    SQL query can refer to a frame."""
    bound = set(request["reserved"]).union(*(definite(s) for cell in before for s in parse(cell)))
    sure, perhaps = {}, {}
    for statement in parse(code):
        sure.update(dict.fromkeys(sorted(looked_up(statement) - bound)))
        if BY_NAME.search(code):
            for n in ast.walk(statement):
                if isinstance(n, ast.Constant) and type(n.value) is str and len(n.value) < 100_000:
                    perhaps.update(
                        dict.fromkeys(
                            w for w in re.findall(r"[^\W\d]\w*", n.value) if w not in bound
                        )
                    )
        bound |= definite(statement)
    return list(sure), [n for n in perhaps if n not in sure]


# Writing variables to files.

class Refused(Exception):
    pass


class Writer:
    """Writes to a file, up to a maximum size."""

    def __init__(self, file, most):
        self.file, self.most, self.size, self.sum = file, most, 0, hashlib.sha256()

    def write(self, data):
        self.size += memoryview(data).nbytes
        if self.size > self.most:
            raise Refused(
                f"with it, more than {size(request['limit'])} would be written for this run"
            )
        self.sum.update(data)
        return self.file.write(data)


class Comparer:
    """Compares what is written to it with the content of a file."""

    def __init__(self, file):
        self.file = file

    def write(self, data):
        data = memoryview(data).cast("B")
        if time.monotonic() > END or self.file.read(len(data)) != data:
            raise Refused("it differs")
        return len(data)


class Pickler(pickle.Pickler):
    """Refuses values that cannot be loaded outside this session."""

    def reducer_override(self, value):
        if issubclass(type(value), (type, types.FunctionType)) and value.__module__ == "__main__":
            what = "function" if type(value) is types.FunctionType else "class"
            raise Refused(f"the {what} {value.__qualname__} is defined in the session itself")
        return NotImplemented


def statement_for(name, value):
    """The import statement that binds name to value, or ""."""
    if type(value) is types.ModuleType:
        module = value.__name__
        if sys.modules.get(module) is value:
            return f"import {module}" if module == name else f"import {module} as {name}"
        raise Refused("it is a module that cannot be imported again")
    if callable_only(value) or type(value).__name__ == "ufunc":
        module, what = (
            getattr(value, "__module__", None) or "numpy",
            getattr(value, "__qualname__", None) or value.__name__,
        )
        if (
            module != "__main__"
            and module in sys.modules
            and vars(sys.modules[module]).get(what) is value
        ):
            return f"from {module} import {what}" + ("" if what == name else f" as {name}")
    return ""


def keep(name, value, room):
    """Writes a value to its file and returns its size and digest."""
    if secret(name, value):
        raise Refused("it looks like a secret, which is not written to a file")
    os.makedirs(request["folder"], exist_ok=True)
    path = os.path.join(request["folder"], name + ".pickle")
    try:
        with open(path + ".part", "wb") as file:
            writer = Writer(file, room)
            Pickler(writer, 5).dump(value)
        os.replace(path + ".part", path)
    finally:
        try:
            os.remove(path + ".part")
        except OSError:
            pass  # it was renamed
        try:
            os.rmdir(request["folder"])
        except OSError:
            pass  # it is not empty
    return writer.size, writer.sum.hexdigest()


def carry():
    """Writes the user's variables that code reads, and says which cannot be written."""
    sure, perhaps = reads(request["code"], request["before"])
    known = {v["name"] for v in request["known"]}
    room, answer = request["limit"] - sum(v.get("bytes", 0) for v in request["known"]), []
    for name in sure + perhaps:
        value = visit.user(name)
        if (
            name in known
            or value is visit
            or shell.user_ns.get(name, visit) is not value
            or own(name, value)
        ):
            continue
        v = {"name": name, "type": "?"}
        try:
            v["type"] = kind(value)
            v["import"] = statement_for(name, value)
            if not v["import"]:
                v["bytes"], v["sum"] = keep(name, value, room)
                room -= v["bytes"]
                v["file"] = f"variables/{name}.pickle"
                visit.carried[name] = id(value)
        except Exception as e:
            if name in perhaps:
                continue
            v["problem"] = cut(" ".join(str(e).split()), 300) or type(e).__name__
        answer.append(v)
    return answer


def same(value, path):
    """Whether a value is unchanged since it was written to a file."""
    with open(path, "rb") as file:
        try:
            Pickler(Comparer(file), 5).dump(value)
            return True
        except Exception:
            if time.monotonic() > END:
                return True  # unknown
        if type(value).__module__.split(".")[0] != "pandas":
            return False
        file.seek(0)  # a frame's pickle may differ although it is equal
        return bool(pickle.load(file).equals(value))


def leave():
    """Finds variables that cells have changed in place, and notes which names stay."""
    changed = []
    for v in request["known"]:
        if not v.get("file"):
            continue
        value = visit.user(v["name"])
        if v["bytes"] > request["limit"] or id(value) != visit.carried.get(v["name"]):
            continue
        try:
            if not same(value, os.path.join(request["folder"], v["name"] + ".pickle")):
                changed.append(v["name"])
        except Exception:
            pass  # unknown
    bound = sorted(n for n in visit.rebound() if type(n) is str)
    wanted = request["keep"]
    if "all" in wanted:
        wanted = [n for n in wanted if n != "all"] + [
            n for n in bound if not n.startswith("_") and n not in request["reserved"]
        ]
    visit.keep.update(n for n in wanted if n in bound)
    return {"changed": changed, "unbound": [n for n in wanted if n not in bound]}


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    answer = {"describe": describe, "carry": carry, "leave": leave}[request["ask"]]()
print(request["mark"], json.dumps(answer))
