"""The control channel, which the front itself answers, whatever the worker is doing."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

from . import linux

if TYPE_CHECKING:
    from .front import Front

Message = dict[str, Any]


class Control:
    def __init__(self, front: Front) -> None:
        self.front = front

    def handle(self, frames: list[bytes]) -> None:
        front = self.front
        try:
            idents, parts = front.session.feed_identities(frames)
            message = front.session.deserialize(parts)
        except Exception:
            return  # it has no valid signature, or is a repetition
        kind = message["header"]["msg_type"]
        try:
            if front.client.handle(kind, idents, message):
                return
        except (TypeError, ValueError, AttributeError) as error:  # a malformed field
            self.reply(
                idents,
                message,
                {"status": "error", "ename": "Failed", "evalue": str(error), "traceback": []},
            )
            return
        front.publish_status("busy", message)
        answer = getattr(self, kind, None) if kind.endswith("_request") else None
        content = answer(message["content"]) if answer else self.unknown(kind)
        self.reply(idents, message, content)
        if kind == "shutdown_request":
            front.session.send(
                front.sockets.iopub,
                "shutdown_reply",
                content,
                parent=message,
                ident=b"kernel.shutdown",
            )
        front.publish_status("idle", message)

    def reply(self, idents: Any, message: Message, content: Message) -> None:
        kind = message["header"]["msg_type"].rsplit("_", 1)[0] + "_reply"
        self.front.session.send(
            self.front.sockets.control, kind, content, parent=message, ident=idents
        )

    def unknown(self, kind: str) -> Message:
        return {
            "status": "error",
            "ename": "Unsupported",
            "evalue": f"this kernel has no {kind}",
            "traceback": [],
        }

    def kernel_info_request(self, _: Message) -> Message:
        return self.front.info or self.unknown("answer before it has started")

    def interrupt_request(self, _: Message) -> Message:
        self.front.interrupt()
        return {"status": "ok"}

    def undokernel_kill_request(self, _: Message) -> Message:
        """Kills the worker. Its end is noticed and reported like any other."""
        if self.front.live:
            linux.kill(self.front.live.pid)
        return {"status": "ok"}

    def shutdown_request(self, content: Message) -> Message:
        reply = {"status": "ok", "restart": content.get("restart", False)}
        self.front.stop()
        return reply

    def connect_request(self, _: Message) -> Message:
        return {
            "status": "ok",
            **{k: v for k, v in self.front.sockets.info.items() if k.endswith("_port")},
        }

    def usage_request(self, _: Message) -> Message:
        pids = [os.getpid(), *linux.descendants(os.getpid())]
        return {
            "hostname": socket.gethostname(), "pid": os.getpid(), "cpu_count": os.cpu_count(),
            "kernel_memory": sum(map(linux.pss, pids)),
        }  # fmt: skip
