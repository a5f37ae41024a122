"""What the magics do."""

from __future__ import annotations

import fcntl
import os
import signal
import time

import pytest
from conftest import Notebook, Start


def test_undo_takes_back_the_last_cell(notebook: Notebook) -> None:
    notebook.ok("x = [1]; alias = x")
    notebook.ok("x.append(2); del alias; y = 3")
    assert notebook.ok("%undo") == "Undid cell [2]; the next cell is [2].\n"
    assert notebook.ok("x, alias is x, 'y' in dir()") == "([1], True, False)"


def test_undo_takes_back_several_cells(notebook: Notebook) -> None:
    for i in range(4):
        notebook.ok(f"x = {i}")
    assert notebook.ok("%undo 3") == "Undid cells [2] to [4]; the next cell is [2].\n"
    result = notebook.run("x")
    assert (result.text, result.count) == ("0", 2)
    assert notebook.ok("  %undo 2 \n") == "Undid cells [1] and [2]; the next cell is [1].\n"
    assert "NameError" in notebook.fails("x")


def test_magics_leave_no_trace(notebook: Notebook) -> None:
    notebook.ok("x = 1")
    for magic in ("%checkpoints", "%checkpoint one", "%checkpoint two"):
        assert notebook.run(magic).count == 1
    notebook.ok("x = 2")
    notebook.ok("%undo")
    notebook.ok("x = 3")
    result = notebook.run("print(In)")
    assert (result.text, result.count) == ("['', 'x = 1', 'x = 3', 'print(In)']\n", 3)


def test_failed_silent_and_empty_cells(notebook: Notebook) -> None:
    notebook.ok("x = 1")
    notebook.fails("x = 2; 1/0")
    notebook.run("x = 3", silent=True)
    notebook.run("x = 4", store_history=False)
    notebook.run(" ")
    assert notebook.ok("%undo") == "Undid cell [2]; the next cell is [2].\n"
    assert notebook.ok("x") == "1"


def test_the_reply_is_that_of_a_cell(notebook: Notebook) -> None:
    notebook.ok("x = 1")
    notebook.ok("x = 2")
    result = notebook.run("%undo")
    assert result.kinds == ["status", "execute_input", "stream", "status"]
    assert (result.status, result.count) == ("ok", 1)
    result = notebook.run("%undo 5")
    assert result.kinds == ["status", "execute_input", "error", "status"]
    assert (result.status, result.count) == ("error", 1)


def test_too_many(notebook: Notebook) -> None:
    assert notebook.fails("%undo") == "CannotUndo: There is no cell to undo."
    notebook.ok("x = 1")
    notebook.ok("x = 2")
    assert notebook.fails("%undo 3") == (
        "CannotUndo: There are only 2 cells to undo. %undo 2 goes back to before cell [1]."
    )
    assert notebook.ok("x") == "2"


@pytest.mark.parametrize(
    "magic", ["%undo zero", "%undo 0", "%undo -1", "%undo 1 2", "%checkpoint", "%restore"]
)
def test_wrong_use(notebook: Notebook, magic: str) -> None:
    notebook.ok("x = 1")
    assert notebook.fails(magic).startswith("UsageError: ")
    assert notebook.ok("x") == "1"


@pytest.mark.parametrize("cell", ["x = 2\n%undo", "%undo\nx = 2", "for _ in '1':\n    %undo"])
def test_only_alone_in_a_cell(notebook: Notebook, cell: str) -> None:
    notebook.ok("x = 1")
    assert "only line of its cell" in notebook.run(cell).error + notebook.run(cell).text


def test_named(start: Start) -> None:
    notebook = start()
    notebook.ok("x = 1")
    assert notebook.ok("%checkpoint one") == "Checkpoint one keeps the state after cell [1].\n"
    notebook.ok("x = 2")
    notebook.ok("%checkpoint the second")
    notebook.ok("%undo 2")
    notebook.ok("x = 3")
    assert notebook.ok("%restore the second") == "Restored the second; the next cell is [3].\n"
    assert notebook.ok("x") == "2"
    assert notebook.ok("%undo 2") == "Undid cells [2] and [3]; the next cell is [2].\n"
    assert notebook.ok("x") == "1"
    notebook.ok("%restore one")
    assert notebook.ok("x") == "1"
    assert notebook.fails("%restore two") == (
        "CannotUndo: There is no checkpoint two. There are: one, the second."
    )


