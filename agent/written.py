# What the files that cells write hold, as text that can be compared: the cells of a table, and the
# data that a matplotlib figure shows. It runs in the Python of each session of ours before the
# first cell, as a module of its own. It imports neither matplotlib nor pandas before cells do.
import contextlib
import functools
import hashlib
import importlib.util
import itertools
import json
import os
import sys

MOST = 100_000  # values that are read of a file
MOST_TEXTS = 200  # that are read of a figure
drawn = {}  # by path of a picture, what a figure saved there: the digest of its bytes, and its text


class Hook:
    """Finds matplotlib's canvas as others do, and has it remember what is saved."""

    def find_spec(name, path=None, target=None):
        if name != "matplotlib.backend_bases":
            return None
        sys.meta_path.remove(Hook)
        if spec := importlib.util.find_spec(name):
            load = spec.loader.exec_module
            spec.loader.exec_module = lambda module: (load(module), watch(module.FigureCanvasBase))
        return spec


def watch(canvas):
    save = canvas.print_figure

    @functools.wraps(save)
    def print_figure(self, filename, *args, **named):
        __tracebackhide__ = True
        result = save(self, filename, *args, **named)
        with contextlib.suppress(Exception):
            path = os.fspath(getattr(filename, "name", filename))
            if not os.path.splitext(path)[1]:
                path += "." + (named.get("format") or self.get_default_filetype())
            drawn[os.path.realpath(path)] = digest(path), shown(self.figure)
        return result

    canvas.print_figure = print_figure


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def tell(path):
    """Prints the text of a file that cells have written, unless only its bytes can be compared."""
    was, value = drawn.get(os.path.realpath(path), (None, None))
    if was is None:
        value = tables(path, path.rpartition(".")[2].lower())
    elif was != digest(path):
        value = None
    if value is not None:
        print(json.dumps(value, ensure_ascii=False))


def leave(path, ending):
    """Writes that text to a file beside it."""
    with contextlib.suppress(Exception), open(path + ending, "w", encoding="utf-8") as file:
        with contextlib.redirect_stdout(file):
            tell(path)


def tables(path, kind):
    if kind == "xlsx":
        from openpyxl import load_workbook

        sheets = {s.title: table([*s.iter_rows(values_only=True)]) for s in load_workbook(path)}
        return sheets if len(sheets) > 1 else [*sheets.values()][0]
    if kind not in ("parquet", "feather", "pickle", "pkl"):
        return None
    import pandas

    frame = getattr(pandas, "read_" + kind.replace("pkl", "pickle"))(path)
    if not isinstance(frame.index, pandas.RangeIndex):
        frame = frame.reset_index()
    return table([frame.columns, *frame.itertuples(index=False, name=None)])


def table(rows):
    """Rows of cells as records, by the names in the first row if it has some."""
    if sum(map(len, rows)) > MOST:
        raise ValueError("too many cells")
    rows = [[plain(cell) for cell in row] for row in rows]
    names = rows[0] if rows else []
    if len(set(names)) == len(names) and all(isinstance(name, str) for name in names):
        rows = rows[1:]
    else:
        names = [str(n + 1) for n in range(len(names))]
    return [dict(zip(names, row)) for row in rows]


