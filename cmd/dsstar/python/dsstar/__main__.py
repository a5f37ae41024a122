"""Runs the program: python -m dsstar."""

import os
import sys

from . import program

if (path := program()) is None:
    sys.exit("dsstar: error: the program dsstar is not installed")
os.execv(path, [path, *sys.argv[1:]])
