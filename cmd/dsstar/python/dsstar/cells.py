"""The accepted cells of a run: as text to go on from, and what they print as a value."""

import ast
import contextlib
import hashlib
import io
import json
import os
import random
import re
import sys
import tokenize

from IPython.core.error import UsageError
from IPython.utils.capture import capture_output

READY = ("parameters", "setup", "variables")  # roles of the cells before the first step


def read(path):
    """The code cells of a run's notebook, each with its role."""
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    return [
        (cell["metadata"].get("dsstar", {}), "".join(cell["source"]))
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def steps(cells):
    """The cells of the steps, and the last one that prints the answer."""
    last = max((i for i, (ours, _) in enumerate(cells) if ours.get("role") == "final"), default=None)
    if last is None:
        raise UsageError("the run has no answer yet, and so no accepted cells")
    return [
        (ours, source)
        for i, (ours, source) in enumerate(cells)
        if ours.get("role") not in READY and (ours.get("role") != "final" or i == last)
    ]


def text(path, question, folder):
    """The accepted cells as one cell for the folder of the user's kernel."""
    cells = read(path)
    parts = ["# " + line for line in question.splitlines()]
    for ours, source in steps(cells):
        title = f"step {ours['step']}" if ours.get("step") else ours.get("role") or "cell"
        parts.append(f"\n# {'answer' if title == 'final' else title}\n{source.strip()}")
    return relocated("\n".join(parts), data_folder(path, cells, folder))


def data_folder(path, cells, folder):
    """What cells see as data/, from the user's folder."""
    run = os.path.dirname(path)
    parameters = next((s for ours, s in cells if ours.get("role") == "parameters"), "")
    given = re.search(r"^data_dir = (.+)$", parameters, re.M)
    data = ast.literal_eval(given[1]) if given else "data"
    relative = os.path.relpath(os.path.join(run, data), folder).replace(os.sep, "/")
    return "" if relative == "." else relative + "/"


def relocated(source, folder):
    """The source with data/ at the beginning of strings replaced by a folder."""
    lines = source.splitlines(keepends=True)
    opening = re.compile(r"""([A-Za-z]*(?:\"\"\"|'''|"|'))data/""")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return source
    for token in reversed(tokens):
        name = tokenize.tok_name[token.type]
        row, column = token.start
        if name not in ("STRING", "FSTRING_START"):
            continue
        line = lines[row - 1]
        if found := opening.match(line, column):
            lines[row - 1] = line[: found.end(1)] + folder + line[found.end() :]
    return "".join(lines)


class Printed:
    """Stands for print in the last cell, and keeps what it is given."""

    def __init__(self):
        self.values, self.text = [], io.StringIO()

    def __call__(self, *args, value=None, **options):
        if options.get("file") in (None, sys.stdout):
            print(*args, **{**options, "file": self.text})
            self.values.append(value if value is not None else args[0] if len(args) == 1 else None)

    def value(self):
        """The object printed; if it was a text of a number, the number; if several, the text."""
        if len(self.values) != 1 or self.values[0] is None:
            return self.text.getvalue().strip()
        value = self.values[0]
        if isinstance(value, str):
            with contextlib.suppress(ValueError, SyntaxError):
                number = ast.literal_eval(value.strip())
                if isinstance(number, (int, float)):
                    return number
        return value


class Unformatted(ast.NodeTransformer):
    """Has print(X.to_string(…)) and its like pass on X, too."""

    METHODS = ("to_string", "to_csv", "to_markdown", "to_json", "to_html")

    def visit_Call(self, node):
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id == "print" and len(node.args) == 1):
            return node
        arg = node.args[0]
        if not isinstance(arg, ast.Call):
            return node
        name = ast.Name("_dsstar_value", ast.Store())
        if isinstance(arg.func, ast.Attribute) and arg.func.attr in self.METHODS:
            arg.func.value = ast.NamedExpr(name, arg.func.value)
        elif isinstance(arg.func, ast.Name) and arg.func.id in ("str", "repr") and len(arg.args) == 1:
            arg.args[0] = ast.NamedExpr(name, arg.args[0])
        else:
            return node
        node.keywords.append(ast.keyword("value", ast.Name("_dsstar_value", ast.Load())))
        return node


@contextlib.contextmanager
def aside():
    """Keeps working folder, random generators, figures and outputs of the session as they are. No
    module comes from the folder that the cells work in, where anybody may have put one."""
    folder, state, path = os.getcwd(), random.getstate(), sys.path[:]
    sys.path[:] = [entry for entry in path if os.path.isabs(entry)]
    numpy = sys.modules.get("numpy")
    numbers = numpy.random.get_state() if numpy else None
    plot = sys.modules.get("matplotlib.pyplot")
    figures = set(plot.get_fignums()) if plot else set()
    try:
        with capture_output():
            yield
    finally:
        sys.path[:] = path
        os.chdir(folder)
        random.setstate(state)
        if numbers is not None:
            numpy.random.set_state(numbers)
        if plot := sys.modules.get("matplotlib.pyplot"):
            for number in set(plot.get_fignums()) - figures:
                plot.close(number)


def digest(data):
    return hashlib.sha256(data).hexdigest()


def value(known, shell):
    """Runs the accepted cells in a namespace of their own, with the variables that the run has
    stored, and returns what the last one prints, as an object. Cells and variables must be those of
    which dsstar gives the digests: nothing else runs in the user's kernel."""
    path, answer = known["notebook"], known["answer"]
    run = os.path.dirname(path)
    try:
        stored = {name.removesuffix(".pickle") for name in os.listdir(os.path.join(run, "variables"))}
    except OSError:
        stored = set()
    names = {
        name: v
        for name, v in shell.user_ns.items()
        if name not in stored and not name.startswith("_") and name not in ("In", "Out")
    }
    names.update(__name__="__main__", __builtins__=__builtins__, base_dir=run)
    cells, printed = read(path), Printed()
    if digest("\0".join(source for _, source in cells).encode()) != known["cells"]:
        raise UsageError("the notebook of the run has changed meanwhile")
    for name, wanted in known["pickles"].items():
        with open(os.path.join(run, "variables", name + ".pickle"), "rb") as file:
            if digest(file.read()) != wanted:
                raise UsageError(f"the variable {name} of the run is not what dsstar has stored")
    chosen = [c for c in cells if c[0].get("role") in READY] + steps(cells)
    with aside():
        for ours, source in chosen:
            tree = ast.parse(shell.transform_cell(source))
            if ours.get("role") == "final":
                tree = ast.fix_missing_locations(Unformatted().visit(tree))
                names["print"] = printed
            try:
                exec(compile(tree, f"<dsstar {ours.get('role')}>", "exec"), names)
            except Exception as error:
                raise UsageError(
                    f"the cells of the run fail here: {type(error).__name__}: {error}"
                ) from error
    now = printed.text.getvalue().strip()
    if now != answer.strip():
        raise UsageError(f"the cells now print {now!r} and not {answer!r}: has something that they "
                         "read changed since?")
    return printed.value()
