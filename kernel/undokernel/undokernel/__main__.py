"""python -m undokernel -f CONNECTION_FILE [options of ipykernel]"""

from __future__ import annotations

import os
import sys
import uuid
from pathlib import Path


def restore_paths() -> None:
    """Makes sys.path and the environment what they are in an ipykernel. The kernelspec's PYTHONPATH
    has the folder of this package before the user's folders. Those are also in UNDOKERNEL_PYTHONPATH;
    ${PYTHONPATH} means that there are none."""
    users = os.environ.pop("UNDOKERNEL_PYTHONPATH", "").replace("${PYTHONPATH}", "")
    os.environ.pop("PYTHONPATH", None)
    if users:
        os.environ["PYTHONPATH"] = users
    cwd = os.getcwd()
    if sys.path and sys.path[0] in ("", cwd):  # added by -m; ipykernel adds "" itself
        del sys.path[0]
    package = str(Path(__file__).parent.parent)
    if package in sys.path:
        at = sys.path.index(package)
        del sys.path[at]
        nothing = ("", cwd, os.path.join(cwd, "${PYTHONPATH}"))  # how an empty entry is read
        if not users and at < len(sys.path) and sys.path[at] in nothing:
            del sys.path[at]


def main() -> int:
    restore_paths()
    # Both processes need these: import them once, before the fork. A ZeroMQ context would not
    # survive it.
    import jupyter_client.session  # noqa: F401
    import zmq  # noqa: F401

    from . import channel, front, linux

    linux.adopt_orphans()
    pid, session = os.getpid(), str(uuid.uuid4())
    ours, theirs = channel.pair()
    pipes = [os.pipe(), os.pipe()]
    child = os.fork()
    if child == 0:
        ours.close()
        from . import worker  # not needed by the front

        worker.run(sys.argv[1:], theirs, pipes, pid, session)
        return 0
    theirs.close()
    for _, end in pipes:
        os.close(end)
    return front.run(sys.argv[1:], ours, [end for end, _ in pipes], child, session)


if __name__ == "__main__":
    sys.exit(main())
