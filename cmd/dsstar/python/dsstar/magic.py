"""The magic %dsstar of notebooks."""

import json
import os
import re
import shlex
import subprocess
import time

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from . import cells, program, show
from .run import Run

HELP = """%%dsstar [OPTIONS]       asks the question in the cell, about the variables of this kernel and
                         the files that the question names; at once returns
%dsstar [OPTIONS] TEXT   the same in one line
%dsstar                  shows the last question of this kernel, or the newest run of the folder
%dsstar stop             stops it; nothing is lost
%dsstar resume           goes on with a stopped run; as %%dsstar resume, with a follow-up question
%dsstar choose N         the reading of the question that is meant
%dsstar insert           puts the accepted cells below
%dsstar result           the answer as a value: table = %dsstar result

OPTIONS are those of `dsstar nb`, such as --data PATH (files, folders, the web), --model NAME,
--guidelines TEXT, --keep NAME, --max-cost USD."""

# Options that mean nothing here, and why.
REFUSED = {
    "--kernel": "the question is about this kernel; `!dsstar nb` asks about others",
    "--server": "the question is about this kernel; `!dsstar nb` asks about others",
    "--python": "the question is about this kernel; `!dsstar nb` asks about others",
    "--review": "it needs a terminal",
    "--json": "%dsstar result is the answer as a value",
    "--progress": "the cell shows the progress",
    "--quiet": "the cell shows the progress",
}
# Options without a value, besides --no-….
SWITCHES = ("--yes", "-y", "--learn", "--paper", "--allow-net", "--allow-gpu", "--allow-multiprocessing")
OPTION = re.compile(r"""\s*(--?[A-Za-z][\w-]*)(?:=("[^"]*"|'[^']*'|\S*))?(?=\s|$)""")
VALUE = re.compile(r"""\s+("[^"]*"|'[^']*'|\S+)""")


def parse(line):
    """The options that a line begins with, as arguments of the program, and the rest of it."""
    given = []
    while found := OPTION.match(line):
        name, text = found[1], found[2]
        if why := REFUSED.get(name):
            raise UsageError(f"{name} is not for notebooks: {why}")
        line = line[found.end() :]
        switch = name in SWITCHES or name.startswith("--no-")
        if text is None and not switch:
            if not (found := VALUE.match(line)):
                raise UsageError(f"{name} needs a value")
            text, line = found[1], line[found.end() :]
        if text and text[0] in "\"'":
            text = text[1:-1]
        given += [name] if text is None else [f"{name}={text}"] if name.startswith("--") else [name, text]
    return given, line.strip()


def named_files(question, folder):
    """The files and folders that a question names. A word counts as a name if it has a dot or a
    slash, or is quoted."""
    quoted = re.findall(r"""["'`“‘]([^"'`“”‘’\n]+)["'`”’]""", question)
    words = [w.strip(".,;:!?()[]{}\"'`") for w in question.split()]
    found = []
    for name in quoted + [w for w in words if "/" in w or "." in w]:
        path = os.path.join(folder, os.path.expanduser(name))
        if name.strip("./") and "://" not in name and os.path.exists(path) and name not in found:
            found.append(name)
    return found


def has_data(shell):
    """Whether the session has variables other than modules, functions and IPython's own."""
    hidden = shell.user_ns_hidden
    return any(
        not (name.startswith("_") or callable(value) or type(value).__name__ == "module")
        and name not in ("In", "Out")
        and hidden.get(name, shell) is not value
        for name, value in shell.user_ns.items()
    )


