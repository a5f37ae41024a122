"""Reads {name: [[type, content], ...]}, iopub messages, and prints {name: the outputs that nbclient keeps of them}.

Neighbouring pieces of a stream are joined, as front ends do. nbclient's own coalesce_streams joins the pieces of a
whole cell, so that what stderr said between two lines of stdout is moved away from its place.
"""

import json
import sys

import nbformat.v4
from nbclient import NotebookClient


def fold(messages):
    client = NotebookClient(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell()]), record_timing=False)
    client.clear_before_next_output = False  # as async_execute_cell begins
    cell = client.nb.cells[0]
    for kind, content in messages:
        message = {"msg_type": kind, "header": {"msg_type": kind}, "parent_header": {"msg_id": "1"}, "content": content}
        client.process_message(message, cell, 0)
    outputs = []
    for output in cell.outputs:
        last = outputs[-1] if outputs else {}
        if output.output_type == "stream" and output.name == last.get("name"):
            last["text"] += output.text
        else:
            outputs.append(output)
    return outputs


json.dump({name: fold(messages) for name, messages in json.load(sys.stdin.buffer).items()}, sys.stdout)
