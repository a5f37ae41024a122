"""Jupyter's own tests of kernels."""

import unittest
from typing import Any
from unittest import mock

import jupyter_kernel_test


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


class Plain(Undokernel):
    """Without undo, for comparison."""

    kernel_name = "python3"


del jupyter_kernel_test  # its abstract tests would be collected here

if __name__ == "__main__":
    unittest.main()
