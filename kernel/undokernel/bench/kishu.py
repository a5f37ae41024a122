"""undokernel beside Kishu: what a checkpoint and going back cost, and what comes back.

    python -m venv env && env/bin/pip install kishu==0.3.4 scikit-learn matplotlib kernel/undokernel
    env/bin/python kernel/undokernel/bench/kishu.py [--rounds N] [--only WORD]

Both run in the same environment, by turns. Kishu is in its test mode, which spares it the waiting
for the notebook to be saved. Times are the least of all rounds, in milliseconds, from sending a
request to its end; going back ends with the result of the next cell. The 1 GB session needs 30 GB
of disk and 16 of memory.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

from undokernel import linux
from undokernel.install import kernelspec
from undokernel.options import Options

STEPS = 10
PAUSE = 0.3  # seconds between cells, as for a person
WAIT = 300

PANDAS = "import numpy as np, pandas as pd; r = np.random.default_rng(0)"
NUMBERS = "df = pd.DataFrame(r.random(({}, {}))); df.columns = [f'c{{i}}' for i in df]"
TEXT = (
    "for i in range(7): df[f's{i}'] = pd.Series(r.choice(['alpha', 'beta', 'gamma'], len(df)),"
    " dtype=object)"
)
FOREST = (
    "from sklearn.ensemble import RandomForestClassifier\n"
    "X = r.random((20_000, 20)); y = X[:, 0] + X[:, 1] * X[:, 2] > .8; seen = []\n"
    "model = RandomForestClassifier(100, n_jobs=2, random_state=0).fit(X, y)"
)


@dataclass
class Session:
    name: str
    setup: list[str]
    change: str
    value: str


SESSIONS = [
    Session("tiny", ["x = [0]"], "x.append(len(x))", "len(x)"),
    Session(
        "frame 138k x 21, numbers, changed in place",
        [PANDAS, NUMBERS.format(138_000, 21)],
        "df += 1",
        "round(float(df.c3.iloc[7]), 6)",
    ),
    Session(
        "frame 138k x 21, mixed, a column dropped in place",
        [PANDAS, NUMBERS.format(138_000, 14), TEXT],
        "df.drop(columns=df.columns[0], inplace=True)",
        "df.shape",
    ),
    Session(
        "fitted forest, used",
        [PANDAS, FOREST],
        "seen.append(model.predict(X[len(seen):100]).mean())",
        "len(seen), len(model.estimators_)",
    ),
    Session(
        "frame of 1 GB, changed in place",
        [PANDAS, NUMBERS.format(1_000_000, 134)],
        "df += 1",
        "round(float(df.c3.iloc[7]), 6)",
    ),
]

# name, set-up, change, expression that must have its value again
STATES = [
    ("list changed in place", "x = [1, [2]]", "x[1].append(3); x.append(4)", "x"),
    ("alias of a list", "x = [1]; y = x", "x.append(2); y = 0", "x, y, x is y"),
    ("aliased rows in a dict", "d = {'a': [1]}; d['b'] = d['a']", "d['b'].append(2)", "d, d['a'] is d['b']"),
    ("deleted and new names", "x = 1", "del x; y = 2", "x, 'y' in globals()"),
    ("name that begins with _", "_x = [1]", "_x.append(2)", "_x"),
    ("array in place", f"{PANDAS}; a = np.arange(6.)", "a *= 2", "a.tolist()"),
    ("numpy view", f"{PANDAS}; a = np.arange(6.); v = a[1:4]", "v += 1", "a.tolist(), v.base is a"),
    ("frame in place", f"{PANDAS}; df = pd.DataFrame({{'a': [1, 2]}})", "df['b'] = 3", "df.to_dict()"),
    ("random", "import random; random.seed(1)", "random.random()", "random.random()"),
    ("numpy.random", f"{PANDAS}; np.random.seed(1)", "np.random.rand()", "np.random.rand()"),
    ("numpy Generator", PANDAS, "r.random()", "r.random()"),
    ("half-used generator", "g = (i for i in range(9)); next(g)", "next(g)", "next(g)"),
    ("closure with nonlocal", "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n        return n\n    return g\nc = f()", "c(); c()", "c()"),
    ("lru_cache", "import functools\n@functools.lru_cache\ndef f(x): return x", "f(1); f(2)", "f.cache_info().currsize"),
    ("open file, read", "open('r.txt', 'w').write('abc'); f = open('r.txt')", "f.read()", "f.read()"),
    ("open file, written", "f = open('w.txt', 'w'); f.write('a'); f.flush()", "f.write('b'); f.flush()", "open('w.txt').read()"),
    ("open figure", "import matplotlib; matplotlib.use('agg'); import matplotlib.pyplot as plt; fig, ax = plt.subplots()", "ax.plot([1, 2])", "len(ax.lines), fig.axes[0] is ax"),
    ("SQLite in memory", "import sqlite3; db = sqlite3.connect(':memory:'); db.execute('create table t (x)'); db.commit()", "db.execute('insert into t values (1)'); db.commit()", "db.execute('select * from t').fetchall()"),
    ("SQLite file", "import sqlite3; db = sqlite3.connect('d.sqlite'); db.execute('create table t (x)'); db.commit()", "db.execute('insert into t values (1)'); db.commit()", "db.execute('select * from t').fetchall()"),
    ("pandas options", PANDAS, "pd.options.display.max_rows = 7", "pd.options.display.max_rows"),
    ("numpy settings", PANDAS, "np.seterr(all='raise'); np.set_printoptions(precision=2)", "np.geterr(), np.get_printoptions()['precision']"),
    ("os.environ", "import os", "os.environ['A_NAME'] = '1'", "os.environ.get('A_NAME')"),
    ("working folder", "import os; os.makedirs('sub', exist_ok=True)", "os.chdir('sub')", "os.path.basename(os.getcwd()) == 'sub'"),
    ("file of the folder", "open('out.csv', 'w').write('1')", "open('out.csv', 'w').write('2'); open('new.csv', 'w').close()", "open('out.csv').read(), __import__('os').path.exists('new.csv')"),
    ("fitted model", f"{PANDAS}; from sklearn.linear_model import LinearRegression; m = LinearRegression().fit([[0], [1]], [0, 1])", "m.fit([[0], [1]], [0, 3])", "round(m.coef_[0], 6)"),
    ("thread", "import threading, time; e = threading.Event(); t = threading.Thread(target=e.wait, daemon=True); t.start(); x = 1", "x = 2", "x, t.is_alive()"),
    ("socket", "import socket; s = socket.create_server(('127.0.0.1', 0)); x = 1", "x = 2", "x, s.fileno() >= 0"),
]  # fmt: skip


class Died(Exception):
    """The kernel has ended, or does not answer."""


class Refused(Exception):
    """It says that it cannot go back."""


class Kernel:
    """A kernel in a folder of its own."""

    name = spec = ""
    memory = disk = 0

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manager = KernelManager(kernel_name=self.spec)
        self.manager.start_kernel(cwd=str(folder), env={**os.environ, **self.env()})
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=WAIT)

    def env(self) -> dict[str, str]:
        return {}

    def request(self, code: str, **more: Any) -> tuple[Any, str]:
        """Runs a cell. Returns the content of the reply, and the cell's result."""
        results = [""]

        def hook(message: Any) -> None:
            if message["msg_type"] == "execute_result":
                results.append(message["content"]["data"]["text/plain"])

        try:
            reply = self.client.execute_interactive(
                code, output_hook=hook, timeout=WAIT, allow_stdin=False, **more
            )
        except (TimeoutError, RuntimeError) as error:
            raise Died(str(error)) from None
        return reply["content"], results[-1]

    def cell(self, code: str) -> str:
        content, result = self.request(code)
        if content.get("ename") == "CannotUndo":
            raise Refused(content["evalue"])
        if content["status"] != "ok":
            raise Died(content.get("evalue", ""))
        return result

    def value(self, expression: str) -> str:
        """Evaluates an expression without a checkpoint."""
        content, _ = self.request("", silent=True, user_expressions={"v": expression})
        value = content["user_expressions"]["v"]
        return value["data"]["text/plain"] if value["status"] == "ok" else value["evalue"]

    def held(self) -> int:
        pids = [self.manager.provisioner.pid, *linux.descendants(self.manager.provisioner.pid)]
        return sum(map(linux.pss, pids))

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


