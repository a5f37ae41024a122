# Where the answer of cells comes from, as far as their code tells. It reads the code as a syntax
# tree, once from top to bottom, and runs none of it. What it cannot follow, it takes for data.
#
# This file has what is known of values, functions and modules; lineage.py follows it.
import ast
import builtins
import hashlib
import json
import re
import sys

DATA = re.compile(r"(?:^|[^\w])data/|^[./]*data$")  # a path in the data folder, also in SQL
FILE = re.compile(r"[\w)]\.\w{1,8}$")
SET_UP = {"np", "os", "random", "question", "print", "display", "pprint", "get_ipython"}
PLACES = {"data_dir", "data_path", "base_dir", "DATA_DIR"}
SAYS = {"print", "display", "pprint"}
# Calls whose argument may be a path that they do not read.
PATHS = SAYS | {"str", "repr", "len", "format", "join", "Path", "PurePath", "abspath", "realpath",
                "basename", "dirname", "splitext", "replace", "append", "chdir", "makedirs"}
READS = re.compile(r"^(open|connect|create_engine|input|urlopen|urlretrieve|load|glob|iglob|rglob|"
                   r"listdir|scandir|walk|iterdir|globals|locals|vars|eval|exec|import_module|"
                   r"read(_\w+|text|lines?)?|load_\w+|fetch_\w+|scan_\w+|from_(csv|parquet|json))$")
WRITES = re.compile(r"^(write(_\w+|lines|rows?)?|to_\w+|dump|save\w*|imwrite|copy2?|copyfile)$")
SQL = re.compile(r"^(sql|query|execute\w*|eval|read_sql\w*|sqldf|register)$")
# Modules whose functions know nothing of the data but what they are given.
PURE = {"numpy", "pandas", "polars", "pyarrow", "duckdb", "scipy", "sklearn", "statsmodels",
        "sympy", "matplotlib", "seaborn", "plotly", "networkx", "geopandas", "shapely", "dateutil",
        "pytz", "tqdm", "IPython", "openpyxl", "xarray", "torch", "xgboost", "lightgbm",
        "rapidfuzz", "PIL"}
PURE |= set(getattr(sys, "stdlib_module_names", ()))
# Functions and attributes whose value depends on more than the data.
CLOCK = {"today", "now", "utcnow", "time", "time_ns", "perf_counter", "monotonic", "ctime",
         "localtime", "gmtime"}
CLOCKS = {"datetime", "date", "time", "Timestamp", "pd", "pandas", "dt", "pendulum", "arrow"}
NOW = re.compile(r"\b(current_(date|timestamp|time)|now\(\)|today\(\)|(date|datetime)\('now'|"
                 r"julianday\('now'|strftime\([^)]*'now')", re.I)
FILE_DATE = "the date of a file"
MACHINE = {"getmtime": FILE_DATE, "getctime": FILE_DATE, "st_mtime": FILE_DATE,
           "st_ctime": FILE_DATE, "environ": "the environment", "getenv": "the environment",
           "uuid1": "a new UUID", "uuid4": "a new UUID",
           "gethostname": "the name of the computer", "getuser": "the name of the user",
           "getpid": "the number of the process", "urandom": "chance",
           "token_hex": "chance", "token_bytes": "chance", "SystemRandom": "chance"}
TIME = "the current time"


def bound(nodes):
    """The names that a function among whose nodes these are does not look up elsewhere."""
    names = {n.arg for n in nodes if isinstance(n, ast.arg)}
    names |= {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    names |= {n.name for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    imports = [n for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom))]
    return names | {a.asname or a.name.split(".")[0] for n in imports for a in n.names}


class Value:
    """What is known of a value."""

    __slots__ = ("data", "path", "number", "chance", "texts", "files", "free", "key")

    def __init__(self, data=False, path=False, number=False, chance=frozenset(),
                 texts=frozenset(), files=frozenset(), free=frozenset(), key=""):
        self.data = data        # it rests on data
        self.path = path        # it is, or has, a path in the data folder
        self.number = number    # it rests on a number that is typed in, other than 0 and 1
        self.chance = chance    # what else it depends on, in words
        self.texts = texts      # the strings in it
        self.files = files      # the files that it writes
        self.free = free        # the names that it looks up when it is called
        self.key = key          # equal for equal computations


