"""The worker: ipykernel on one thread, with the channel to the front in place of sockets."""

# mypy: disable-error-code="no-untyped-call, attr-defined, assignment, override"
# ipykernel has few type hints for the parts used here, and they differ between versions.

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import gc
import json
import os
import random
import select
import selectors
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import zmq
from ipykernel import iostream, ipkernel, kernelapp
from ipykernel.displayhook import ZMQDisplayHook
from jupyter_client.session import json_packer
from tornado import ioloop
from traitlets import Any as AnyTrait

from . import hazards, linux, magics, pools
from .channel import Channel, Uninterrupted
from .frozen import Freezer

FEATURE = "undokernel"
NOTHING = bytes(4)  # the int 0


class Socket:
    """Stands in for a ZeroMQ socket or stream of one of ipykernel's channels."""

    io_loop = None
    closed = False

    def __init__(self, channel: Channel, kind: bytes) -> None:
        self._channel, self._kind = channel, kind
        self.receive: Callable[..., Any] | None = None
        self.socket = self

    def on_recv(self, callback: Callable[..., Any], copy: bool = True) -> None:
        self.receive = callback

    def send_multipart(self, parts: list[Any], *_: Any, **__: Any) -> None:
        self._channel.send(self._kind, *(p if isinstance(p, bytes) else bytes(p) for p in parts))

    def send(self, part: Any, *_: Any, **__: Any) -> None:
        self.send_multipart([part])

    def flush(self, *_: Any, **__: Any) -> None:
        """Does nothing: everything is sent at once."""

    def poll(self, *_: Any) -> int:
        return 0


class Publisher(iostream.IOPubThread):
    """An IOPubThread without a thread."""

    def __init__(self, socket: Socket) -> None:
        self.thread = None
        self.io_loop = None
        self.socket = socket

    def schedule(self, f: Callable[[], Any]) -> None:
        f()


class Stream(iostream.OutStream):
    """sys.stdout or sys.stderr: sends each piece to the front at once, which merges and publishes
    them. To keep the order, it first sends what was written to the descriptors."""

    def __init__(
        self, channel: Channel, pipes: list[int], number: int, original: int, session: Any
    ) -> None:
        super().__init__(
            session,
            Publisher(Socket(channel, b"iopub")),
            ("stdout", "stderr")[number - 1],
            watchfd=False,
        )
        self._channel, self._pipes, self._number = channel, pipes, number
        self._original_stdstream_copy = original  # the target of ipykernel's own log
        self._packed: tuple[Any, bytes] = (None, b"")

    def fileno(self) -> int:
        return self._number

    def write(self, string: str) -> int:
        if not isinstance(string, str):
            raise TypeError(f"write() argument must be str, not {type(string)}")
        if self.pub_thread is None:
            raise ValueError("I/O operation on closed file")
        with Uninterrupted():
            self._flush()
            self._send(b"text", self.name, string.encode("utf-8", "replace"))
        return len(string)

    def _send(self, kind: bytes, name: str, text: bytes) -> None:
        parent = self.parent_header
        header, packed = self._packed
        if header is not parent:
            packed = json_packer(parent)
            self._packed = (parent, packed)
        self._channel.send(kind, name.encode(), packed, text)

    def flush(self) -> None:
        with Uninterrupted():
            self._flush()

    def _flush(self) -> None:
        for pipe, name in zip(self._pipes, ("stdout", "stderr"), strict=True):
            if fcntl.ioctl(pipe, termios.FIONREAD, NOTHING) != NOTHING:
                with contextlib.suppress(BlockingIOError):  # the front was faster
                    while text := os.read(pipe, 1 << 16):
                        self._send(b"raw", name, text)


class Absent:
    """Stands in for what this kernel does not have. ipykernel 7 asks its subshell thread for the
    main thread."""

    def __init__(self) -> None:
        self.parent_thread = threading.main_thread()

    def __bool__(self) -> bool:
        return False

    def on_recv(self, *_: Any, **__: Any) -> None: ...


