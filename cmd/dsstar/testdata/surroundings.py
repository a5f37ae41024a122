# What a cell can see of its environment, without random names and the machine's numbers.
import json
import os
import re
import resource
import sys
import time

private = os.path.dirname(os.environ["HOME"])


def plain(text):
    return re.sub(r"\b[A-Z2-7]{26}\b|0x[0-9a-f]+", "RANDOM", str(text).replace(private, "PRIVATE"))


def read(path):
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except OSError as e:
        return type(e).__name__


def listed(path):
    try:
        return sorted(os.listdir(path))
    except OSError as e:
        return type(e).__name__


def links(path):
    found = []
    for name in listed(path):
        try:
            found.append(re.sub(r"\d+", "N", os.readlink(os.path.join(path, name))))
        except OSError:
            pass  # the descriptor of the listing
    return sorted(found)


def status():
    known = (
        "Name",
        "Umask",
        "Uid",
        "Gid",
        "Groups",
        "NoNewPrivs",
        "Seccomp",
        "Seccomp_filters",
        "Threads",
        "SigIgn",
        "SigCgt",
        "NSpid",
        "NStgid",
    )
    lines = dict(
        line.split(":", 1) for line in read("/proc/self/status").splitlines() if ":" in line
    )
    if len(listed("/proc")) < 20 or "NSpid" not in lines:  # in namespaces of its own, or hidden
        return {name: lines.get(name) for name in known}
    return {name: lines.get(name) for name in known if not name.startswith("NS")}


def parents():
    chain, pid = [], os.getppid()
    while pid > 1 and len(chain) < 9:
        chain.append(read(f"/proc/{pid}/cmdline"))
        found = re.search(r"PPid:\s+(\d+)", read(f"/proc/{pid}/status"))
        pid = int(found[1]) if found else 0
    return chain


old_umask = os.umask(0o22)
os.umask(old_umask)
shell = get_ipython() if "get_ipython" in globals() else None
total = json.dumps(
    {
        name: plain(value)
        for name, value in {
            "cwd": os.getcwd(),
            "environ": sorted(os.environ.items()),
            "started with": sorted(read("/proc/self/environ").split("\0")),
            "argv": (sys.argv, sys.orig_argv),
            "flags": sys.flags,
            "umask": old_umask,
            "nice": os.nice(0),
            "cpus": os.sched_getaffinity(0),
            "hash": hash("a"),
            "modules": sorted(sys.modules),
            "path": sys.path,
            "cmdline": read("/proc/self/cmdline"),
            "status": status(),
            "mounts": re.sub(
                r"\b\d+ \d+ \d+:\d+ |master:\d+|shared:\d+|size=\d+k?",
                "",
                read("/proc/self/mountinfo"),
            ),
            "cgroup": read("/proc/self/cgroup"),
            "limits": [resource.getrlimit(n) for n in range(16) if n != resource.RLIMIT_NPROC],
            "parents": parents(),
            "descriptors": links("/proc/self/fd"),
            "here": listed("."),
            "above": listed(".."),
            "temporary": listed(os.environ["TMPDIR"]),
            "home": listed(os.environ["HOME"]),
            "private": [n for n in listed(private) if not n.startswith("kernel.json")],
            "parameters": (data_dir, base_dir),
            "exists": [
                os.path.exists(os.path.join(base_dir, n))
                for n in (
                    "notebook.ipynb",
                    "trace.jsonl",
                    "solution.py",
                    "outputs",
                )
            ],
            "names": sorted(n for n in globals() if not n.startswith("_")),
            "count": shell and (shell.execution_count, len(shell.history_manager.input_hist_raw)),
            "terminal": (sys.stdin.isatty(), sys.stdout.isatty()),
            "session": os.getsid(0) == os.getpid(),
            "clock": time.tzname,
        }.items()
    },
    sort_keys=True,
)
print(len(total))
