"""jupyter_kernel_test on a kernelspec of an IPython kernel: python certify_python.py NAME.

Prints a line for each test.
"""

import queue
import sys
import time
import unittest

import jupyter_kernel_test


class PythonKernel(jupyter_kernel_test.KernelTests):
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('oh no', file=sys.stderr)"
    completion_samples = [{"text": "zi", "matches": {"zip"}}, {"text": "import nump", "matches": {"numpy"}}]
    complete_code_samples = ["1", "print('hello, world')", "def f(x):\n  return x*2\n\n"]
    incomplete_code_samples = ["print('''hello", "def f(x):\n  x*2"]
    invalid_code_samples = ["import = 7q"]
    code_page_something = "zip?"
    code_generate_error = "raise"
    code_execute_result = [{"code": "1+2+3", "result": "6"}, {"code": "[n*n for n in range(1, 4)]", "result": "[1, 4, 9]"}]
    code_display_data = [
        {"code": "from IPython.display import HTML, display; display(HTML('<b>x</b>'))", "mime": "text/html"},
        {"code": "from IPython.display import Math, display; display(Math('x'))", "mime": "text/latex"},
    ]
    code_history_pattern = "1?2*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "zip"
    code_clear_output = "from IPython.display import clear_output; clear_output()"

    def execute_helper(self, *args, **kwargs):
        """Waits longer than 0.1 s for each output, as a busy machine may need."""
        channel = self.kc.iopub_channel
        get_msg = channel.get_msg
        channel.get_msg = lambda timeout: get_msg(timeout=10)
        try:
            return super().execute_helper(*args, **kwargs)
        finally:
            channel.get_msg = get_msg

    def messages(self, request):
        """The types and texts of the messages published about a request."""
        found = []
        while True:
            m = self.kc.get_iopub_msg(timeout=20)
            if m["parent_header"].get("msg_id") == request:
                found.append((m["msg_type"], m["content"]))
                if m["content"].get("execution_state") == "idle":
                    return found

    def ask(self, kind, seconds=20):
        """The content of the reply to a request on the control channel."""
        message = self.kc.session.msg(kind, {})
        self.kc.control_channel.send(message)
        while True:
            m = self.kc.get_control_msg(timeout=seconds)
            if m["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return m["content"]

    def reply(self, request):
        while True:
            m = self.kc.get_shell_msg(timeout=20)
            if m["parent_header"].get("msg_id") == request:
                return m["content"]

    def run_code(self, code, **options):
        request = self.kc.execute(code, **options)
        return self.messages(request), self.reply(request)

    def test_aborts_what_is_queued(self):
        self.flush_channels()
        requests = [self.kc.execute(code) for code in ("import time; time.sleep(.5); 1/0", "1", "2")]
        self.assertEqual([self.reply(r)["status"] for r in requests], ["error", "aborted", "aborted"])
        self.assertEqual(self.run_code("3")[1]["status"], "ok")

    def test_goes_on_after_an_error(self):
        self.flush_channels()
        requests = [self.kc.execute(code, stop_on_error=False) for code in ("import time; time.sleep(.5); 1/0", "1")]
        self.assertEqual([self.reply(r)["status"] for r in requests], ["error", "ok"])

    def test_user_expressions(self):
        _, reply = self.run_code("u = 5", user_expressions={"a": "u * 2", "b": "nonsense"})
        self.assertEqual(reply["user_expressions"]["a"]["data"]["text/plain"], "10")
        self.assertEqual(reply["user_expressions"]["b"]["status"], "error")

    def test_silent(self):
        published, reply = self.run_code("print('x'); 5", silent=True)
        self.assertEqual(reply["status"], "ok")
        self.assertNotIn("execute_result", [kind for kind, _ in published])
        self.assertNotIn("execute_input", [kind for kind, _ in published])

    def answered(self, code, answer):
        self.flush_channels()
        request = self.kc.execute(code, allow_stdin=True)
        question = self.kc.get_stdin_msg(timeout=20)["content"]
        self.kc.input(answer)
        self.assertEqual(self.reply(request)["status"], "ok")
        return question, "".join(c["text"] for kind, c in self.messages(request) if kind == "stream")

    def test_input(self):
        question, out = self.answered("print('got', input('who? '))", "me")
        self.assertEqual((question, out), ({"prompt": "who? ", "password": False}, "got me\n"))

    def test_getpass(self):
        question, out = self.answered("import getpass; print('got', getpass.getpass('key? '))", "x")
        self.assertEqual((question, out), ({"prompt": "key? ", "password": True}, "got x\n"))

    def test_async_and_background(self):
        self.run_code("import asyncio\nn = 0\nasync def f():\n    global n\n    while True:\n        await asyncio.sleep(.01); n += 1\nt = asyncio.ensure_future(f())")
        published, _ = self.run_code("await asyncio.sleep(.5); t.cancel(); print(n > 3)")
        self.assertIn("True", "".join(c.get("text", "") for _, c in published))

    def test_interrupts(self):
        for code in ("while True: pass", "import time; time.sleep(60)", "import asyncio; await asyncio.sleep(60)"):
            for how in (self.km.interrupt_kernel, lambda: self.ask("interrupt_request")):
                self.flush_channels()
                request = self.kc.execute(code)
                while self.kc.get_iopub_msg(timeout=20)["msg_type"] != "execute_input":
                    pass
                time.sleep(0.3)
                how()
                self.assertIn(self.reply(request)["ename"], ("KeyboardInterrupt", "CancelledError"))

    def test_widgets(self):
        published, _ = self.run_code("import ipywidgets as w; s = w.IntSlider(value=3); s")
        comm = next(c["comm_id"] for kind, c in published if kind == "comm_open" and "value" in c["data"]["state"])
        self.kc.shell_channel.send(self.kc.session.msg("comm_msg", {
            "comm_id": comm, "data": {"method": "update", "state": {"value": 8}, "buffer_paths": []}}))
        published, _ = self.run_code("print(s.value)")
        self.assertIn("8\n", [c.get("text") for _, c in published])

    def test_heartbeat_while_busy(self):
        self.flush_channels()
        request = self.kc.execute("import time; time.sleep(3)")
        self.kc.hb_channel.unpause()
        time.sleep(2)
        self.assertTrue(self.kc.hb_channel.is_beating())
        self.reply(request)

    def test_kernel_info_while_busy(self):
        self.flush_channels()
        request = self.kc.execute("import time; time.sleep(2)")
        self.assertEqual(self.ask("kernel_info_request", 1.5)["language_info"]["name"], "python")
        self.reply(request)

    def test_usage(self):
        self.assertIn("pid", self.ask("usage_request"))

    def test_output_of_processes_and_c(self):
        published, _ = self.run_code("import os, subprocess; os.system('echo one'); os.write(1, b'two\\n'); subprocess.run(['echo', 'three']); print('four')\n!echo five")
        out = "".join(c["text"] for kind, c in published if kind == "stream")
        for word in ("one", "two", "three", "four", "five"):
            self.assertIn(word, out)

    def test_late_output(self):
        self.flush_channels()
        request = self.kc.execute("import threading, time\ndef f(): time.sleep(.5); print('late')\nthreading.Thread(target=f).start()")
        self.messages(request)
        with self.assertRaises(queue.Empty) as none:
            while self.kc.get_iopub_msg(timeout=10)["content"].get("text") != "late\n":
                pass
            raise queue.Empty("it came")
        self.assertEqual(str(none.exception), "it came")


class Verbose(unittest.TextTestResult):
    def addSuccess(self, test):
        super().addSuccess(test)
        print("passed", test._testMethodName, flush=True)


if __name__ == "__main__":
    PythonKernel.kernel_name = sys.argv.pop()
    unittest.main(testRunner=unittest.TextTestRunner(resultclass=Verbose))