class Undokernel(Kernel):
    name, spec = "undokernel", "undo"
    cells = 0

    def cell(self, code: str) -> str:
        self.cells += 1
        return super().cell(code)

    def place(self) -> int:
        return self.cells

    def back(self, place: int) -> None:
        steps, self.cells = self.cells - place, place
        super().cell(f"%undo {steps}")


class Kishu(Kernel):
    name, spec = "Kishu", "python3"

    def env(self) -> dict[str, str]:
        path = self.folder / "n.ipynb"
        path.write_text(
            json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        )
        return {
            "TEST_NOTEBOOK_PATH": str(path),
            "ENV_KISHU_TEST_MODE": "1",
            "KISHU_PATH_ROOT": str(self.folder),
        }

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.request("from kishu.jupyterint import init_kishu; init_kishu()", silent=True)

    def place(self) -> str:
        return self.value("_kishu._kishu_graph.head()").strip("'")

    def back(self, place: str) -> None:
        result = self.value(f"_kishu.checkout('{place}', skip_notebook=True)")
        if not result.startswith("Checkout"):
            raise Refused(result)


@dataclass
class Times:
    at_once: list[float] = field(default_factory=list)
    cell: list[float] = field(default_factory=list)
    one: list[float] = field(default_factory=list)
    ten: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    disk: list[float] = field(default_factory=list)
    problem: str = ""


