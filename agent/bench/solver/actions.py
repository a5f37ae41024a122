# The actions of agents that can do more than run Python cells. Each starts its own process or
# connection and prints the result.
import contextlib as _contextlib
import csv as _csv
import os as _os
import signal as _signal
import sqlite3 as _sqlite3
import subprocess as _subprocess
import sys as _sys
import time as _time

action_seconds = 300


class ActionFailed(Exception):
    pass


def _process(*command):
    # The process has no notebook to show pictures in (Agg), and its python must have the packages.
    path = _os.path.dirname(_sys.executable) + _os.pathsep + _os.environ.get("PATH", _os.defpath)
    environment = dict(_os.environ, MPLBACKEND="Agg", PYTHONUNBUFFERED="1", PATH=path)
    with _subprocess.Popen(
        command,
        stdin=_subprocess.DEVNULL,
        stdout=_subprocess.PIPE,
        stderr=_subprocess.STDOUT,
        env=environment,
        start_new_session=True,
    ) as process:
        problem = ""
        try:
            output, _ = process.communicate(timeout=action_seconds)
        except BaseException as stopped:
            with _contextlib.suppress(ProcessLookupError):  # an interrupt may have ended it
                _os.killpg(process.pid, _signal.SIGKILL)  # and all its child processes
            output, _ = process.communicate()
            if not isinstance(stopped, _subprocess.TimeoutExpired):
                raise
            problem = f"the action ran longer than {action_seconds} s"
    text = output.decode("utf-8", "replace")
    print(text, end="" if text.endswith("\n") or not text else "\n")
    if problem or process.returncode:
        raise ActionFailed(problem or f"exit status {process.returncode}")


def bash(command):
    _process("bash", "-c", command)


def python(file_path, code):
    folder = _os.path.dirname(file_path)
    if folder:
        _os.makedirs(folder, exist_ok=True)
    with open(file_path, "w", encoding="utf-8") as file:
        file.write(code)
    _process(_sys.executable, file_path)


def sql(file_path, command, output="direct"):
    if not _os.path.isfile(file_path):
        raise ActionFailed(f"there is no database {file_path}")
    end = _time.monotonic() + action_seconds
    connection = _sqlite3.connect(file_path)
    connection.set_progress_handler(lambda: _time.monotonic() > end, 100_000)
    try:
        cursor = connection.execute(command)
        rows = cursor.fetchall()
        connection.commit()
        names = [column[0] for column in cursor.description or []]
    finally:
        connection.close()
    to_file = output not in ("", "direct", "directly")
    target = open(output, "w", newline="", encoding="utf-8") if to_file else _sys.stdout
    try:
        writer = _csv.writer(target, lineterminator="\n")
        if names:
            writer.writerow(names)
        writer.writerows(rows)
    finally:
        if to_file:
            target.close()
    if to_file:
        print(f"{len(rows)} rows are in {output}")
