"""The channel between the front and a worker: whole messages over a SOCK_SEQPACKET pair.

A message is a list of byte strings, the first being its kind. Processes that user code forks share
the worker's end, so messages are split into packets that name their process, and reassembled on the
other side.
"""

from __future__ import annotations

import array
import os
import select
import signal
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Sequence

SIZE = 60_000  # bytes of a packet; a Unix socket accepts slightly more
HEAD = struct.Struct("<IIB")  # process, number of the message, whether this is its last packet
BUFFER = 4 << 20


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected ends."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, option, BUFFER)
    return ends


def send_fds(sock: socket.socket, data: bytes, fds: Sequence[int]) -> None:
    """Sends a packet with descriptors. (socket.send_fds ignores its flags before Python 3.12.)"""
    sock.sendmsg(
        [data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    )


def receive_fds(sock: socket.socket, size: int) -> tuple[bytes, list[int]]:
    """Receives a packet and the descriptors that came with it."""
    data, ancillary, _, _ = sock.recvmsg(size, socket.CMSG_LEN(16), socket.MSG_CMSG_CLOEXEC)
    fds = array.array("i")
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
    return data, list(fds)


class Uninterrupted:
    """A context that delays SIGINT in this thread until its end. An interrupt would cut things in
    half, and its traceback may have a frame without a line number, which IPython cannot show."""

    def __enter__(self) -> None:
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})

    def __exit__(self, *_: object) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)


class Channel:
    """One end of the channel, non-blocking: send waits for room, post leaves to flush what does not
    fit."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self.sock = sock
        self.fds: deque[int] = deque()  # received with messages, in order
        # when the worker's C signal handler last reported a signal: see App.wake
        self.signaled = 0.0
        self._waiting: deque[tuple[bytes, Sequence[int]]] = deque()
        self.forget()

    def forget(self) -> None:
        """Resets lock and partial messages in a forked process."""
        self._lock = threading.RLock()
        self._number = 0
        self._parts: dict[tuple[int, int], bytearray] = {}

    def _packets(self, message: Sequence[bytes]) -> list[bytes]:
        lengths = struct.pack(f"<{len(message) + 1}Q", len(message), *map(len, message))
        data = b"".join((lengths, *message))
        self._number = (self._number + 1) & 0xFFFFFFFF
        pid, end = os.getpid(), len(data)
        return [
            HEAD.pack(pid, self._number, at + SIZE >= end) + data[at : at + SIZE]
            for at in range(0, end, SIZE)
        ]

    def send(self, *message: bytes, fds: Sequence[int] = ()) -> None:
        """Sends a message and waits until it is sent. May be called from any thread."""
        with self._lock:
            packets = self._packets(message)
            if len(packets) == 1:
                self._send(packets[0], fds)
                return
            with Uninterrupted():  # an exception between two packets would leave a partial message
                for i, packet in enumerate(packets):
                    self._send(packet, fds if i == len(packets) - 1 else ())

    def _send(self, packet: bytes, fds: Sequence[int]) -> None:
        while True:
            try:
                if fds:
                    send_fds(self.sock, packet, fds)
                else:
                    self.sock.send(packet)
                return
            except BlockingIOError:
                select.select([], [self.sock], [])

    def post(self, *message: bytes) -> None:
        """Sends a message without waiting; see flush."""
        self._waiting.extend((packet, ()) for packet in self._packets(message))
        self.flush()

    def flush(self) -> bool:
        """Sends queued packets as far as there is room. Returns whether all are sent."""
        try:
            while self._waiting:
                self.sock.send(self._waiting[0][0])
                self._waiting.popleft()
        except BlockingIOError:
            return False
        except OSError:
            self._waiting.clear()  # the other end is closed, as receive will notice
        return True

    def receive(self) -> list[bytes] | None:
        """Returns the next message, None if there is none yet. Raises EOFError when the other end
        is closed."""
        while True:
            try:
                data, fds = receive_fds(self.sock, SIZE + HEAD.size)
            except BlockingIOError:
                return None
            except ConnectionError:
                raise EOFError from None
            if not data:
                raise EOFError
            self.fds.extend(fds)
            if len(data) == 1:
                self.signaled = time.monotonic()
                continue
            pid, number, last = HEAD.unpack_from(data)
            if last and (pid, number) not in self._parts:
                return _unpack(memoryview(data)[HEAD.size :])
            whole = self._parts.setdefault((pid, number), bytearray())
            whole += memoryview(data)[HEAD.size :]
            if last:
                return _unpack(memoryview(self._parts.pop((pid, number))))


def _unpack(data: memoryview) -> list[bytes]:
    (count,) = struct.unpack_from("<Q", data)
    at, message = 8 + 8 * count, []
    for length in struct.unpack_from(f"<{count}Q", data, 8):
        message.append(bytes(data[at : at + length]))
        at += length
    return message
