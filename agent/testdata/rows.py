import contextlib, io, json, os, sys, time, warnings
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

config = Config()
config.HistoryManager.enabled = False
config.InteractiveShell.colors = "NoColor"
shell = InteractiveShell.instance(config=config)
exec(PRELUDE, {})
if counter := sys.modules.get("dsstar_rows"):
    counter.SECONDS = PATIENCE  # a busy machine must not decide what is counted
tables = """
import numpy as np, pandas as pd, polars as pl, duckdb
np.random.seed(0)
orders = pd.DataFrame({"order": range(20), "customer": [i % 5 for i in range(20)], "amount": [10.5 + i for i in range(20)],
                       "state": ["paid", "open", "paid", "cancelled"] * 5})
items = pd.DataFrame({"order": [i // 3 for i in range(60)], "qty": 1, "price": 2.5})
customers = pd.DataFrame({"customer": range(5), "city": ["Bonn", "Köln", "Bonn", "Ulm", "Ulm"]})
few, notes = customers[:3].copy(), pd.DataFrame({"customer": [0, 0, 1, 1, 2, 3, 4], "note": list("abcdefg")})
coded = pd.DataFrame({"code": [1000, 1001, 1002, 1003, 1004], "name": list("vwxyz")})
tagged = pd.DataFrame({"amount": [1.5, 2.5], "tags": [["a", "b"], ["a", "c"]]})
gaps = pd.DataFrame({"kind": ["a", None, "b", "a", None, "b"], "v": range(6)})
regions = pd.DataFrame({"year": [1, 1, 1, 2, 2, 2], "region": ["N", "S", "Total"] * 2, "sales": [1, 2, 3, 4, 5, 9]})
con = duckdb.connect()
con.register("t_orders", orders.rename(columns={"order": "o"}))
con.register("t_items", items.rename(columns={"order": "o"}))
"""
gave = []
for cell in json.loads(CELLS):
    quiet, errors = io.StringIO(), io.StringIO()
    shell.run_cell(tables, silent=True)
    warnings.resetwarnings()
    with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(errors):
        began = time.perf_counter()
        done = shell.run_cell(cell)
        took = time.perf_counter() - began
    gave.append(OF)
print(json.dumps(gave, default=str))
