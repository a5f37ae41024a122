"""What cells change in the files of the working folder, to take it back with them.

Only what a cell changed while it ran is taken back, so that nobody's own edits are lost. Hidden
files, notebooks, links, and folders of installed packages are left alone. A change through a memory
map that is closed again is not noticed on tmpfs, where it changes no time.
"""

from __future__ import annotations

import contextlib
import os

from .files import Entry, Files, State, Unkept

ROOM = 256 << 20  # bytes of all copies that share no blocks with the files


class Changes:
    def __init__(self, folder: str) -> None:
        self.files = Files(folder, room=ROOM)
        self._left: dict[str, Entry | None] = {}  # by cells that changed them; None: removed
        self._before: State | None = None  # while a cell runs

    def begin(self) -> State:
        """Returns the state before a cell."""
        self._before = self.files.keep()
        return self._before

    def end(self) -> None:
        """Notes what the cell has changed."""
        before, self._before = self._before, None
        if before and not before.why:
            now = self.files.look()
            for path in () if now.why else {*before.files, *now.files}:
                if before.files.get(path) is not now.files.get(path):
                    self._left[path] = now.files.get(path)

    def restore(self, state: State | None, now: State) -> str:
        """Restores what cells have changed between a state and now. Returns what was not done, for
        people."""
        if why := (state or State(why="they were not kept")).why or now.why:
            return f" The files were not restored: {why}."
        assert state
        left = []
        for path in sorted({*state.files, *now.files}):
            wanted, there = state.files.get(path), now.files.get(path)
            if wanted is there or path not in self._left:
                continue
            if self._left[path] is not there:
                left.append(f"{path}, which something else has changed since")
            elif wanted and wanted.content is None:
                left.append(f"{path}, which was too large to keep")
            elif not self._put(path, wanted):
                left.append(path)
        for path in sorted(set(now.others) - set(state.others), reverse=True):
            with contextlib.suppress(OSError):  # it is not empty
                os.rmdir(os.path.join(self.files.folder, path))
        with contextlib.suppress(Unkept):
            self.files.settle()
        return f" Files that were not restored: {'; '.join(left)}." if left else ""

    def _put(self, path: str, entry: Entry | None) -> bool:
        """Writes a file in place, as the session may have it open, or removes it."""
        whole = os.path.join(self.files.folder, path)
        try:
            if entry is None:
                os.remove(whole)
            else:
                os.makedirs(os.path.dirname(whole), exist_ok=True)
                with self.files.open(path, os.O_CREAT | os.O_WRONLY, 0o600) as file:
                    self.files.write(entry, file.fileno())
            self._left[path] = entry
            return True
        except OSError:
            return False
