"""The front: it passes messages between clients and worker, one request after the other, and outlives workers."""

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
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import zmq

from . import linux
from .channel import Channel
from .checkpoints import Asked, Checkpoints
from .control import Control
from .sockets import DELIM, Sockets

TEXT_DELAY = 0.03  # seconds that output may wait for more of it
TEXT_SIZE = 1 << 20
MESSAGE_SIZE = 4 << 20  # of one text: readers have a message whole in memory
FAILURES = 100  # turns in a row: then the front gives up
SUBSCRIBER = 0.002  # seconds for a subscriber to take some of what waits for it
GROUP_SIGNAL = 0.2  # seconds in which a signal to the group has reached the worker, too


@dataclass
class Live:
    """The worker that is alive."""

    pid: int
    channel: Channel
    ready: bool = False
    leaving: bool = False  # it ends because it was told to


@dataclass
class Request:
    """A message on the shell channel, or a checkpoint_request, which waits in the same queue."""

    frames: list[bytes]
    header: bytes = b""
    type: str = ""
    aborted: bool = False
    answered: bool = False
    checkpoint: Asked | None = None

    @classmethod
    def of(cls, frames: list[bytes]) -> Request:
        """Reads a message that is signed. Raises whatever is wrong with it."""
        header = frames[frames.index(DELIM) + 2]
        return cls(frames, header, str(json.loads(header)["msg_type"]))


class Output:
    """Collects what workers print, and publishes it."""

    def __init__(self, sockets: Sockets, pipes: list[int]) -> None:
        self.sockets, self.pipes = sockets, dict(zip(pipes, ("stdout", "stderr"), strict=True))
        for pipe in pipes:
            os.set_blocking(pipe, False)
        self.parent = b"{}"  # header of the request that what comes by the pipes is about
        self.due = 0.0
        self._key: tuple[str, bytes] = ("", b"")
        self._pieces: list[str] = []
        self._size = 0
        self._decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in self.pipes.values()}

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
        with contextlib.suppress(ValueError):  # a cell has written nonsense; what comes next is not to suffer from it
            about = {"header": json.loads(parent)} if parent != b"{}" else None
        for at in range(0, len(text), MESSAGE_SIZE):
            content = {"name": name, "text": text[at : at + MESSAGE_SIZE]}
            self.sockets.session.send(
                self.sockets.iopub, "stream", content, parent=about, ident=b"stream." + name.encode()
            )

    def read_pipes(self) -> None:
        """Takes in what was written to the descriptors, by C code and other processes."""
        for pipe, name in self.pipes.items():
            with contextlib.suppress(BlockingIOError):
                while data := os.read(pipe, 1 << 16):
                    self.add_raw(name, self.parent, data)


