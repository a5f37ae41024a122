"""Parts that do not need a kernel."""

import os
import socket
import subprocess
import threading
import time
import unittest
import warnings
from unittest import mock

import zmq

from undokernel import checkpoints, linux, sockets


class Ending(unittest.TestCase):
    def test_every_signal(self):
        for number in range(1, 65):
            with self.subTest(number):
                self.assertIn(f"killed by signal {number}", linux.ending(number))


class Numbers(unittest.TestCase):
    """Process ids are reused."""

    def sleeper(self):
        child = subprocess.Popen(["sleep", "60"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def test_killed_is_only_a_child_of_that_parent(self):
        parent = subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE)
        child = int(parent.stdout.readline())
        parent.stdout.close()
        for given, killed in ((os.getppid(), []), (parent.pid, [mock.call(mock.ANY, child)])):
            with mock.patch.object(linux, "kill_by") as kill:
                linux.kill_child(child, given)
            self.assertEqual(kill.mock_calls, killed)
        linux.kill_child(child, parent.pid)
        self.assertEqual(parent.wait(30), 0)  # it waited for the child

    def test_copy_that_has_been_waited_for(self):
        child = self.sleeper()
        mine, theirs = socket.socketpair()
        with mine, theirs, mock.patch.object(checkpoints, "PATIENCE", 1):
            copy = checkpoints.Checkpoint(0, mine, 1, [])
            theirs.send(b"%d" % os.getppid())
            self.assertFalse(copy.settle())
            self.assertEqual(copy.pid, 0)
            theirs.send(b"%d" % child.pid)
            self.assertTrue(copy.settle())
            self.assertEqual(copy.pid, child.pid)


class Publishing(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", ResourceWarning)  # destroy closes the sockets
        self.context = zmq.Context()
        self.addCleanup(lambda: self.context.destroy(linger=0))

    def subscriber(self, port):
        s = self.context.socket(zmq.SUB)
        s.rcvhwm, s.rcvbuf = 1, 4096
        s.subscribe(b"")
        s.connect(f"tcp://127.0.0.1:{port}")
        return s

    def publisher(self, stalled):
        s = self.context.socket(zmq.XPUB)
        s.sndhwm, s.sndbuf, s.xpub_nodrop, s.xpub_verbose = sockets.QUEUE, 4096, 1, 1
        port = s.bind_to_random_port("tcp://127.0.0.1")
        return sockets.Publisher(s, stalled), port

    def test_one_who_never_reads(self):
        p, port = self.publisher(2)
        silent, reader = self.subscriber(port), self.subscriber(port)
        for _ in range(2):
            p.socket.recv()  # its subscription
        got = []

        def read():
            while (message := reader.recv()) != b"end":
                got.append(message)

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        waited, messages = 0, [b"%06d" % i * 1000 for i in range(3 * sockets.QUEUE)]
        for message in [*messages, b"end"]:
            p.send_multipart([message])
            while p.waits():
                waited += 1
                time.sleep(0.001)
                p.flush()
        thread.join(60)
        self.assertGreater(waited, 0)  # no subscriber has more than a queue
        self.assertEqual(got, messages)
        silent.rcvtimeo, left = 1000, 0
        try:
            while silent.recv():
                left += 1
        except zmq.Again:
            pass
        self.assertLess(left, len(messages))

    def test_one_who_reads_slowly_gets_all(self):
        p, port = self.publisher(60)
        reader = self.subscriber(port)
        p.socket.recv()
        messages = [b"%06d" % i * 1000 for i in range(5 * sockets.QUEUE)]
        for message in messages:
            p.send_multipart([message])
        self.assertTrue(p.waits())
        for message in messages[:-400]:
            p.flush()
            while not reader.poll(1):
                p.flush()
            self.assertEqual(reader.recv(), message)
        got = []
        thread = threading.Thread(
            target=lambda: got.extend(reader.recv() for _ in range(400)), daemon=True
        )
        thread.start()
        p.finish(60)
        self.assertFalse(p.waits())
        thread.join(60)
        self.assertEqual(got, messages[-400:])

    def test_nothing_is_dropped_after_an_error(self):
        class Broken:
            xpub_nodrop = 1

            def send_multipart(self, *_):
                raise zmq.Again if self.xpub_nodrop else zmq.ZMQError(zmq.ENOTSUP)

        p = sockets.Publisher(Broken(), 0)
        with self.assertRaises(zmq.ZMQError):
            p.send_multipart([b"x"])
        self.assertEqual(p.socket.xpub_nodrop, 1)
        self.assertTrue(p.waits())


def test_children_without_the_list_of_the_kernel(monkeypatch):
    """Some kernels have no /proc/PID/task/TID/children."""
    shell = subprocess.Popen(["/bin/sh", "-c", "sleep 600 & echo; wait"], stdout=subprocess.PIPE)
    try:
        shell.stdout.readline()
        listed = list(linux.descendants(shell.pid))
        monkeypatch.setattr(linux, "LISTS_CHILDREN", False)
        assert len(listed) == 1
        assert list(linux.descendants(shell.pid)) == listed
        linux.end_all(shell.pid)
    finally:
        shell.kill()
        shell.wait()
        shell.stdout.close()
