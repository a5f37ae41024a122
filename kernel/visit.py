# Runs inside a kernel that is not ours, with shell and folder given. It leaves
# no name behind: everything hangs on one attribute of the shell.
import os
import random
import sys


class Visit:
    """Keeps the cells of a guest apart from the session that it visits."""

    def __init__(self, shell, folder):
        self.shell = shell
        self.made = set()  # names that cells made
        self.bound = {}  # names that cells bound anew or deleted: what they were
        self.other = {"dir": folder or os.getcwd(), "random": random.getstate()}
        self.known = {}
        self.swapped = False

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
        self.other, self.swapped = mine, not self.swapped

    def before(self):
        """Begins a cell."""
        if not self.swapped:
            self.swap()
        self.known = dict(self.shell.user_ns)
        self.results = set(self.shell.user_ns.get("Out", {}))

    def after(self):
        """Ends a cell."""
        names = self.shell.user_ns
        for name, value in list(names.items()):
            if name in ("_", "__", "___"):
                continue
            if name not in self.known:
                self.made.add(name)
            elif value is not self.known[name] and name not in self.made:
                self.bound.setdefault(name, self.known[name])
        for name in self.known.keys() - names.keys() - self.made:
            self.bound.setdefault(name, self.known[name])
        for name in ("_", "__", "___"):  # what the session calls its last results
            if name in self.known:
                names[name] = self.known[name]
        results = names.get("Out", {})
        for number in set(results) - self.results:
            del results[number]
        if self.swapped:
            self.swap()

    def back(self):
        """Undoes what cells did to names."""
        for name in self.made:
            self.shell.user_ns.pop(name, None)
        self.shell.user_ns.update(self.bound)
        self.made, self.bound = set(), {}

    def leave(self):
        """Ends the visit. New names stay: they are the result of it."""
        if self.swapped:
            self.swap()
        for name in [n for n in self.made if n.startswith("_")]:
            self.shell.user_ns.pop(name, None)
        self.shell.user_ns.update(self.bound)
        del self.shell.dsstar_visit


shell.dsstar_visit = Visit(shell, folder)
try:  # as in tune.py: what ipykernel would drop belongs to the user's cells as well
    thread = shell.kernel.iopub_thread
    thread.schedule(lambda: thread.socket.setsockopt(sys.modules["zmq"].SNDHWM, 0))
except AttributeError:
    pass