def test_list(start: Start) -> None:
    notebook = start()
    notebook.ok("%checkpoint start")
    notebook.ok("import threading, time")
    notebook.ok("threading.Thread(target=time.sleep, args=(60,), name='sleeper').start()")
    notebook.ok("x = 1")
    lines = notebook.ok("%checkpoints").splitlines()
    assert lines[0] == "[1] import threading, time"
    assert lines[2] == "[3] x = 1   cannot be undone: the thread sleeper was running before it"
    assert lines[3] == "start: after cell [0]"
    assert "The copies hold " in lines[4]


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        (
            "import threading, time\n"
            "threading.Thread(target=time.sleep, args=(60,), name='sleeper').start()",
            "the thread sleeper was running before it",
        ),
        (
            "import subprocess\nchild = subprocess.Popen(['sleep', '60'])",
            "the process sleep 60 was running before it",
        ),
        (
            "import socket\ns = socket.create_server(('127.0.0.1', 0))",
            "a network socket was open before it",
        ),
        ("import os\nends = os.pipe()", "a pipe is open"),
    ],
)
def test_what_cannot_be_undone(notebook: Notebook, cell: str, why: str) -> None:
    notebook.ok("x = 1")
    notebook.ok(cell)
    notebook.ok("x = 2")
    assert notebook.fails("%undo") == (
        f"CannotUndo: Cell [3] cannot be undone: {why}. %undo 2 goes back to before cell [2]."
    )
    assert notebook.ok("x") == "2"
    notebook.ok("%undo 3")
    assert notebook.ok("x") == "1"


def test_a_file_that_has_changed(notebook: Notebook) -> None:
    path = notebook.folder / "read.csv"
    path.write_text("a,b\n1,2\n")
    notebook.ok("f = open('read.csv'); f.readline()")
    notebook.ok("x = 1")
    path.write_text("a,b\n3,4,5\n")
    assert notebook.fails("%undo") == (
        f"CannotUndo: Cell [2] cannot be undone: {path} was open and has been changed since."
        " %undo 2 goes back to before cell [1]."
    )
    assert notebook.ok("x") == "1"


def test_descriptors_that_share_a_file(notebook: Notebook) -> None:
    notebook.ok(
        "import fcntl, os\nf = open('shared', 'w+'); f.write('hello'); f.flush()\n"
        "copy = os.dup(f.fileno()); other = open('shared')\n"
        "def look():\n"
        "    fds = f.fileno(), copy, other.fileno()\n"
        "    flags = [(fcntl.fcntl(fd, fcntl.F_GETFL), os.lseek(fd, 0, 1)) for fd in fds]\n"
        "    return flags, os.pread(copy, 99, 0)"
    )
    before = notebook.ok("look()")
    notebook.ok(
        "fcntl.fcntl(copy, fcntl.F_SETFL, os.O_APPEND | os.O_NONBLOCK | os.O_RDWR)\n"
        "os.write(copy, b'xyz'); other.read(2); fcntl.flock(f, fcntl.LOCK_EX)"
    )
    notebook.ok("%undo")
    assert notebook.ok("look()") == before
    with open(notebook.folder / "shared") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the undone cell's lock is gone


