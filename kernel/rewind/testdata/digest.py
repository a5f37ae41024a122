"""Describes the whole state of the session that it runs in, one fact a line, to compare two
sessions.

A cell runs it by exec. A forked child does the work, so the session stays as it was, except for one
more cell in its history. The child writes the text to a file in $DSSTAR_DIGESTS named after its
hash, and the cell prints that name.

A line is "path: what". A mutable object is described where it is met first; where it is met again
the line is "path: is <first path>", so aliases and shared memory are part of the text.

Of the namespace it describes: types, contents, order, frames block by block, arrays with strides,
flags and bases of views, functions with code, defaults and closures, classes by attributes,
generators by position and locals, iterators by what is left, files by position, mode, unwritten and
unread text, databases in memory row by row, figures by properties and by the picture they draw,
random generators by state. Of the process: working folder, environment, umask, sys.path, loaded
modules, warnings, decimal and numpy settings, pandas options, rcParams, recursion limit, signal
handlers, threads, open files, limits; functions of some modules, to find monkeypatches; what the
shell has registered. Of the working folder: names, contents, modes.

It leaves out what differs between two runs of the same cells: addresses, process ids, times, the
names of temporary folders, the order of sets (their members are compared), internal caches of
libraries, frames of tracebacks except for names and lines. It also leaves out internals in which a
kernel with checkpoints differs from ipykernel and which no cell sees: modules named undokernel,
the kernel's own descriptors and threads, what SIGINT does between cells; and threads of joblib's
process pool, which going back ends and joblib starts again.

Lines that begin with "^" are not compared between kernels of different kinds: ipykernel loads a
debugger, the kernel with checkpoints does not.
"""
import os


def probe():
    import random
    import signal
    import sys
    import threading

    before = {
        "timers": [(time > 0, every) for time, every in map(signal.getitimer, (0, 1, 2))],  # a child has none
        "random": random.getstate(),  # a forked child seeds it anew
        "threads": sorted(t.name for t in threading.enumerate()),
        "modules": sorted(sys.modules),
    }
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            import traceback

            try:
                said = describe(before)
            except BaseException:
                said = "failed " + traceback.format_exc()
            with os.fdopen(w, "w") as f:
                f.write(said)
        finally:
            os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        said = f.read()
    os.waitpid(child, 0)
    sys.stdout.write(said)


