# Runs once in every IPython kernel that we start, before the first cell, with shell
# and prelude defined. It defines no names in the session. ipykernel's internals differ between versions:
# what is missing is skipped.
import codecs
import contextlib
import os
import select
import sys
import threading

import zmq

# ipykernel never sets ZMQ_SNDHWM: if more than 1000 iopub messages wait to be sent, the rest
# is dropped silently. A cell that printed 20,000 lines on a busy machine lost 3,000 of them
# although the client did nothing but read.
with contextlib.suppress(AttributeError):
    thread = shell.kernel.iopub_thread
    thread.schedule(lambda: thread.socket.setsockopt(zmq.SNDHWM, 0))


def in_pieces(flush, size=4 << 20):
    """Splits a very long text into several messages: a reader has each whole in memory."""

    def pieces():
        for pair in flush():  # the text and its parent request, in either order
            at = 0 if isinstance(pair[0], str) else 1
            for start in range(0, len(pair[at]), size):
                piece = pair[at][start : start + size]
                yield (piece, pair[1]) if at == 0 else (pair[0], piece)

    return pieces


with contextlib.suppress(AttributeError):
    for stream in (sys.stdout, sys.stderr):
        stream._flush_buffers = in_pieces(stream._flush_buffers)


def watch(stream):
    """Makes flush publish what processes have written to the stream's descriptor.

    ipykernel reads the descriptor in a thread that nothing waits for: a cell could end, and be
    judged, before the output of its last command was read.
    """
    fd, flush, lock = stream._fid, stream.flush, threading.RLock()
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    stream._should_watch = False
    os.write(stream._original_stdstream_fd, b"\0")  # wakes ipykernel's thread, which then ends
    stream.watch_fd_thread.join()
    os.set_blocking(fd, False)

    def take():
        with lock, contextlib.suppress(BlockingIOError):
            text = os.read(fd, 1 << 20)  # the largest capacity of a pipe
            os.write(stream._original_stdstream_copy, text)
            stream.write(decode(text))

    def take_always():
        poll = select.poll()  # select.select does not take descriptors above 1023
        poll.register(fd, select.POLLIN)
        while poll.poll():
            take()

    def flush_all():
        if stream._is_master_process():  # the lock of a forked process could be held for ever
            take()
        flush()

    stream.flush = flush_all
    threading.Thread(target=take_always, daemon=True).start()


for stream in (sys.stdout, sys.stderr):
    with contextlib.suppress(AttributeError):
        if stream._should_watch:
            watch(stream)

with contextlib.suppress(Exception):
    exec(prelude, {})

# IPython runs `!command` in a new pseudo-terminal, which a sandbox may not provide.
try:
    os.close(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
except (AttributeError, OSError):
    with contextlib.suppress(AttributeError):
        shell.system = shell.system_raw
