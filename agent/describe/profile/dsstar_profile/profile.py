"""Makes the profile of one file: what is in it, never more than a bounded part of it,
without running anything of it and without the network."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import sys
import threading
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from dsstar_profile import (
    arrow,
    buckets,
    clusters,
    databases,
    excel,
    formats,
    hints,
    packed,
    readers,
    science,
    sqlite,
    stats,
    texts,
    words,
)
from dsstar_profile.found import Found, trouble
from dsstar_profile.hints import Untried
from dsstar_profile.values import show

MEMORY = 3 << 29  # that may be reserved beside what the process has already; less is in use
UNSAFE = (".pkl", ".pickle", ".joblib", ".pt", ".pth", ".dill", ".rdata", ".rds")
LOCK = re.compile(r"(^|/)(~\$|\.~lock\.)[^/]*$")  # of office programs
IMAGES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*", b"BM", b"\0\0\1\0")


class OutOfTime(BaseException):
    """No reader that goes on after an error goes on after this."""


@contextlib.contextmanager
def timed(seconds: float, bell: str, timer: str) -> Iterator[None]:
    """Raises OutOfTime when a timer of the system, if it has one, rings its bell."""

    def ring(*_: object) -> None:
        raise OutOfTime(f"it takes longer than {seconds:.0f} s to read")

    with contextlib.ExitStack() as stack:
        if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
            number, which = getattr(signal, bell), getattr(signal, timer)
            stack.callback(signal.signal, number, signal.signal(number, ring))
            stack.callback(signal.setitimer, which, 0)
            signal.setitimer(which, seconds)
        yield


@contextlib.contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Ends what takes too long or too much memory, where the system can: readers look at sizes
    first, but no size tells of everything."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(timed(seconds, "SIGALRM", "ITIMER_REAL"))
        if sys.platform == "linux":
            import resource

            try:
                with open("/proc/self/statm") as f:
                    held = int(f.read().split()[5]) * resource.getpagesize()
            except OSError:  # a child of a plain kernel in the sandbox builtin
                held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
            soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
            stack.callback(resource.setrlimit, resource.RLIMIT_DATA, (soft, hard))
            most = held + MEMORY
            resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))
        yield


def reader_of(path: str) -> Any:
    with open(path, "rb") as f:
        magic = f.read(512)
    if LOCK.search(path):
        return excel.lock
    if path.endswith(databases.ENDING) and b'"variable"' in magic:
        return databases.database
    if path.endswith(buckets.ENDING) and b'"variable"' in magic:
        return buckets.bucket
    if path.endswith(clusters.ENDING) and b'"variable"' in magic:
        return clusters.cluster
    ending = os.path.splitext(path.lower())[1]
    if ending in (".gz", ".bz2", ".xz"):
        ending = os.path.splitext(path.lower()[: -len(ending)])[1]
    if ending in UNSAFE or magic[:1] == b"\x80" and magic[1:2] in b"\2\3\4\5" and magic[1:2]:
        return None
    for start, reader in (
        (b"PAR1", arrow.parquet),
        (b"ARROW1", arrow.feather),
        (b"FEA1", arrow.feather),
        (b"ORC", arrow.orc),
        (b"\xff\xff\xff\xff", arrow.stream),
        (b"SQLite format 3\0", sqlite.sqlite),
        (b"%PDF", formats.pdf),
        (b"\xd0\xcf\x11\xe0", excel.book),
        (b"\t\0\4\0", excel.book),
        (b"\x89HDF\r\n\x1a\n", science.hdf5),
        (b"CDF\1", science.netcdf),
        (b"CDF\2", science.netcdf),
        (b"\xcd\xf3\0\1", science.cdf),
        (b"\x93NUMPY", science.arrays),
        (packed.ZSTD, packed.zstd),
        (b"\0\0\x27\x0a", science.shapefile_table),
    ):
        if magic.startswith(start):
            return reader
    if stats.known(ending, magic):
        return stats.survey
    if ending in ENDINGS:
        return ENDINGS[ending]
    if magic[8:12] == b"DUCK":
        return formats.duckdb_file
    if magic.startswith(b"PK"):
        with zipfile.ZipFile(path) as z:
            names = set(z.namelist()[:10_000])
        return (
            excel.book
            if names & {"xl/workbook.xml", "xl/workbook.bin"} or path.lower().endswith(".ods")
            else formats.docx if "word/document.xml" in names else packed.archive
        )
    if magic.startswith(IMAGES) or magic[:4] == b"RIFF" and magic[8:12] == b"WEBP":
        return formats.image
    if magic.startswith(tuple(texts.PACKED)):
        with texts.opened(path) as f:
            magic = f.read(512)
    if ending in (".tar", ".tgz") or magic[257:262] == b"ustar":
        return packed.archive
    return lambda p, deadline: readers.text_file(p, ending, deadline)


ENDINGS = {
    ".npz": science.arrays,
    ".mat": science.matlab,
    ".cdf": science.cdf,
    ".dbf": science.shapefile_table,
    ".yaml": formats.yaml_text,
    ".yml": formats.yaml_text,
}
ADDRESSED = (databases.database, buckets.bucket, clusters.cluster)
# What servers say of a login, after names in quotes are left out.
LOGIN = re.compile(
    r"passw|authenti|authori[sz]|access.?(denied|key)|permission.*denied|forbidden|credential|"
    r"log.?[oi]n |pg_hba|role  does not exist|signature|\b40[13]\b",
    re.IGNORECASE,
)
LOCKED = (
    "it is open in another program: close it, or copy the file together with its log (.wal, -wal)"
)


def why(error: BaseException, addressed: bool) -> tuple[str, str]:
    """The cause of an error, if it is one of those that dsstar tells apart, and words for
    people."""
    if isinstance(error, OutOfTime):
        return "time", str(error)
    if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) or (
        "duckdb" in type(error).__module__ and "Could not set lock" in str(error)
    ):
        return "locked", LOCKED
    if not addressed:
        return "", trouble(error)
    said = getattr(error, "orig", None) or error  # what SQLAlchemy adds is for programmers
    texts = [a for a in said.args if isinstance(a, str)] or [str(said)]
    text = show(texts[-1].strip().split("\n")[0], 300)
    code = str(getattr(said, "sqlstate", None) or (*said.args, "")[0])
    if code in ("57014", "1969", "3024"):
        return "time", text
    login = code.startswith("28") or code in ("1044", "1045", "1698")
    return "login" if login or LOGIN.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", text)) else "", text


def profile(
    path: str, seconds: float, ahead: Callable[[dict[str, Any]], None] = lambda found: None
) -> dict[str, Any]:
    """The profile of a file, also of one that cannot be read: then it says why. Before its calls
    are tried, ahead is given the profile without them."""
    out: dict[str, Any] = {}
    problem, reader = "", None
    try:
        with bounded(seconds), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not os.path.getsize(path):
                return {"format": "empty", "warnings": ["the file has 0 bytes"]}
            if os.path.basename(path).startswith("~$"):
                lock = f"{show(os.path.basename(path)[2:])} is open in Excel, or was when it ended"
                return {"format": "Excel lock file", "warnings": [f"no data: {lock}"]}
            reader = reader_of(path)
            if reader is None:
                return {
                    "format": "binary",
                    "warnings": [
                        "not opened: files of this kind can run code or need a library of their own"
                    ],
                }
            deadline = readers.Deadline(seconds * 0.75)
            found = reader(path, deadline)
            for part in ("format", "encoding", "delimiter", "text", "cut", "lines", "warnings"):
                if value := getattr(found, part):
                    out[part] = value
            out["more"] = found.more + len(found.tables[found.most :])
            if untried := _described(found, out, path, reader in ADDRESSED):
                ahead(out)
                _try(untried, out, path)
    except ImportError as error:
        out["cause"] = "driver"
        problem = f"not read: this Python has no {error.name or show(error, 200)}"
    except (Exception, OutOfTime) as error:
        out["cause"], text = why(error, reader in ADDRESSED)
        problem = f"not read to its end: {text}"
    if problem:
        out.setdefault("format", "unknown")
        out["problem"] = problem
    return out


def _try(untried: list[Untried], out: dict[str, Any], path: str) -> None:
    """Puts the calls of tables into out."""
    limit = timed(hints.SECONDS, "SIGPROF", "ITIMER_PROF")
    with contextlib.suppress(OutOfTime, MemoryError), limit:
        for n, said in hints.put(untried, path):
            out["tables"][n] = said


def _described(found: Found, out: dict[str, Any], path: str, addressed: bool) -> list[Untried]:
    """Puts what is said of the tables into out, and returns those whose calls are to be tried: a
    table's trouble costs it alone, unless there is no other."""
    untried: list[Untried] = []
    tables: list[dict[str, Any]] = []
    last = None
    for table in found.tables[: found.most]:
        table.tell()
    for table in found.tables[: found.most]:
        try:
            said = table.profile()
            shape = () if found.warnings else hints.shape(table, said, path, found.encoding)
        except Exception as error:
            if len(found.tables) == 1:
                raise
            last = error
            out["more"] += 1
            named = f"table {show(table.name)}".rstrip()
            told = f"{named} is not read: {why(error, addressed)[1]}"
            out["warnings"] = [*out.get("warnings", ()), told]
            continue
        if call := hints.KNOWN.get(shape):
            said |= {"call": call}
        elif not addressed:  # cells have a connection to those
            untried += [(len(tables), table, said, shape)] if table.calls else []
            said = hints.without(table, said, hints.UNTRIED)
        tables.append(said)
        out["tables"] = tables
    if last and not tables:
        raise last
    return untried


def text(
    path: str, seconds: float, ahead: Callable[[dict[str, Any]], None] = lambda found: None
) -> str:
    """The profile as JSON, in a line."""
    with contextlib.redirect_stdout(io.StringIO()):  # libraries print warnings
        found = profile(path, seconds, ahead)
    return in_words(found)


def in_words(found: dict[str, Any]) -> str:
    try:
        words.render(found)
        return json.dumps(found, default=str, allow_nan=False, separators=(",", ":"))
    except Exception as error:
        problem = f"not told of: {why(error, False)[1]}"
        few = {"format": "unknown", "problem": problem, "notes": f"Note: {problem}"}
        few |= {"headline": "unknown", "line": f"unknown; {problem}"}
        return json.dumps(few, separators=(",", ":"))
