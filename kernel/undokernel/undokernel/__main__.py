"""python -m undokernel -f CONNECTION_FILE [--undo [--undo-memory SIZE] [--undo-files]] [options of
ipykernel]; python -m undokernel install [options]"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def restore_paths() -> None:
    """Makes sys.path and the environment what they are in an ipykernel. Where this package is not
    installed, the kernelspec's PYTHONPATH has its folder before the user's folders. Those are also
    in UNDOKERNEL_PYTHONPATH; ${PYTHONPATH} means that there are none."""
    cwd = os.getcwd()
    if sys.path and sys.path[0] in ("", cwd):  # added by -m; ipykernel adds "" itself
        del sys.path[0]
    if "UNDOKERNEL_PYTHONPATH" not in os.environ:
        return
    users = os.environ.pop("UNDOKERNEL_PYTHONPATH").replace("${PYTHONPATH}", "")
    os.environ.pop("PYTHONPATH", None)
    if users:
        os.environ["PYTHONPATH"] = users
    package = str(Path(__file__).parent.parent)
    if package in sys.path:
        at = sys.path.index(package)
        del sys.path[at]
        nothing = ("", cwd, os.path.join(cwd, "${PYTHONPATH}"))  # how an empty entry is read
        if not users and at < len(sys.path) and sys.path[at] in nothing:
            del sys.path[at]


def absent() -> str:
    """Why there can be no checkpoints here; empty if there can."""
    if sys.platform != "linux":
        return f"there is no undo on {sys.platform}: undokernel needs Linux"
    if not os.path.exists("/proc/self/fdinfo"):
        return "there is no undo here: undokernel needs /proc"
    return ""


def plain(why: str, argv: list[str]) -> int:
    """Runs ipykernel. The magics say why they do nothing."""
    from ipykernel.kernelapp import IPKernelApp

    from . import magics

    magics.absent = why
    print(f"undokernel: {why}; this is a plain ipykernel", file=sys.stderr)
    IPKernelApp.launch_instance([*argv, "--IPKernelApp.extra_extensions=undokernel.magics"])
    return 0


def serve(argv: list[str]) -> int:
    import uuid

    # Both processes need these: import them once, before the fork. A ZeroMQ context would not
    # survive it.
    import jupyter_client.session  # noqa: F401
    import zmq  # noqa: F401

    from . import channel, front, linux
    from .options import Options

    options, argv = Options.parse(argv)
    linux.adopt_orphans()
    pid, session = os.getpid(), str(uuid.uuid4())
    ours, theirs = channel.pair()
    pipes = [os.pipe(), os.pipe()]
    child = os.fork()
    if child == 0:
        ours.close()
        from . import worker  # not needed by the front

        worker.run(argv, theirs, pipes, pid, session, options is not None)
        return 0
    theirs.close()
    for _, end in pipes:
        os.close(end)
    return front.run(argv, ours, [end for end, _ in pipes], child, session, options)


def main() -> int:
    restore_paths()
    if sys.argv[1:2] == ["install"]:
        from .install import install

        return install(sys.argv[2:])
    if why := absent():
        return plain(why, [arg for arg in sys.argv[1:] if not arg.startswith("--undo")])
    return serve(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
