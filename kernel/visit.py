# Runs in a kernel that is not ours, with shell, folder and session defined. It defines no
# names in the session: the visit is kept in an attribute of the shell.
import os
import random
import sys


class Visit:
    """Keeps the cells of one client apart from the session that it visits."""

    def __init__(self, shell, folder, session):
        self.shell = shell
        self.session = session
        self.made = set()  # names that cells made
        self.bound = {}  # old values of names that cells rebound or deleted
        self.left = {}  # values that cells left, to see whether somebody has rebound a name since
        self.keep = set()  # names that stay as cells left them
        self.carried = {}  # for the client: ids of objects by name
        self.known = {}  # all names before the cell that is running
        self.folder = folder or os.getcwd()
        self.other = {"dir": self.folder, "random": random.getstate()}
        self.running = False  # whether one of our cells is running
        shell.events.register("pre_run_cell", self.before)
        shell.events.register("post_run_cell", self.after)

    def ours(self):
        """Tells whether the current request came from our client."""
        parent = self.shell.kernel.get_parent("shell") or {}
        return parent.get("header", {}).get("session") == self.session

    def before(self, info=None):
        """Is called before each cell, of whatever client."""
        if self.running or not self.ours():
            return
        self.running = True
        self.exits = vars(self.shell).get("ask_exit", self)  # self stands for the shell's own
        self.shell.ask_exit = self.stay
        self.known = dict(self.shell.user_ns)
        self.results = set(self.shell.user_ns.get("Out", {}))
        self.swap()

    def after(self, result=None):
        """Is called after each cell, of whatever client."""
        if not self.running:
            return
        self.running = False
        if self.exits is self:
            del self.shell.ask_exit
        else:
            self.shell.ask_exit = self.exits
        names = self.shell.user_ns
        for name in ("_", "__", "___"):  # the session's last results
            if name in self.known:
                names[name] = self.known[name]
        for name in names.keys() | self.known.keys():
            # self stands for no value
            value, before = names.get(name, self), self.known.get(name, self)
            if value is before:
                continue
            if name in self.left and before is not self.left[name]:  # somebody has rebound it since
                self.made.discard(name)
                self.bound.pop(name, None)
            if before is self and name not in self.bound:
                self.made.add(name)
            elif name not in self.made:
                self.bound.setdefault(name, before)
            self.left[name] = value
        results = names.get("Out", {})
        for number in set(results) - self.results:
            del results[number]
        self.known = {}  # it would keep alive what the user deletes
        self.swap()

    def stay(self):
        """Is called by exit() and quit() of our cells."""
        raise RuntimeError("exit() and quit() would end this kernel, which belongs to somebody else")

    def swap(self):
        """Exchanges working folder and random generators with those of the session."""
        mine = {"random": random.getstate()}
        random.setstate(self.other["random"])
        numpy = getattr(sys.modules.get("numpy"), "random", None)
        if numpy is not None:  # None while numpy is being imported
            mine["numpy"] = numpy.get_state()
            if "numpy" in self.other:
                numpy.set_state(self.other["numpy"])
        try:
            mine["dir"] = os.getcwd()
            os.chdir(self.other.get("dir", "."))
        except OSError:
            pass  # a folder is on another machine, or gone
        self.other = mine

    def user(self, name):
        """Returns the user's object of that name; the visit itself if there is none."""
        value = self.shell.user_ns.get(name, self)
        if name in self.left and value is self.left[name]:
            return self.bound.get(name, self)
        return value

    def rebound(self):
        """Returns the names that cells changed and nobody has rebound since."""
        names = self.shell.user_ns
        return [
            name
            for name in self.made | self.bound.keys()
            if names.get(name, self) is self.left[name]
        ]

    def restore(self):
        """Restores those names, except the ones in keep."""
        names = self.shell.user_ns
        for name in self.rebound():
            if name in self.keep:
                continue
            if name in self.bound:
                names[name] = self.bound[name]
            else:
                names.pop(name, None)

    def back(self):
        """Undoes what cells did to names, and to their working folder."""
        self.restore()
        if not self.running:
            self.other["dir"] = self.folder
        self.made, self.bound, self.left = set(), {}, {}

    def leave(self):
        """Ends the visit, and restores all names except those in keep."""
        self.shell.events.unregister("pre_run_cell", self.before)
        self.shell.events.unregister("post_run_cell", self.after)
        self.restore()
        del self.shell.guest_visits[self.session]
        if not self.shell.guest_visits:
            del self.shell.guest_visits


if not hasattr(shell, "guest_visits"):
    shell.guest_visits = {}
shell.guest_visits[session] = Visit(shell, folder, session)
