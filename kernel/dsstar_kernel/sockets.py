"""The five ZeroMQ sockets of a kernel, bound as the connection file says."""

from __future__ import annotations

import hmac
import json
import os
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.session import Session

DELIM = b"<IDS|MSG>"


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
        self.iopub = self._bind(zmq.XPUB, "iopub_port")
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
            sock.sndhwm = 0  # else output that waits is dropped without a word
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
        self.context.destroy(linger=1000)
