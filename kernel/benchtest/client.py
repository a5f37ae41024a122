"""The other side of the comparison: jupyter_client as a script would use it.

client.py roundtrip N      median seconds of N executions, each until all output and idle
client.py displays N       how many of N displays arrive if iopub is read after the reply
"""

import statistics
import sys
import time
from queue import Empty

from jupyter_client.manager import start_new_kernel


def roundtrip(client, n):
    times = []
    for _ in range(n):
        begun = time.perf_counter()
        client.execute_interactive(
            "x = 1", store_history=True, output_hook=lambda message: None, timeout=60
        )
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def displays(client, n):
    client.execute(
        f"from IPython.display import display\nfor i in range({n}): display(i)",
        reply=True,
        timeout=120,
    )
    kept, idle = 0, False
    try:
        while not idle:
            message = client.get_iopub_msg(timeout=4)
            kept += message["msg_type"] == "display_data"
            idle = (
                message["msg_type"] == "status"
                and message["content"]["execution_state"] == "idle"
                and kept > 0
            )
    except Empty:
        pass
    return f"{kept} {idle}"


manager, client = start_new_kernel(kernel_name="python3")
try:
    print({"roundtrip": roundtrip, "displays": displays}[sys.argv[1]](client, int(sys.argv[2])))
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