def describe(before):
    import collections
    import copyreg
    import decimal
    import gc
    import hashlib
    import io
    import locale
    import re
    import resource
    import signal
    import stat
    import sys
    import types
    import warnings

    gc.disable()  # no destructors must run here
    shell = sys.modules["IPython"].get_ipython()
    namespace = shell.user_ns
    folder = os.environ["DSSTAR_FOLDER"]
    offsets = {}  # shared with the session
    for fd in os.listdir("/proc/self/fd"):
        try:
            offsets[int(fd)] = os.lseek(int(fd), 0, os.SEEK_CUR)
        except OSError:
            pass
    filters = warnings.filters[:]
    warnings.simplefilter("ignore")

    lines, seen, kept, queue, last = [], {}, [], collections.deque(), []

    def clean(text):
        text = text.replace(folder, "$DIR")
        text = re.sub(r"/gokernel-\d+\b", "/gokernel-PRIVATE", text)  # the folder of a sandbox
        text = re.sub(r"ipykernel_\d+", "ipykernel_PID", text)
        return re.sub(r"\b0x[0-9a-f]{6,}", "0x", text)

    def sha(data):
        return hashlib.sha1(data).hexdigest()[:16]

    def atom(x):
        if isinstance(x, str):
            x = clean(x)
            return repr(x) if len(x) <= 300 else "%r... %d %s" % (x[:60], len(x), sha(x.encode("utf-8", "surrogatepass")))
        if isinstance(x, bytes) and len(x) > 300:
            return "bytes %d %s" % (len(x), sha(x))
        return clean(repr(x))

    def name(t):
        return t.__module__ + "." + t.__qualname__

    def brief(x, depth=4):
        """One line for a value of a property."""
        t = type(x)
        if t in atoms:
            return atom(x)
        if isinstance(x, np_types):
            a = sys.modules["numpy"].asarray(x)
            return "%s%s %s" % (a.dtype, a.shape, sha(a.tobytes()) if a.dtype != object else [brief(y, depth - 1) for y in a.ravel()[:50]])
        if depth and isinstance(x, (list, tuple)):
            return "[" + ", ".join(brief(y, depth - 1) for y in x) + "]"
        if depth and isinstance(x, dict):
            return "{" + ", ".join(sorted("%s: %s" % (brief(k), brief(v, depth - 1)) for k, v in x.items())) + "}"
        if depth and isinstance(x, (set, frozenset)):
            return "set " + str(sorted(brief(y, depth - 1) for y in x))
        if hasattr(x, "get_matrix") and getattr(x, "is_affine", False):
            return name(t) + brief(x.get_matrix())
        if hasattr(x, "vertices"):
            return name(t) + brief(x.vertices) + brief(x.codes)
        if hasattr(x, "extents"):
            return name(t) + brief(x.extents)
        return name(t)

    def code(c):
        consts = [code(k) if isinstance(k, types.CodeType) else atom(k) for k in c.co_consts]
        return "code %s %s:%d %s" % (
            c.co_qualname if hasattr(c, "co_qualname") else c.co_name, clean(c.co_filename), c.co_firstlineno,
            sha(repr((c.co_code, consts, c.co_names, c.co_varnames, c.co_freevars, c.co_cellvars, c.co_flags)).encode()),
        )

    # Each of these returns a head and children, which are pairs of a part of a path and an object.
    def attributes(x):
        d = getattr(x, "__dict__", None)
        children = [("." + str(k), v) for k, v in d.items()] if isinstance(d, dict) else []
        for slot in copyreg._slotnames(type(x)):
            if hasattr(x, slot):
                children.append(("." + slot, getattr(x, slot)))
        return children

    def sequence(x):
        return "%s of %d" % (name(type(x)), len(x)), [("[%d]" % i, y) for i, y in enumerate(x)] + attributes(x)

    def mapping(x):
        children = []
        for i, (k, v) in enumerate(x.items()):
            if x is namespace.get("__warningregistry__") and k == "version":
                continue  # how often filters have changed
            if type(k) in atoms:
                children.append(("[%s]" % atom(k), v))
            else:
                children += [(".key%d" % i, k), (".value%d" % i, v)]
        head = "%s %s" % (name(type(x)), [atom(k) if type(k) in atoms else "..." for k in x])
        return head, children + ([(".default_factory", x.default_factory)] if hasattr(x, "default_factory") else []) + attributes(x)

    def members(x):
        plain = sorted(atom(y) for y in x if type(y) in atoms)
        other = sorted((y for y in x if type(y) not in atoms), key=lambda y: brief(y))
        return "%s %s" % (name(type(x)), plain), [("{%d}" % i, y) for i, y in enumerate(other)] + attributes(x)

    def deque(x):
        head, children = sequence(x)
        return head + " maxlen %s" % x.maxlen, children

    def function(x):
        where = "the namespace" if x.__globals__ is namespace else x.__globals__.get("__name__")
        if x.__globals__ is not namespace and not inside(x.__code__.co_filename):
            return "function %s.%s" % (x.__module__, x.__qualname__), []
        children = [(".defaults", x.__defaults__), (".kwdefaults", x.__kwdefaults__), (".annotations", x.__annotations__)]
        children += [(".closure[%s]" % n, c) for n, c in zip(x.__code__.co_freevars, x.__closure__ or ())]
        return "function %s in %s, %s, doc %s" % (x.__qualname__, where, code(x.__code__), atom(x.__doc__)), children + attributes(x)

    def cell(x):
        try:
            return "cell", [(".contents", x.cell_contents)]
        except ValueError:
            return "empty cell", []

    def inside(path):
        return bool(path) and (str(path).startswith(folder) or "ipykernel_" in str(path))

    def klass(x):
        home = sys.modules.get(x.__module__)
        if x.__module__ != "__main__" and not inside(getattr(home, "__file__", None)):
            return "class " + name(x), []
        skip = {"__dict__", "__weakref__", "__abstractmethods__", "_abc_impl", "__slotnames__"}
        children = [("." + k, v) for k, v in vars(x).items() if k not in skip]
        return "class %s of %s, mro %s" % (x.__qualname__, name(type(x)), [name(b) for b in x.__mro__]), children

    def module(x):
        if inside(getattr(x, "__file__", None)):
            return "module " + x.__name__, [("." + k, v) for k, v in vars(x).items() if not k.startswith("__")]
        return "module " + x.__name__, []

    def method(x):
        return "method", [(".self", x.__self__), (".func", x.__func__)]

    def builtin(x):
        owner = x.__self__
        return "builtin " + x.__qualname__, [] if owner is None or isinstance(owner, types.ModuleType) else [(".self", owner)]

    def generator(x):
        f = getattr(x, "gi_frame", None) or getattr(x, "cr_frame", None) or getattr(x, "ag_frame", None)
        c = getattr(x, "gi_code", None) or getattr(x, "cr_code", None) or getattr(x, "ag_code", None)
        if f is None:
            return "%s %s, ended" % (name(type(x)), code(c)), []
        return "%s %s at %d line %d" % (name(type(x)), code(c), f.f_lasti, f.f_lineno), [(".locals", dict(f.f_locals))] + [
            (".from", y) for y in [getattr(x, "gi_yieldfrom", None)] if y is not None]

    def array(x):
        np = sys.modules["numpy"]
        root = x
        while isinstance(root.base, np.ndarray):
            root = root.base
        at = x.__array_interface__["data"][0] - root.__array_interface__["data"][0]
        flags = "".join(k for k, f in zip("CFOWA", ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED")) if x.flags[f])
        head = "%s %s%s strides %s flags %s" % (name(type(x)), x.dtype if x.dtype.names is None else x.dtype.descr, x.shape, x.strides, flags)
        children = []
        if x.dtype == object:
            children = [("[%d]" % i, y) for i, y in enumerate(x.ravel().tolist())]
        elif x.dtype.hasobject:
            head += " " + atom(str(x.tolist()))
        else:
            head += " " + sha(np.ascontiguousarray(x).tobytes())
        if isinstance(x, np.memmap):
            head += " memmap %s %s %s" % (clean(str(x.filename)), x.mode, x.offset)
        if root is not x:
            head += " view at %d" % at
            children.append((".root", root))
        elif x.base is not None:
            children.append((".base", x.base))
        return head, children

    def frame(x):
        m = x._mgr
        head = "%s %s flags %s copy %s cached %s" % (
            name(type(x)), x.shape, x.flags.allows_duplicate_labels, getattr(x, "_is_copy", None) is not None,
            [atom(k) for k in getattr(x, "_item_cache", {})])
        children = [(".axis%d" % i, a) for i, a in enumerate(m.axes)] + [(".attrs", x.attrs)]
        if hasattr(x, "_name"):
            children.append((".name", x._name))
        for i, b in enumerate(m.blocks):
            children += [(".block%d.at" % i, b.mgr_locs.as_array.tolist()), (".block%d" % i, b.values)]
        return head, children

    def index(x):
        if hasattr(x, "_range"):
            return "%s %s" % (name(type(x)), x._range), [(".names", list(x.names))]
        head = "%s %s freq %s" % (name(type(x)), x.dtype, getattr(x, "freqstr", None))
        if hasattr(x, "_codes") and hasattr(x, "_levels"):
            return head, [(".names", list(x.names)), (".levels", list(x._levels)), (".codes", list(x._codes))]
        return head, [(".names", list(x.names)), (".data", x._data)]

    def extension(x):
        head = "%s %s" % (name(type(x)), x.dtype)
        parts = [p for p in ("_ndarray", "_data", "_mask", "_codes", "_left", "_right") if hasattr(x, p)]
        children = [("." + p, getattr(x, p)) for p in parts]
        if hasattr(x, "categories"):
            children.append((".categories", x.categories))
        if not parts:
            head += " " + atom(str(x.to_numpy(object).tolist()))
        return head, children

    def text_file(x):
        if x.closed:
            return "%s %s %s closed" % (name(type(x)), atom(x.name if isinstance(x.name, str) else "descriptor"), getattr(x, "mode", "")), attributes_of_file(x)
        fd = x.fileno()
        head = "%s %s %s %s at %s inheritable %s" % (
            name(type(x)), atom(x.name if isinstance(x.name, str) else "descriptor"), x.mode, getattr(x, "encoding", ""), offsets.get(fd), os.get_inheritable(fd))
        last.append((paths_of[id(x)], lambda: rest(x, fd)))
        return head, attributes_of_file(x)

    def attributes_of_file(x):
        return [(k, v) for k, v in attributes(x) if k not in (".mode", ".name")]

    def rest(x, fd):
        """The unread or unwritten content of a file."""
        if x.writable():
            copy = os.memfd_create("rest")  # not the file itself, which the session shares
            os.dup2(copy, fd)
            x.flush()
            return "to be written " + atom(os.pread(fd, 1 << 20, 0))
        data = x.read()
        return "to be read " + atom(data)

    def bytes_io(x):
        return "%s closed" % name(type(x)) if x.closed else "%s %s at %d" % (name(type(x)), atom(x.getvalue()), x.tell()), attributes(x)

    def connection(x):
        try:
            dump = list(x.iterdump())
        except Exception as e:
            return "%s %s" % (name(type(x)), atom(str(e))), []
        return "%s in transaction %s, changes %d, %s" % (name(type(x)), x.in_transaction, x.total_changes, atom(str(dump))), [
            (".row_factory", x.row_factory), (".text_factory", x.text_factory)]

    def cursor(x):
        last.append((paths_of[id(x)], lambda: "rows left %s" % atom(str(x.fetchall()))))
        return "%s rowcount %d lastrowid %s" % (name(type(x)), x.rowcount, x.lastrowid), [(".connection", x.connection)]

    def chunks(x):
        last.append((paths_of[id(x)], lambda: "next chunk " + atom(next(x).to_csv())))
        return "%s at row %s" % (name(type(x)), getattr(x, "_currow", None)), []

    def csv_reader(x):
        last.append((paths_of[id(x)], lambda: "rows left " + atom(str(list(x)))))
        return "%s line %d" % (name(type(x)), x.line_num), []

    def python_random(x):
        state = before["random"] if x is sys.modules["random"]._inst else x.getstate()
        return "%s %s" % (name(type(x)), sha(repr(state).encode())), attributes(x)

    def numpy_random(x):
        state = x.get_state() if hasattr(x, "get_state") else getattr(x, "bit_generator", x).state
        return "%s %s" % (name(type(x)), sha(brief(state, 6).encode())), []

    def figure(x):
        artists = [x] + [a for ax in x.axes for a in [ax] + list(ax.lines) + list(ax.patches) + list(ax.texts) + list(ax.collections)
                         + list(ax.images) + [y for y in [ax.get_legend()] if y]]
        last.append((paths_of[id(x)], lambda: picture(x)))
        return "%s number %s, %d artists" % (name(type(x)), getattr(x, "number", None), len(artists)), [
            (".artist%d" % i, a) for i, a in enumerate(artists) if a is not x]

    def artist(x):
        last.append((paths_of[id(x)], lambda: "properties " + sha(properties(x).encode()) + " " + properties(x)[:1500]))
        return name(type(x)), [(".figure", x.figure)]

    def properties(x):
        skip = {"children", "window_extent", "tightbbox", "figure", "axes", "transformed_clip_path_and_affine"}
        return brief({k: v for k, v in x.properties().items() if k not in skip})

    def picture(x):
        b = io.BytesIO()
        x.savefig(b, format="rgba", dpi=40)
        return "picture %d %s" % (b.tell(), sha(b.getvalue()))

    def reference(x):
        return "weak reference", [(".to", x())]

    def error(x):
        t, steps = x.__traceback__, []
        while t:
            steps.append((t.tb_frame.f_code.co_name, t.tb_lineno))
            t = t.tb_next
        return "%s %s through %s" % (name(type(x)), atom(str(x)), steps), [
            (".args", x.args), (".context", x.__context__), (".cause", x.__cause__)] + attributes(x)

    def lock(x):
        return "%s locked %s" % (name(type(x)), x.locked() if hasattr(x, "locked") else "?"), []

    def logger(x):
        return "%s %s level %s, %d handlers, propagate %s, disabled %s" % (
            name(type(x)), x.name, x.level, len(x.handlers), x.propagate, x.disabled), []

    def variable(x):
        return "context variable %s" % x.name, [(".value", x.get(None))]

    def thread(x):
        # matplotlib starts one more thread if it has no font cache; going back keeps the cache
        return "thread %s daemon %s" % (re.sub(r"^Thread-\d+", "Thread-N", x.name), x.daemon), []

    def view(x):
        return "memoryview %s %s %s %s" % (x.format, x.shape, x.readonly, sha(x.tobytes())), [(".of", x.obj)]

    def shown(x):
        return "%s %s" % (name(type(x)), atom(repr(x))), []

    def opaque(x):
        return name(type(x)), []

    def wrapper(x):
        return name(type(x)), [(".func", getattr(x, "__func__", None))]

    def prop(x):
        return "property", [(".get", x.fget), (".set", x.fset), (".del", x.fdel)]

    def instance(x):
        t = type(x)
        children = attributes(x)
        if children or t.__module__ == "__main__":
            return name(t), children
        try:
            with_state = x.__reduce_ex__(4)
        except Exception:
            return "%s %s" % (name(t), atom(repr(x))), []
        if isinstance(with_state, str):
            return "%s %s" % (name(t), with_state), []
        parts = [list(p) if i > 2 and p is not None else p for i, p in enumerate(with_state[1:])]
        return name(t), [(".reduced%d" % i, p) for i, p in enumerate(parts) if p is not None]

    atoms = {type(None), bool, int, float, complex, str, bytes, range, slice, type(...), type(NotImplemented)}
    np_types = ()
    if "numpy" in sys.modules:
        np_types = (sys.modules["numpy"].ndarray, sys.modules["numpy"].generic)
    handlers = {
        "builtins.list": sequence, "builtins.tuple": sequence, "builtins.dict": mapping, "builtins.set": members,
        "builtins.frozenset": members, "collections.deque": deque, "builtins.function": function, "builtins.cell": cell,
        "builtins.type": klass, "builtins.module": module, "builtins.method": method,
        "builtins.builtin_function_or_method": builtin, "builtins.generator": generator, "builtins.coroutine": generator,
        "builtins.async_generator": generator, "numpy.ndarray": array, "numpy.generic": shown, "numpy.dtype": shown,
        "numpy.ufunc": shown, "pandas.core.generic.NDFrame": frame, "pandas.core.indexes.base.Index": index,
        "pandas.core.arrays.base.ExtensionArray": extension, "pandas.core.dtypes.base.ExtensionDtype": shown,
        "pandas.io.parsers.readers.TextFileReader": chunks, "_io.TextIOWrapper": text_file, "_io.BufferedReader": text_file,
        "_io.BufferedWriter": text_file, "_io.BufferedRandom": text_file, "_io.FileIO": text_file, "_io.BytesIO": bytes_io,
        "_io.StringIO": bytes_io, "sqlite3.Connection": connection, "sqlite3.Cursor": cursor, "_csv.reader": csv_reader,
        "random.SystemRandom": opaque, "random.Random": python_random, "numpy.random.mtrand.RandomState": numpy_random,
        "numpy.random._generator.Generator": numpy_random, "numpy.random.bit_generator.BitGenerator": numpy_random,
        "matplotlib.figure.FigureBase": figure, "matplotlib.artist.Artist": artist, "weakref.ReferenceType": reference,
        "builtins.weakref": reference, "builtins.BaseException": error, "_thread.lock": lock, "_thread.RLock": lock,
        "logging.Logger": logger, "_contextvars.ContextVar": variable, "threading.Thread": thread, "builtins.memoryview": view,
        "datetime.date": shown, "datetime.timedelta": shown, "datetime.time": shown, "decimal.Decimal": shown,
        "fractions.Fraction": shown, "pathlib.PurePath": shown, "enum.Enum": shown, "re.Pattern": shown,
        "builtins.staticmethod": wrapper, "builtins.classmethod": wrapper, "builtins.property": prop,
        "builtins.bytearray": shown, "IPython.core.interactiveshell.InteractiveShell": opaque,
        "IPython.core.autocall.IPyAutocall": opaque, "builtins.traceback": opaque, "builtins.frame": opaque,
        "ipykernel.iostream.OutStream": opaque, "builtins.getset_descriptor": shown, "builtins.member_descriptor": shown,
        "matplotlib.backend_bases.FigureCanvasBase": opaque, "matplotlib.transforms.TransformNode": shown,
    }
    paths_of = {}

    def look(path, x):
        queue.append((path, x))
        while queue:
            path, x = queue.popleft()
            if type(x) in atoms or type(x) is tuple and not x:
                lines.append("%s: %s" % (path, atom(x)))
                continue
            if id(x) in seen:
                lines.append("%s: is %s" % (path, seen[id(x)]))
                continue
            seen[id(x)] = paths_of[id(x)] = path
            kept.append(x)  # or another object would get its address
            handler = instance
            for t in type(x).__mro__:
                if name(t) in handlers:
                    handler = handlers[name(t)]
                    break
            if handler is instance and isinstance(x, type):
                handler = klass
            try:
                head, children = handler(x)
            except Exception as e:
                head, children = "%s cannot be described: %r" % (name(type(x)), e), []
            lines.append("%s: %s" % (path, head))
            queue.extend((path + part, child) for part, child in children)

    def fact(path, value):
        lines.append("%s: %s" % (path, value))

    # The session.
    hidden = {"get_ipython", "exit", "quit", "open"}
    fact("names", list(namespace))
    fact("execution_count", shell.execution_count)
    for key, value in namespace.items():
        if key not in hidden:
            look(key, value)
    fact("shell.hidden", sorted(set(shell.user_ns_hidden) - {"_i", "_ii", "_iii"}))
    fact("shell.magics", {k: sorted(v) for k, v in shell.magics_manager.magics.items()})
    fact("shell.events", {k: [clean(str(getattr(f, "__qualname__", type(f)))) for f in v] for k, v in shell.events.callbacks.items()})
    fact("shell.transformers", [len(shell.ast_transformers), len(shell.input_transformers_cleanup), len(shell.input_transformers_post)])
    for kind, f in shell.display_formatter.formatters.items():
        fact("shell.formatter " + kind, sorted(name(t) for t in f.type_printers) + sorted(map(str, f.deferred_printers)))
    look("shell.custom_exceptions", shell.custom_exceptions)

    # The process.
    fact("cwd", clean(os.getcwd()))
    fact("environ", clean(repr(sorted((k, v) for k, v in os.environ.items() if not k.startswith("PYDEVD_")))))
    mask = os.umask(0o22)
    os.umask(mask)
    fact("umask", oct(mask))
    fact("sys.path", clean(repr(sys.path)))
    fact("sys.argv", clean(repr([re.sub(r"/tmp/\S*|/\S*\.json", "FILE", a) for a in sys.argv[1:]])))
    fact("^sys.modules", [m for m in before["modules"] if not m.startswith("undokernel") and m != "encodings.utf_16_be"])  # of fonts, which matplotlib notes in a sandbox's private folder
    fact("recursion", sys.getrecursionlimit())
    fact("^hooks", [name(type(sys.excepthook)), name(type(sys.displayhook)), name(type(sys.stdout)), name(type(sys.stderr)), sys.gettrace() is None])
    fact("signals", {s.name: clean(repr(signal.getsignal(s))) for s in signal.valid_signals() if hasattr(s, "name") and s != signal.SIGINT})
    fact("timers", before["timers"])
    fact("limits", [resource.getrlimit(i) for i in range(16)])
    fact("nice", os.nice(0))
    fact("builtins", sorted(set(vars(sys.modules["builtins"])) - {"execfile", "runfile"}))  # the debugger's
    own = {"MainThread", "IPythonHistorySavingThread", "Control", "Heartbeat", "IOPub", "IPython Background Thread", "Shell channel",
           "ExecutorManagerThread", "QueueFeederThread"}
    fact("threads", [re.sub(r"\d+", "N", n) for n in before["threads"] if n not in own and not n.startswith(("Thread-", "IPython"))])
    look("warnings.filters", list(filters))
    look("random", sys.modules["random"]._inst)
    fact("decimal", atom(repr(decimal.getcontext())))
    fact("locale", locale.setlocale(6))
    logging = sys.modules.get("logging")
    if logging:
        fact("^logging", sorted((k, v.level, len(v.handlers), v.disabled) for k, v in logging.Logger.manager.loggerDict.items()
                               if isinstance(v, logging.Logger) and k.split(".")[0] not in ("undokernel", "asyncio")))
        fact("logging.root", [logging.root.level, len(logging.root.handlers), logging.root.manager.disable])
    for n in ("builtins", "os", "os.path", "json", "math", "random", "textwrap", "time", "numpy", "pandas", "matplotlib.pyplot"):
        if n in sys.modules:
            m = sys.modules[n]
            fact("module " + n, sha(repr(sorted((k, "%s.%s" % (v.__module__, v.__qualname__), code(v.__code__) if hasattr(v, "__code__") else "")
                 for k, v in vars(m).items() if isinstance(v, (types.FunctionType, types.BuiltinFunctionType)) and k not in ("input", "execfile", "runfile"))).encode()))
    if "numpy.random.mtrand" in sys.modules:  # numpy imports it when it is used
        look("numpy.random", sys.modules["numpy.random.mtrand"]._rand)
    if "numpy" in sys.modules:
        np = sys.modules["numpy"]
        fact("numpy.err", [np.geterr(), name(type(np.geterrcall()))])
        fact("numpy.print", brief(np.get_printoptions()))
    if "pandas" in sys.modules:
        look("pandas.options", sys.modules["pandas._config.config"]._global_config)
    if "matplotlib" in sys.modules:
        fact("rcParams", brief(dict(sys.modules["matplotlib"].rcParams)))
        fact("backend", str(sys.modules["matplotlib"].rcParams._get_backend_or_none() if hasattr(sys.modules["matplotlib"].rcParams, "_get_backend_or_none") else ""))
    if "matplotlib._pylab_helpers" in sys.modules:
        for number, manager in sys.modules["matplotlib._pylab_helpers"].Gcf.figs.items():
            look("figures[%s]" % number, manager.canvas.figure)
    opened = []
    for fd in sorted(offsets):
        try:
            target = os.readlink("/proc/self/fd/%d" % fd)
            text = open("/proc/self/fdinfo/%d" % fd).read()
            info = dict(l.split(":\t") for l in text.splitlines()[:2])
        except (OSError, ValueError):
            continue
        deleted = target.endswith(" (deleted)") and stat.S_ISREG(os.fstat(fd).st_mode) and int(info["flags"], 8) & 3 == os.O_RDWR
        if target.startswith(folder) or deleted:
            content = sha(os.pread(fd, 1 << 20, 0)) if deleted else ""
            locks = text.count(" FLOCK ") + text.count(" OFDLCK ")
            opened.append(("no name" if deleted else clean(target), int(info["pos"]), info["flags"], os.get_inheritable(fd), locks, content))
    fact("open", sorted(opened))

    # The folder.
    for root, folders, files in os.walk(folder):
        folders.sort()
        for entry in sorted(folders + files):
            path = os.path.join(root, entry)
            s = os.lstat(path)
            if os.path.islink(path):
                what = "link to " + clean(os.readlink(path))
            elif entry in files:
                with open(path, "rb") as f:
                    what = "%d %s links %d" % (s.st_size, sha(f.read()), s.st_nlink)
            else:
                what = "folder"
            fact("file " + clean(path), "%o %s" % (s.st_mode, what))

    # What consumes objects.
    for path, use in last:
        try:
            fact(path, use())
        except Exception as e:
            fact(path, "%s: %s" % (type(e).__name__, clean(str(e))))
    for fd, at in offsets.items():
        try:
            os.lseek(fd, at, os.SEEK_SET)
        except OSError:
            pass
    text = "\n".join(l.replace("\n", "\\n") for l in lines) + "\n"
    out = sha(text.encode("utf-8", "backslashreplace"))
    path = os.path.join(os.environ["DSSTAR_DIGESTS"], out)
    with open(path + ".%d" % os.getpid(), "w", errors="backslashreplace") as f:
        f.write(text)
    os.replace(path + ".%d" % os.getpid(), path)
    return out


probe()
