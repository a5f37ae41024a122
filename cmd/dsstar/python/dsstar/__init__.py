"""dsstar in Python: where its program is."""

import os
import shutil
import sysconfig


def program():
    """Returns the path of the dsstar program that was installed with this package."""
    user = sysconfig.get_preferred_scheme("user")
    for folder in sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user):
        path = os.path.join(folder, "dsstar")
        if os.access(path, os.X_OK):
            return path
    if path := shutil.which("dsstar"):
        return path
    raise FileNotFoundError("the dsstar program is not installed")
