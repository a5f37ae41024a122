"""Checks notebooks with other people's tools, and prints the complaints about each as JSON.

    reviewers.py < request.json

The request is a list of objects with name, run and again (the folders of two runs of the same
script), data (another data folder), answer and changed (what the last cell prints with the run's
data and with the other; null: there is no last cell). The kernelspec python3 must be in
JUPYTER_DATA_DIR.
"""

import base64
import concurrent.futures
import json
import logging
import multiprocessing
import pathlib
import re
import shutil
import sys
import tempfile
import warnings

import jupytext
import nbdime
import nbformat
import papermill
from nbconvert.exporters import NotebookExporter
from traitlets.config import Config

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

SECONDS = 60  # timeout of a cell


def read(folder):
    return nbformat.read(pathlib.Path(folder) / "notebook.ipynb", as_version=nbformat.NO_CONVERT)


def validator(c):
    """nbformat: the file is valid, ids are unique, and nbformat would write the same bytes."""
    text = (pathlib.Path(c["run"]) / "notebook.ipynb").read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=nbformat.NO_CONVERT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as MissingIDFieldWarning and DuplicateCellId
        nbformat.validate(notebook)
    ids = [cell.id for cell in notebook.cells]
    if len(set(ids)) < len(ids):
        yield f"ids {ids}"
    if nbformat.writes(notebook) + "\n" != text:
        yield "nbformat.write writes other bytes"


def nbconvert(c):
    """nbconvert --to notebook --execute prints the answer."""
    config = Config({"ExecutePreprocessor": {"enabled": True, "timeout": SECONDS}})
    with copied(c) as folder:
        text, _ = NotebookExporter(config=config).from_filename(str(folder / "notebook.ipynb"))
    yield from answers(nbformat.reads(text, as_version=4), c["answer"])


def papermill_other_data(c):
    """papermill -p data_dir OTHER prints the answer of the other data."""
    with copied(c) as folder:
        notebook = papermill.execute_notebook(
            str(folder / "notebook.ipynb"),
            str(folder / "out.ipynb"),
            parameters={"data_dir": c["data"]},
            cwd=str(folder),
            progress_bar=False,
            execution_timeout=SECONDS,
        )
    yield from answers(notebook, c["changed"])


def copied(c):
    """A copy of the run folder to execute in."""
    class Copy(tempfile.TemporaryDirectory):
        def __enter__(self):
            folder = pathlib.Path(super().__enter__()) / "run"
            shutil.copytree(c["run"], folder, symlinks=True)
            return folder
    return Copy(prefix="dsstar-reviewers-")


def answers(notebook, answer):
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    printed = "".join(
        o.text for o in code[-1].outputs if o.output_type == "stream" and o.name == "stdout"
    )
    if answer is not None and printed != answer:
        yield f"the last cell prints {printed!r}, not {answer!r}"


def nbdime_of_two_runs(c):
    """nbdime: two runs of the same script differ only in the record and in the cell with times."""
    a, b = read(c["run"]), read(c["again"])
    last = [
        i
        for i, cell in enumerate(a.cells)
        if cell.metadata.get("dsstar", {}).get("role") == "proof"
    ]
    for path, what in leaves(nbdime.diff_notebooks(a, b), ()):
        if (
            path[:1] == ("cells",)
            and len(path) > 1
            and path[1] in last
            or path[:2] == ("metadata", "dsstar")
        ):
            continue
        yield f"{'/'.join(map(str, path))}: {what}"


def leaves(diff, path):
    for op in diff:
        if op.op == "patch":
            yield from leaves(op.diff, (*path, op.key))
        else:
            yield (*path, op.key), json.dumps(op)[:200]


def jupytext_round_trip(c):
    """jupytext to py:percent and back keeps the cells and their sources."""
    notebook = nbformat.from_dict(read(c["run"]))
    back = jupytext.reads(jupytext.writes(notebook, fmt="py:percent"), fmt="py:percent")
    before, after = ([(cell.cell_type, cell.source) for cell in n.cells] for n in (notebook, back))
    if before != after:
        yield from (f"{a!r} becomes {b!r}" for a, b in zip(before, after) if a != b)
        if len(before) != len(after):
            yield f"{len(before)} cells become {len(after)}"


def vscode(c):
    """VS Code can open the notebook and saves it unchanged.

    The rules are those of its extension ipynb (deserializers.ts, serializers.ts).
    """
    raw = json.loads((pathlib.Path(c["run"]) / "notebook.ipynb").read_text(encoding="utf-8"))
    meta = raw["metadata"]
    language, spec = meta["language_info"], meta["kernelspec"]
    if (language["name"], spec["name"], spec["language"]) != ("python", "python3", "python"):
        yield f"metadata {language} {spec}"
    ids = all(re.fullmatch("[a-zA-Z0-9-_]{1,64}", cell["id"]) for cell in raw["cells"])
    if (raw["nbformat"], raw["nbformat_minor"]) < (4, 5) or not ids:
        yield "not every cell has an id"
    for cell in raw["cells"]:
        if "\r\n" in "".join(cell["source"]):
            yield f"{cell['id']}: the source has \\r\\n"
        if cell.get("execution_count") == 0:
            yield f"{cell['id']}: execution count 0 becomes null"
        yield from (f"{cell['id']}/{where}" for where in lost(cell, ""))
    yield from (f"metadata/{where}" for where in lost(meta, ""))


def lost(value, where):
    """The parts of a JSON value that JavaScript or VS Code would change."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key in ("image/png", "image/jpeg", "image/gif"):
                image = "".join(part)
                if base64.b64encode(base64.b64decode(image)).decode() != image:
                    yield f"{where}{key}: other base64"
            yield from lost(part, f"{where}{key}/")
    elif isinstance(value, list):
        # VS Code joins the lines of a text, and adds missing line breaks.
        lines = re.search("(^|/)(source|text|text/plain|text/html)/$", where)
        if lines and all(isinstance(line, str) for line in value):
            for line in value[:-1]:
                if not line.endswith("\n"):
                    yield f"{where}: gets a line break after {line[-40:]!r}"
        for i, part in enumerate(value):
            yield from lost(part, f"{where}{i}/")
    elif isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        yield f"{where}: a lone surrogate"
    elif isinstance(value, int) and abs(value) > 2**53:
        yield f"{where}: {value} is too large for JavaScript"


CHECKS = [
    validator,
    nbconvert,
    papermill_other_data,
    nbdime_of_two_runs,
    jupytext_round_trip,
    vscode,
]


def complaints(check, c):
    try:
        return [f"{check.__name__}: {complaint}" for complaint in check(c)]
    except Exception as error:
        return [f"{check.__name__}: {type(error).__name__}: {error}"]


def main():
    cases = json.load(sys.stdin)
    # Processes, because papermill changes its working folder; four, because most of the time is waiting.
    fork = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(4, mp_context=fork) as pool:
        jobs = [(c["name"], pool.submit(complaints, check, c)) for check in CHECKS for c in cases]
        result = {c["name"]: [] for c in cases}
        for name, job in jobs:
            result[name] += job.result()
    print(json.dumps(result))


main()