def join(values):
    """The value that several values are parts of."""
    values = list(values)

    def one(name):
        return any(getattr(v, name) for v in values)

    def all_of(name):
        return frozenset().union(*(getattr(v, name) for v in values))

    return Value(one("data"), one("path"), one("number"), all_of("chance"),
                 all_of("texts"), all_of("files"), all_of("free"))


def name_of(function):
    return getattr(function, "attr", getattr(function, "id", ""))


def root_of(node):
    """The name that a chain of attributes, calls and subscripts begins with."""
    while not isinstance(node, ast.Name):
        if not isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
            return ""
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id


def parse(code):
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        return compile(code, "cell", "exec", flags).body
    except SyntaxError:  # perhaps for lines that are IPython's
        code = re.sub(r"(?m)^(\s*)[%!].*", r"\1pass", code)
        return compile(code, "cell", "exec", flags).body


def compares(test):
    """Whether a test compares with something, and does not only ask whether there is anything."""
    def empty(node):
        return isinstance(node, ast.Constant) and node.value in (0, None, "") or \
            isinstance(node, (ast.List, ast.Dict, ast.Tuple)) and not ast.unparse(node)[1:-1]
    return any(isinstance(n, ast.Compare) and not any(empty(c) for c in [n.left, *n.comparators])
               for n in ast.walk(test))


# Calls that change nothing about a typed-in value but its type.
PLAIN = SAYS | {"str", "int", "float", "strip", "round", "write", "close", "splitlines", "split",
                "loads", "Path", "DataFrame", "Series", "exists", "remove", "item",
                "StringIO", "BytesIO"}


# Methods whose value is only another form of that on which they are called.
SAME = {"strip", "lstrip", "rstrip", "item", "copy"}


def dressed(node):
    """The expression of which a node is only the text, rounded or not, or None."""
    if isinstance(node, ast.Call):
        of, name, given = getattr(node.func, "value", None), name_of(node.func), len(node.args)
        if of is None and given and (name in ("str", "repr", "format", "float")
                                     or name == "round" and given == 2):
            return node.args[0]
        if isinstance(of, ast.Constant):
            whole = name == "format" and given == 1 and re.fullmatch(r"\{[^{}]*\}", str(of.value))
            return node.args[0] if whole else None
        if name == "round" and given == 2:
            return node.args[0]  # of numpy
        return of if name in SAME and not given or name == "round" and given == 1 else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and \
            re.fullmatch(r"%[-+ \d.]*[a-z]", str(getattr(node.left, "value", ""))):
        return node.right
    if isinstance(node, ast.JoinedStr) and len(node.values) == 1:
        return getattr(node.values[0], "value", None) if isinstance(
            node.values[0], ast.FormattedValue) else None
    return None


def digest(*keys):
    return hashlib.sha1("\0".join(keys).encode("utf-8", "replace")).hexdigest()[:16]


def statements(cells):
    """The statements of cells that compute something. The answer is an expression at the end,
    unless it is a name."""
    body, answer = [], None
    for s in [s for cell in cells for s in parse(cell)]:
        value = getattr(s, "value", None)
        if isinstance(s, ast.Expr) and isinstance(value, ast.Name):
            continue
        if isinstance(s, ast.Expr) and name_of(getattr(value, "func", None)) in SAYS:
            answer = value.args[0] if len(value.args) == 1 else None
        elif isinstance(s, ast.Assign) and name_of(s.targets[0]) in ("answer", "summary"):
            answer = value if name_of(s.targets[0]) == "answer" else answer
        else:
            body.append(s)
    while dressed(answer) is not None:
        answer = dressed(answer)
    return body if answer is None or isinstance(answer, ast.Name) else body + [ast.Expr(answer)]


def numbered(body):
    """Statements in which the names that they give are numbered in order of appearance."""
    nodes = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name)]
    given = {n.id for n in nodes if isinstance(n.ctx, ast.Store)}
    numbers = {}
    for n in nodes:
        if n.id in given:
            n.id = f"name {numbers.setdefault(n.id, len(numbers))}"
    return [ast.dump(s) for s in body]
