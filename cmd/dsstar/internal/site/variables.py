# Describes and carries the variables of a kernel that belongs to the user. It runs inside that
# kernel with the names shell, visit and request, and prints its answer as JSON after a mark.
#
# It binds no names there and calls nothing on an object that could load, compute or change
# anything. It checks type(), never isinstance(), which consults the object, and looks further only
# if it knows the type.
import ast
import contextlib
import dis
import hashlib
import json
import os
import pickle
import re
import sys
import time
import types
import warnings
from itertools import islice

CELLS = 2_000_000  # larger tables: no distinct values and ranges
ROWS, WIDTH, COLUMNS, ITEMS = 3, 60, 60, 12
LAZY = "lazy, not computed"
request = {k: [] if v is None else v for k, v in request.items()}
END = time.monotonic() + request.get("seconds", 0)


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
    mixed = re.fullmatch(r"[-_+=A-Za-z0-9]{24,200}", text) and len(set(text)) > 12
    return bool(mixed) and all(len(re.findall(r, text)) > 2 for r in (r"\d+", r"[A-Z]+"))


def secret(name, value):
    """Whether a variable is a secret, or directly contains one."""
    t = type(value)
    if t in (str, bytes):
        text = value if t is str else value[:4000].decode("latin-1")
        long = PERHAPS.search(name) and re.fullmatch(r"\S{16,}", text)
        return bool(NAMED.search(name) and text or long) or looks_secret(text)
    entries = value.items() if t is dict else (("", v) for v in value) if t in (list, tuple) else ()
    return any(
        type(v) is str and (type(k) is str and NAMED.search(k) and v or VALUE.search(v[:4000]))
        for k, v in islice(entries, 1000)
    )


# How values are shown.

def names_of(module):
    """The names of a module that is loaded."""
    m = sys.modules.get(module)
    return vars(m) if issubclass(type(m), types.ModuleType) else {}


def public(t):
    """The public name of a type, such as pandas.DataFrame; modules differ between versions."""
    parts = t.__module__.split(".") if type(t.__module__) is str else []
    homes = (".".join(parts[:n]) for n in range(1, len(parts) + 1))
    return next((f"{h}.{t.__name__}" for h in homes if names_of(h).get(t.__name__) is t), "")


def kind(value):
    t = type(value)
    if type(t.__module__) is not str or t.__module__ in ("builtins", "__main__"):
        return t.__qualname__
    return public(t) or f"{t.__module__}.{t.__qualname__}"


def brief(value, width=WIDTH):
    """A value in a few characters; only its type, if that is unknown here."""
    t = type(value)
    if t is str:
        return "'(hidden)'" if looks_secret(value) else cut(repr(value[:width + 1]), width)
    if t is int and value.bit_length() > 200:
        return f"an int of {value.bit_length()} bits"
    if t in (int, float, bool, complex, range, type(None)):
        return repr(value)
    if t in (bytes, list, tuple, dict, set, frozenset):
        return f"{t.__name__} of {len(value)}"
    if (
        t.__module__ in ("datetime", "decimal", "fractions", "uuid", "pathlib")
        or t.__module__ == "numpy"
        and t.__name__ != "ndarray"
        or re.fullmatch(r"pandas\.(Timestamp|Timedelta|Period|Interval)", public(t))
        or any(value is names_of("pandas").get(missing) for missing in ("NaT", "NA"))
    ):
        return cut(str(value), width)
    return kind(value)


def cut(text, width):
    return text if len(text) <= width else text[:width - 1] + "…"


def some(values):
    return ", ".join(brief(v, 30) for v in values)


def typed(columns):
    """Columns with their types."""
    return [f"{brief(name)}: {dtype}" for name, dtype in islice(columns, COLUMNS)]


def table(names, rows):
    """The first rows; the values of columns with secrets are hidden."""
    names = [str(n) for n in names][:ITEMS]
    hidden = [bool(NAMED.search(n[:100])) for n in names]
    yield "first rows:\n" + " | ".join(cut(n, WIDTH) for n in names)
    for row in rows:
        yield " | ".join("(hidden)" if hide else brief(v, 30) for v, hide in zip(row, hidden))


# Descriptions of known types, by the module of the type or of a base class.