class Kernel(ipkernel.IPythonKernel):
    """The kernel, which handles the front's requests one at a time."""

    shell_stream = AnyTrait()
    control_stream = AnyTrait()
    debugpy_stream = Absent()
    _supports_kernel_subshells = False
    channel: Channel
    _info: dict[str, Any] | None = None

    @property
    def kernel_info(self) -> dict[str, Any]:
        if self._info is None:
            # the banner draws a random tip of the day, which must not change the user's random
            # numbers
            state = random.getstate()
            self._info = {**super().kernel_info, "supported_features": [FEATURE]}
            random.setstate(state)
        return self._info

    async def dispatch_shell(self, msg: list[Any], *args: Any, **kwargs: Any) -> None:
        session: Any = self.session
        try:
            await super().dispatch_shell(msg, *args, **kwargs)
        except KeyboardInterrupt:
            pass  # it arrived before or after the code ran
        finally:
            with Uninterrupted():
                # ignored between requests; an interrupt may have changed that
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                linux.flush_c()
                sys.stdout.flush()
                if os.getpid() != session.pid:
                    os._exit(0)  # forked by the cell: it would take later requests
                frames = [bytes(frame) for frame in msg]
                self.channel.send(b"done", frames[frames.index(b"<IDS|MSG>") + 2])

    @wraps(ipkernel.IPythonKernel.do_execute)  # ipykernel inspects its parameters
    async def do_execute(
        self, code: str, silent: bool, *args: Any, **kwargs: Any
    ) -> dict[str, Any]:
        reply: dict[str, Any] = await super().do_execute(code, silent, *args, **kwargs)
        linux.flush_c()
        content = self.get_parent("shell").get("content", {})
        if reply["status"] == "error" and not silent and content.get("stop_on_error", True):
            # aborts the requests queued so far; before the reply, which may cause new ones
            self.channel.send(b"abort")
        return reply

    def _abort_queues(self, subshell_id: str | None = None) -> None:
        """Does nothing: the queue is in the front."""

    def _input_request(self, prompt: str, ident: Any, parent: Any, password: bool = False) -> str:
        sys.stdout.flush()
        app: Any = self.parent
        session: Any = self.session
        app.pump()
        app.answers.clear()  # to earlier prompts
        content = {"prompt": prompt, "password": password}
        session.send(self.stdin_socket, "input_request", content, parent, ident=ident)
        value = None
        while value is None:
            try:
                select.select([self.channel.sock], [], [], 1)
                app.pump()
            except KeyboardInterrupt:
                raise KeyboardInterrupt("Interrupted by user") from None
            while app.answers and value is None:
                # ipykernel ignores malformed answers
                with contextlib.suppress(ValueError, LookupError, TypeError):
                    _, frames = session.feed_identities(app.answers.pop(0))
                    value = str(session.deserialize(frames)["content"]["value"])
        if value == "\x04":
            raise EOFError
        return value

    def in_turn(self, do: Callable[[], Any]) -> None:
        """Calls do when no request is being handled."""
        if not hasattr(self, "_main_asyncio_lock"):  # ipykernel 6

            async def call() -> None:
                do()

            self.schedule_dispatch(call)
            return

        async def wait() -> None:
            async with self._main_asyncio_lock:
                do()

        self._turn = asyncio.ensure_future(wait())


