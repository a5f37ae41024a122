# On which earlier questions cells do not build: after values.py, whose names it uses. They may build
# on one if they mention a name that its cells bind or can change, and do not bind it themselves
# before; if they can read a file, and those can write one; or if a question between them may. What
# the code leaves open counts; only what stays in a module, such as an option, does not.
ANYTHING, A_FILE = "*", "/"
HIDES = re.compile(r"(?m)\b(exec|eval|globals|locals|vars|get_ipython|system)\(|\bsubprocess\b|"
                   r"\.py[\"']|^\s*(!|%[^m])")
CHANGES = re.compile(r"pop\w*|setdefault|append|extend|insert|update|remove|discard|add|clear|sort|"
                     r"reverse|execute\w*")
OPENS = re.compile(r"open|connect|loadtxt|genfromtxt|fromfile|imread|read_(?!sql)\w+|scan_\w+|"
                   r"[ir]?glob|iterdir|listdir|scandir|walk|\w*Path|\w*File")
SAVES = re.compile(r"to_(csv|excel|feather|file|hdf|html|json|latex|markdown|netcdf|orc|parquet|"
                   r"pickle|sql|stata|xml|zarr)|save\w*|dump|[wW]rite\w*|imwrite|copy2|copyfile|"
                   r"copytree|move|urlretrieve|touch|symlink_to")
IN_QUERY = re.compile(r"(?i)(?:\b(?:from|join|update|into|table|view)\s+"
                      r"(?:if\s+(?:not\s+)?exists\s+)?[\"`\[]?|@)([^\W\d]\w*)")
FROM_FILE = re.compile(r"(?i)\b(from|join)\s+'")
MAKES = re.compile(r"(?i)\bcreate\s.{0,30}\b(table|view)|\binsert\s+into|\bcopy\b.*\bto\b")
SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
HARMLESS = set(dir(builtins)) - {"setattr", "delattr"} | {"display"}


def used(node):
    """The names that a node looks up, also in a query."""
    names = set().union(*map(used, ast.iter_child_nodes(node)))
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
        names.add(node.id)
    names.update(IN_QUERY.findall(text_of(node)))
    if isinstance(node, SCOPES):
        names -= bound(list(ast.walk(node)))
        names |= used(node.generators[0].iter) if hasattr(node, "generators") else set()
    return names


def stored(nodes):
    """The names that nodes bind."""
    names = set()
    for n in nodes:
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            names.add(n.id)
        if isinstance(n, (ast.MatchAs, ast.MatchStar)):
            names.add(n.name)
        names |= set() if isinstance(n, SCOPES) else stored(ast.iter_child_nodes(n))
    return names


def text_of(node):
    return node.value if isinstance(getattr(node, "value", None), str) else ""


def parts(node):
    """The expressions of a statement, and the blocks in it."""
    heads, blocks = [], []
    for _, field in ast.iter_fields(node):
        nodes = field if isinstance(field, list) else [field]
        if nodes and isinstance(nodes[0], ast.stmt):
            blocks.append(nodes)
            continue
        for n in nodes:
            if isinstance(n, (ast.excepthandler, ast.match_case)):
                inner = parts(n)
                heads, blocks = heads + inner[0], blocks + inner[1]
            elif isinstance(n, ast.AST):
                heads.append(n)
    return heads, blocks


def changed(s, heads, reads):
    """The names whose objects a statement can change."""
    nodes = [n for h in heads for n in ast.walk(h)]
    value = getattr(s, "value", getattr(s, "iter", None))
    inside = [type(n) for n in ast.walk(value)] if isinstance(value, ast.AST) else []
    names = {ast.Name, ast.Tuple, ast.List, ast.Starred, ast.Load}
    opaque = isinstance(s, ast.Delete) or any(MAKES.search(text_of(n)) for n in nodes)
    if isinstance(s, (ast.Assign, ast.AnnAssign)):  # another name for it
        opaque |= set(inside) <= names
    elif isinstance(s, (ast.For, ast.AsyncFor)):
        opaque |= not {ast.Call, ast.Attribute} & set(inside)
    elif isinstance(s, ast.Expr):
        opaque |= isinstance(s.value, ast.Call) and isinstance(s.value.func, ast.Attribute)
    for c in nodes:
        if isinstance(c, ast.Call):
            name = name_of(c.func)
            plain = isinstance(c.func, ast.Name) and name[:1].islower() and name not in HARMLESS
            opaque |= plain or bool(CHANGES.fullmatch(name))
            opaque |= any(k.arg == "inplace" for k in c.keywords)
    targets = [h for h in heads if isinstance(getattr(h, "ctx", None), ast.Store)]
    return set().union(getattr(s, "names", []), *map(used, targets), reads if opaque else [])


