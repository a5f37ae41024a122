"""python -m undokernel install, and where there is no fork."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import ArgumentTypeError
from pathlib import Path

import pytest
from conftest import Notebook
from jupyter_client.kernelspec import KernelSpecManager

from undokernel.options import Options, size


def test_install(tmp_path: Path) -> None:
    options = ["--prefix", str(tmp_path), "--name", "mine", "--memory", "1.5GB", "--files"]
    subprocess.run([sys.executable, "-m", "undokernel", "install", *options], check=True)
    kernels = str(tmp_path / "share/jupyter/kernels")
    spec = KernelSpecManager(kernel_dirs=[kernels]).get_kernel_spec("mine")
    assert spec.display_name == "Python 3 (undo)"
    assert spec.argv[:5] == [sys.executable, "-m", "undokernel", "-f", "{connection_file}"]
    assert Options.parse(spec.argv[5:]) == (Options(memory=3 << 29, files=True), [])
    assert (Path(spec.resource_dir) / "logo-64x64.png").exists()


def test_options_of_ipykernel_remain() -> None:
    assert Options.parse(["-f", "x", "--debug"]) == (None, ["-f", "x", "--debug"])
    assert Options.parse(["--undo", "-f", "x"]) == (Options(), ["-f", "x"])


def test_size() -> None:
    assert [size(s) for s in ("4GB", "500M", "1e9", "2 KiB")] == [4 << 30, 500 << 20, 10**9, 2048]
    with pytest.raises(ArgumentTypeError):
        size("much")


@pytest.mark.parametrize("where", ["undokernel needs Linux", "undokernel needs /proc"])
def test_a_plain_ipykernel_where_there_is_no_fork(tmp_path: Path, where: str) -> None:
    start = (
        "import sys, undokernel.__main__ as main\n"
        f"main.absent = lambda: 'there is no undo here: {where}'\n"
        "sys.exit(main.main())"
    )
    argv = [sys.executable, "-c", start, "-f", "{connection_file}", "--undo", "--undo-files"]
    folder = Path(os.environ["JUPYTER_PATH"], "kernels", "nowhere")
    folder.mkdir(exist_ok=True)
    spec = {"argv": argv, "display_name": "nowhere", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    notebook = Notebook("nowhere", tmp_path)
    try:
        assert notebook.ok("1 + 1") == "2"
        result = notebook.run("%undo")
        assert f"there is no undo here: {where}" in result.error + result.text
    finally:
        notebook.close()