class App(kernelapp.IPKernelApp):
    """ipykernel's application without its sockets, threads and connection file."""

    kernel_class = Kernel

    def setup(
        self, channel: Channel, pipes: list[tuple[int, int]], front: int, session: str
    ) -> None:
        self.channel, self.front, self.session_id = channel, front, session
        self.pipes = pipes
        self.answers: list[list[bytes]] = []
        self.inbox: list[list[bytes]] = []
        self.streams: list[Stream] = []
        self.tasks: set[asyncio.Future[Any]] = set()
        self.contents = pools.Contents([], False, None)  # of the last checkpoint

    def init_poller(self) -> None: ...
    def init_heartbeat(self) -> None: ...
    def write_connection_file(self, **_: Any) -> None: ...
    def log_connection_info(self) -> None: ...
    def close(self) -> None: ...

    def init_sockets(self) -> None:
        self.session.session = self.session_id
        self.session.key = b""  # the front signs: cells cannot forge requests

    def init_io(self) -> None:
        """Redirects descriptors 1 and 2 to the pipes. Errors before that go to whoever started the
        kernel."""
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        reading = [end for end, _ in self.pipes]
        for end in reading:
            os.set_blocking(end, False)
        for number, (_, end) in enumerate(self.pipes, 1):
            copy = os.dup(number)
            os.dup2(end, number)
            os.close(end)
            self.streams.append(Stream(self.channel, reading, number, copy, self.session))
        for handler in self.log.handlers:
            if getattr(handler, "stream", None) is sys.__stderr__:
                handler.stream = os.fdopen(copy, "w", closefd=False)  # ipykernel's own log
        sys.stdout, sys.stderr = self.streams
        self.displayhook = ZMQDisplayHook(self.session, Socket(self.channel, b"iopub"))
        sys.displayhook = self.displayhook
        self.patch_io()

    def init_kernel(self) -> None:
        # not debugpy, whose threads do not survive a fork
        sys.modules.setdefault("debugpy", None)  # type: ignore[arg-type]
        import ipykernel.debugger  # noqa: F401

        if sys.modules["debugpy"] is None:
            del sys.modules["debugpy"]
        sockets = {
            kind: Socket(self.channel, kind.encode())
            for kind in ("shell", "control", "iopub", "stdin")
        }
        Kernel.channel = self.channel
        self.kernel = kernel = Kernel.instance(
            parent=self, session=self.session, log=self.log, profile_dir=self.profile_dir,
            user_ns=self.user_ns, shell_stream=sockets["shell"], control_stream=sockets["control"],
            iopub_socket=sockets["iopub"], stdin_socket=sockets["stdin"], iopub_thread=None,
            control_thread=None, shell_channel_thread=Absent(),
        )  # fmt: skip
        self.displayhook.get_execution_count = lambda: kernel.execution_count

    def start(self) -> None:
        self.kernel.start()
        self.io_loop = ioloop.IOLoop.current()
        self.loop = asyncio.get_event_loop()
        self.loop.add_reader(self.channel.sock, self.drain)
        self.wake()
        self.hazards = hazards.Survey({self.channel.sock.fileno(), *(end for end, _ in self.pipes)})
        self.channel.send(
            b"ready", json.dumps({**self.kernel.kernel_info, "status": "ok"}).encode()
        )
        self.io_loop.start()
        self.channel.send(b"bye")

    def wake(self) -> None:
        """Makes the C signal handler send signal numbers to the front, so that it notices signals
        to this process."""
        signal.set_wakeup_fd(self.channel.sock.fileno(), warn_on_full_buffer=False)

    def pump(self) -> None:
        """Reads messages from the front."""
        try:
            while (message := self.channel.receive()) is not None:
                kind, *parts = message
                if kind == b"stdin":
                    self.answers.append(parts)
                else:
                    self.inbox.append(message)
        except EOFError:
            os._exit(1)  # the front has gone
        if self.inbox:
            self.loop.call_soon(self.drain, False)

    def drain(self, pump: bool = True) -> None:
        """Handles messages from the front."""
        if pump:
            self.pump()
        while self.inbox:
            kind, *parts = self.inbox.pop(0)
            if kind == b"checkpoint":
                self.kernel.in_turn(partial(self.checkpoint, client=parts[0] == b"1"))
            elif kind == b"exit":
                self.kernel.shell.exit_now = True
            elif kind != b"wake":
                stream = (
                    self.kernel.shell_stream if kind == b"shell" else self.kernel.control_stream
                )
                done = stream.receive([zmq.Frame(part) for part in parts])
                if asyncio.iscoroutine(done):
                    task = asyncio.ensure_future(done)
                    self.tasks.add(task)  # asyncio holds only weak references
                    task.add_done_callback(self.tasks.discard)

    def checkpoint(self, client: bool) -> None:
        """Makes a frozen copy and tells the front, or tells it why not. A process resumed from the
        copy continues here. client says whether folders are restored with it."""
        pid = os.getpid()
        try:
            self._checkpoint(client)
        except BaseException as error:
            if os.getpid() != pid:
                os._exit(1)
            self.channel.send(
                b"checkpoint", json.dumps({"failed": f"{type(error).__name__}: {error}"}).encode()
            )

    def _checkpoint(self, client: bool) -> None:
        began = time.perf_counter()
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            with contextlib.suppress(Exception):
                stream.flush()  # type: ignore[union-attr]
        linux.flush_c()
        sys.stdout.flush()
        findings = self.hazards.findings() + self.hazards.at_work()
        if findings:
            gc.collect()  # closes files that only garbage refers to
            subprocess._cleanup()
            findings = self.hazards.findings() + self.hazards.at_work()
        if not findings:
            self.contents = pools.Contents(self.hazards.files, client, self.contents)
        kept = pools.Kept(self.hazards.files, self.hazards.flags, self.hazards.maps, self.contents)
        with Freezer(self.front, self.channel.sock.fileno()) as freezer:
            with pools.quiet(self.hazards.maps):
                if findings:  # threads may show which library causes them
                    findings = self.hazards.threads() + findings
                looked = time.perf_counter()
                frozen = None if findings else freezer.freeze()
                left = self.hazards.threads() if frozen else findings
            if frozen is None and not findings:
                self._resumed(kept)
                return
        fds: list[int] = []
        count = self.kernel.shell.execution_count - 1
        reply: dict[str, Any] = {"findings": left, "execution_count": count}
        if frozen and not left:
            fds = [frozen.line.fileno()]
            reply |= {
                "pid": frozen.pid, "files": self.hazards.files,
                "milliseconds": {
                    "look": 1e3 * (looked - began), "copy": 1e3 * (time.perf_counter() - looked),
                },
            }  # fmt: skip
        self.channel.send(b"checkpoint", json.dumps(reply).encode(), fds=fds)
        if frozen:
            frozen.line.close()

    def _resumed(self, kept: pools.Kept) -> None:
        self.session.pid = os.getpid()
        threading.main_thread()._set_native_id()
        for stream in self.streams:
            stream._master_pid = os.getpid()
        self.channel.forget()
        self.channel.sock.setblocking(False)
        self.inbox.clear()
        self.answers.clear()
        if pools.enabled("loop"):  # asyncio remembers the process id
            asyncio._set_running_loop(self.loop)
            asyncio.set_event_loop(self.loop)
        self.wake()
        kept.restore()
        self.channel.send(
            b"resumed",
            json.dumps({"execution_count": self.kernel.shell.execution_count - 1}).encode(),
        )


def run(
    argv: list[str],
    sock: socket.socket,
    pipes: list[tuple[int, int]],
    front: int,
    session: str,
    undo: bool,
) -> None:
    """Runs the kernel until it is asked to shut down."""
    linux.die_with_parent()
    pools.prepare()
    # Not epoll, whose kernel object parent and child would share.
    asyncio.set_event_loop(asyncio.SelectorEventLoop(selectors.PollSelector()))
    channel = Channel(sock)
    os.register_at_fork(after_in_child=channel.forget)
    app = App.instance()
    app.setup(channel, pipes, front, session)
    app.initialize([*argv, "--HistoryManager.hist_file=:memory:"])
    if undo:
        magics.register(app.shell)
    app.start()
