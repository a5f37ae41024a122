"""Serves the connections to a socket, warm.py PROGRAM SOCKET, until stdin ends. The first line of a
connection is JSON, a folder and code. The code runs in that folder, in a child of this process, in
which PROGRAM is loaded with what its readers import. What the code prints comes back, then a NUL and
the exit code."""

import contextlib
import importlib
import json
import os
import select
import socket
import sys
import traceback

READERS = """cdflib.cdfwrite duckdb h5py lxml.html openpyxl PIL.Image pyarrow.dataset
pyarrow.feather pyarrow.orc pyarrow.parquet pyreadstat python_calamine scipy.io shapefile sqlalchemy
yaml""".split()


def run(folder, code):
    status = 1
    try:
        os.chdir(folder)
        exec(compile(code, "<test>", "exec"), {"__name__": "__main__", "json": json, "sys": sys})
        status = 0
    except SystemExit as error:
        status = int(error.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def main(program, path):
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    exec(open(program, encoding="utf-8").read(), {})
    for name in READERS:
        importlib.import_module(name)
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(64)
    print("ready", flush=True)
    while server in select.select([server, sys.stdin], [], [])[0]:
        connection, _ = server.accept()
        if os.fork():
            connection.close()
            continue
        server.close()
        for number in range(3):
            os.dup2(connection.fileno(), number)
        connection.close()
        asked = json.loads(sys.stdin.readline())
        if (child := os.fork()) == 0:
            run(*asked)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(1, b"\0%d" % status)
        os._exit(0)
    server.close()
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