def timed(do: Any) -> float:
    began = time.perf_counter()
    do()
    return 1e3 * (time.perf_counter() - began)


def measure(kind: type[Kernel], session: Session, times: Times) -> None:
    with tempfile.TemporaryDirectory() as folder:
        kernel: Any = kind(Path(folder))
        try:
            run(kernel, session, times)
        except (Died, Refused) as problem:
            times.problem = f"{type(problem).__name__.lower()}: {problem}"
        finally:
            kernel.close()


def run(kernel: Any, session: Session, times: Times) -> None:
    for cell in session.setup:
        kernel.cell(cell)
    start, wanted = kernel.place(), kernel.value(session.value)
    before = kernel.held()
    for step in range(STEPS):
        if step % 2:
            time.sleep(PAUSE)
        if step == STEPS - 1:
            last, value = kernel.place(), kernel.value(session.value)
        spent = timed(lambda: kernel.cell(session.change))
        (times.cell if step % 2 else times.at_once).append(spent)
    times.memory.append(max(0, kernel.held() - before))
    times.disk.append(sum(p.stat().st_size for p in kernel.folder.rglob("*.kishudb*")))
    for place, right, spent in ((last, value, times.one), (start, wanted, times.ten)):
        time.sleep(PAUSE)
        got = []

        def back() -> None:
            kernel.back(place)  # noqa: B023
            got.append(kernel.cell(session.value))  # noqa: B023

        spent.append(timed(back))
        if got != [right]:
            times.problem = f"wrong: {got[0]}, not {right}"


def show(times: dict[str, Times]) -> None:
    for kind, t in times.items():
        middle = [min(x) if x else float("nan") for x in (t.cell, t.at_once, t.one, t.ten)]
        size = [max(x, default=0) / 1e6 for x in (t.memory, t.disk)]
        cells = " | ".join(f"{x:,.0f}" for x in (*middle, *size))
        print(f"| | {kind} | {cells} | {t.problem}", flush=True)
    ours, theirs = times.values()
    if ours.one and theirs.one:
        ratio = [min(getattr(theirs, n)) / min(getattr(ours, n))
                 for n in ("cell", "at_once", "one", "ten") if getattr(theirs, n)]  # fmt: skip
        print(f"| | ratio | {' | '.join(f'{x:.1f}' for x in ratio)} | | |", flush=True)


def comes_back(kind: type[Kernel], setup: str, change: str, value: str) -> str:
    """Says whether a value is again what it was. A control that does not go back tells it, where
    evaluating the value changes it."""
    wanted = ""
    for goes_back in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            kernel: Any = kind(Path(folder))
            try:
                kernel.cell(setup)
                place = kernel.place()
                if not goes_back:
                    wanted = kernel.value(value)
                    continue
                kernel.cell(change)
                kernel.back(place)
                got = kernel.value(value)
                return "exact" if got == wanted else f"wrong: {got}, not {wanted}"
            except Refused as refused:
                return f"refused: {refused}"
            except Died as died:
                return f"died: {died}"
            finally:
                kernel.close()
    raise AssertionError


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="sessions and states whose names contain it")
    parser.add_argument("--part", choices=("times", "states"), help="default: both")
    given = parser.parse_args()
    jupyter = tempfile.TemporaryDirectory()
    os.environ["JUPYTER_PATH"] = jupyter.name
    folder = Path(jupyter.name, "kernels", "undo")
    folder.mkdir(parents=True)
    options = Options(memory=16 << 30, files=True)
    (folder / "kernel.json").write_text(json.dumps(kernelspec(options, "undo")))
    if given.part != "states":
        print(
            "| session | | cell, after a pause | cell, at once | back one | back ten | memory, MB | disk, MB |"
        )
        print("|---|---|---|---|---|---|---|---|")
        for session in (s for s in SESSIONS if given.only in s.name):
            times = {kind.name: Times() for kind in (Undokernel, Kishu)}
            for _ in range(1 if "GB" in session.name else given.rounds):
                for kind in (Undokernel, Kishu):
                    measure(kind, session, times[kind.name])
            print(f"| {session.name}")
            show(times)
    if given.part != "times":
        print("\n| state | undokernel | Kishu |\n|---|---|---|")
        for name, *state in (s for s in STATES if given.only in s[0]):
            results = [comes_back(kind, *state)[:300] for kind in (Undokernel, Kishu)]
            print(f"| {name} | {' | '.join(results)} |", flush=True)


if __name__ == "__main__":
    main()
