"""Checkpoints that a client makes itself, by messages."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Notebook, Start

from undokernel import files
from undokernel.client import Client

MB = 1 << 20
Ask = Callable[..., dict[str, Any]]


def asker(notebook: Notebook) -> Ask:
    session, control = notebook.client.session, notebook.client.control_channel

    def ask(kind: str, **content: Any) -> dict[str, Any]:
        control.send(session.msg(f"undokernel_{kind}_request", content))
        reply: dict[str, Any] = notebook.client.get_control_msg(timeout=60)["content"]
        return reply

    return ask


def test_a_client_ends_the_magics(start: Start) -> None:
    notebook = start()
    ask = asker(notebook)
    notebook.ok("x = 1")
    made = ask("checkpoint")
    listed = ask("checkpoints")["checkpoints"]
    assert [c["checkpoint"] for c in listed] == [made["checkpoint"]]
    notebook.ok("x = 2")
    ask("rollback", checkpoint=made["checkpoint"])
    assert notebook.ok("x") == "1"
    assert "UsageError" in notebook.run("%undo").error + notebook.run("%undo").text


def test_folders_are_part_of_the_state(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    notebook = start()
    ask = asker(notebook)
    notebook.ok("import os; os.chdir('files'); log = open('log', 'w'); log.write('one')")
    notebook.ok("log.flush(); os.mkdir('empty'); os.symlink('log', '.hidden')")
    made = ask("checkpoint", folders=[str(folder)])
    assert (made["status"], made["execution_count"]) == ("ok", 2)
    notebook.ok("log.write('two'); log.flush(); os.rmdir('empty'); os.remove('.hidden')")
    back = ask("rollback", checkpoint=made["checkpoint"])
    assert (back["status"], back["not_restored"]) == ("ok", "")
    assert sorted(os.listdir(folder)) == [".hidden", "empty", "log"]
    notebook.ok("log.write('!'); log.flush()")
    assert (folder / "log").read_text() == "one!"
    notebook.ok("os.mkfifo('pipe')")
    refused = ask("checkpoint", folders=[str(folder)])
    assert refused["ename"] == "Refused"
    assert refused["evalue"] == "files: the working folder holds the named pipe 'pipe'"
    assert len(ask("checkpoints")["checkpoints"]) == 1


def test_a_folder_that_has_been_replaced(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    ask = asker(start())
    made = ask("checkpoint", folders=[str(folder)])
    folder.rename(tmp_path / "moved")
    folder.mkdir()
    back = ask("rollback", checkpoint=made["checkpoint"])
    assert back["not_restored"] == "the working folder has been replaced"
    assert ask("checkpoint", folders=[str(tmp_path / "none")])["ename"] == "Refused"


def test_memory_is_for_session_and_copies(start: Start) -> None:
    notebook = start()
    ask = asker(notebook)
    notebook.ok("x = bytearray(b'0' * 60_000_000)")
    names = []
    for i in range(8):
        made = ask("checkpoint", memory=400 * MB)
        names.append(made["checkpoint"])
        notebook.ok(f"x[:] = b'{i}' * len(x)")
    for _ in range(300):
        if len(ask("checkpoints")["checkpoints"]) < 6:
            break
        time.sleep(0.1)
    gone = ask("rollback", checkpoint=names[1])
    assert gone["ename"] == "NoCheckpoint"
    assert gone["evalue"].startswith("its copy was dropped, because the copies may hold ")
    for name, byte in ((names[0], b"0"), (names[7], b"6")):  # the first and the newest stay
        assert ask("rollback", checkpoint=name)["status"] == "ok"
        assert notebook.ok("x[:1]") == f"bytearray({byte})"


class Copies:
    """Stands in for the processes."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def drop(self, names: list[str]) -> None:
        for name in names:
            self.kept.pop(name, None)

    def expect(self, name: str) -> None: ...


@pytest.fixture
def client() -> Client:
    front: Any = SimpleNamespace(checkpoints=Copies(), live=None)
    return Client(front)


def make(client: Client, *names: str) -> None:
    for name in names:
        client.checkpoints.kept[name] = SimpleNamespace(pid=0)
        assert client.made(name) == ""


def test_what_is_dropped_first(client: Client) -> None:
    make(client, "empty", "off")
    client.resumed("empty")
    make(client, "a", "b", "c")
    order = []
    while client.drop_next("of a test"):
        (gone,) = {"empty", "off", "a", "b", "c"} - set(order) - set(client.checkpoints.kept)
        order.append(gone)
    assert order == ["off", "a", "b", "empty"]


def test_a_list_does_not_put_off_dropping(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make(client, "a", "b", "c")
    monkeypatch.setattr(client, "limit", lambda: 100)
    monkeypatch.setattr(client, "measure", lambda: 0)
    client.front.live = SimpleNamespace(pid=os.getpid(), ready=True)  # type: ignore[assignment]
    client.memory.bound, client.memory.next_look = 200, time.monotonic() + 60
    client.check()
    assert len(client.points) == 3  # that bound has not been measured
    client.memory.exact, client._next_look = True, 0
    client.check()
    assert len(client.points) == 2


def test_room_for_files(client: Client, tmp_path: Path) -> None:
    client.stores["x"] = files.Files(str(tmp_path), exact=True, room=1000)
    for size in (400, 500, 600):
        make(client, str(size))
        (tmp_path / "a").write_bytes(b"x" * size)
    assert set(client.checkpoints.kept) == {"400", "500", "600"}
    make(client, "after")  # without the first of all, which has no files
    assert set(client.checkpoints.kept) == {"400", "after"}
    assert client.resumed("after") == ""
    (tmp_path / "a").write_bytes(b"x" * 2000)
    client.checkpoints.kept["large"] = SimpleNamespace(pid=0)
    assert "there is room for 0 MB" in client.made("large")
    assert "large" not in client.checkpoints.kept