def frame(x):
    rows, columns = x.shape
    yield f"{rows} rows, {columns} columns"
    if type(x.index).__name__ != "RangeIndex":
        yield f"index: {type(x.index).__name__}, {some(x.index.names)}, from {some(x.index[:1])}"
    for j in range(min(columns, COLUMNS)):
        found = column(x.iloc[:, j]) if rows * columns <= CELLS else ""
        yield f"{brief(x.columns[j])}: {x.dtypes.iloc[j]}{found}"
    if columns > COLUMNS:
        yield f"and {columns - COLUMNS} more columns: {some(x.columns[COLUMNS:2 * COLUMNS])}"
    few = range(min(columns, ITEMS))
    yield from table(x.columns, ([x.iat[i, j] for j in few] for i in range(min(rows, ROWS))))


def column(x):
    """The range, or the distinct values, of a column."""
    if time.monotonic() > END or NAMED.search(str(x.name)[:100]):
        return ""
    try:
        missing = int(x.isna().sum())
        text = f", {missing} missing" if missing else ""
        if x.dtype.kind in "iufM" and len(x) > missing:
            return f"{text}, {brief(x.min())} to {brief(x.max())}"
        plain = (str, bool, float, type(None))
        if x.dtype.kind == "O" and any(type(v) not in plain for v in x.head(1000).tolist()):
            return text  # comparing other objects may run their code
        distinct = x.dropna().unique().tolist()
        values = f": {some(distinct)}" if len(distinct) <= ITEMS else ""
        return f"{text}, {len(distinct)} distinct{values}"
    except Exception:
        return ""


def array(x):
    yield f"shape {x.shape}, {x.dtype}"
    if x.dtype.kind in "iuf" and 0 < x.size <= CELLS:
        yield f"from {x.min()} to {x.max()}"
    if x.dtype.kind in "biufcMmSU":
        yield f"first values: {some(x.flat[:ITEMS].tolist())}"


def model(x):
    have = object.__getattribute__(x, "__dict__")
    yield "fitted" if any(k.endswith("_") and not k.startswith("_") for k in have) else "not fitted"
    given = x.get_params(deep=False).items()
    yield "parameters: " + cut(", ".join(f"{k}={brief(v)}" for k, v in given), 400)


def spark(x):
    schema = object.__getattribute__(x, "__dict__").get("_schema")  # x.schema may ask a cluster
    fields = schema.fields if schema is not None else []
    return [LAZY, *typed((f.name, f.dataType.simpleString()) for f in fields)]


def sqlite(x):
    cursor = x.cursor()
    cursor.row_factory = None
    in_memory = not any(row[2] for row in cursor.execute("PRAGMA database_list"))
    manual = x.isolation_level is None or getattr(x, "autocommit", -1) is False
    if x.in_transaction and not in_memory and manual:
        yield "a transaction is open, and its tables are not looked at"  # reading would take a lock
        return
    made = "SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
    for what, name, sql in cursor.execute(made).fetchmany(COLUMNS):
        yield f"{what} {name}: {cut(' '.join((sql or '').split()), 300)}"
    cursor.close()


def duckdb(x):
    with x.cursor() as cursor:  # another connection: this one's pending result stays
        rows = cursor.execute(
            "SELECT table_name, string_agg(column_name || ' ' || data_type, ', ' ORDER BY column_index) "
            "FROM duckdb_columns() WHERE NOT internal GROUP BY table_name ORDER BY table_name LIMIT 60"
        ).fetchall()
    for name, columns in rows:
        yield f"table {name}: {cut(columns, 300)}"


def polars(x):
    return [
        f"{x.height} rows, {x.width} columns",
        *typed(zip(x.columns, x.dtypes)),
        *table(x.columns, x.head(ROWS).rows()),
    ]


def arrow(x):
    return [
        f"{x.num_rows} rows, {x.num_columns} columns",
        *typed((f.name, f.type) for f in x.schema),
        *table(x.column_names, zip(*(c.to_pylist() for c in x.slice(0, ROWS).columns[:ITEMS]))),
    ]


KNOWN = {
    "pandas.DataFrame": frame,
    "pandas.Series": lambda x: frame(x.to_frame()),
    "pandas.Index": lambda x: frame(x.to_frame(index=False)),
    "numpy.ndarray": array,
    "torch.Tensor": lambda x: [f"shape {tuple(x.shape)}, {x.dtype}, on {x.device}"],
    "polars.DataFrame": polars,
    "polars.LazyFrame": lambda x: [LAZY],
    "polars.Series": lambda x: polars(x.to_frame()),
    "pyarrow.Table": arrow,
    "xarray.Dataset": lambda x: typed((k, f"{v.dtype} {v.dims}") for k, v in x.variables.items()),
    "xarray.DataArray": lambda x: [f"{x.dtype}, sizes {dict(x.sizes)}"],
    "dask.DataFrame": lambda x: [LAZY, *typed(zip(x.columns, x.dtypes))],
    "dask.Array": lambda x: [f"{LAZY}: shape {x.shape}, {x.dtype}"],
    "pyspark.DataFrame": spark,
    "sklearn.BaseEstimator": model,
    "sqlite3.Connection": sqlite,
    "duckdb.DuckDBPyConnection": duckdb,
    "_duckdb.DuckDBPyConnection": duckdb,
    "sqlalchemy.Engine": lambda x: [f"of {x.url!r}"],  # which hides the password
    "sqlalchemy.Connection": lambda x: [f"of {x.engine.url!r}"],
}


