"""A front end of Jupyter for tests: it runs cells in a kernel and keeps their outputs, as a notebook
does, those that change later included."""

import os
import re
import sys
import time

import jupyter_client

WAIT = 120  # seconds that anything may take


class Notebook:
    """A notebook with a kernel of its own in the current folder."""

    def __init__(self):
        self.manager = jupyter_client.KernelManager()
        self.manager.start_kernel()
        self.open()

    def open(self):
        """Connects with a session of its own, as another tab or a reopened notebook does."""
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=WAIT)
        self.cells = {}  # outputs by the request: text, or [display id, data]

    def close(self):
        self.client.stop_channels()

    def restart(self):
        self.close()
        self.manager.restart_kernel(now=True)
        self.open()

    def end(self):
        self.close()
        self.manager.shutdown_kernel(now=True)

    def start(self, code):
        """Sends a cell and returns the request, under which its outputs come."""
        request = self.client.execute(code)
        self.cells[request] = []
        return request

    def run(self, code):
        """Runs a cell and returns what its output shows, as text."""
        request = self.start(code)
        self.until(lambda: self.idle == request)
        self.reply = self.client.get_shell_msg(timeout=WAIT)
        while self.reply["parent_header"].get("msg_id") != request:
            self.reply = self.client.get_shell_msg(timeout=WAIT)
        self.asked = request
        return self.shown(request)

    def until(self, happened):
        self.idle, end = None, time.monotonic() + WAIT
        while not happened():
            assert time.monotonic() < end, f"it does not come to pass: {self.cells}"
            self.take(self.client.get_iopub_msg(timeout=WAIT))

    def take(self, message):
        kind, content = message["msg_type"], message["content"]
        request = message["parent_header"].get("msg_id")
        outputs = self.cells.get(request)
        if kind == "status" and content["execution_state"] == "idle":
            self.idle = request
        if outputs is None:
            return
        if kind == "stream":
            outputs.append(content["text"])
        elif kind == "error":
            outputs.append(f"{content['ename']}: {content['evalue']}")
        elif kind == "execute_result":
            outputs.append(content["data"]["text/plain"])
        elif kind == "display_data":
            outputs.append([content["transient"].get("display_id"), content["data"]])
        elif kind == "update_display_data":
            for output in outputs:
                if output[0] == content["transient"]["display_id"]:
                    output[1] = content["data"]

    def shown(self, request):
        return "".join(o if isinstance(o, str) else o[1].get("text/plain", "") for o in self.cells[request])

    def page(self, request):
        return "".join(o[1].get("text/html", "") for o in self.cells[request] if isinstance(o, list))

    def waits(self, pattern, request=None):
        """Waits until the output of a cell, by default the last that ran, has a text."""
        request = request or self.asked
        self.until(lambda: re.search(pattern, self.shown(request)))
        return self.shown(request)

    def ask(self, question, magic="%%dsstar"):
        """Asks, and returns what is shown at the end."""
        self.run(f"{magic}\n{question}")
        return self.answer()

    def answer(self):
        self.until(lambda: self.ended(self.asked))
        return self.shown(self.asked)

    def ended(self, request):
        return not re.search(r"dsstar: (working|stopping)", self.shown(request))


def expect(text, *patterns):
    """Checks that a text has all patterns, in this order."""
    rest = text
    for pattern in patterns:
        found = re.search(pattern, rest)
        if not found:
            sys.exit(f"{pattern!r} is not there:\n{text}")
        rest = rest[found.end():]
