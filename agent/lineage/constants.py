# The strings that the code of cells names, and that it looks for in data.
import ast
import re

MISSING = re.compile(r"(?i)n/?an?|none|null|unknown|missing|other|total|all|nat|n\.a\.")
# Calls that look for the strings that they are given.
SEEKS = {"eq", "ne", "isin", "contains", "startswith", "endswith", "match", "fullmatch", "count",
         "get", "map", "reindex"}
QUERY = re.compile(r"(?i)[=(,]\s*['\"]|<>\s*'")  # a string with strings in it: SQL, query()
QUOTED = re.compile(r"'([^'%]+)'|\"([^\"%]+)\"")
# Code that changes the case, or the spaces, of what it compares.
FOLDS = re.compile(r"(?i)\b(lower|upper|casefold|title|capitalize|swapcase|ilike|nocase|"
                   r"IGNORECASE|re\.I)\b|\(\?\w*i|case\s*=\s*False")
STRIPS = re.compile(r"(?i)\b([lr]?strip|trim|replace|re\.sub|skipinitialspace)\b")


class Constants:
    """The strings in cells."""

    def __init__(self, cells):
        self.code, self.values = "\n".join(cells), {}
        self.all, self.named, self.sought = set(), set(), set()
        nodes = [n for cell in cells for n in nodes_of(cell)]
        for n in nodes:
            for target in n.targets if isinstance(n, ast.Assign) else []:
                if isinstance(target, ast.Name):
                    self.values.setdefault(target.id, []).append(n.value)
        for n in nodes:
            if isinstance(n, ast.Constant) and isinstance(n.value, str):
                self.all.add(n.value)
                if QUERY.search(n.value):
                    self.sought |= {a or b for a, b in QUOTED.findall(n.value)}
            elif isinstance(n, ast.Compare):
                self.take([n.left, *n.comparators], self.named)
            elif isinstance(n, ast.Call) and getattr(n.func, "attr", "") in SEEKS:
                self.take(n.args[:1], self.named if n.func.attr in ("eq", "isin") else self.sought)
                if n.func.attr == "get" and n.args and not isinstance(n.args[0], ast.Constant):
                    self.take([n.func.value], self.sought)
        self.all |= self.sought  # in queries
        self.telling = {v for v in self.all if re.search(r"[^\W\d]", v)
                        and not MISSING.fullmatch(v.strip())}
        self.sought = (self.sought | self.named) & self.telling

    def take(self, nodes, into, depth=3):
        """Collects the strings that expressions are or hold, also those that a name stands for."""
        for n in nodes if depth else []:
            if isinstance(n, ast.Constant) and isinstance(n.value, str):
                into.add(n.value)
            elif isinstance(n, (ast.List, ast.Tuple, ast.Set)):
                self.take(n.elts, into, depth)
            elif isinstance(n, ast.Dict):
                self.take(n.keys, self.sought, depth)
            elif isinstance(n, ast.Name):
                self.take(self.values.get(n.id, []), self.sought, depth - 1)

    def alike(self, text):
        """What two strings have in common of which one may be meant for the other."""
        text = text if FOLDS.search(self.code) else text.casefold()
        return text if STRIPS.search(self.code) else " ".join(text.split())


def nodes_of(cell):
    try:
        return list(ast.walk(ast.parse(cell)))
    except (SyntaxError, ValueError):
        return []
