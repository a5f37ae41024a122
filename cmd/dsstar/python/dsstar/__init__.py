"""dsstar: ask your data a question; get back a notebook.

The program does the work. This package finds it, and is its extension for notebooks:
``%load_ext dsstar``, then ``%%dsstar`` above a question.
"""

import os
import shutil
import sysconfig


def program():
    """The path of the program: installed with this package, or else on PATH. None if there is none."""
    for scheme in sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user"):
        path = os.path.join(sysconfig.get_path("scripts", scheme), "dsstar")
        if os.access(path, os.X_OK):
            return path
    return shutil.which("dsstar")


def load_ipython_extension(shell):
    from .magic import load

    load(shell)


def unload_ipython_extension(shell):
    from .magic import unload

    unload(shell)
