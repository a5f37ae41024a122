"""python -m undokernel install: writes a kernelspec."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from .options import Options, size


def install(argv: list[str]) -> int:
    given = _parser().parse_args(argv)
    from jupyter_client.kernelspec import KernelSpecManager

    spec = kernelspec(Options(given.memory, given.files), given.display_name)
    prefix = sys.prefix if given.sys_prefix else given.prefix
    with tempfile.TemporaryDirectory() as folder:
        _write(Path(folder) / "spec", spec)
        where = KernelSpecManager().install_kernel_spec(
            str(Path(folder) / "spec"), given.name, user=given.user, prefix=prefix
        )
    print(f"Installed the kernelspec {given.name} in {where}")
    return 0


def kernelspec(options: Options, display_name: str) -> dict[str, object]:
    """The kernel.json of this interpreter."""
    start = [sys.executable, "-m", "undokernel", "-f", "{connection_file}"]
    return {
        "argv": [*start, *options.arguments()],
        "display_name": display_name,
        "language": "python",
        "metadata": {"debugger": False, "supported_encryption": ["curve"]},
        "kernel_protocol_version": "5.5",
    }


def _write(folder: Path, spec: dict[str, object]) -> None:
    folder.mkdir()
    from ipykernel.kernelspec import RESOURCES

    for logo in Path(RESOURCES).glob("logo-*"):
        shutil.copyfile(logo, folder / logo.name)
    (folder / "kernel.json").write_text(json.dumps(spec, indent=1) + os.linesep)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m undokernel install",
        description="Install a kernelspec of this Python: an IPython kernel with %undo.",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for this user")
    where.add_argument("--sys-prefix", action="store_true", help="in this Python's environment")
    where.add_argument("--prefix", help="in PREFIX/share/jupyter")
    parser.add_argument("--name", default="undokernel", help="of the kernelspec")
    parser.add_argument(
        "--display-name", default=f"Python {sys.version_info[0]} (undo)", help="as Jupyter shows it"
    )
    parser.add_argument(
        "--memory", type=size, default=0, metavar="SIZE",
        help="that copies of the session may hold, such as 4GB; default: half of what is free",
    )  # fmt: skip
    parser.add_argument(
        "--files", action="store_true", help="undo changes of files in the working folder, too"
    )
    return parser
