"""What the kernelspec says of undo: the arguments that python -m undokernel install writes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass

UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


@dataclass
class Options:
    """How the kernel makes checkpoints by itself."""

    memory: int = 0  # bytes that the copies may hold; 0: half of what would be free without them
    files: bool = False  # undo changes of files in the working folder, too

    @classmethod
    def parse(cls, argv: Sequence[str]) -> tuple[Options | None, list[str]]:
        """Returns the options, None without --undo, and the other arguments."""
        parser = argparse.ArgumentParser(
            prog="python -m undokernel", add_help=False, allow_abbrev=False
        )
        parser.add_argument("--undo", action="store_true")
        parser.add_argument("--undo-memory", type=size, default=0)
        parser.add_argument("--undo-files", action="store_true")
        found, rest = parser.parse_known_args(argv)
        return cls(found.undo_memory, found.undo_files) if found.undo else None, rest

    def arguments(self) -> list[str]:
        """The arguments that parse reads."""
        memory = [f"--undo-memory={self.memory}"] if self.memory else []
        return ["--undo", *memory, *(["--undo-files"] if self.files else [])]


def size(text: str) -> int:
    """Bytes: 4GB, 500M, 1e9."""
    match = re.fullmatch(r"([\d.]+(?:e\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 4GB")
    return int(float(match[1]) * (1 << UNITS[match[2].upper()]))
