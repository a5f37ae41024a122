# Passes a random number to the next run of this cell through everything that might outlive a session.
import ctypes
import fcntl
import os
import pathlib
import re
import socket
import struct
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
form, first = "hhqqi4x", 1 << 40
held = open("data/numbers.csv")


def locked():
    kind, _, start, _, _ = struct.unpack(
        form, fcntl.fcntl(held, fcntl.F_GETLK, struct.pack(form, fcntl.F_WRLCK, 0, first, 0, 0))
    )
    return None if kind == fcntl.F_UNLCK else start


def lock(number):
    fcntl.fcntl(held, fcntl.F_SETLK, struct.pack(form, fcntl.F_RDLCK, 0, number, 1, 0))


places = [
    os.path.join(d, "dsstar-passed-on")
    for d in (".", "..", os.environ["TMPDIR"], os.environ["HOME"], "/tmp", "/var/tmp", "/dev/shm")
]


def shared(size=0):
    at = libc.shmget(0x44535441, 8, 0o600 | (0o1000 if size else 0))
    return ctypes.cast(libc.shmat(at, None, 0), ctypes.POINTER(ctypes.c_int64)) if at >= 0 else None


def recorded():  # numbers in the run folder, which is in the data
    for run in pathlib.Path("data/dsstar-runs").glob("*/"):
        names = ["notebook.ipynb", "trace.jsonl", "solution.py"] + [
            n for n in os.listdir(run) if n.startswith(".")
        ]
        for path in [run / n for n in names] + [p for n in names for p in (run / n).glob("*")]:
            try:
                text = path.read_text()
            except OSError:
                text = ""
            for number in re.findall(
                r"109951\d{7}|1099[5-9]\d{8}|110[0-4]\d{9}", path.name + " " + text
            ):
                yield int(number)


def found():
    yield locked()
    try:
        yield from recorded()
    except OSError:
        pass
    for place in places:
        try:
            with open(place) as f:
                yield int(f.read())
        except (OSError, ValueError):
            pass
    memory = shared()
    yield memory[0] if memory else None
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(3)
            s.connect("\0dsstar-passed-on")
            yield int(s.recv(32))
    except (OSError, ValueError):
        pass


def leave(number):
    for place in places:
        try:
            with open(place, "w") as f:
                f.write(str(number))
        except OSError:
            pass
    with open(f"passed-on-{number}", "w"):
        pass
    memory = shared(8)
    if memory:
        memory[0] = number
    if os.fork() == 0:  # a process that tries to outlive the session
        try:
            os.setsid()
            lock(number)
            with socket.socket(socket.AF_UNIX) as s:
                s.bind("\0dsstar-passed-on")
                s.listen()
                s.settimeout(60)
                while True:
                    s.accept()[0].send(str(number).encode())
        except OSError:
            time.sleep(60)
        finally:
            os._exit(0)
    lock(number)


total = next((n for n in found() if n), None)
if not total:
    total = first + int.from_bytes(os.urandom(4), "big")
    leave(total)
print(total)
