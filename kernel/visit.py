# Runs inside a kernel that is not ours, with the names shell, folder and session
# given. It leaves no name behind: a visit hangs on an attribute of the shell.
import os
import random
import sys


class Visit:
    """Keeps the cells of one client apart from the session that it visits."""

    def __init__(self, shell, folder, session):
        self.shell = shell
        self.session = session
        self.made = set()  # names that cells made
        self.bound = {}  # names that cells bound anew or deleted: what they were
        self.other = {"dir": folder or os.getcwd(), "random": random.getstate()}
        self.running = False  # whether one of our cells is
        shell.events.register("pre_run_cell", self.before)
        shell.events.register("post_run_cell", self.after)

    def ours(self):
        """Tells whether the request under way came from our client."""
        parent = self.shell.kernel.get_parent("shell") or {}
        return parent.get("header", {}).get("session") == self.session

    def before(self, info=None):
        """Begins a cell, whoever's it is."""
        if self.running or not self.ours():
            return
        self.running = True
        self.known = dict(self.shell.user_ns)
        self.results = set(self.shell.user_ns.get("Out", {}))
        self.swap()

    def after(self, result=None):
        """Ends a cell, whoever's it is."""
        if not self.running:
            return
        self.running = False
        self.swap()
        names = self.shell.user_ns
        for name in ("_", "__", "___"):  # what the session calls its last results
            if name in self.known:
                names[name] = self.known[name]
        for name, value in list(names.items()):
            if name not in self.known:
                self.made.add(name)
            elif value is not self.known[name] and name not in self.made:
                self.bound.setdefault(name, self.known[name])
        for name in self.known.keys() - names.keys() - self.made:
            self.bound.setdefault(name, self.known[name])
        results = names.get("Out", {})
        for number in set(results) - self.results:
            del results[number]

    def swap(self):
        """Exchanges working folder and random generators with those of the session."""
        mine = {"dir": os.getcwd(), "random": random.getstate()}
        random.setstate(self.other["random"])
        if "numpy" in sys.modules:
            numpy = sys.modules["numpy"].random
            mine["numpy"] = numpy.get_state()
            if "numpy" in self.other:
                numpy.set_state(self.other["numpy"])
        try:
            os.chdir(self.other["dir"])
        except OSError:
            pass  # the folder is on another machine, or gone
        self.other = mine

    def back(self):
        """Undoes what cells did to names."""
        for name in self.made:
            self.shell.user_ns.pop(name, None)
        self.shell.user_ns.update(self.bound)
        self.made, self.bound = set(), {}

    def leave(self):
        """Ends the visit. New names stay: they are the result of it."""
        self.shell.events.unregister("pre_run_cell", self.before)
        self.shell.events.unregister("post_run_cell", self.after)
        for name in [n for n in self.made if n.startswith("_")]:
            self.shell.user_ns.pop(name, None)
        self.shell.user_ns.update(self.bound)
        del self.shell.dsstar_visits[self.session]
        if not self.shell.dsstar_visits:
            del self.shell.dsstar_visits


if not hasattr(shell, "dsstar_visits"):
    shell.dsstar_visits = {}
shell.dsstar_visits[session] = Visit(shell, folder, session)
