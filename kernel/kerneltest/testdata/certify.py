"""The real jupyter_client and jupyter_kernel_test on the fake kernel.

The kernelspecs are named for the faults. Every class is one way to reach the kernel.
"""

import json
import os
import queue
import signal
import tempfile
import time
import unittest

import jupyter_kernel_test
from jupyter_client.manager import KernelManager


def start(fault="none", signed=True, **traits):
    km = KernelManager(kernel_name=fault, **traits)
    if not signed:
        km.session.key = b""
    km.start_kernel()
    kc = km.client()
    kc.start_channels()
    try:
        kc.wait_for_ready(timeout=20)
    except BaseException:
        stop(km, kc)
        raise
    return km, kc


def stop(km, kc):
    kc.stop_channels()
    km.shutdown_kernel(now=True)


class Certified(jupyter_kernel_test.KernelTests):
    traits = {}

    language_name = "fake"
    file_extension = ".txt"
    code_hello_world = 'print("hello, world")'
    code_stderr = 'eprint("oh no")'
    completion_samples = [{"text": "pri", "matches": ["print"]}, {"text": "r", "matches": ["raise", "result"]}]
    complete_code_samples = ["raise", 'print("x")', ""]
    incomplete_code_samples = ['print("x']
    invalid_code_samples = [")"]
    code_page_something = "page some help"
    code_generate_error = "raise"
    code_execute_result = [{"code": "result 42", "result": "42"}, {"code": "result 43", "result": "43"}]
    code_display_data = [{"code": "display image/png", "mime": "image/png"}, {"code": "display text/html", "mime": "text/html"}]
    code_history_pattern = "res?lt 4*2"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "print"
    code_clear_output = "clear"

    @classmethod
    def setUpClass(cls):
        cls.km, cls.kc = start(**cls.traits)

    def execute_helper(self, *args, **kwargs):
        """Waits longer than 0.1 s for each output, as a busy machine may need."""
        channel = self.kc.iopub_channel
        get_msg = channel.get_msg
        channel.get_msg = lambda timeout: get_msg(timeout=10)
        try:
            return super().execute_helper(*args, **kwargs)
        finally:
            channel.get_msg = get_msg


class OverIPC(Certified):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory(dir="/tmp")  # others are too long for sockets
        cls.traits = {"transport": "ipc", "ip": os.path.join(cls.dir.name, "k")}
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.dir.cleanup()


class Unsigned(Certified):
    traits = {"signed": False}

    def test_connection_file(self):
        with open(self.km.connection_file) as f:
            self.assertEqual(json.load(f)["key"], "")