class Front:
    def __init__(self, sockets: Sockets, channel: Channel, pipes: list[int], worker: int) -> None:
        self.sockets, self.session = sockets, sockets.session
        self.live: Live | None = Live(worker, channel)
        self.output = Output(sockets, pipes)
        self.queue: deque[Request] = deque()
        self.running: Request | None = None
        self.info: dict[str, Any] = {}  # content of kernel_info_reply
        self.obituary = ""  # of the last worker that has ended while there were checkpoints
        self.ended = 0  # status of the wait for it
        self.status: int | None = None  # of the wait for the worker with which the front ends
        self.stopping = 0.0  # when shutdown was asked for
        self.interrupted = 0.0  # when a signal came that the worker may not have got
        self.failed = False  # whether something in this turn has
        self.poller = zmq.Poller()
        self.checkpoints = Checkpoints(self)
        self.control = Control(self)

    # ---- requests

    def request(self, asked: Asked) -> Request:
        """What stands in the queue for a checkpoint_request."""
        return Request([], checkpoint=asked)

    def enqueue(self, request: Request) -> None:
        comm = request.type in ("comm_msg", "comm_close")
        if comm and self.live and self.live.ready and not any(r.type == "comm_open" for r in self.queue):
            # An async cell may be waiting for it, as a cell that runs the event loop itself.
            self.live.channel.post(b"shell", *request.frames)
            return
        self.queue.append(request)
        self.next()

    def next(self) -> None:
        """Has the worker handle the next request, if it is idle."""
        while self.queue and not self.running:
            if self.status is not None:
                return  # the kernel ends: whoever waits for it sees how
            if self.live and not self.live.ready:
                return  # soon
            request = self.queue.popleft()
            if request.aborted:
                self.answer(request, {"status": "aborted"})
            elif request.checkpoint and self.live:
                self.running = request
                self.live.channel.post(b"checkpoint", b"1" if request.checkpoint.folder else b"")
            elif request.checkpoint:
                request.checkpoint.fail("Failed", self.obituary)
            elif self.live:
                self.running = request
                if request.type == "execute_request":
                    self.output.parent = request.header
                self.live.channel.post(b"shell", *request.frames)
            elif request.type == "kernel_info_request":
                self.answer(request, self.info)
            else:
                self.answer(request, error("KernelDied", self.obituary), request.type == "execute_request")

    def answer(self, request: Request, content: dict[str, Any], publish: bool = False) -> None:
        """Answers a request in place of the worker."""
        try:
            idents, frames = self.session.feed_identities(request.frames)
            message = self.session.deserialize(frames)
        except Exception:
            return  # not signed, or answered before
        reply = request.type.rsplit("_", 1)[0] + "_reply"
        if request.type.endswith("_request") and not request.answered:
            self.publish_status("busy", message)
            if publish:
                shown = {key: content[key] for key in ("ename", "evalue", "traceback")}
                self.session.send(self.sockets.iopub, "error", shown, parent=message, ident=b"error")
            self.session.send(self.sockets.shell, reply, content, parent=message, ident=idents)
        self.publish_status("idle", message)

    def publish_status(self, state: str, about: dict[str, Any]) -> None:
        self.session.send(
            self.sockets.iopub, "status", {"execution_state": state}, parent=about, ident=b"kernel.status"
        )

    def abort(self) -> None:
        """Marks the cells that have arrived until now: one before them failed."""
        self.read_shell()
        for request in self.queue:
            request.aborted |= request.type == "execute_request"

    def give_up(self, name: str, why: str, publish: bool = False) -> None:
        """Answers what the worker that has gone will not answer."""
        if self.running and self.running.checkpoint:
            self.running.checkpoint.fail("Failed", why)
        elif self.running:
            self.answer(self.running, error(name, why), publish)
        self.running = None
        waiting, self.queue = self.queue, deque()
        for request in waiting:
            if request.checkpoint:
                request.checkpoint.fail("Failed", why)
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
                live.channel.post(b"wake")  # its event loop, which sleeps on after a handler that calls call_soon
        except EOFError:
            if live and live is self.live:
                self.end_worker()
        except Exception:  # a cell has written nonsense
            self.report()
            if live and live is self.live:
                self.end_worker()

    def on_worker(self, live: Live, message: list[bytes]) -> None:
        kind, *parts = message
        if kind in (b"text", b"raw"):
            name, parent, text = parts
            add = self.output.add_raw if kind == b"raw" else lambda n, p, t: self.output.add(n, p, t.decode())
            add(name.decode(), parent, text)
            return
        self.output.publish()
        if kind in (b"iopub", b"shell", b"control", b"stdin"):
            if kind == b"shell" and self.running:
                self.running.answered = True
            getattr(self.sockets, kind.decode()).send_multipart(parts)
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
            self.checkpoints.made(json.loads(parts[0]), live.channel.fds.popleft() if live.channel.fds else None)
            self.next()
        elif kind == b"resumed":
            live.ready = True
            self.checkpoints.resumed(json.loads(parts[0]))
            self.next()

    def done(self, header: bytes) -> None:
        """The worker has handled the request with this header."""
        if not self.running or self.running.header != header:
            return
        if self.running.type == "execute_request" and not self.running.answered:
            # An interrupt has hit the kernel's own code.
            self.answer(self.running, error("KeyboardInterrupt", ""), publish=True)
        self.running = None

    def connect(self, pid: int, sock: socket.socket) -> None:
        """Has a copy that is ready go on as the worker."""
        self.live = Live(pid, Channel(sock))
        self.poller.register(sock.fileno(), zmq.POLLIN)
        self.live.channel.post(b"go")

    def disconnect(self) -> None:
        """Takes in all that the worker, which has ended, has left, and forgets it."""
        assert self.live
        with contextlib.suppress(Exception):  # it has gone, perhaps in the middle of a message, or left nonsense
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
        """Kills the worker, if it has not ended, and sees to what that means."""
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
        leaving = self.live.leaving or self.stopping
        self.disconnect()
        how = linux.ending(status)
        if self.checkpoints.resume_failed(how):
            return
        if leaving or not self.checkpoints.kept:
            self.status = status or 0
            return
        linux.end_all(os.getpid(), self.checkpoints.pids())
        self.ended, self.obituary = status or 0, f"the kernel died: {how}"
        self.give_up("KernelDied", self.obituary, publish=True)

    def reap(self) -> None:
        """Collects the children that have ended: workers, frozen copies, orphans of the user's."""
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
        """Interrupts the worker and the processes that it has started, which are in the group of the front."""
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGINT)
        elif self.live:
            os.kill(self.live.pid, signal.SIGINT)
        signal.signal(signal.SIGINT, handler)

    def pass_interrupt(self) -> None:
        """Passes a SIGINT on that was sent to this process alone. One sent to the group has reached the worker, whose C
        handler says so."""
        if not self.live or abs(self.live.channel.signaled - self.interrupted) < GROUP_SIGNAL:
            self.interrupted = 0
        elif self.interrupted and time.monotonic() > self.interrupted + GROUP_SIGNAL:
            self.interrupted = 0
            os.kill(self.live.pid, signal.SIGINT)

    def stop(self) -> None:
        """Tells the worker to end in its own way."""
        self.stopping = self.stopping or time.monotonic()
        if self.live:
            self.live.channel.post(b"exit")
        else:
            self.status = 0

    # ---- the loop

    def guarded(self, do: Callable[..., None], *args: Any) -> None:
        """Calls do. An exception in it is reported, and costs one event: the session and its checkpoints are worth more."""
        try:
            do(*args)
        except Exception:
            self.report()

    def report(self) -> None:
        """Tells the present exception where the kernel was started."""
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
                    request = None  # ipykernel says nothing either to what is no message
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
        """Runs until the kernel has ended, and returns how its last worker did."""
        wake, waker = socket.socketpair()
        for end in (wake, waker):
            end.setblocking(False)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(number, signal.SIG_IGN)  # a cell may send them to its group, which this is in
        orphaned = orphanage()
        s = self.sockets
        readable: list[Any] = [s.shell, s.control, s.stdin, s.heartbeat, s.iopub.socket, wake.fileno(), *self.output.pipes]
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
                if signal.SIGINT in signals and self.running:
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
        """Milliseconds until something is due."""
        dues = [time.monotonic() + 1]
        if self.output.due:
            dues.append(self.output.due)
        if self.interrupted:
            dues.append(self.interrupted + GROUP_SIGNAL / 10)
        if self.checkpoints.due:
            dues.append(self.checkpoints.due)
        return max(0, int(1e3 * (min(dues) - time.monotonic())) + 1)

    def turn(self, ready: dict[Any, int]) -> None:
        """Does what there is to do."""
        self.sockets.iopub.flush()
        if self.sockets.iopub.waits():
            time.sleep(SUBSCRIBER)  # what the worker has sent stays where it is, which the poller reports again and again
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
        """Ends all processes, after they have said all."""
        linux.end_all(os.getpid())
        if self.live:
            self.disconnect()
        self.output.read_pipes()
        self.output.publish()
        self.sockets.close()
        return self.status


def error(name: str, value: str, **more: Any) -> dict[str, Any]:
    return {"status": "error", "ename": name, "evalue": value, "traceback": [f"{name}: {value}"], **more}


def orphanage() -> Any:
    """Returns a function that tells whether the process with which the kernel is to end has ended."""
    parent, now = int(os.environ.get("JPY_PARENT_PID") or 0), os.getppid()
    if parent <= 1:
        return lambda: False
    if parent != now:  # there is something in between, as ipykernel sees it
        return lambda: os.getppid() == 1
    return lambda: os.getppid() != parent


def run(argv: list[str], sock: socket.socket, pipes: list[int], worker: int, session: str) -> int:
    """Runs the front and ends as the last worker has ended."""
    try:
        file = argv[argv.index("-f") + 1]
        front = Front(Sockets(file, session), Channel(sock), pipes, worker)
    except BaseException:
        linux.kill(worker)
        raise
    status = front.run() or 0
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError):  # there is no handler of SIGKILL, nor of the C library's own signals
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    return os.WEXITSTATUS(status)
