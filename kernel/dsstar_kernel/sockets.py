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
QUEUE = 200  # messages that wait for one subscriber
STALLED = 10.0  # seconds in which a subscriber has taken nothing


class Publisher:
    """The iopub socket, which holds a bounded number of messages for each subscriber. While one of them has no room, send
    keeps messages back here, and the front reads nothing more from the worker. A subscriber that takes nothing for
    STALLED seconds misses messages until it reads again. As ZeroMQ drops a message for whoever has no room, they are sent
    in batches then, so that the others have emptied their queues before the next."""

    def __init__(self, socket: zmq.Socket[bytes], stalled: float = STALLED) -> None:
        self.socket = socket
        self._patience, self._pause = stalled, stalled / 10
        self._next_batch, self._batch = 0.0, 0  # when messages may be dropped, and how many then
        self._waiting: deque[Sequence[bytes]] = deque()

    def send_multipart(self, parts: Sequence[bytes], *_: Any, **__: Any) -> None:
        self._waiting.append(parts)
        self.flush()

    def waits(self) -> bool:
        """Whether there are messages that could not be sent yet."""
        return bool(self._waiting)

    def finish(self, seconds: float) -> None:
        """Sends all that waits. Subscribers have some time to make room for it."""
        ends = time.monotonic() + seconds
        while self._waiting and time.monotonic() < ends:
            self.flush()
            time.sleep(0.001)
        self.flush(at_any_rate=True)

    def flush(self, at_any_rate: bool = False) -> None:
        """Sends what waits, as far as there is room, or at any rate to those subscribers that have room."""
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
        self.socket.send_multipart(parts, zmq.NOBLOCK)
        self.socket.xpub_nodrop = 1
        return True


class Sockets:
    """Binds the sockets, and completes the connection file if it left the ports to us."""

    def __init__(self, connection_file: str, session: str) -> None:
        path = Path(connection_file)
        self.info: dict[str, Any] = json.loads(path.read_text())
        self.session = Session(
            session=session, key=self.info.get("key", "").encode(), check_pid=False,
            signature_scheme=self.info.get("signature_scheme") or "hmac-sha256",
        )  # fmt: skip
        self.context = zmq.Context()
        before = dict(self.info)
        self.shell = self._bind(zmq.ROUTER, "shell_port")
        self.stdin = self._bind(zmq.ROUTER, "stdin_port")
        self.control = self._bind(zmq.ROUTER, "control_port")
        # Any: by its types Session.send takes a zmq.Socket only.
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
            sock.router_handover = 1  # a client that connects again under its identity
        else:
            sock.sndhwm, sock.xpub_nodrop = QUEUE, 1  # see Publisher
            sock.xpub_verbose = 1  # every subscriber is to be welcomed
        if secret := self.info.get("curve_secretkey"):
            sock.curve_secretkey, sock.curve_publickey = secret.encode(), self.info["curve_publickey"].encode()
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
        """Whether these are the frames of a message with the signature of the key."""
        if DELIM not in frames or len(frames) < (at := frames.index(DELIM)) + 6:
            return False
        if self.session.auth is None:
            return True
        return hmac.compare_digest(self.session.sign(frames[at + 2 : at + 6]), frames[at + 1])

    def close(self) -> None:
        """Closes the sockets, after their clients have had a second to take what was sent."""
        self.iopub.finish(1)
        self.context.destroy(linger=1000)
