# Prints what the Python that runs it says of itself, in one line of JSON after MARK. It runs with -I, so
# that PYTHONPATH, which may name a stranger's folder, is only listed and no code from it runs, and
# with -S, so that *.pth files, sitecustomize and usercustomize run only after a check that cells
# cannot write to their folders, which WRITE lists. MODULES are looked for, not imported.
import json
import os
import site
import sys
from importlib.util import find_spec


def say(**what):
    print("\n" + MARK + json.dumps(what))


def writable(path):
    path = os.path.abspath(path)
    while not any((os.path.realpath(path) + "/").startswith(folder + "/") for folder in WRITE):
        if path == os.path.dirname(path):
            return False
        path = os.path.dirname(path)
    return True


def lines(folder, name, *known):
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            for line in map(str.strip, file):
                if line and not line.startswith(("#", "import ", "import\t")):
                    sys.path.append(os.path.join(folder, line))
    except OSError:
        pass  # nor can it be run


def libraries():
    maps = "/proc/self/maps"
    if not os.path.exists(maps):
        return []
    with open(maps) as file:
        return [os.path.dirname(line.split(None, 5)[5].strip()) for line in file if ".so" in line]


def main():
    was, own = list(sys.path), (site.addpackage, site.execsitecustomize, site.execusercustomize)
    site.addpackage = lines
    site.execsitecustomize = site.execusercustomize = lambda: None
    # not switched off by -I
    site.check_enableusersite = lambda: not os.environ.get("PYTHONNOUSERSITE")
    site.main()
    for path in [sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path]:
        if path and writable(path):
            return say(Writable=path)
    sys.path[:] = was
    site.addpackage, site.execsitecustomize, site.execusercustomize = own
    site.main()
    user = site.ENABLE_USER_SITE and site.getusersitepackages() in sys.path
    variables = {name: os.environ.get(name, "") for name in ("PYTHONPATH", "PYTHONHOME")}
    named = [path for value in variables.values() for path in value.split(os.pathsep)]
    paths = {sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path, *named, *libraries()}
    venv = bool(find_spec("venv") and find_spec("ensurepip"))
    sys.path += filter(os.path.isabs, variables["PYTHONPATH"].split(os.pathsep))
    say(
        Path=sys.executable,
        Base=getattr(sys, "_base_executable", "") or sys.executable,
        Version="%d.%d.%d" % sys.version_info[:3],
        Implementation=sys.implementation.name,
        Venv=venv,
        Missing=[name for name in MODULES if find_spec(name) is None],
        Paths=sorted(paths),
        Env=dict(os.environ),
        UserBase=site.getuserbase() if user else "",
    )


main()
