# Follows values through cells: after values.py, whose names it uses.
#
# request: kind ("last", "second" or "branch"), cells (that run before), code (the cell with the
# answer), first (the cells of the first derivation, with its last one), question.


class Reader:
    """Follows the values of names through cells."""

    def __init__(self):
        self.names = {}
        self.files = {}     # what the cells have written, by path
        self.control = []   # pairs of whether a test or loop rests on data, and the test
        self.said = []      # of the last cell: pairs of value and printed nodes
        self.touched = False

    # Names.

    def look(self, name):
        """The value of a name; that of a function rests on the data that it, or one that it calls,
        looks up."""
        v, seen = self.own(name), {name}
        todo = set(v.free) - seen
        while todo and not v.data:
            n = todo.pop()
            seen.add(n)
            inner = self.own(n)
            todo |= inner.free - seen
            if inner.data or inner.path:  # it is looked up to be read
                v, key = join([v, inner, Value(data=True)]), v.key
                v.key = key
        return v

    def own(self, name):
        if name in self.names:
            return self.names[name]
        if name in PLACES:
            return Value(path=True, key=name)
        known = name in dir(builtins) or name in SET_UP or name.startswith("__")
        return Value(data=not known, key=name)

    def decided(self, value, controls):
        """Whether tests and loops by the data choose a value that does not rest on data."""
        return any(data and (test is None or not value.number or compares(test))
                   for data, test in controls)

    def bind(self, target, value, key):
        if isinstance(target, ast.Name):
            value = join([value])
            value.key = key
            self.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            for i, part in enumerate(target.elts):
                self.bind(part, value, digest(key, str(i)))
        elif isinstance(target, ast.Starred):
            self.bind(target.value, value, key)
        else:  # x[…] = value, x.y = value
            whole = join([value, self.value(target.value)])
            self.absorb(root_of(target), whole, key + self.key(target))

    def absorb(self, name, value, key):
        """A value becomes part of the object of a name."""
        if name in self.names:
            was = self.names[name]
            key = digest(was.key, key) if key else was.key
            self.bind(ast.Name(name), join([was, value]), key)

    # Keys.

    def key(self, node):
        if isinstance(node, ast.Name):
            return self.look(node.id).key
        if isinstance(node, ast.Constant):
            named = [p for p in self.files if isinstance(node.value, str) and p in node.value]
            return repr(node.value) + "".join(p + self.files[p].key for p in named)
        if isinstance(node, list):
            return "[" + ",".join(self.key(n) for n in node) + "]"
        if not isinstance(node, ast.AST):
            return repr(node)
        inner = dressed(node)
        if inner is not None:
            return self.key(inner)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            node = ast.Attribute(node.value, node.slice.value)  # a column
        parts = [self.key(v) for f, v in ast.iter_fields(node)
                 if f not in ("ctx", "kind", "type_comment")]
        return type(node).__name__ + "(" + ",".join(parts) + ")"

    def whole(self, node):
        """The key of a value that has a name."""
        while dressed(node) is not None:
            node = dressed(node)
        if isinstance(node, ast.Name):
            return self.look(node.id).key
        return digest(self.key(node))

    # Expressions.

    def value(self, node):
        v = getattr(self, "value_" + type(node).__name__, self.parts)(node)
        self.touched = self.touched or v.data
        return v

    def parts(self, node):
        parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        return join(self.value(n) for n in parts)

    def value_Constant(self, node):
        c = node.value
        if isinstance(c, str):
            told = join([self.files[p] for p in self.files if p in c])  # what the cells wrote
            return Value(told.data, bool(DATA.search(c)), texts=frozenset([c]),
                         chance=told.chance | frozenset([TIME] if NOW.search(c) else []))
        return Value(number=isinstance(c, (int, float, complex)) and c not in (0, 1))

    def value_Name(self, node):
        return self.look(node.id)

    def value_Attribute(self, node):
        v = join([self.value(node.value)])
        if node.attr in MACHINE:
            v.chance |= {MACHINE[node.attr]}
        return v

    def value_NamedExpr(self, node):
        v = self.value(node.value)
        self.bind(node.target, v, self.whole(node.value))
        return v

    def value_IfExp(self, node):
        test = self.value(node.test)
        self.control.append((test.data, node.test))
        v = join([self.value(node.body), self.value(node.orelse), Value(chance=test.chance)])
        v.data = v.data or self.decided(v, [self.control.pop()])
        return v

    def value_Subscript(self, node):
        return join([self.value(node.value), self.value(node.slice)])

    def value_Lambda(self, node):
        return self.scoped(node, [a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)])

    def scoped(self, node, names):
        """The value of a node in which names are bound that mean nothing outside."""
        kept = {n: self.names[n] for n in names if n in self.names}
        self.names.update((n, Value(key=n)) for n in names)
        v = self.parts(node)
        for n in names:
            del self.names[n]
        self.names.update(kept)
        return v

    def comprehension(self, node):
        names = [n.id for g in node.generators for n in ast.walk(g.target)
                 if isinstance(n, ast.Name)]
        return join([self.scoped(g, names) for g in node.generators] + [self.scoped(node, names)])

    value_ListComp = value_SetComp = value_DictComp = value_GeneratorExp = comprehension

    def value_Call(self, node):
        name, root, function = name_of(node.func), root_of(node.func), self.value(node.func)
        code = getattr(node.args[0], "value", None) if node.args else None
        if name == root in ("eval", "exec") and isinstance(code, str):  # as if it stood there
            body = parse(code)
            self.run(body)
            return join(self.value(s.value) for s in body[-1:] if isinstance(s, ast.Expr))
        given = join(self.value(a) for a in [*node.args, *(k.value for k in node.keywords)])
        v = join([function, given])
        v.chance |= self.chance(name, root, node, v.texts)
        self.reads(name, v, given)
        if WRITES.match(name) or name == "print" and v.files:
            self.writes(name, v, node)
        if SQL.match(name) and v.data:  # it may define a table
            self.absorb(root, v, self.key(node.args))
        elif isinstance(node.func, ast.Attribute) and given.data and root not in self.modules:
            self.absorb(root, given, "")
        if name in SAYS:
            v.data = v.data or self.decided(v, self.control)
            self.said.append((v, node.args))
        return v

    def chance(self, name, root, node, texts):
        """What else than the data a call by itself depends on."""
        if root in self.modules:  # perhaps by another name
            name = self.look(root).key if isinstance(node.func, ast.Name) else name
            root = self.look(root).key
        clock = name in CLOCK and (not node.args or name == "now") and (
            root in CLOCKS or name in ("today", "utcnow", "perf_counter"))
        clock = clock or name == "strftime" and root == "time" and len(node.args) == 1
        if clock or name in ("Timestamp", "to_datetime", "datetime64") and texts & {"now", "today"}:
            return {TIME}
        return {MACHINE[name]} if name in MACHINE and isinstance(node.func, ast.Name) else set()

    def reads(self, name, v, given):
        """Tells of a call whether its value rests on data that it reads."""
        if SQL.match(name):
            words = {w for t in v.texts for w in re.findall(r"[^\W\d]\w*", t)}
            v.data = v.data or any(self.names[w].data for w in words & set(self.names))
        if name in ("StringIO", "BytesIO") and not v.data:
            self.files.update((t, join([v])) for t in v.texts)
        own = [self.files[t] for t in v.texts if t in self.files]
        if name == "open" and any(re.fullmatch("[wax][bt+]*", t) for t in given.texts):
            v.files = v.texts
        elif v.path and name not in PATHS or READS.match(name) and not own and not v.files:
            v.data = True
            if READS.match(name):
                v.chance -= set(MACHINE.values())  # such as an address
        elif own and not WRITES.match(name):  # what the cells themselves have written
            computed = not READS.match(name) and name not in PLAIN
            v.data = v.data or computed or any(f.data for f in own)

    def writes(self, name, v, node):
        """Tells what is in the files that a call writes."""
        for path in v.files or [t for t in v.texts if FILE.search(t)]:
            wrote = join([v, self.files.get(path, Value())])
            drawn = "save" in name and root_of(node.func) not in self.modules or name == "savefig"
            wrote.data = wrote.data or drawn or self.decided(v, self.control)
            wrote.texts, wrote.files = frozenset(), frozenset()
            wrote.key = digest(wrote.key, self.key(node.func), self.key(node.args))
            self.files[path] = wrote

    # Statements.

    modules = set()

    def run(self, body):
        for s in body:
            getattr(self, "do_" + type(s).__name__, self.compound)(s)

    def do_Expr(self, s):
        v, call = self.value(s.value), s.value
        if not isinstance(call, ast.Call) or name_of(call.func) in SAYS:
            return
        if isinstance(call.func, ast.Name) and v.data:  # a function, which may print
            self.said.append((v, []))
        args = [*call.args, *(k.value for k in call.keywords)]
        for a in [root_of(call.func)] + [root_of(a) for a in args]:
            if a and a not in self.modules:  # the call may change what it is given
                self.absorb(a, join(self.value(x) for x in [call.func, *args]), self.key(call))

    def do_Assign(self, s):
        v, key = self.value(s.value), self.whole(s.value)
        for target in s.targets:
            self.bind(target, v, key)

    def do_AnnAssign(self, s):
        if s.value is not None:
            self.do_Assign(ast.Assign([s.target], s.value))

    def do_AugAssign(self, s):
        v = join([self.value(s.target), self.value(s.value)])
        self.bind(s.target, v, digest(self.key(s.target), self.key(s.value), type(s.op).__name__))

    def do_Import(self, s):
        for a in s.names:
            name = (a.asname or a.name).split(".")[0]
            self.modules = self.modules | {name}
            package = getattr(s, "module", a.name).split(".")[0]
            self.names[name] = Value(data=package not in PURE, key=a.name)

    def do_ImportFrom(self, s):
        s.module = s.module or "."
        self.do_Import(s)

    def do_FunctionDef(self, s):
        inner = list(ast.walk(s))
        loads = {n.id for n in inner if isinstance(n, ast.Name)}
        free = loads - bound(inner)
        texts = {n.value for n in inner if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        prints = any(isinstance(n, ast.Call) and name_of(n.func) in SAYS for n in inner)
        self.names[s.name] = Value(
            data=prints or any(DATA.search(t) for t in texts), free=frozenset(free),
            key=digest(ast.dump(s), *(self.look(n).key for n in sorted(free - {s.name}))))

    do_AsyncFunctionDef = do_ClassDef = do_FunctionDef

    def compound(self, s):
        """Branches and loops: what a name is after one of them, or before, is what it may be."""
        before, key = dict(self.names), digest(ast.dump(s), *sorted(
            self.look(n.id).key for n in ast.walk(s) if isinstance(n, ast.Name)))
        head = join(self.value(e) for e in ast.iter_child_nodes(s) if isinstance(e, ast.expr)
                    and isinstance(getattr(e, "ctx", ast.Load()), ast.Load))
        if isinstance(s, (ast.For, ast.AsyncFor)):
            self.bind(s.target, head, key)
        for i in getattr(s, "items", []):
            v = self.value(i.context_expr)
            if i.optional_vars is not None:
                self.bind(i.optional_vars, v, self.whole(i.context_expr))
        if isinstance(s, (ast.With, ast.AsyncWith)):
            self.run(s.body)
            return
        bodies = [getattr(s, f, None) for f in ("body", "orelse", "finalbody")]
        bodies += [h.body for h in getattr(s, "handlers", []) + getattr(s, "cases", [])]
        bodies, test = [b for b in bodies if b], s.test if isinstance(s, ast.If) else None
        if test is None:  # a loop or try can end in its midst
            head.data = head.data or any(
                self.look(n.id).data for b in bodies for x in b for n in ast.walk(x)
                if isinstance(n, ast.Name) and n.id in self.names)
        self.control.append((head.data, test))
        ends = self.ends(bodies, isinstance(s, (ast.For, ast.AsyncFor, ast.While)))
        self.merge(before, ends, head, self.control.pop(), key)

    def ends(self, bodies, loops):
        """The names after each of several bodies; those of a loop follow each other, twice."""
        ends = []
        for body in bodies * (2 if loops else 1):
            start = dict(self.names)
            self.run(body)
            ends.append(self.names)
            self.names = self.names if loops else start
        return ends

    def merge(self, before, ends, head, control, key):
        """Makes a name what it was before, or is at one of several ends."""
        self.names = dict(before)
        for name in {n for end in ends for n in end}:
            found = [e[name] for e in [before] + ends if name in e]
            if any(f is not found[0] for f in found) or name not in before:
                v = join(found + [Value(chance=head.chance)])
                v.data, v.key = v.data or self.decided(v, [control]), digest(key, name)
                self.names[name] = v


def read(cells, code):
    """A reader that has read the cells, and then the code with the answer."""
    r = Reader()
    for cell in cells:
        r.run(parse(cell))
    r.said, r.touched = [], False
    r.run(parse(code))
    return r


ASKS_TIME = re.compile(r"\b(today|now|current\w*|so far|to date|old|age|ago|last \d+|since|"
                       r"heute|jetzt|aktuell\w*|derzeit\w*)\b", re.I)

ASKS_FILE = re.compile(r"\b(files?|modified|dateien?)\b", re.I)


def chances(values, question):
    found = frozenset().union(*(v.chance for v in values))
    if ASKS_TIME.search(question):
        found -= {TIME}
    if ASKS_FILE.search(question):
        found -= {FILE_DATE}
    return [f"the answer depends on {what}" for what in sorted(found)]


def last_cell(request):
    r = read(request["cells"], request["code"])
    values = [v for v, _ in r.said]
    problem = ""
    if values and not any(v.data for v in values):
        problem = "the printed answer is typed in, not computed from the data"
    return {"problem": problem, "doubts": chances(values, request["question"])}


READS_NOTHING = "its cell reads no data: the answer is typed in, not computed"
TYPED = "the answer is typed in, not computed from the data"
NO_ANSWER = re.compile(r"\W*(not? \w+.*|none|n/?a|unknown|cannot .*|keine? \w+.*|nicht \w+.*)\W*",
                       re.I)


def typed(r, code):
    """What is wrong with the origin of the answer of a cell that a reader has read, or ""."""
    if not r.touched:
        return READS_NOTHING
    body = parse(code)
    last = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    answers = [] if last is None else [r.value(last)]
    if last is None or isinstance(last, ast.Call):  # which may give nothing
        answers += [v for v, _ in r.said]
    fine = any(v.data for v in answers) or any(
        t in r.files or NO_ANSWER.fullmatch(t) for v in answers for t in v.texts)
    return "" if fine or not answers else TYPED


def second(request):
    r = read(request["cells"], request["code"])
    problem = typed(r, request["code"])
    mine, first = statements([request["code"]]), statements(request["first"] or [])
    if len(mine) > 1 and numbered(mine) == numbered(first[-len(mine):]):
        return {"problem": problem,
                "doubts": ["it was derived once: the second derivation has the code of the first"]}
    return {"problem": problem}


def branch(request):
    r = read(request["cells"], request["code"])
    problem = typed(r, request["code"])
    if problem:
        return {"problem": problem}
    first = read(request["first"][:-1], request["first"][-1])
    body = parse(request["code"])
    if body and isinstance(body[-1], ast.Expr):
        answer, printed = body[-1].value, [args[0] for _, args in first.said if len(args) == 1]
        v = r.value(answer)
        if v.data and any(r.whole(answer) == first.whole(p) for p in printed):
            return {"problem": "its cell computes the same as the notebook's cells, which shows "
                               "nothing about another reading"}
    return {}


def main(request):
    sys.setrecursionlimit(10_000)
    try:
        found = {"last": last_cell, "second": second, "branch": branch}[request["kind"]](request)
    except (SyntaxError, RecursionError, ValueError):
        found = {}  # not Python alone, or nothing that this program can follow
    print(json.dumps(found))