class Flow:
    """What cells can read that they have not bound before, and what they can give: whether that
    replaces what was there."""

    def __init__(self, cells, modules):
        code = "\n".join(cells)
        self.reads, self.gives, self.modules = set(), {}, modules
        try:
            body = parse(code)
        except (SyntaxError, ValueError):
            body, code = [], "exec("
        if HIDES.search(code):
            self.reads.add(ANYTHING)
            self.gives[ANYTHING] = False
        for s in body:
            for node in ast.walk(s):
                self.files(node)
        self.run(body, set(), set(), True)

    def files(self, node):
        """What a node does with files that are no data."""
        if FROM_FILE.search(text_of(node)) and not of_data([text_of(node)]):
            self.reads.add(A_FILE)
        if MAKES.search(text_of(node)):
            self.gives[A_FILE] = False
        if not isinstance(node, ast.Call):
            return
        name, texts = name_of(node.func), [t for n in ast.walk(node) if (t := text_of(n))]
        modes = node.args[1:2] + [k.value for k in node.keywords if k.arg == "mode"]
        written = name == "open" and any(re.search("[wxa+]", text_of(m)) for m in modes)
        if written or SAVES.fullmatch(name) or root_of(node.func) == "shutil":
            self.gives[A_FILE] = False
        elif OPENS.fullmatch(name) and node.args or name == "load" and texts:
            self.reads |= set() if of_data(texts) else {A_FILE}

    def run(self, body, own, local, top=False):
        """Statements, before which own names are bound; local ones are those of a function."""
        for s in body:
            heads, blocks = parts(s)
            if isinstance(s, (ast.Import, ast.ImportFrom)):
                continue
            reads, binds = set().union(*map(used, heads)), stored(heads)
            changes = changed(s, heads, reads)
            if isinstance(s, ast.AugAssign):
                reads, changes, binds = reads | binds, changes | binds, set()
            inner = set(local)
            if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
                nodes = list(ast.walk(s))
                inner |= bound(nodes)
                inner -= {g for n in nodes if isinstance(n, ast.Global) for g in n.names}
            self.reads |= reads - own - local
            for name in changes - local - self.modules - HARMLESS:
                self.gives.setdefault(name, False)
            for block in blocks:
                self.run(block, own | binds | inner, inner)
            surely = not blocks or hasattr(s, "name")  # unlike in a block, which may not run
            binds |= {s.name} if hasattr(s, "name") else set()
            for name in binds - local:
                self.gives[name] = self.gives.get(name, False) or top and surely
            own |= binds if surely else set()


def of_data(texts):
    return any(DATA.search(t) and ".." not in t for t in texts)


def imported(cell):
    try:
        nodes = [n for s in parse(cell) for n in ast.walk(s)]
    except (SyntaxError, ValueError):
        return set()
    return bound([n for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom))])


def apart(earlier, cells):
    """The numbers of those of the earlier questions, from 0, on which cells do not build."""
    modules = set().union(*(imported(c) for q in [*earlier, cells] for c in q))
    reads, others = Flow(cells, modules).reads, []
    for k in reversed(range(len(earlier))):
        its = Flow(earlier[k], modules)
        found = ANYTHING in its.gives or ANYTHING in reads and its.gives or reads & set(its.gives)
        reads -= {name for name, replaces in its.gives.items() if replaces}  # an earlier one is lost
        reads |= its.reads if found else set()
        others += [] if found else [k]
    return sorted(others)


def main(earlier, lists):
    sys.setrecursionlimit(10_000)
    print(json.dumps([apart(earlier, cells) for cells in lists]))
