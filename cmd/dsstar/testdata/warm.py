"""Runs cells for tests: a process that has loaded what cells import forks one for each session, which
costs a hundredth of a kernel. It listens on the Unix socket that its argument names until its standard
input ends. A connection is a session: a line of JSON for each request, and one for its execution."""

import contextlib
import io
import json
import os
import random
import runpy
import select
import signal
import socket
import sys
import time
import traceback

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import pandas

sys.path[:0] = [""]  # as kernels have it
cells = {}
exec(sys.stdin.read(int(sys.stdin.readline())), cells)  # what sessions load that look into files


class Streams(io.TextIOBase):
    """A stream that keeps its place among the outputs."""

    def __init__(self, name, outputs):
        self.stream, self.outputs = name, outputs

    def writable(self):
        return True

    def write(self, text):
        last = self.outputs[-1] if self.outputs else {}
        if last.get("name") == self.stream:
            last["text"] += text
        elif text:
            self.outputs.append({"output_type": "stream", "name": self.stream, "text": text})
        return len(text)


def session_shell():
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    return InteractiveShell.instance(config=config)


class Session:
    def __init__(self, shell):
        self.shell, self.outputs, self.count = shell, [], 0
        shell.display_pub.publish = self.publish
        shell.display_trap.hook = self
        shell._showtraceback = self.raised

    def publish(self, data, metadata=None, **_):
        self.outputs.append({"output_type": "display_data", "data": data, "metadata": metadata or {}})

    def __call__(self, value):  # the result of a cell
        if value is not None:
            data, metadata = self.shell.display_formatter.format(value)
            self.shell.user_ns["_"] = value
            self.outputs.append({"output_type": "execute_result", "data": data, "metadata": metadata,
                                 "execution_count": self.count})

    def raised(self, kind, value, lines):
        self.outputs.append({"output_type": "error", "ename": kind.__name__, "evalue": str(value),
                             "traceback": list(lines)})

    def run(self, code, silent):
        began, self.outputs = time.time(), []
        self.count += not silent
        self.shell.execution_count = max(1, self.count)
        with contextlib.redirect_stdout(Streams("stdout", self.outputs)), \
                contextlib.redirect_stderr(Streams("stderr", self.outputs)):
            done = self.shell.run_cell(code, store_history=False, silent=silent)
        return {"status": "ok" if done.success else "error", "execution_count": self.count,
                "outputs": self.outputs, "seconds": time.time() - began}


def script(path):
    outputs, status = [], "ok"
    with contextlib.redirect_stdout(Streams("stdout", outputs)), \
            contextlib.redirect_stderr(Streams("stderr", outputs)):
        try:
            runpy.run_path(path, run_name="__main__")
        except BaseException as e:
            if not isinstance(e, SystemExit) or e.code:
                status = "error"
                traceback.print_exc()
    return {"status": status, "outputs": outputs, "reason": "exit status 1" if status != "ok" else ""}


def serve(connection):
    lines = connection.makefile("rw")
    begin = json.loads(lines.readline())
    os.environ.clear()
    os.environ.update(entry.split("=", 1) for entry in begin["env"])
    os.environ.setdefault("MPLBACKEND", "agg")
    os.chdir(begin["dir"])
    random.seed()
    if begin["script"]:
        print(json.dumps(script(begin["script"])), file=lines, flush=True)
        return
    session = Session(shell)
    exec(begin["prelude"], {})
    for line in lines:
        request = json.loads(line)
        print(json.dumps(session.run(request["code"], request["silent"]), default=str), file=lines, flush=True)


def reap(how):
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, how)[0]:
            pass


shell = session_shell()
os.setpgrp()
signal.signal(signal.SIGCHLD, lambda *_: reap(os.WNOHANG))
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(64)
print("listening", flush=True)
while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
    connection, _ = listener.accept()
    if os.fork() == 0:
        listener.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        try:
            serve(connection)
        finally:
            os._exit(0)
    connection.close()
reap(os.WNOHANG)
os.killpg(0, signal.SIGKILL)  # sessions that still run cells