@pytest.mark.parametrize(
    ("cell", "how"),
    [
        ("import ctypes; ctypes.string_at(0)", "killed by signal 11 (SIGSEGV)"),
        ("import os; os._exit(3)", "exit status 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "killed by signal 9 (SIGKILL)"),
    ],
)
def test_after_a_crash(notebook: Notebook, cell: str, how: str) -> None:
    notebook.ok("x = 1")
    died = f"KernelDied: the kernel died: {how}. %undo 1 goes back to before cell [2]."
    for code in (cell, "x"):
        assert notebook.fails(code) == died
        assert notebook.run(code).count == 2  # jupyter console needs it
    assert "cell [1]" not in notebook.fails("%checkpoint now")
    assert "[1] x = 1" in notebook.ok("%checkpoints")
    assert notebook.ok("%undo") == "Undid cell [2]; the next cell is [2].\n"
    assert notebook.ok("x") == "1"


def test_named_after_a_crash(notebook: Notebook) -> None:
    notebook.ok("x = 1")
    notebook.ok("%checkpoint one")
    notebook.fails("import os; os._exit(3)")
    notebook.ok("%restore one")
    assert notebook.ok("x") == "1"


def test_a_copy_that_was_killed(notebook: Notebook) -> None:
    """As the OOM killer does it."""
    notebook.ok("x = 1")
    notebook.ok("x = 2")
    for _ in range(100):  # until a copy has one of its own ready, which could replace it
        request = notebook.client.session.msg("undokernel_checkpoints_request", {})
        notebook.client.control_channel.send(request)
        copies = notebook.client.get_control_msg(timeout=10)["content"]["checkpoints"]
        pairs = [(c["pid"], c["ready"]) for c in copies if c["execution_count"] == 1]
        if any(all(pair) for pair in pairs):
            break
        time.sleep(0.1)
    for pid in {pid for pair in pairs for pid in pair} - {0}:
        os.kill(pid, signal.SIGKILL)
    assert notebook.fails("%undo") == (
        "CannotUndo: Cell [2] cannot be undone: Linux has ended its copy, as memory was short."
        " %undo 2 goes back to before cell [1]."
    )
    assert notebook.ok("x") == "2"
    notebook.ok("%undo 3")
    assert "NameError" in notebook.fails("x")


def test_copies_are_dropped_to_save_memory(start: Start) -> None:
    notebook = start("undo-little")
    notebook.ok("x = bytearray(b'0' * 60_000_000)")
    notebook.ok("%checkpoint filled")
    for i in range(8):
        notebook.ok(f"x[:] = b'{i}' * len(x)")
    for _ in range(300):  # what copies hold is measured the less often the longer it takes
        if "cannot be undone: its copy was dropped" in notebook.ok("%checkpoints"):
            break
        time.sleep(0.1)
    else:
        pytest.fail("no copy was dropped")
    assert "%undo 8 goes back to before cell [2]" in notebook.fails("%undo 7")
    assert notebook.ok("x[0]") == str(ord("7"))
    notebook.ok("%restore filled")
    assert notebook.ok("x[0], x[-1]") == "(48, 48)"
    notebook.ok("%undo 2")
    assert "NameError" in notebook.fails("x[0]")


def test_widgets_are_part_of_the_state(notebook: Notebook) -> None:
    notebook.ok(
        "class Target:\n"
        "    def __call__(self, comm, message):\n"
        "        comm.on_msg(lambda m: got.append(m['content']['data']))\n"
        "got = []\n"
        "get_ipython().kernel.comm_manager.register_target('t', Target())"
    )
    comm = {"comm_id": "c", "target_name": "t", "data": {}}
    session, shell = notebook.client.session, notebook.client.shell_channel
    shell.send(session.msg("comm_open", comm))
    notebook.ok("x = 1")
    shell.send(session.msg("comm_msg", {"comm_id": "c", "data": 1}))
    assert notebook.ok("got") == "[1]"
    notebook.ok("got.clear()")
    notebook.ok("%undo 2")
    assert notebook.ok("got") == "[1]"  # it came before that cell
    shell.send(session.msg("comm_msg", {"comm_id": "c", "data": 2}))
    assert notebook.ok("got") == "[1, 2]"


def test_messages_of_widgets_while_a_checkpoint_is_made(notebook: Notebook) -> None:
    notebook.ok(
        "class Target:\n"
        "    def __call__(self, comm, message):\n"
        "        comm.on_msg(lambda m: got.append(m['content']['data']))\n"
        "got = []\n"
        "get_ipython().kernel.comm_manager.register_target('t', Target())"
    )
    session, shell = notebook.client.session, notebook.client.shell_channel
    shell.send(session.msg("comm_open", {"comm_id": "c", "target_name": "t", "data": {}}))
    notebook.ok("x = 0")
    for i in range(20):
        for j in range(3):
            shell.send(session.msg("comm_msg", {"comm_id": "c", "data": [i, j]}))
        notebook.client.execute("x += 1")
        shell.send(session.msg("comm_msg", {"comm_id": "c", "data": [i, 3]}))
    assert notebook.ok("x") == "20"
    assert notebook.ok("len(got)") == "80"
    notebook.ok("%undo 22")
    assert notebook.ok("x") == "0"