def plain(x):
    """Describes Python's own types."""
    t = type(x)
    if t is str:
        yield f"{len(x)} characters: {cut(repr(x[:400]), 400)}"
    elif issubclass(t, dict) and t.__module__ in ("builtins", "collections"):
        yield f"{dict.__len__(x)} entries"
        for key, value in islice(zip(dict.keys(x), dict.values(x)), ITEMS):
            yield f"{brief(key)}: {brief(value)}"
    elif t in (list, tuple, set, frozenset):
        yield f"{len(x)} items"
        for value in islice(x, 1):
            yield f"the first is a {kind(value)}"
            if type(value) is dict:
                yield "its keys: " + cut(", ".join(brief(k) for k in islice(value, 30)), 300)
        yield "first: " + ", ".join(brief(v) for v in islice(x, ITEMS))
    elif brief(x) != kind(x):
        yield brief(x)
    elif t not in (types.GeneratorType, types.CoroutineType):
        have = object.__getattribute__(x, "__dict__")
        names = [n for n in islice(have, 200) if type(n) is str and not n.startswith("_")]
        if names:
            yield "attributes: " + cut(", ".join(names), 300)


def described(name, value):
    """Describes one variable in at most request["chars"] characters."""
    if secret(name, value):
        return "hidden: it looks like a secret"
    known = (f"{t.__module__.split('.')[0]}.{t.__name__}" for t in type(value).__mro__)
    how = next((KNOWN[k] for k in known if k in KNOWN), plain)
    lines, left = [], request["chars"]
    try:
        for line in how(value):
            lines.append(cut(line, max(left, 2)))
            left -= len(line) + 1
            if left < 1:
                break
    except Exception as e:
        if how is not plain:
            lines.append(f"not described further: {type(e).__name__}")
    return "\n".join(lines)


def own(name, value):
    """Whether a variable is IPython's own, not the user's."""
    hidden = shell.user_ns_hidden
    own_name = re.fullmatch(r"_+|_i+|_i?\d+|_[id]h|_oh|In|Out|exit|quit|get_ipython", name)
    return bool(own_name) or type(hidden) is dict and name in hidden and hidden[name] is value


def describe():
    """Describes the user's variables; functions and classes only by their type."""
    answer, written = [], 0
    for name in list(shell.user_ns):
        value = visit.user(name)
        if type(name) is not str or name.startswith("_") or name in request["reserved"]:
            continue
        if value is visit or own(name, value) or type(value) is types.ModuleType:
            continue
        v = {"name": name, "type": "?"}
        try:
            if callable_only(value):
                if getattr(value, "__module__", None) != "__main__":
                    continue  # it was imported
                v["type"] = "class" if type(value) is type else "function"
            else:
                v["type"] = kind(value)
                if time.monotonic() < END:
                    v["text"] = described(name, value)
        except Exception as e:
            v["text"] = f"not described: {type(e).__name__}"
        answer.append(v)
        written += len(v.get("text", ""))
        if len(answer) >= request["most"] or written > 150_000:  # an output has a megabyte at most
            break
    return answer


def callable_only(value):
    functions = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
    return type(value) in functions or issubclass(type(value), type)


# What code reads.