class Behaviour(unittest.TestCase):
    """What jupyter_kernel_test does not test."""

    def open(self, fault="none"):
        self.km, self.kc = start(fault)
        self.addCleanup(stop, self.km, self.kc)

    def run_cell(self, code, **options):
        outputs = []
        reply = self.kc.execute_interactive(code, timeout=20, output_hook=outputs.append, **options)
        return reply["content"], outputs

    def text(self, outputs):
        return "".join(m["content"]["text"] for m in outputs if m["msg_type"] == "stream")

    def test_heartbeat(self):
        self.open()
        self.kc.hb_channel.unpause()
        time.sleep(1.5)  # it beats once a second
        deadline = time.monotonic() + 10
        while not self.kc.hb_channel.is_beating() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertTrue(self.kc.hb_channel.is_beating())

    def test_count(self):
        self.open()
        for want, options in (1, {}), (1, {"silent": True}), (1, {"store_history": False}), (2, {}):
            reply, outputs = self.run_cell("raise" if want == 1 else "", **options)
            self.assertEqual(reply["execution_count"], want)
            inputs = [m["content"]["execution_count"] for m in outputs if m["msg_type"] == "execute_input"]
            self.assertEqual(inputs, [] if options.get("silent") else [want])

    def test_error(self):
        self.open()
        reply, outputs = self.run_cell('print("a")\nraise\nprint("b")', user_expressions={"x": "y"})
        self.assertEqual((reply["ename"], reply["evalue"], reply["traceback"]), ("E", "v", ["E: v"]))
        self.assertEqual(reply["user_expressions"]["x"]["status"], "error")
        self.assertEqual(self.text(outputs), "a\n")

    def test_input(self):
        self.open()
        reply, outputs = self.run_cell("input", allow_stdin=True, stdin_hook=lambda _: self.kc.input("me"))
        self.assertEqual((reply["status"], self.text(outputs)), ("ok", "me\n"))
        reply, _ = self.run_cell("input", allow_stdin=False)
        self.assertEqual(reply["ename"], "StdinNotImplementedError")

    def test_interrupt(self):
        self.open()
        for ask in (lambda: self.km.signal_kernel(signal.SIGINT), lambda: self.kc.control_channel.send(
                self.kc.session.msg("interrupt_request", {}))):
            self.kc.execute("sleep")
            time.sleep(0.3)
            ask()
            self.assertEqual(self.kc.get_shell_msg(timeout=5)["content"]["ename"], "KeyboardInterrupt")
        self.assertEqual(self.kc.get_control_msg(timeout=5)["msg_type"], "interrupt_reply")

    def test_kernel_info_on_control(self):
        self.open()
        self.kc.execute("sleep")
        request = self.kc.session.msg("kernel_info_request", {})
        self.kc.control_channel.send(request)
        reply = self.kc.get_control_msg(timeout=5)
        self.assertEqual(reply["parent_header"]["msg_id"], request["header"]["msg_id"])
        self.assertEqual(reply["content"]["implementation"], "fake")

    def test_no_control(self):
        self.open("no-control")
        self.kc.execute("sleep 2")
        time.sleep(0.2)
        self.kc.control_channel.send(self.kc.session.msg("kernel_info_request", {}))
        with self.assertRaises(queue.Empty):
            self.kc.get_control_msg(timeout=0.5)
        self.kc.get_control_msg(timeout=5)

    def test_shutdown(self):
        self.open()
        self.kc.shutdown(restart=True)
        self.assertEqual(self.kc.get_control_msg(timeout=5)["content"], {"status": "ok", "restart": True})
        while (m := self.kc.get_iopub_msg(timeout=5))["msg_type"] != "shutdown_reply":
            pass
        self.assertTrue(m["content"]["restart"])
        self.assertEqual(self.km.provisioner.process.wait(5), 0)

    def test_restart(self):
        self.open()
        self.run_cell("")
        self.km.restart_kernel(now=True)
        self.kc.wait_for_ready(timeout=20)
        self.assertEqual(self.run_cell("")[0]["execution_count"], 1)

    def test_death(self):
        for fault, code, status in ("none", "die", 7), ("deaf", "kill", -signal.SIGKILL):
            self.open(fault)
            self.kc.execute(code)
            while (m := self.kc.get_iopub_msg(timeout=5))["msg_type"] != "stream":
                pass
            self.assertEqual(m["content"]["text"], "dying\n")
            self.assertEqual(self.km.provisioner.process.wait(5), status)

    def test_will_not_shut_down(self):
        for fault, by in ("no-shutdown-reply", -signal.SIGINT), ("deaf", -signal.SIGKILL):
            self.open(fault)
            self.kc.shutdown()
            with self.assertRaises(queue.Empty):
                self.kc.get_control_msg(timeout=0.3)
            for number in signal.SIGINT, signal.SIGTERM, signal.SIGKILL:
                self.km.signal_kernel(number)
                time.sleep(0.3)
            code = self.km.provisioner.process.wait(5)
            self.assertIn(code, (by, 2) if by == -signal.SIGINT else (by,))  # 2: Go's own way to die of SIGINT

    def test_flood(self):
        self.open()
        n = 5000
        self.assertEqual(self.text(self.run_cell(f"flood {n}")[1]), "".join(f"{i}\n" for i in range(n)))
        _, outputs = self.run_cell(f"flood {n} displays")
        self.assertEqual(sum(m["msg_type"] == "display_data" for m in outputs), n)

    def test_grandchildren(self):
        self.open("grandchildren")
        pids = [int(p) for p in self.text(self.run_cell("children")[1]).split()]
        groups = [os.getpgid(p) for p in pids]
        for p in pids:
            os.kill(p, signal.SIGKILL)
        self.assertEqual(groups, [self.km.provisioner.process.pid, pids[1]])

    def test_slow_start(self):
        begun = time.monotonic()
        self.open("slow-start")
        self.assertGreater(time.monotonic() - begun, 2)

    def test_null_dates(self):
        self.open("null-dates")
        _, outputs = self.run_cell('print("a")\nprint("b")')
        self.assertEqual({m["header"]["date"] for m in outputs}, {None, "yesterday"})

    def test_no_stdin(self):
        self.open("no-stdin")
        reply, _ = self.run_cell("input", allow_stdin=True)
        self.assertEqual(reply["ename"], "StdinNotImplementedError")

    def test_late(self):
        self.open("late")
        self.assertEqual(self.text(self.run_cell('print("a")')[1]), "a\n")
        m = self.kc.get_iopub_msg(timeout=5)
        self.assertEqual(m["content"]["text"], "late\n")

    def test_duplicates(self):
        with self.assertRaisesRegex(ValueError, "Duplicate Signature"):
            self.open("duplicates")


if __name__ == "__main__":
    unittest.main(verbosity=2)
