"""The front passes messages between clients and the worker, one request at a time, and outlives
workers."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import resource
import signal
import socket
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import zmq

from . import linux
from .channel import Channel
from .checkpoints import Asked, Checkpoints
from .client import Client
from .control import Control
from .options import Options
from .policy import Policy
from .sockets import DELIM, Sockets

TEXT_DELAY = 0.03  # seconds for which output is held back, to merge it
TEXT_SIZE = 1 << 20
MESSAGE_SIZE = 4 << 20  # bytes of one text: readers hold a whole message in memory
Published = tuple[str, dict[str, Any]]  # type and content of a message on the iopub channel
FAILURES = 100  # consecutive failed turns after which the front gives up
SUBSCRIBER = 0.002  # seconds in which a subscriber can take some of its queue
GROUP_SIGNAL = 0.2  # seconds within which a signal to the group also reaches the worker


@dataclass
class Live:
    """The live worker."""

    pid: int
    channel: Channel
    ready: bool = False
    leaving: bool = False  # it is shutting down


@dataclass
class Request:
    """A message on the shell channel, or a request for a checkpoint, which waits in the same
    queue."""

    frames: list[bytes]
    header: bytes = b""
    type: str = ""
    aborted: bool = False
    answered: bool = False
    checkpoint: Asked | None = None
    attempts: int = 0  # to make a checkpoint before it

    @classmethod
    def of(cls, frames: list[bytes]) -> Request:
        """Reads a signed message. Raises an exception if it is malformed."""
        header = frames[frames.index(DELIM) + 2]
        return cls(frames, header, str(json.loads(header)["msg_type"]))

    def content(self) -> dict[str, Any]:
        """The content of a message; empty if it is malformed."""
        with contextlib.suppress(ValueError, LookupError):
            content = json.loads(self.frames[self.frames.index(DELIM) + 5])
            return content if isinstance(content, dict) else {}
        return {}


class Output:
    """Collects what workers print, and publishes it."""

    def __init__(self, sockets: Sockets, pipes: list[int]) -> None:
        self.sockets, self.pipes = sockets, dict(zip(pipes, ("stdout", "stderr"), strict=True))
        for pipe in pipes:
            os.set_blocking(pipe, False)
        self.parent = b"{}"  # header of the request that output of the pipes belongs to
        self.due = 0.0
        self._key: tuple[str, bytes] = ("", b"")
        self._pieces: list[str] = []
        self._size = 0
        self._decoders = {
            name: codecs.getincrementaldecoder("utf-8")("replace") for name in self.pipes.values()
        }

    def add(self, name: str, parent: bytes, text: str) -> None:
        if self._pieces and self._key != (name, parent):
            self.publish()
        if not self._pieces:
            self._key, self.due = (name, parent), time.monotonic() + TEXT_DELAY
        self._pieces.append(text)
        self._size += len(text)
        if self._size > TEXT_SIZE:
            self.publish()

    def add_raw(self, name: str, parent: bytes, data: bytes) -> None:
        if text := self._decoders[name].decode(data):
            self.add(name, parent, text)

    def publish(self) -> None:
        if not self._pieces:
            return
        (name, parent), text = self._key, "".join(self._pieces)
        self._pieces, self._size, self.due = [], 0, 0.0
        about = None
        with contextlib.suppress(ValueError):  # a cell wrote garbage; later output must not suffer
            about = {"header": json.loads(parent)} if parent != b"{}" else None
        for at in range(0, len(text), MESSAGE_SIZE):
            content = {"name": name, "text": text[at : at + MESSAGE_SIZE]}
            self.sockets.session.send(
                self.sockets.iopub,
                "stream",
                content,
                parent=about,
                ident=b"stream." + name.encode(),
            )

    def read_pipes(self) -> None:
        """Reads what C code and other processes wrote to descriptors 1 and 2."""
        for pipe, name in self.pipes.items():
            with contextlib.suppress(BlockingIOError):
                while data := os.read(pipe, 1 << 16):
                    self.add_raw(name, self.parent, data)


class Front:
    def __init__(
        self,
        sockets: Sockets,
        channel: Channel,
        pipes: list[int],
        worker: int,
        options: Options | None = None,
    ) -> None:
        self.sockets, self.session = sockets, sockets.session
        self.live: Live | None = Live(worker, channel)
        self.output = Output(sockets, pipes)
        self.queue: deque[Request] = deque()
        self.running: Request | None = None
        self.info: dict[str, Any] = {}  # content of kernel_info_reply
        self.obituary = ""  # how the last worker ended, if there were checkpoints
        self.ended = 0  # its wait status
        self.status: int | None = None  # wait status of the last worker, with which the front ends
        self.stopping = 0.0  # when shutdown was requested
        self.interrupted = 0.0  # when a SIGINT arrived that may not have reached the worker
        self.failed = False  # whether something failed in this turn
        self.poller = zmq.Poller()
        self.checkpoints = Checkpoints(self)
        self.control = Control(self)
        self.client = Client(self)
        self.policy = Policy(self, options) if options else None

    # ---- requests

    def request(self, asked: Asked) -> Request:
        """Returns the placeholder in the queue of a request for a checkpoint."""
        return Request([], checkpoint=asked)

    def end_policy(self) -> None:
        """Leaves it to a client when checkpoints are made."""
        if self.policy:
            self.policy.end()
            self.policy = None

    def enqueue(self, request: Request) -> None:
        comm = request.type in ("comm_msg", "comm_close")
        if (
            comm
            and self.live
            and self.live.ready
            and not any(r.type == "comm_open" for r in self.queue)
        ):
            # A running cell may be waiting for it: an async one, or one that runs the event loop.
            self.send(request)
            return
        self.queue.append(request)
        self.next()

    def next(self) -> None:
        """Sends the next request to the worker if it is idle."""
        while self.queue and not self.running:
            if self.status is not None:
                return  # the kernel is ending; clients see how
            if self.live and not self.live.ready:
                return  # it will be ready soon
            request = self.queue.popleft()
            if request.aborted:
                self.answer(request, {"status": "aborted"})
            elif self.policy and self.policy.before(request):
                pass
            elif request.checkpoint and self.live:
                self.running = request
                self.live.channel.post(b"checkpoint", b"1" if request.checkpoint.folders else b"")
            elif request.checkpoint:
                request.checkpoint.fail("Failed", self.obituary, [])
            elif self.live:
                self.running = request
                if request.type == "execute_request":
                    self.output.parent = request.header
                self.send(request)
            elif request.type == "kernel_info_request":
                self.answer(request, self.info)
            else:
                content = self.error("KernelDied", self.obituary)
                is_cell = request.type == "execute_request"
                self.answer(request, content, [self.published(content)] if is_cell else [])

    def send(self, request: Request) -> None:
        """Sends a request to the worker."""
        assert self.live
        if self.policy:
            self.policy.sending(request)
        self.live.channel.post(b"shell", *request.frames)

    def answer(
        self, request: Request, content: dict[str, Any], also: Iterable[Published] = ()
    ) -> None:
        """Answers a request in place of the worker, and also publishes messages."""
        try:
            idents, frames = self.session.feed_identities(request.frames)
            message = self.session.deserialize(frames)
        except Exception:
            return  # it has no valid signature, or is a repetition
        reply = request.type.rsplit("_", 1)[0] + "_reply"
        if request.type.endswith("_request") and not request.answered:
            self.publish_status("busy", message)
            for kind, shown in also:
                self.session.send(
                    self.sockets.iopub, kind, shown, parent=message, ident=kind.encode()
                )
            self.session.send(self.sockets.shell, reply, content, parent=message, ident=idents)
        self.publish_status("idle", message)

    def error(self, name: str, value: str) -> dict[str, Any]:
        """The content of a reply."""
        content: dict[str, Any] = {"status": "error", "ename": name, "evalue": value}
        content["traceback"] = [f"{name}: {value}"]
        if self.policy:  # jupyter console needs it
            content["execution_count"] = self.policy.count
        return content

    def published(self, content: dict[str, Any]) -> Published:
        """What is published of a reply that is an error."""
        return "error", {key: content[key] for key in ("ename", "evalue", "traceback")}

    def publish_status(self, state: str, about: dict[str, Any]) -> None:
        self.session.send(
            self.sockets.iopub,
            "status",
            {"execution_state": state},
            parent=about,
            ident=b"kernel.status",
        )

    def abort(self) -> None:
        """Marks the queued cells as aborted, because the one before them failed."""
        self.read_shell()
        for request in self.queue:
            request.aborted |= request.type == "execute_request"

    def give_up(self, name: str, why: str, publish: bool = False) -> None:
        """Answers the requests that the worker has not handled when it ended."""
        if self.running and self.running.checkpoint:
            self.running.checkpoint.fail("Failed", why, [])
        elif self.running:
            content = self.error(name, why)
            self.answer(self.running, content, [self.published(content)] if publish else [])
        self.running = None
        waiting, self.queue = self.queue, deque()
        for request in waiting:
            if request.checkpoint:
                request.checkpoint.fail("Failed", why, [])
            else:
                self.answer(request, {"status": "aborted"})

    # ---- the worker

    def read_worker(self) -> None:
        live = self.live
        before = live.channel.signaled if live else 0
        try:
            for _ in range(1000):  # then the sockets have their turn
                if live is None or live is not self.live or self.sockets.iopub.waits():
                    break
                if (message := live.channel.receive()) is None:
                    break
                self.on_worker(live, message)
            if live and live is self.live and live.channel.signaled != before:
                # wakes its event loop, as call_soon in a signal handler does not
                live.channel.post(b"wake")
        except EOFError:
            if live and live is self.live:
                self.end_worker()
        except Exception:  # a cell wrote garbage
            self.report()
            if live and live is self.live:
                self.end_worker()

    def on_worker(self, live: Live, message: list[bytes]) -> None:
        kind, *parts = message
        if kind in (b"text", b"raw"):
            name, parent, text = parts
            add = (
                self.output.add_raw
                if kind == b"raw"
                else lambda n, p, t: self.output.add(n, p, t.decode())
            )
            add(name.decode(), parent, text)
            return
        self.output.publish()
        if kind in (b"iopub", b"shell", b"control", b"stdin"):
            if kind == b"shell" and self.running:
                self.running.answered = True
            getattr(self.sockets, kind.decode()).send_multipart(self.sockets.sign(parts))
        elif kind == b"done":
            self.done(parts[0])
            self.next()
        elif kind == b"abort":
            self.abort()
        elif kind == b"ready":
            self.info, live.ready = json.loads(parts[0]), True
            self.next()
        elif kind == b"bye":
            live.leaving = True
        elif kind == b"checkpoint":
            self.checkpoints.made(
                json.loads(parts[0]), live.channel.fds.popleft() if live.channel.fds else None
            )
            self.next()
        elif kind == b"resumed":
            live.ready = True
            self.checkpoints.resumed(json.loads(parts[0]))
            self.next()

    def done(self, header: bytes) -> None:
        """Notes that the worker has handled the request with this header."""
        if not self.running or self.running.header != header:
            return
        if self.running.type == "execute_request" and not self.running.answered:
            # An interrupt hit the kernel's own code.
            content = self.error("KeyboardInterrupt", "")
            self.answer(self.running, content, [self.published(content)])
        self.running, self.interrupted = None, 0
        if self.policy:
            self.policy.rest()

    def connect(self, pid: int, sock: socket.socket) -> None:
        """Resumes a ready copy as the worker."""
        self.live = Live(pid, Channel(sock))
        self.poller.register(sock.fileno(), zmq.POLLIN)
        self.live.channel.post(b"go")

    def disconnect(self) -> None:
        """Reads what the ended worker has sent, and drops the worker."""
        assert self.live
        # it may have ended in the middle of a message, or written garbage
        with contextlib.suppress(Exception):
            while (message := self.live.channel.receive()) is not None:
                if message[0] == b"done":
                    self.done(message[1])
                elif message[0] not in (b"ready", b"resumed", b"checkpoint"):
                    self.on_worker(self.live, message)
        self.output.read_pipes()
        self.output.publish()
        self.poller.unregister(self.live.channel.sock.fileno())
        for fd in self.live.channel.fds:
            os.close(fd)
        self.live.channel.sock.close()
        self.live = None

    def end_worker(self) -> None:
        """Kills the worker if it is alive, and handles its end."""
        assert self.live
        pid, status = self.live.pid, None
        if self.live.leaving:
            status = linux.wait(pid)  # its exit handlers run
        if status is None:
            linux.kill(pid)
            status = linux.wait(pid)
        self.worker_ended(status)

    def worker_ended(self, status: int | None) -> None:
        assert self.live
        # A client that makes checkpoints can go back from a cell that ended the worker by exit().
        leaving = self.stopping or self.policy and self.live.leaving
        self.disconnect()
        how = linux.ending(status)
        if self.checkpoints.resume_failed(how):
            return
        if leaving or not self.checkpoints.kept:
            self.status = status or 0
            return
        linux.end_all(os.getpid(), self.checkpoints.pids())
        self.ended, self.obituary = status or 0, f"the kernel died: {how}"
        if self.policy:
            self.obituary += self.policy.way_out()
        self.give_up("KernelDied", self.obituary, publish=True)

    def reap(self) -> None:
        """Reaps ended children: workers, frozen copies, the user's orphans."""
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if ended is None:
                return
            _, status = os.waitpid(ended.si_pid, os.WNOHANG)
            if self.live and ended.si_pid == self.live.pid:
                self.worker_ended(status)
            else:
                self.checkpoints.lost(ended.si_pid)

    # ---- signals

    def interrupt(self) -> None:
        """Interrupts the worker and its child processes, which are in the front's group."""
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGINT)
        elif self.live:
            os.kill(self.live.pid, signal.SIGINT)
        signal.signal(signal.SIGINT, handler)

    def pass_interrupt(self) -> None:
        """Forwards a SIGINT that was sent to this process alone. One sent to the group also reached
        the worker, whose C handler has reported it."""
        if not self.live or abs(self.live.channel.signaled - self.interrupted) < GROUP_SIGNAL:
            self.interrupted = 0
        elif self.interrupted and time.monotonic() > self.interrupted + GROUP_SIGNAL:
            self.interrupted = 0
            os.kill(self.live.pid, signal.SIGINT)

    def busy(self) -> bool:
        """Whether a cell runs, or waits for a checkpoint."""
        return bool(self.running and (self.queue or not self.running.checkpoint))

    def stop(self) -> None:
        """Asks the worker to shut down."""
        self.stopping = self.stopping or time.monotonic()
        if self.live:
            self.live.channel.post(b"exit")
        else:
            self.status = 0

    # ---- the loop

    def guarded(self, do: Callable[..., None], *args: Any) -> None:
        """Calls do. An exception is reported; it costs one event, not the session with its
        checkpoints."""
        try:
            do(*args)
        except Exception:
            self.report()

    def report(self) -> None:
        """Prints the current exception to the standard error of whoever started the kernel."""
        self.failed = True
        with contextlib.suppress(OSError):
            traceback.print_exc()

    def read_shell(self) -> None:
        with contextlib.suppress(zmq.Again):
            while True:
                frames = self.sockets.shell.recv_multipart(zmq.NOBLOCK)
                try:
                    request = Request.of(frames) if self.sockets.signed(frames) else None
                except (ValueError, LookupError, TypeError, RecursionError):
                    request = None  # like ipykernel, do not answer malformed messages
                if request:
                    self.enqueue(request)

    def read_clients(self) -> None:
        s = self.sockets
        with contextlib.suppress(zmq.Again):
            while True:
                s.heartbeat.send_multipart(s.heartbeat.recv_multipart(zmq.NOBLOCK))
        with contextlib.suppress(zmq.Again):
            while True:
                self.guarded(self.control.handle, s.control.recv_multipart(zmq.NOBLOCK))
        with contextlib.suppress(zmq.Again):
            while True:
                answer = s.stdin.recv_multipart(zmq.NOBLOCK)
                if self.live:
                    self.live.channel.post(b"stdin", *answer)
        with contextlib.suppress(zmq.Again):
            while True:
                self.welcome(s.iopub.socket.recv(zmq.NOBLOCK))
        self.read_shell()

    def welcome(self, event: bytes) -> None:
        """Greets a new subscriber (JEP 65)."""
        if event[:1] == b"\1":
            content = {"subscription": event[1:].decode("utf-8", "replace")}
            self.session.send(self.sockets.iopub, "iopub_welcome", content, ident=event[1:] or None)

    def run(self) -> int | None:
        """Runs until the kernel ends. Returns the wait status of its last worker."""
        wake, waker = socket.socketpair()
        for end in (wake, waker):
            end.setblocking(False)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            # a cell may send these to its group, which includes this process
            signal.signal(number, signal.SIG_IGN)
        orphaned = orphanage()
        s = self.sockets
        readable: list[Any] = [
            s.shell,
            s.control,
            s.stdin,
            s.heartbeat,
            s.iopub.socket,
            wake.fileno(),
            *self.output.pipes,
        ]
        for source in readable:
            self.poller.register(source, zmq.POLLIN)
        assert self.live
        self.poller.register(self.live.channel.sock.fileno(), zmq.POLLIN)
        failures = 0
        while self.status is None and not orphaned() and failures < FAILURES:
            ready = dict(self.poller.poll(self.patience()))
            if wake.fileno() in ready:
                signals = wake.recv(4096)
                if signal.SIGTERM in signals:
                    break
                if signal.SIGINT in signals and self.busy():
                    self.interrupted = time.monotonic()
            self.failed = False
            self.guarded(self.turn, ready)
            if self.status is None:
                self.guarded(self.reap)
            failures = failures + 1 if self.failed else 0
        if failures:
            self.status = 1 << 8  # exit status 1
        return self.finish()

    def patience(self) -> int:
        """Milliseconds until the next deadline."""
        dues = [time.monotonic() + 1]
        if self.output.due:
            dues.append(self.output.due)
        if self.interrupted:
            dues.append(self.interrupted + GROUP_SIGNAL / 10)
        if self.checkpoints.due:
            dues.append(self.checkpoints.due)
        if self.policy and self.policy.due:
            dues.append(self.policy.due)
        return max(0, int(1e3 * (min(dues) - time.monotonic())) + 1)

    def turn(self, ready: dict[Any, int]) -> None:
        """Handles the events of one turn of the loop."""
        self.sockets.iopub.flush()
        if self.sockets.iopub.waits():
            # the worker's messages stay unread, so the poller would report them again at once
            time.sleep(SUBSCRIBER)
        else:
            if self.live:
                self.read_worker()
            if any(pipe in ready for pipe in self.output.pipes):
                self.output.read_pipes()
        self.pass_interrupt()
        if self.output.due and time.monotonic() >= self.output.due:
            self.output.publish()
        self.read_clients()
        self.checkpoints.check()
        if self.live:
            all_sent = self.live.channel.flush()
            events = zmq.POLLIN if all_sent else zmq.POLLIN | zmq.POLLOUT
            self.poller.modify(self.live.channel.sock.fileno(), events)

    def finish(self) -> int | None:
        """Ends all processes after their output has been read."""
        linux.end_all(os.getpid())
        if self.live:
            self.disconnect()
        self.output.read_pipes()
        self.output.publish()
        self.sockets.close()
        return self.status


def orphanage() -> Any:
    """Returns a function that tells whether the process that owns the kernel has ended."""
    parent, now = int(os.environ.get("JPY_PARENT_PID") or 0), os.getppid()
    if parent <= 1:
        return lambda: False
    if parent != now:  # like ipykernel, assume that there is a process in between
        return lambda: os.getppid() == 1
    return lambda: os.getppid() != parent


def run(
    argv: list[str],
    sock: socket.socket,
    pipes: list[int],
    worker: int,
    session: str,
    options: Options | None,
) -> int:
    """Runs the front. Ends like the last worker: by the same signal, or with its exit status."""
    try:
        file = argv[argv.index("-f") + 1]
        front = Front(Sockets(file, session), Channel(sock), pipes, worker, options)
    except BaseException:
        linux.kill(worker)
        raise
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # copies of files hold descriptors
    status = front.run() or 0
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # SIGKILL and the C library's own signals have no handlers
        with contextlib.suppress(OSError):
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    return os.WEXITSTATUS(status)
