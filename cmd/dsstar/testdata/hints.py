"""Pastes the hints of the extension into cells of IPython, and prints what they have done."""

import json
import os
import sys
import types

from IPython.core.interactiveshell import InteractiveShell

from dsstar import magic, show

shell = InteractiveShell.instance()
magic.load(shell)
asked = []
magic.Dsstar.begin = lambda self, arguments, stdin, question: asked.append([*arguments, question])
magic.Dsstar.last = lambda self: {"run": "RUN", "question": "How many?"}
run = types.SimpleNamespace(run_dir="RUN", question="How many?", hints=[], code=1, errors=["no"], result=None,
                            running=False, stopped=False, steps=[], spent={}, warnings=[], folder=".", seconds=lambda: 1)
for hint in json.load(sys.stdin):
    asked.clear()
    before = dict(os.environ)
    run.hints = [hint]
    (cell, note), = show.hints(run)
    done = {"note": note}
    if cell:
        result = shell.run_cell(cell)
        done["failed"] = repr(result.error_in_exec or result.error_before_exec or "")
        done["code"] = shell.user_ns.get("_exit_code", 0)
    done["asked"] = list(asked)
    done["set"] = {k: v for k, v in os.environ.items() if before.get(k) != v and k != "COLUMNS" and k != "LINES"}
    shown = show.page(run) + show.plain(run)
    done["shown"] = all(show.esc(part) in shown or part in shown for part in (cell, note))
    print("\n@@" + json.dumps(done), flush=True)
