"""Names the platform of the program that the wheel holds, which any Python 3 starts."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Platform(BuildHookInterface):
    def initialize(self, version, build_data):
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['DSSTAR_PLATFORM']}"
