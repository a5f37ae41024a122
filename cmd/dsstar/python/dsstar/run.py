"""One question: the program that answers it, and what it has reported so far."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time

EXTENSION = "DSSTAR_EXTENSION"  # tells the program which process is the kernel that has started it

# The program is told about this kernel; settings for another one would contradict that.
ELSEWHERE = ("DSSTAR_PYTHON", "DSSTAR_KERNEL", "DSSTAR_SERVER")


class Step:
    """A step of the plan."""

    def __init__(self, number, text):
        self.number, self.text = number, text
        self.code = self.status = self.verdict = self.reason = ""
        self.dropped = False


class Run:
    """A run of the program. A thread reads its reports; changed is called after each of them."""

    def __init__(self, command, question, folder, changed):
        self.command, self.question, self.folder, self.changed = command, question, folder, changed
        self.begun, self.ended = time.time(), None
        self.steps, self.spent, self.waiting = [], {}, ""
        self.run_dir = ""
        self.followed = ""  # the folder in which another question was begun after this one
        self.result = None  # the object of --json
        self.code = None  # the exit code
        self.errors, self.hints, self.warnings = [], [], []
        self.stopped = False  # by %dsstar stop
        self.answer = ""
        self.before = None  # the run with an answer that this one goes on from, and its painter

    @property
    def answered(self):
        return bool((self.result or {}).get("answer"))

    def start(self):
        environment = {k: v for k, v in os.environ.items() if k not in ELSEWHERE}
        environment[EXTENSION] = str(os.getpid())
        self.output = tempfile.TemporaryFile()
        # In a session of its own the program is spared the interrupts of the kernel.
        self.process = subprocess.Popen(
            self.command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=self.output,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            with self.process.stdin as stdin:
                stdin.write(self.question.encode())
        except BrokenPipeError:
            pass  # it has ended, and says why
        self.thread = threading.Thread(target=self.read, name="dsstar", daemon=True)
        self.thread.start()

    @property
    def running(self):
        return self.ended is None

    def stop(self):
        """Asks the program to end, which saves everything; the second time it ends at once."""
        self.stopped = True
        self.process.send_signal(signal.SIGINT)
        self.changed(self)

    def read(self):
        with self.process.stderr as reports:
            for line in reports:
                self.report(line.decode(errors="replace").rstrip("\n"))
                self.changed(self)
        self.code = self.process.wait()
        with self.output:
            self.output.seek(0)
            try:
                self.result = json.load(self.output)
            except ValueError:
                pass  # it has ended before there was anything to say
        if self.result is not None:
            self.run_dir = self.result["run_dir"]  # "": it was of no use and is gone
        self.ended = time.time()
        self.changed(self)

    def report(self, line):
        """Takes in one line of the program's progress."""
        try:
            event = json.loads(line)
            kind, text = event["event"], event["text"]
        except (ValueError, KeyError, TypeError):
            return self.complain(line)
        self.spent = event.get("spent") or self.spent
        step = self.steps[-1] if self.steps else None
        if kind == "waiting":
            self.waiting = text
        elif kind == "folder":
            self.run_dir = text
        elif kind == "planned":
            self.plan(Step(event.get("step", 0), text))
        elif kind == "ran" and step and event.get("code"):
            step.code, step.status = event["code"], event.get("status", "")
        elif kind == "judged" and step:
            step.verdict, step.reason = event.get("verdict", ""), text
        elif kind == "line" and text.startswith("retry"):
            self.waiting = " ".join(text.split())
        elif kind == "finalized":
            self.answer = text
        elif kind == "warned" and text not in self.warnings:
            self.warnings.append(text)

    def plan(self, step):
        """Adds a step; a step of the same number or a later one was taken back before."""
        for earlier in self.steps:
            earlier.dropped = earlier.dropped or earlier.number >= step.number
        self.steps.append(step)

    def complain(self, line):
        for mark, lines in (("dsstar: error: ", self.errors), ("dsstar: hint: ", self.hints)):
            if line.startswith(mark):
                lines.append(line[len(mark) :])
                return
        if line.strip() and not line.startswith("  notebook so far"):
            self.errors.append(line)

    def seconds(self):
        return (self.ended or time.time()) - self.begun
