"""Reads {name: notebook as text} and prints {name: what nbformat.write makes, or an error}."""

import json
import sys
import warnings

import nbformat

warnings.simplefilter("error")  # such as MissingIDFieldWarning


def canonical(text):
    try:
        notebook = nbformat.reads(text, as_version=nbformat.NO_CONVERT)
        nbformat.validate(notebook)
        return nbformat.writes(notebook) + "\n"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


json.dump({name: canonical(text) for name, text in json.load(sys.stdin.buffer).items()}, sys.stdout)
