"""Cells of ordinary analyses, all of which work without a sandbox.

They run in one IPython kernel, in this order, each as a cell, in an empty working folder, after a
definition of a dict T whose "data" is a folder with a.csv. CELLS is a list of (name, code, regular
expression that the cell's text output matches). Run as a script it prints that list as JSON.
"""

import json

CELLS = []


def cell(name, expected, code):
    CELLS.append((name, code.strip("\n"), expected))


cell("pandas csv", r"^4$", """
import os
import pandas as pd
df = pd.read_csv(T["data"] + "/a.csv")
print(df.a.sum())
""")

cell("write and read back", r"^2$", """
df.to_csv("out.csv")
print(len(pd.read_csv("out.csv")))
""")

cell("matplotlib inline", r"<Figure size \d+x\d+", """
%matplotlib inline
import matplotlib.pyplot as plt
_ = df.plot()
plt.show()
""")

cell("savefig", r"^True$", """
plt.plot([1, 2])
plt.savefig("figure.png")
plt.close()
print(os.path.getsize("figure.png") > 1000)
""")

cell("shutil copy", r"^copy\.csv$", """
import shutil
print(shutil.copy(T["data"] + "/a.csv", "copy.csv"))
""")

cell("shutil copy2, move, replace", r"^\['moved\.csv'\]$", """
shutil.copy2(T["data"] + "/a.csv", "copy2.csv")
os.makedirs("folder")
shutil.move("copy2.csv", "folder/a.csv")
os.replace("folder/a.csv", "folder/moved.csv")
print(os.listdir("folder"))
""")

cell("tempfile", r"^b'kept'$", """
import tempfile
with tempfile.NamedTemporaryFile() as named, tempfile.TemporaryDirectory() as folder:
    named.write(b"kept")
    named.flush()
    shutil.copy(named.name, folder + "/copy")
    print(open(folder + "/copy", "rb").read())
""")

cell("sqlite", r"^\(3,\)$", """
import sqlite3
with sqlite3.connect("rows.db") as db:
    db.execute("create table t (a)")
    db.executemany("insert into t values (?)", [(1,), (2,), (3,)])
print(sqlite3.connect("rows.db").execute("select count(*) from t").fetchone())
""")

cell("zip and tar", r"^packed$", """
import tarfile
import zipfile
with zipfile.ZipFile("a.zip", "w") as z:
    z.writestr("a.txt", "packed")
zipfile.ZipFile("a.zip").extractall("unzipped")
with tarfile.open("a.tgz", "w:gz") as t:
    t.add("unzipped/a.txt", "a.txt")
with tarfile.open("a.tgz") as t:
    t.extractall("untarred")
print(open("untarred/a.txt").read())
""")

cell("threads", r"^4950$", """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    print(sum(pool.map(int, range(100))))
""")

cell("multiprocessing pool", r"^\[1, 4, 9\]$", """
import multiprocessing as mp
fork = mp.get_context("fork")
def square(x):
    return x * x
with fork.Pool(2) as pool:
    print(pool.map(square, [1, 2, 3]))
""")

cell("multiprocessing queue", r"^5$", """
queue = fork.Queue()
process = fork.Process(target=queue.put, args=(5,))
process.start()
print(queue.get(timeout=10))
process.join()
""")

cell("multiprocessing manager", r"^\{'a': 1\}$", """
with fork.Manager() as manager:
    shared = manager.dict()
    shared["a"] = 1
    print(dict(shared))
""")

cell("shared memory", r"^7$", """
from multiprocessing import shared_memory
block = shared_memory.SharedMemory(create=True, size=1000)
block.buf[0] = 7
print(block.buf[0])
block.close()
block.unlink()
""")

cell("scikit-learn with n_jobs", r"^True$", """
import numpy as np
from sklearn.ensemble import RandomForestClassifier
x = np.random.default_rng(1).random((200, 5))
y = x[:, 0] > 0.5
print(RandomForestClassifier(50, n_jobs=2, random_state=1).fit(x, y).score(x, y) > 0.9)
""")

cell("joblib with loky", r"^\[0, 1, 2, 3\]$", """
from joblib import Parallel, delayed
print(Parallel(n_jobs=2)(delayed(abs)(-i) for i in range(4)))
""")

cell("subprocess", r"^SHOUT$", """
import subprocess
print(subprocess.check_output(["sh", "-c", "echo shout | tr a-z A-Z"], text=True).strip())
""")

cell("!shell", r"(?s)hello.*a\.tgz", """
!echo hello; ls
""")

cell("%timeit", r"per loop", """
%timeit -n10 -r1 sum(range(100))
""")

cell("asyncio", r"^3$", """
import asyncio
async def later():
    await asyncio.sleep(0.01)
    return 3
print(await later())
""")

cell("matrix product", r"^\(1500, 1500\)$", """
m = np.ones((1500, 1500))
print((m @ m).shape)
""")

cell("psutil", r"^(True True True|not installed)$", """
try:
    import psutil
except ImportError:
    print("not installed")
else:
    used = psutil.Process().memory_info().rss
    print(psutil.virtual_memory().total > 0, psutil.cpu_count() > 0, used > 0)
""")

cell("processors and platform", r"^True [A-Z]\w+-\d", """
import platform
print(os.cpu_count() > 0, platform.platform())
""")

cell("home folder", r"^True$", """
home = os.path.expanduser("~")
print(os.path.isdir(home) and home != "/")
""")

cell("user name", r"^\S+$", """
import getpass
print(getpass.getuser())
""")

cell("time zones", r"^2024-01-01 00:00:00\+01:00 CET$", """
from zoneinfo import ZoneInfo
t = pd.Timestamp("2024-01-01", tz="Europe/Berlin")
print(t, t.astimezone(ZoneInfo("Europe/Berlin")).tzname())
""")

cell("print in a child", r"^from the child$", """
import time
pid = os.fork()
if pid == 0:
    print("from the child", flush=True)
    time.sleep(0.5)  # its output leaves it in a thread
    os._exit(0)
_ = os.waitpid(pid, 0)
time.sleep(0.5)
""")

cell("scipy and seaborn", r"^(2\.0 True|not installed)$", """
try:
    import scipy.optimize
    import seaborn as sns
except ImportError:
    print("not installed")
else:
    axes = sns.histplot(df.a)
    least = scipy.optimize.minimize_scalar(lambda v: (v - 2) ** 2)
    print(round(float(least.x), 2), axes is not None)
    plt.close()
""")

cell("can be interrupted", r"^KeyboardInterrupt$", """
import signal
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)
except KeyboardInterrupt:
    print("KeyboardInterrupt")
""")

if __name__ == "__main__":
    print(json.dumps(CELLS))
