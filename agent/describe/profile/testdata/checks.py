"""What the programs in checks/ have in common. Each prints what is not so."""

import contextlib
import io
import os

profile = sys.modules["dsstar_profile.profile"]


def found(path, content=None):
    """The profile of a file, which is written first if it has a content."""
    if content is not None:
        with open(path, "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
    return json.loads(profile.text(path, 60))


def table_of(path, content=None):
    """What is said of the one table in a file."""
    tables = found(path, content).get("tables", [])
    assert len(tables) == 1, f"{path} has {len(tables)} tables"
    return tables[0]


def columns_of(table):
    """NAME TYPE LOW HIGH, ... of the columns."""

    def end(value):
        return json.dumps(value).strip('"').removesuffix(".0")

    return ", ".join(
        " ".join([c["name"], c["type"], *map(end, c.get("range", ()))]) for c in table["columns"]
    )


def said(*parts):
    """The warnings and notes of files and tables."""
    lines = [w for p in parts for w in p.get("warnings", ())]
    return "\n".join([*lines, *(n for p in parts for c in p.get("columns", ()) for n in c.get("notes", ()))])


def same(name, what, got, want):
    if got != want:
        print(f"{name}: {what}\n  got  {got}\n  want {want}")


def printed(main, *given):
    """What a program prints, by the first two words of a line."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main(*given)
    return {" ".join(line.split(" ")[:2]): line.split(" ", 2)[2] for line in out.getvalue().splitlines(True)}


def listings(files, patterns):
    """What is listed of the columns of files, and of all of them."""
    masked = sys.modules["dsstar_profile.masked"]
    told = printed(masked.main, files, patterns, 60, 60, "mark")
    return [json.loads(told[f"mark {n}"]) for n in range(len(files) + 1)]