def plain(value):
    """A cell or coordinate as JSON has it: numbers have twelve digits, and "" is none."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return ""
    if isinstance(value, float):
        value = float(f"{value:.12g}")
        return int(value) if value.is_integer() and abs(value) < 1e15 else value
    return value if isinstance(value, (bool, int)) else str(value)


def shown(figure):
    """What the axes of a figure show, {} for nothing; None if it is not known."""
    every = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    if figure.images or any(ax.name != "rectilinear" or ax.tables or ax.artists for ax in every):
        return None
    found = []
    for ax in every:
        kinds, names = {}, functools.cache(named(figure, ax))
        for kind, artist, values in itertools.islice(marks(ax), MOST // 5):
            values = {name: plain(value) for name, value in values.items()}
            if "" not in values.values():
                mark = {"series": names(artist), **values}
                kinds.setdefault(kind, {}).setdefault(artist, []).append(mark)
        kinds = {kind: numbered(kind, artists) for kind, artists in kinds.items()}
        if sum(map(len, kinds.values())) == MOST // 5:
            return None  # too many
        for rows in kinds.values():
            if len({row["series"] for row in rows}) == 1:
                for row in rows:
                    del row["series"]  # it tells nothing apart
        # Charts of other kinds of marks have no name in common: they may show the same.
        found += [{" and ".join(sorted(kinds)): kinds}] if kinds else []
    if any(ax.texts for ax in every) and not found:
        return None
    if not found:
        return {}
    shows = {f"{len(found)} axes": found} if len(found) > 1 else found[0]
    return {**shows, "texts": texts(figure, every)}


def texts(figure, every):
    """What a figure says in words, by the place of the words."""
    said = {
        "title": [ax.get_title(loc) for ax in every for loc in ("left", "center", "right")]
        + [text.get_text() for text in figure.texts],
        "x": [ax.get_xlabel() for ax in every],
        "y": [ax.get_ylabel() for ax in every],
        "marks": [text.get_text() for ax in every for text in ax.texts][:MOST_TEXTS],
    }
    return {place: sorted(filter(None, words)) for place, words in said.items() if any(words)}


def named(figure, ax):
    """Says the name of an artist: its label, or what the legend has beside a mark of its look."""
    names = {}
    for legend in filter(None, [ax.get_legend(), *figure.legends]):
        handles = getattr(legend, "legend_handles", None) or legend.legendHandles
        for handle, text in zip(handles, legend.get_texts()):
            names.setdefault(look(handle), []).append(text.get_text())

    def name(artist):
        label = str(artist.get_label())
        if label and label[0] != "_":
            return label
        found = names.get(look(artist), [])
        return found[0] if len(found) == 1 else ""

    return name


def look(artist):
    """The colour and the style of a line or of another mark."""
    artist = getattr(artist, "patches", None) or [artist]
    if hasattr(artist[0], "get_color"):
        return str(artist[0].get_color()), artist[0].get_linestyle()
    colours = getattr(artist[0], "get_facecolor", lambda: "")()
    return str(colours[0] if getattr(colours, "ndim", 1) > 1 else colours)


def numbered(kind, artists):
    """The marks of artists. Lines without a name are told apart, and so are bars at one place."""
    each = [*artists.values()]
    at = [row.get("at") for rows in each for row in rows]
    if len(each) > 1 and (kind == "lines" or kind == "bars" and len(set(at)) < len(at)):
        each.sort(key=lambda rows: sorted(map(order, rows)))
        for n, rows in enumerate(each, 1):
            for row in rows:
                row["series"] = row["series"] or f"unnamed {n}"
    return [*itertools.chain(*each)]


def order(mark):
    """A key that orders marks by their values, numbers by their size."""
    values = [value for name, value in mark.items() if name != "series"]
    return [(isinstance(v, str), "" if isinstance(v, str) else v, str(v)) for v in values]


def marks(ax):
    """The marks of axes: their kind, the artist with their label, and their values."""
    at_x, at_y = places(ax.xaxis), places(ax.yaxis)
    sees_x, sees_y = window(ax.get_xlim()), window(ax.get_ylim())
    bars = set()
    for group in ax.containers:
        if type(group).__name__ == "BarContainer":
            bars.update(group.patches)
            for bar in group.patches:
                x, y, wide, high = *bar.get_xy(), bar.get_width(), bar.get_height()
                if not (sees_x(x, x + wide) and sees_y(y, y + high)):
                    continue
                if group.orientation == "horizontal":
                    at, value = at_y(y + high / 2, 0.49), wide
                else:
                    at, value = at_x(x + wide / 2, 0.49), high
                yield "bars", group, {"at": at, "value": value}
    for line in ax.lines:
        kind = "points" if line.get_linestyle() == "None" else "lines"
        xs, ys = line.get_xdata(orig=False), line.get_ydata(orig=False)
        of_x, of_y = line.get_transform().contains_branch_seperately(ax.transData)
        if not (of_x and of_y):
            if sees_x(xs[0]) if of_x else sees_y(ys[0]):
                yield "rules", line, {"x": at_x(xs[0])} if of_x else {"y": at_y(ys[0])}
        elif not bars or len(set(xs)) > 1 < len(set(ys)):  # else an error bar, perhaps by chance
            for x, y in zip(xs, ys):
                if sees_x(x) and sees_y(y):
                    yield kind, line, {"x": at_x(x), "y": at_y(y)}
    for patch in ax.patches:
        if type(patch).__name__ == "Wedge":
            yield "wedges", patch, {"share": round((patch.theta2 - patch.theta1) / 360, 6)}
        elif patch not in bars:
            path = patch.get_patch_transform().transform_path(patch.get_path())
            yield "shapes", patch, {"digest": outline(path)}
    for group in ax.collections:
        if type(group).__name__ == "PathCollection":
            for x, y in group.get_offsets():
                if sees_x(x) and sees_y(y):
                    yield "points", group, {"x": at_x(x), "y": at_y(y)}
        elif type(group).__name__ == "QuadMesh":
            yield from cells(group, at_x, at_y, 0.5)
        else:
            for path in group.get_paths():
                yield "shapes", group, {"digest": outline(path)}
    for image in ax.images:
        yield from cells(image, at_x, at_y, 0)


def window(limits):
    """Says whether a place, or a part of a span, is within the limits of an axis."""
    low, high = sorted(limits)
    slack = (high - low) * 1e-9

    def sees(start, end=None):
        ends = sorted((start, start if end is None else end))
        return ends[0] <= high + slack and ends[1] >= low - slack

    return sees


def outline(path):
    """A digest: of marks of other kinds it is not known what a difference means."""
    text = " ".join(str(plain(value)) for value in path.vertices.ravel())
    return hashlib.sha256(text.encode()).hexdigest()


def cells(artist, at_x, at_y, middle):
    """The cells of a coloured mesh; of a picture, a digest."""
    values = artist.get_array()
    if values.ndim != 2 or values.size > MOST // 4:
        yield "pictures", artist, {"digest": hashlib.sha256(values.tobytes()).hexdigest()}
        return
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            at = {"column": at_x(x + middle, 0.49), "row": at_y(y + middle, 0.49)}
            yield "cells", artist, {**at, "value": value}


def places(axis):
    """Says what is at a place of an axis, or near it: a name, a date, or a number."""
    names, ticks, formatter = [], axis.get_majorticklocs(), axis.get_major_formatter()
    fixed = isinstance(getattr(formatter, "func", None), functools.partial)  # by set_ticklabels
    if fixed or type(formatter).__name__ in ("FixedFormatter", "StrCategoryFormatter"):
        names = [(tick, name) for tick, name in zip(ticks, formatter.format_ticks(ticks)) if name]
    converter = getattr(axis, "get_converter", lambda: axis.converter)()
    freq = getattr(axis.axes, "freq", None) if axis is axis.axes.xaxis else None

    def at(value, near=0):
        for tick, name in names:
            if abs(tick - value) <= near:
                return name
        if freq:  # of pandas
            return sys.modules["pandas"].Period(ordinal=int(value), freq=freq)
        if "Date" in type(converter).__name__ and value == value:
            return sys.modules["matplotlib.dates"].num2date(value).replace(tzinfo=None)
        return value

    return at


if "matplotlib.backend_bases" in sys.modules:
    watch(sys.modules["matplotlib.backend_bases"].FigureCanvasBase)
else:
    sys.meta_path.insert(0, Hook)
