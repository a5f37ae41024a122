"""Scores an agent's results for one task of DA-Code.

It follows the public evaluator (yiyihum/da-code, da_agent/evaluators @b211daf); FIXED corrects
these faults:

  conditon_cols, cleaned_condition_cols, target_colunm   misspelt options have no effect
  ignore_order           sorts each column separately, so rows that gold lacks can pass
  divide                 is spelt "devide" for text; for tables it is correct
  a misspelt key         in a right answer (di-text-002) never matches; Fixed takes the nearest
  color                  passes if the answer has fewer colours than gold
  accuracy               compares text labels with themselves, and fails for competitions
                         (f1 also rejects labels that gold does not have)
  rmsle                  lacks the square root
  loss metrics           score worse values higher if upper_bound is the worse bound
  logloss                is in base 2 and halved, whatever the number of classes
  roc_auc_score          always fails for more than two classes
  quadratic_weighted_kappa  fails unless labels begin at 0 and reach as far as gold's
  row order              matters in compare_ml even if there are ids

Tables give partial credit (divide), which the paper does not mention.

Other differences from the public code: difflib replaces python-Levenshtein in fuzzywuzzy's
similarity, Pillow replaces OpenCV for resizing images before pixels are compared, arrays
that contain pickles are rejected, and there is no time limit of 10 s.

dsstar runs this file and dacode_tables, _text, _images and _ml in one namespace of a Python
session. They use only packages of the managed environment.
"""
import difflib
import json
import math
import os
import pathlib
import re
import sqlite3
import tempfile

import numpy as np
import pandas as pd

MAX_ROWS = 10000
TOLERANCE = 1e-2
LOSSES = {"logloss_class", "logloss_total", "rmsle", "rmse", "mae", "mse", "smape", "medae", "crps"}
MISSPELT = {
    "conditon_cols": "condition_cols",
    "cleaned_condition_cols": "condition_cols",
    "target_colunm": "target_column",
}


# --- files and metrics of one task --------------------------------------------------------------

METRICS = ("compare_csv", "compare_sqlite", "compare_text", "compare_image", "compare_ml",
           "compare_competition_ml")


def dacode(gold, said, texts, folder, gold_folder, fixed, **_):
    """Scores what is in the agent's folder by GOLD, an eval configuration; TEXTS name the file."""
    metrics = as_list(gold.get("func", []))
    if unknown := set(metrics) - set(METRICS):
        return {"problem": f"there is no metric {unknown.pop()!r}; there are {', '.join(METRICS)}"}
    result = {"metric": "+".join(metrics), "score": 0.0}
    if said is None:
        return result
    pairs = aligned(gold, texts[0], folder, gold_folder)
    scores, details, parts = [], [], {}
    try:
        for func, answer, right, options in pairs:
            if fixed:
                options = {MISSPELT.get(k, k): v for k, v in options.items()}
            options["config"] = gold.get("config", {})
            try:
                foreign = next((f for f in as_list(answer) if is_foreign(f, folder)), "")
                if foreign:
                    one, part = 0.0, {}
                    name = os.path.basename(foreign)
                    detail = f"{name} is not a file that the agent wrote: a folder, or a link to elsewhere"
                else:
                    one, detail, part = globals()[func](answer, right, options, fixed)
            except FileNotFoundError as e:
                one, detail, part = 0.0, f"no file {os.path.basename(e.filename or str(e))}", {}
            scores.append(one)
            details.append(detail)
            parts.update(part)
    except Exception as e:  # upstream's evaluator also stops at the first exception
        scores.append(0.0)
        details.append(f"{type(e).__name__}: {e}".split("\n")[0][:300])
    scores = [float(s) if s is not None and not math.isnan(float(s)) else 0.0 for s in scores]
    if not scores:
        scores, details = [0.0], ["nothing to compare"]
    conj = {
        "avg": lambda s: sum(s) / len(s),
        "max": max,
        "min": min,
        "and": lambda s: float(all(s)),
        "or": lambda s: float(any(s)),
    }[gold.get("conj", "avg")]
    detail = "; ".join(d for d in details if d)
    return result | {"score": conj(scores), "detail": detail, "parts": parts}


def is_foreign(path, directory):
    """Whether a path is anything but a file in the agent's folder.

    A link may lead to the right answer, and reading a pipe may block.
    """
    if not os.path.lexists(path):
        return False
    real, root = os.path.realpath(path), os.path.realpath(directory)
    return not (os.path.isfile(real) and real.startswith(os.path.join(root, "")))


def as_list(x):
    return list(x) if isinstance(x, list) else [x]


def aligned(config, result, directory, gold_dir):
    """The (metric, result, gold, options) to compare.

    Single values are repeated; lists are cut to the shortest.
    """
    wanted = as_list(config["result"])
    is_plot = config.get("config", {}).get("task") == "data visualization"
    funcs = as_list(config["func"])
    options = config.get("options", [{}] * len(funcs))
    options = [dict(o or {}) for o in as_list(options)]
    if "number" in wanted[0]:
        golds = [wanted[0]["number"]]
        is_file = result.endswith((".txt", ".json", ".png", ".jpg", ".csv", ".npy"))
        results = named_files(result, directory, is_plot) if is_file else [result]
    else:
        golds = config_files(wanted, gold_dir, base=True)
        results = named_files(result, directory, is_plot)
        if len(results) != len(golds):
            results = config_files(wanted, directory, base=False)
    size = max(len(results), len(golds), len(funcs))
    columns = [
        c * size if len(c) == 1 and size > 1 else c for c in (funcs, results, golds, options)
    ]
    size = min(map(len, columns))
    return [] if size == 0 else list(zip(*(c[:size] for c in columns)))


def named_files(text, directory, is_plot):
    names = [m[0] for m in re.findall(r"\b(?:[\w/\-_]+/)?([\w\-_]+(\.\w+)+)\b", text)]
    if not names:
        return []
    files = [os.path.join(directory, n) for n in names]
    if is_plot:
        return [
            files
            + [
                os.path.join(directory, "dabench/plot.json"),
                os.path.join(directory, "dabench/result.npy"),
            ]
        ]
    return files


def config_files(wanted, directory, base):
    files = []
    for entry in wanted:
        paths = [
            os.path.join(directory, os.path.basename(f) if base else f)
            for f in as_list(entry["file"])
        ]
        if entry.get("multi"):
            files.append(paths)
        else:
            files.extend(paths)
    return files