def definite(s):
    """The names that a top-level statement always binds."""
    if isinstance(s, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).split(".")[0] for a in s.names}
    if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {s.name}
    targets, inner = [], set()
    if isinstance(s, ast.Assign):
        targets = s.targets
    elif isinstance(s, ast.AnnAssign) and s.value:
        targets = [s.target]
    elif isinstance(s, (ast.With, ast.AsyncWith)):
        targets = [i.optional_vars for i in s.items if i.optional_vars]
        inner = set().union(*map(definite, s.body))
    nodes = [n for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return inner | {n.id for n in nodes if isinstance(n.ctx, ast.Store)}


LOOKS_UP = re.compile("LOAD_NAME|DELETE_NAME|(LOAD|DELETE)_GLOBAL|LOAD_FROM_DICT_OR_GLOBALS")


def looked_up(statement):
    """The global names that a statement, and the functions in it, look up."""
    module, found = ast.Module([statement], []), set()
    try:
        codes = [compile(module, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)]
    except SyntaxError:
        return found  # it will not run either
    for code in codes:
        does = [(i.opname, i.argval) for i in dis.get_instructions(code)]
        stored = {name for what, name in does if what == "STORE_NAME" and code is not codes[0]}
        found |= {name for what, name in does if LOOKS_UP.match(what)} - stored  # of a class
        codes += [c for c in code.co_consts if type(c) is types.CodeType]
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
        for n in ast.walk(statement) if BY_NAME.search(code) else ():
            if isinstance(n, ast.Constant) and type(n.value) is str and len(n.value) < 100_000:
                words = re.findall(r"[^\W\d]\w*", n.value)
                perhaps.update(dict.fromkeys(w for w in words if w not in bound))
        bound |= definite(statement)
    return list(sure), [n for n in perhaps if n not in sure]


# Writing variables to files.

class Refused(Exception):
    pass


class Writer:
    """Takes a digest of what is written to it, up to a size, and passes it on."""

    def __init__(self, most, file=None):
        self.file, self.most, self.size, self.sum = file, most, 0, hashlib.sha256()

    def write(self, data):
        self.size += memoryview(data).nbytes
        if self.size > self.most:
            limit = f"{request['limit'] / 1e9:.1f} GB"
            raise Refused(f"with it, more than {limit} would be written for this run")
        self.sum.update(data)
        if self.file:
            self.file.write(data)


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
        if sys.modules.get(value.__name__) is not value:
            raise Refused("it is a module that cannot be imported again")
        return f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}")
    if callable_only(value) or type(value).__name__ == "ufunc":
        module = getattr(value, "__module__", None) or "numpy"
        what = getattr(value, "__qualname__", None) or value.__name__
        if module != "__main__" and names_of(module).get(what) is value:
            return f"from {module} import {what}" + ("" if what == name else f" as {name}")
    return ""


def path_of(name):
    return os.path.join(request["folder"], name + ".pickle")


def keep(name, value, room):
    """Writes a value to its file and returns its size and digest."""
    if secret(name, value):
        raise Refused("it looks like a secret, which is not written to a file")
    os.makedirs(request["folder"], exist_ok=True)
    part = path_of(name) + ".part"
    try:
        with open(part, "wb") as file:
            writer = Writer(room, file)
            Pickler(writer, 5).dump(value)
        os.replace(part, path_of(name))
    finally:
        with contextlib.suppress(OSError):
            os.remove(part)  # unless it was renamed
        with contextlib.suppress(OSError):
            os.rmdir(request["folder"])  # if it is empty
    return writer.size, writer.sum.hexdigest()


def carry():
    """Writes the user's variables that code reads, and says which cannot be written."""
    sure, perhaps = reads(request["code"], request["before"])
    known = {v["name"] for v in request["known"]}
    room, answer = request["limit"] - sum(v.get("bytes", 0) for v in request["known"]), []
    for name in sure + perhaps:
        value = visit.user(name)
        if name in known or value is visit or shell.user_ns.get(name, visit) is not value:
            continue
        if own(name, value):
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


def changed(v):
    """Whether a variable is known to differ from what was written to its file."""
    value = visit.user(v["name"])
    if not v.get("file") or v["bytes"] > request["limit"] or time.monotonic() > END:
        return False
    if id(value) != visit.carried.get(v["name"]):
        return False
    try:
        writer = Writer(2 * request["limit"])
        Pickler(writer, 5).dump(value)
        if writer.sum.hexdigest() == v["sum"]:
            return False
    except Exception:
        pass  # it could be pickled before
    if type(value).__module__.split(".")[0] != "pandas":
        return True
    try:  # a frame's pickle may differ although it is equal
        with open(path_of(v["name"]), "rb") as file:
            return not pickle.load(file).equals(value)
    except Exception:
        return False  # unknown


def leave():
    """Finds variables that cells have changed in place, and notes which names stay."""
    bound = sorted(n for n in visit.rebound() if type(n) is str)
    wanted = [n for n in request["keep"] if n != "all"]
    if "all" in request["keep"]:
        taken = request["reserved"]
        wanted += [n for n in bound if not n.startswith("_") and n not in taken]
    visit.keep.update(n for n in wanted if n in bound)
    return {
        "changed": [v["name"] for v in request["known"] if changed(v)],
        "unbound": [n for n in wanted if n not in bound],
    }


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    answer = {"describe": describe, "carry": carry, "leave": leave}[request["ask"]]()
print(request["mark"], json.dumps(answer))
