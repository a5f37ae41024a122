"""Runs the program: python -m dsstar."""

import os
import sys

from . import program

path = program()
os.execv(path, [path, *sys.argv[1:]])
