"""Reading calls that do not come to an end cost the calls alone, also those that no signal ends and
those that end the process."""

import os, signal
hints, workers = (sys.modules["dsstar_profile." + m] for m in ("hints", "workers"))
hints.SECONDS = 0.02
def deaf():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF, signal.SIGALRM])
    os.read(os.pipe()[0], 1)
def busy():
    while True: pass
ends = [busy, deaf, lambda: os.kill(os.getpid(), signal.SIGKILL)]
hints.File.run = lambda self, call, table: ends[int(self.path[0])]()
paths = [f"{n}.csv" for n in range(len(ends))]
for path in paths:
    open(path, "w").write("a,b\n1,2\n3,4\n")
told = printed(workers.main, paths, 20, 3, 60, "mark")
for n in range(len(ends)):
    is_ = json.loads(told[f"mark {n}"])
    (only,) = is_["tables"]
    same(paths[n], "rows and columns", (only["rows"], len(only["columns"])), (2, 2))
    same(paths[n], "call", only.get("call", ""), "")  # and a warning says so
    same(paths[n], "trouble", (is_.get("problem", ""), len(only["warnings"]), len(only["raw"])), ("", 1, 3))
