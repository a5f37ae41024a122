"""The five ZeroMQ sockets of a kernel, bound as the connection file says."""

from __future__ import annotations

import hmac
import json
import os
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.session import Session

DELIM = b"<IDS|MSG>"
SEEN = 1 << 16  # signatures remembered, as jupyter_client does
QUEUE = 200  # messages queued for one subscriber
STALLED = 10.0  # seconds after which a subscriber that takes nothing is stalled


class Publisher:
    """The iopub socket, with a bounded queue for each subscriber. While one queue is full, messages
    are held back here, and the front reads nothing more from the worker. A subscriber that takes
    nothing for STALLED seconds misses messages until it reads again: ZeroMQ then drops each message
    for subscribers whose queues are full. So that the others can empty theirs, messages are then
    sent in batches, with a pause after each."""

    def __init__(self, socket: zmq.Socket[bytes], stalled: float = STALLED) -> None:
        self.socket = socket
        self._patience, self._pause = stalled, stalled / 10
        self._next_batch, self._batch = 0.0, 0  # when messages may be dropped, and how many
        self._waiting: deque[Sequence[bytes]] = deque()

    def send_multipart(self, parts: Sequence[bytes], *_: Any, **__: Any) -> None:
        self._waiting.append(parts)
        self.flush()

    def waits(self) -> bool:
        """Whether there are unsent messages."""
        return bool(self._waiting)

    def finish(self, seconds: float) -> None:
        """Sends all queued messages. Subscribers have the given time to make room."""
        ends = time.monotonic() + seconds
        while self._waiting and time.monotonic() < ends:
            self.flush()
            time.sleep(0.001)
        self.flush(at_any_rate=True)

    def flush(self, at_any_rate: bool = False) -> None:
        """Sends queued messages while all subscribers have room; at any rate, to those that have
        room."""
        while self._waiting and self._send(self._waiting[0], at_any_rate):
            self._waiting.popleft()

    def _send(self, parts: Sequence[bytes], at_any_rate: bool) -> bool:
        try:
            self.socket.send_multipart(parts, zmq.NOBLOCK)
            self._next_batch, self._batch = 0.0, 0
            return True
        except zmq.Again:
            now = time.monotonic()
            self._next_batch = self._next_batch or now + self._patience
            if now >= self._next_batch:
                self._next_batch, self._batch = now + self._pause, QUEUE
            if not self._batch and not at_any_rate:
                return False
        self._batch = max(0, self._batch - 1)
        self.socket.xpub_nodrop = 0
        try:
            self.socket.send_multipart(parts, zmq.NOBLOCK)
        finally:
            self.socket.xpub_nodrop = 1
        return True


class Sockets:
    """Binds the sockets, and writes the ports chosen here to the connection file."""

    def __init__(self, connection_file: str, session: str) -> None:
        path = Path(connection_file)
        self.info: dict[str, Any] = json.loads(path.read_text())
        self.session = Session(
            session=session, key=self.info.get("key", "").encode(), check_pid=False,
            signature_scheme=self.info.get("signature_scheme") or "hmac-sha256",
        )  # fmt: skip
        self._seen: dict[bytes, None] = {}  # signatures of requests
        self.context = zmq.Context()
        before = dict(self.info)
        self.shell = self._bind(zmq.ROUTER, "shell_port")
        self.stdin = self._bind(zmq.ROUTER, "stdin_port")
        self.control = self._bind(zmq.ROUTER, "control_port")
        # Any, because Session.send is declared to take a zmq.Socket only.
        self.iopub: Any = Publisher(self._bind(zmq.XPUB, "iopub_port"))
        self.heartbeat = self._bind(zmq.ROUTER, "hb_port")
        if self.info != before:
            part = path.with_name(f"{path.name}.{os.getpid()}.part")
            with open(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
                json.dump(self.info, file, indent=2)
            part.replace(path)

    def _bind(self, kind: int, port_name: str) -> zmq.Socket[bytes]:
        sock: zmq.Socket[bytes] = self.context.socket(kind)
        sock.linger = 1000
        if kind == zmq.ROUTER:
            sock.router_handover = 1  # for a client that reconnects with the same identity
        else:
            sock.sndhwm, sock.xpub_nodrop = QUEUE, 1  # see Publisher
            sock.xpub_verbose = 1  # reports every subscriber, to be welcomed
        if secret := self.info.get("curve_secretkey"):
            sock.curve_secretkey, sock.curve_publickey = (
                secret.encode(),
                self.info["curve_publickey"].encode(),
            )
            sock.curve_server = True
        ip, port = self.info.get("ip") or "127.0.0.1", int(self.info.get(port_name) or 0)
        if self.info.get("transport", "tcp") == "tcp":
            if port <= 0:
                port = sock.bind_to_random_port(f"tcp://{ip}")
            else:
                sock.bind(f"tcp://{ip}:{port}")
        else:
            while port <= 0 or (not self.info.get(port_name) and os.path.exists(f"{ip}-{port}")):
                port += 1
            sock.bind(f"ipc://{ip}-{port}")
        self.info[port_name] = port
        return sock

    def signed(self, frames: list[bytes]) -> bool:
        """Whether these are the frames of a message with a valid signature, for the first time."""
        if DELIM not in frames or len(frames) < (at := frames.index(DELIM)) + 6:
            return False
        if self.session.auth is None:
            return True
        signature = frames[at + 1]
        if signature in self._seen or not hmac.compare_digest(
            self.session.sign(frames[at + 2 : at + 6]), signature
        ):
            return False
        self._seen[signature] = None
        if len(self._seen) > SEEN:
            del self._seen[next(iter(self._seen))]
        return True

    def sign(self, frames: list[bytes]) -> list[bytes]:
        """Signs a message of the worker, which does not have the key."""
        if DELIM in frames and len(frames) >= (at := frames.index(DELIM)) + 6:
            frames[at + 1] = self.session.sign(frames[at + 2 : at + 6])
        return frames

    def close(self) -> None:
        """Closes the sockets after giving clients a second to receive what was sent."""
        self.iopub.finish(1)
        self.context.destroy(linger=1000)
