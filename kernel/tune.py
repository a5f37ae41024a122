# Runs once in every IPython kernel of ours, with shell given, before the first
# cell. It leaves no name behind. ipykernel's inner parts have other names in other
# versions: what is not there is left as it is.
import contextlib
import os
import sys

import zmq

# ipykernel never sets ZMQ_SNDHWM: more than 1000 iopub messages that wait to be
# sent are dropped without a word. A cell that printed 20,000 lines on a busy
# machine lost 3,000 of them although the reader did nothing but read.
with contextlib.suppress(AttributeError):
    thread = shell.kernel.iopub_thread
    thread.schedule(lambda: thread.socket.setsockopt(zmq.SNDHWM, 0))


def in_pieces(flush, size=4 << 20):
    """Makes several messages of a very long text, each of which a reader has whole in memory."""

    def pieces():
        for pair in flush():  # of the text and the request that it is about, in either order
            at = 0 if isinstance(pair[0], str) else 1
            for start in range(0, len(pair[at]), size):
                piece = pair[at][start : start + size]
                yield (piece, pair[1]) if at == 0 else (pair[0], piece)

    return pieces


with contextlib.suppress(AttributeError):
    for stream in (sys.stdout, sys.stderr):
        stream._flush_buffers = in_pieces(stream._flush_buffers)

# IPython runs `!command` in a terminal of its own, which there is none of in the sandbox builtin.
try:
    os.close(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
except (AttributeError, OSError):
    with contextlib.suppress(AttributeError):
        shell.system = shell.system_raw