@magics_class
class Dsstar(Magics):
    """The extension in one session. It asks one question at a time."""

    def __init__(self, shell):
        super().__init__(shell)
        self.run = self.painter = self.button = None
        self.cell_since = None  # when the cell of the user's began that is running
        self.asker = None  # the session of the front end that asked last

    @no_var_expand
    @line_cell_magic
    def dsstar(self, line, cell=None):
        """Asks dsstar about the variables and files of this kernel: see %dsstar help."""
        given, rest = parse(line)
        word, _, more = rest.partition(" ")
        actions = {"": self.status, "stop": self.stop, "insert": self.insert, "result": self.result,
                   "help": lambda: print(HELP)}
        if cell is None and not given and not more and word in actions:
            return actions[word]()
        if word == "choose" and cell is None and re.fullmatch(r"\d+(\.\d+)?", more.strip()):
            return self.resume(given + ["--choose", more.strip()], "")
        if word == "resume" and not more.strip():
            return self.resume(given, (cell or "").strip())
        question = f"{rest}\n{cell or ''}".strip()
        if not question:
            raise UsageError("there is no question: write it below %%dsstar, or see %dsstar help")
        return self.ask(given, question)

    def ask(self, given, question):
        folder = os.getcwd()
        sources = [a for a in given if re.match(r"--data(=|$)|-d$", a)]
        kernel = self.file() is not None
        if not sources:
            names = named_files(question, folder)
            if not names and not (kernel and has_data(self.shell)):
                names = ["."]
            given = given + [f"--data={name}" for name in names]
        self.begin(["nb"] + given + ["-"], question, question)

    def resume(self, given, question):
        run = self.last()
        if not run["run"]:
            raise UsageError("there is no run to go on with")
        if question:
            given = given + ["--ask", f" {question}"]  # an @ at its beginning names no file
        left = "" if question or "--choose" in given else run.get("followed", "")
        folder = left if os.path.isdir(left) else run["run"]
        self.begin(["resume"] + given + [folder], "", question or run["question"])

    def begin(self, arguments, stdin, question):
        """Starts the program and shows it in the output of this cell."""
        found = program()
        if found is None:
            raise UsageError("the program dsstar is not installed: %pip install dsstar")
        if self.run is not None and self.run.running:
            raise UsageError("this kernel is at a question already: %dsstar shows it, %dsstar stop "
                             "stops it")
        file = self.file()
        if file is None:
            return self.in_terminal([found] + arguments, stdin, question)
        where = ["--kernel", file, "--json", "--progress", "json"]
        run = Run([found, arguments[0]] + where + arguments[1:], stdin, os.getcwd(), self.changed)
        run.question = question
        if arguments[0] == "resume" and (self.run is None or self.run.answered):
            run.before = self.run, self.painter
        self.run, self.painter = run, show.Painter(run, self.busy)
        self.listen(True)
        run.start()
        self.look()
        self.painter.thread.start()

    def in_terminal(self, command, stdin, question):
        """Without a kernel there are only files, and the program shows its progress itself."""
        print("plain IPython has no kernel whose variables dsstar could reach (`jupyter console` has): "
              "the question is about files")
        run = Run(command[:2] + ["--json"] + command[2:], stdin, os.getcwd(), None)
        run.question = question
        process = subprocess.Popen(run.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(stdin.encode())
        process.stdin.close()
        while True:
            try:
                output = process.stdout.read()
                run.code = process.wait()
                break
            except KeyboardInterrupt:
                run.stopped = True  # the program got it, too, and is ending
        process.stdout.close()
        run.ended = time.time()
        if output:
            run.result = json.loads(output)
            run.run_dir = run.result["run_dir"]
            if command[1] != "resume" or run.answered:
                self.run = run
            print(show.plain(run))

    def file(self):
        """The connection file of this kernel; None if this is no kernel."""
        if getattr(self.shell, "kernel", None) is None:
            return None
        from ipykernel.connect import get_connection_file

        try:
            return os.path.abspath(get_connection_file())
        except RuntimeError:
            raise UsageError("this kernel has no connection file by which dsstar could reach it")

    def look(self):
        """Shows the run in the output of the current cell, with a button where there are widgets."""
        self.asker = self.session()
        self.painter.add(show.Display(self.shell))
        if not self.run.running:
            return
        try:
            from ipywidgets import Button
        except ImportError:
            return
        button = Button(description="Stop", icon="stop")
        button.on_click(lambda _: self.run.running and self.run.stop())
        place = show.Display(self.shell)
        place.show(button._repr_mimebundle_())
        if self.button:
            self.hide(*self.button)
        self.button = button, place

    @staticmethod
    def hide(button, place):
        button.close()
        place.show({"text/html": "", "text/plain": ""})

    def changed(self, run):
        """Is called by the thread of the run after each of its reports. One that goes on from an answer and
        finds no other leaves that answer."""
        painter = self.painter
        if not run.running:
            if run.before and not run.answered:
                self.run, self.painter = run.before
                if self.run is not None:
                    self.run.followed = run.run_dir
            self.listen(False)
            if self.button:
                self.hide(*self.button)
                self.button = None
        painter.news.set()

    def listen(self, on):
        change = self.shell.events.register if on else self.shell.events.unregister
        change("pre_run_cell", self.before)
        change("post_run_cell", self.after)
        if on:
            self.tips = getattr(self.shell, "enable_tip", None)
        if self.tips is not None:
            # A tip in IPython's banner, which whoever connects asks for, takes a random number from
            # the generator of the user's cells.
            self.shell.enable_tip = False if on else self.tips

    def session(self):
        parent = self.shell.kernel.get_parent("shell") or {}
        return parent.get("header", {}).get("session")

    def before(self, info=None):
        if self.session() == self.asker:
            self.cell_since = time.monotonic()

    def after(self, result=None):
        self.cell_since = None

    def busy(self):
        """Whether a cell of the user's keeps the kernel from the run's cells."""
        since = self.cell_since
        return since is not None and time.monotonic() - since > 1

    def status(self):
        if self.run is not None and self.painter is not None:
            return self.look()
        if self.run is not None:
            return print(show.plain(self.run))
        run = self.last()
        if not run["run"]:
            return print("nothing has been asked here yet: see %dsstar help")
        print(f"the newest run of this folder: {run['question']}")
        if run["standing"] == "running":
            print("it is running, but not from this kernel")
        elif run["standing"] == "unfinished" or not run["answer"]:
            print("it was interrupted: %dsstar resume goes on from there, with the variables of this kernel")
        else:
            print(f"{run['label']}: {run['answer']}")
        if run.get("goes_on"):
            why = {"data": "its data files have changed", "edited": "its cells were changed"}.get(
                run["goes_on"], "a file of its answer was changed or removed")
            print(f"{why}: %dsstar resume goes on")
        print("notebook", run["notebook"])

    def stop(self):
        if self.run is None or not self.run.running:
            raise UsageError("no question of this kernel is running")
        self.run.stop()

    def last(self):
        """The last run of this kernel that has a folder, or the newest one of the working folder that
        the user's dsstar made."""
        run = self.run
        if run is not None and run.run_dir:
            r = run.result or {}
            return {"run": run.run_dir, "followed": run.followed, "question": run.question,
                    "answer": r.get("answer", ""), "notebook": r.get("notebook") or os.path.join(run.run_dir, "notebook.ipynb")}
        mine = (r for r in self.listed() if not r["claimed"])
        return next(mine, {"run": "", "question": "", "answer": ""})

    def listed(self, folder=None):
        """The runs of a folder of runs, or of the working folder, the newest first."""
        found = program()
        if found is None:
            return []
        said = subprocess.run([found, "runs", "--json"], capture_output=True, text=True,
                              env={**os.environ, **({"DSSTAR_OUT": folder} if folder else {})})
        runs = json.loads(said.stdout or "[]")
        for r in runs:
            r["run"], r["notebook"] = os.path.abspath(r["run"]), os.path.abspath(r["notebook"])
        return runs

    def answered(self):
        if self.run is not None and self.run.running:
            raise UsageError("the question is not answered yet: %dsstar shows how far it is")
        run = self.last()
        if not run["answer"]:
            raise UsageError("there is no answer yet: see %dsstar")
        return run

    def insert(self):
        run = self.answered()
        self.shell.set_next_input(cells.text(run["notebook"], run["question"], os.getcwd()), replace=False)

    def result(self):
        run = self.answered()["run"]
        [known] = [r for r in self.listed(os.path.dirname(run)) if r["run"] == run] or [{}]
        if not known.get("cells"):
            raise UsageError(f"the notebook of the run is not as dsstar made it: !dsstar rerun {shlex.quote(run)}")
        return cells.value(known, self.shell)


ASKED = re.compile(r"%dsstar[ \t]+(\S.*\?)\s*$")


def questions(lines):
    """Transforms lines such as `%dsstar How many?`, whose end IPython would take for a call of its
    help."""
    return [
        f"get_ipython().run_line_magic('dsstar', {found[1]!r})\n" if (found := ASKED.match(line)) else line
        for line in lines
    ]


def load(shell):
    shell.register_magics(Dsstar(shell))
    if questions not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(questions)


def unload(shell):
    magic = shell.magics_manager.registry.pop("Dsstar", None)
    if magic is not None and magic.run is not None and magic.run.running:
        magic.run.stop()
    if questions in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(questions)
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("dsstar", None)
