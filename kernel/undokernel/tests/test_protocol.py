"""Jupyter's own tests of kernels."""

import unittest
from typing import Any
from unittest import mock

import jupyter_kernel_test
import zmq


class Undokernel(jupyter_kernel_test.KernelTests):
    kernel_name = "undo"
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    code_page_something = "zip?"
    code_generate_error = "raise Exception"
    code_execute_result = [
        {"code": "1+2+3", "result": "6"},
        {"code": "[n*n for n in range(1, 4)]", "result": "[1, 4, 9]"},
    ]
    code_display_data = [
        {"code": "from IPython.display import HTML, display; display(HTML('<b>x</b>'))",
         "mime": "text/html"},
    ]  # fmt: skip
    code_history_pattern = "1?2*"
    supported_history_operations = ("tail", "search")
    code_inspect_sample = "zip"
    code_clear_output = "from IPython.display import clear_output; clear_output()"
    completion_samples = [{"text": "zi", "matches": {"zip"}}]
    complete_code_samples = ["1", "print('hello, world')", "def f(x):\n  return x*2\n\n\n"]
    incomplete_code_samples = ["print('''hello", "def f(x):\n  x*2"]
    invalid_code_samples = ["import = 7q"]

    def execute_helper(self, *args: Any, **options: Any) -> Any:
        """Waits for the cell's messages: jupyter_kernel_test gives up after a tenth of a second, and
        takes a late one of the test before for the cell's."""
        execute, get, sent = self.kc.execute, self.kc.iopub_channel.get_msg, []

        def noted(*args: Any, **options: Any) -> str:
            sent.append(execute(*args, **options))
            return sent[-1]

        def patient(**_: Any) -> Any:
            while (message := get(timeout=30))["parent_header"].get("msg_id") not in sent:
                pass
            return message

        with (
            mock.patch.object(self.kc, "execute", noted),
            mock.patch.object(self.kc.iopub_channel, "get_msg", patient),
        ):
            return super().execute_helper(*args, **options)

    def answered(self, get: Any, message: dict[str, Any]) -> dict[str, Any]:
        """The content of the reply to a message."""
        wanted = message["header"]["msg_id"]
        while (reply := get(timeout=30))["parent_header"].get("msg_id") != wanted:
            pass
        content: dict[str, Any] = reply["content"]
        return content

    def execute(self, code: str, **more: Any) -> dict[str, Any]:
        """Sends a cell and returns its message."""
        message: dict[str, Any] = self.kc.session.msg("execute_request", {"code": code, **more})
        self.kc.shell_channel.send(message)
        return message

    def test_user_expressions(self) -> None:
        wanted = {"a": "u * 2", "b": "nonsense"}
        cell = self.execute("u = 5", user_expressions=wanted)
        values = self.answered(self.kc.get_shell_msg, cell)["user_expressions"]
        self.assertEqual(values["a"]["data"]["text/plain"], "10")
        self.assertEqual(values["b"]["status"], "error")

    def test_answers_under_a_busy_cell(self) -> None:
        self.flush_channels()
        cell = self.execute("input('go on?')", allow_stdin=True)
        self.kc.get_stdin_msg(timeout=30)
        with zmq.Context.instance().socket(zmq.REQ) as heart:
            heart.connect(self.kc._make_url("hb"))
            heart.send(b"ping")
            self.assertTrue(heart.poll(30_000))
        for kind, key in (("kernel_info", "language_info"), ("usage", "pid")):
            message = self.kc.session.msg(f"{kind}_request", {})
            self.kc.control_channel.send(message)
            self.assertIn(key, self.answered(self.kc.get_control_msg, message))
        self.kc.input("yes")
        self.assertEqual(self.answered(self.kc.get_shell_msg, cell)["status"], "ok")


class Plain(Undokernel):
    """Without undo, for comparison."""

    kernel_name = "python3"


del jupyter_kernel_test  # its abstract tests would be collected here

if __name__ == "__main__":
    unittest.main()
