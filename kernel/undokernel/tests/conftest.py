"""Real kernels through jupyter_client."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

from undokernel.install import kernelspec
from undokernel.options import Options

SPECS = {
    "undo": Options(),
    "undo-files": Options(files=True),
    "undo-little": Options(memory=200 << 20),
}
WAIT = 60

# jupyter_kernel_test takes a kernelspec by its name
_jupyter = tempfile.TemporaryDirectory()
os.environ["JUPYTER_PATH"] = _jupyter.name
for name, options in SPECS.items():
    folder = Path(_jupyter.name, "kernels", name)
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(kernelspec(options, name)))


class Notebook:
    """A kernel and its client."""

    def __init__(self, spec: str, folder: Path) -> None:
        self.folder = folder
        self.manager = KernelManager(kernel_name=spec)
        self.manager.start_kernel(cwd=str(folder))
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=WAIT)

    def run(self, code: str, **more: Any) -> Result:
        """Runs a cell to its end."""
        messages: list[Any] = []
        reply = self.client.execute_interactive(
            code, output_hook=messages.append, timeout=WAIT, **more
        )
        return Result(reply["content"], messages)

    def ok(self, code: str) -> str:
        """Runs a cell that must succeed, and returns its output."""
        result = self.run(code)
        assert result.status == "ok", result.error[:500]
        return result.text

    def fails(self, code: str) -> str:
        """Runs a cell that must fail, and returns its error."""
        result = self.run(code)
        assert result.status == "error", result.text[:500]
        return result.error

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


class Result:
    def __init__(self, reply: Any, messages: list[Any]) -> None:
        self.status = reply["status"]
        self.count = reply.get("execution_count")
        self.kinds = [m["msg_type"] for m in messages]
        self.text = self.error = ""
        for message in messages:
            content = message["content"]
            self.text += content.get("text") or content.get("data", {}).get("text/plain", "")
            if message["msg_type"] == "error":
                self.error = f"{content['ename']}: {content['evalue']}"


Start = Callable[..., Notebook]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a kernel of its own for a test."""
    started = []

    def new(spec: str = "undo") -> Notebook:
        started.append(Notebook(spec, tmp_path))
        return started[-1]

    yield new
    for notebook in started:
        notebook.close()


@pytest.fixture(scope="session")
def _shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    notebook = Notebook("undo", tmp_path_factory.mktemp("folder"))
    notebook.ok("%checkpoint start")
    yield notebook
    notebook.close()


@pytest.fixture
def notebook(_shared: Notebook) -> Notebook:
    """A kernel as if just started: the state that a checkpoint has kept."""
    _shared.ok("%restore start")
    return _shared
