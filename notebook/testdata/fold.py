"""Folds iopub messages into outputs with nbclient.

Reads {name: [cell, ...]}, each cell a list of messages [type, content], and prints
{name: [outputs, ...]}: the outputs of each cell when the cells run one after the other.

Consecutive pieces of a stream are joined, as in front ends, and nbclient's own expression applies
carriage returns. coalesce_streams of nbclient is not used: it joins all pieces in a cell, which
moves what stderr printed between two lines of stdout.
"""

import json
import sys

import nbformat.v4
from nbclient import NotebookClient
from nbclient.client import _RGX_CARRIAGERETURN


def fold(cells):
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell() for _ in cells])
    client = NotebookClient(nb, record_timing=False)
    client.reset_execution_trackers()
    for index, messages in enumerate(cells):
        client.clear_before_next_output = False  # as async_execute_cell begins
        for kind, content in messages:
            message = {"msg_type": kind, "header": {"msg_type": kind}, "parent_header": {"msg_id": "1"}, "content": content}
            client.process_message(message, nb.cells[index], index)
    return [coalesce(cell.outputs) for cell in nb.cells]


def coalesce(outputs):
    joined = []
    for output in outputs:
        last = joined[-1] if joined else {}
        if output.output_type == "stream" and output.name == last.get("name"):
            last["text"] += output.text
        else:
            joined.append(output)
    for output in joined:
        if output.output_type == "stream":
            output["text"] = _RGX_CARRIAGERETURN.sub("", output["text"])
    return joined


json.dump({name: fold(cells) for name, cells in json.load(sys.stdin.buffer).items()}, sys.stdout)
