"""JupyterLab's and VS Code's buttons, with checkpoints before every cell."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from conftest import WAIT, Notebook, Start


def replies(notebook: Notebook, ids: list[str]) -> list[dict[str, Any]]:
    """The contents of the replies, in the order in which they came."""
    got = []
    while len(got) < len(ids):
        message = notebook.client.get_shell_msg(timeout=WAIT)
        if message["parent_header"]["msg_id"] in ids:
            got.append(message["content"])
    return got


def test_queued_cells(notebook: Notebook) -> None:
    """Run All: magics take their turn, and the cells behind them run."""
    cells = ["x = [1]", "x.append(2)", "%undo", "x.append(3)", "%checkpoint here", "x.append(4)"]
    got = replies(notebook, [notebook.client.execute(cell) for cell in cells])
    assert [(r["status"], r["execution_count"]) for r in got] == [
        ("ok", 1), ("ok", 2), ("ok", 1), ("ok", 2), ("ok", 2), ("ok", 3),
    ]  # fmt: skip
    assert notebook.ok("x") == "[1, 3, 4]"


def test_a_refused_undo_stops_run_all(notebook: Notebook, tmp_path: Path) -> None:
    go = tmp_path / "go"  # the kernel drops what has come by then
    first = f"import os, time\nx = 1\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)"
    ids = [notebook.client.execute(cell) for cell in [first, "%undo 5", "x = 2"]]
    notebook.client.control_channel.send(notebook.client.session.msg("kernel_info_request"))
    notebook.client.get_control_msg(timeout=WAIT)
    go.touch()
    got = replies(notebook, ids)
    assert [r["status"] for r in got] == ["ok", "error", "aborted"]
    assert notebook.ok("x") == "1"
    ids = [
        notebook.client.execute("%undo 5", stop_on_error=False),
        notebook.client.execute("x = 2"),
    ]
    assert [r["status"] for r in replies(notebook, ids)] == ["error", "ok"]


def test_interrupt(notebook: Notebook) -> None:
    notebook.ok("import time")
    cell = notebook.client.execute("x = 1\nprint('on')\nwhile True: time.sleep(0.01)")
    while notebook.client.get_iopub_msg(timeout=WAIT)["content"].get("text") != "on\n":
        pass
    notebook.manager.interrupt_kernel()
    assert replies(notebook, [cell])[0]["ename"] == "KeyboardInterrupt"
    assert notebook.ok("x") == "1"
    assert notebook.ok("%undo 2") == "Undid cells [2] and [3]; the next cell is [2].\n"
    assert "NameError" in notebook.fails("x")


def test_interrupt_between_cells(notebook: Notebook) -> None:
    for i in range(10):
        cell = notebook.client.execute(f"x = {i}")
        notebook.manager.interrupt_kernel()
        assert replies(notebook, [cell])[0]["status"] in ("ok", "error")
    notebook.ok("x = -1")
    notebook.ok("%undo")
    notebook.ok("x = -2")


def test_restart(start: Start) -> None:
    notebook = start()
    notebook.ok("x = 1")
    for now in (False, True):
        notebook.manager.restart_kernel(now=now)
        notebook.client.wait_for_ready(timeout=WAIT)
        assert notebook.fails("%undo") == "CannotUndo: There is no cell to undo."
        assert "NameError" in notebook.fails("x")


def test_restart_after_a_crash(start: Start) -> None:
    notebook = start()
    notebook.ok("x = 1")
    notebook.fails("import os; os._exit(3)")
    notebook.manager.restart_kernel()
    notebook.client.wait_for_ready(timeout=WAIT)
    assert notebook.ok("2") == "2"


def test_shutdown_leaves_no_process(start: Start) -> None:
    notebook = start()
    pid = int(notebook.ok("import os; os.getpid()"))
    notebook.ok("x = 1")
    notebook.ok("%checkpoint one")
    notebook.client.control_channel.send(
        notebook.client.session.msg("undokernel_checkpoints_request", {})
    )
    reply = notebook.client.get_control_msg(timeout=WAIT)["content"]
    pids = {pid, *(c["pid"] for c in reply["checkpoints"])}
    notebook.manager.shutdown_kernel()
    assert not [p for p in pids if alive(p)]


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def test_completion_and_inspection(notebook: Notebook) -> None:
    notebook.ok("value_of_x = 1")
    client = notebook.client
    assert "value_of_x" in replies(notebook, [client.complete("value_")])[0]["matches"]
    assert replies(notebook, [client.inspect("value_of_x")])[0]["found"]
    assert "%undo" in replies(notebook, [client.complete("%un")])[0]["matches"]
    help_of = replies(notebook, [client.inspect("%undo")])[0]
    assert "takes the session to before" in help_of["data"]["text/plain"]
    assert replies(notebook, [client.is_complete("for x in y:")])[0]["status"] == "incomplete"
    notebook.ok("value_of_x = 2")
    client.complete("value_")
    notebook.ok("%undo")
    assert notebook.ok("value_of_x") == "1"


def test_input(notebook: Notebook) -> None:
    client = notebook.client
    for answer in ("one", "two"):
        cell = client.execute("name = input('?')", allow_stdin=True)
        assert client.get_stdin_msg(timeout=WAIT)["content"]["prompt"] == "?"
        client.input(answer)
        assert replies(notebook, [cell])[0]["status"] == "ok"
    notebook.ok("%undo")
    assert notebook.ok("name") == "'one'"


def test_tasks_between_cells(notebook: Notebook) -> None:
    """A task of asyncio that goes on after its cell is taken back to before the undone cell."""
    notebook.ok(
        "import asyncio\nn = 0\nasync def count():\n    global n\n    while n < 20:\n"
        "        n += 1\n        await asyncio.sleep(0.005)\ntask = asyncio.ensure_future(count())"
    )
    deadline = time.monotonic() + WAIT
    while notebook.ok("n") != "20" and time.monotonic() < deadline:
        time.sleep(0.01)
    notebook.ok("n = -1")
    notebook.ok("%undo")
    assert notebook.ok("n") == "20"


def test_kernel_info(notebook: Notebook) -> None:
    info = replies(notebook, [notebook.client.kernel_info()])[0]
    assert info["implementation"] == "ipython"
    assert "undokernel" in info["supported_features"]
