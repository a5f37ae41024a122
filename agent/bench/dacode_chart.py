"""Extracts data and settings of a chart from the code that draws it, for DA-Code's evaluator.

It runs the code in its folder and reads the current axes at the end. It needs a session of its own,
because the code is the agent's.
"""
import json
import os
import runpy
import sys


def chart_of(folder, any_savefig, cells):
    """Runs the folder's plotting programs until one leaves a chart.

    Writes dabench/plot.json and dabench/result.npy, in place of those of an earlier extraction. The
    public scorer requires a program: if no program of an agent that works in a notebook saves a
    figure, its cells are one.
    """
    os.chdir(folder)
    for name in ("dabench/plot.json", "dabench/result.npy"):
        if os.path.lexists(name):
            os.remove(name)
    if not [f for f in os.listdir(".") if f.endswith((".png", ".jpg"))]:
        return "no image was left"
    if "savefig" in cells and not any("savefig" in text for _, text in programs()):
        with open("plot.py", "w", encoding="utf-8") as f:
            f.write(cells)
    tried = []
    for name, code in programs():
        marks = (".savefig",) if any_savefig else ("plt.savefig", "matplotlib.pyplot.savefig")
        if name != "plot.py" and not any(m in code for m in marks):
            continue
        tried.append(name)
        try:
            chart = drawn_by(name)
        except BaseException as e:  # the program may call sys.exit
            tried[-1] += f" ({type(e).__name__}: {e})"
            continue
        if chart is not None:
            write(*chart)
            return ""
    return "no chart from " + ", ".join(tried) if tried else "no code that draws the image was left"


def programs():
    """The names and texts of the folder's programs."""
    found = []
    for name in sorted(f for f in os.listdir(".") if f.endswith(".py") and os.path.isfile(f)):
        with open(name, encoding="utf-8", errors="replace") as f:
            found.append((name, f.read()))
    return found


def drawn_by(path):
    import matplotlib
    matplotlib.use("Agg", force=True)
    import matplotlib.figure
    import matplotlib.pyplot as plt
    plt.close("all")
    patched = [
        (plt, "close"),
        (plt, "show"),
        (plt, "savefig"),
        (matplotlib.figure.Figure, "savefig"),
    ]
    kept = [getattr(owner, name) for owner, name in patched]
    argv, sys.argv = sys.argv, [path]
    sys.path.insert(0, os.getcwd())
    try:
        for owner, name in patched:
            setattr(owner, name, lambda *args, **kwargs: None)
        runpy.run_path(path, run_name="__main__")
        return look(plt.gca(), plt.gcf())
    finally:
        for (owner, name), was in zip(patched, kept):
            setattr(owner, name, was)
        sys.argv = argv
        sys.path.remove(os.getcwd()) if os.getcwd() in sys.path else None


def look(ax, figure):
    from matplotlib import colors
    kind = kind_of(ax)
    if not kind:
        return None
    data, used = {"pie": pie, "bar": bars, "scatter": points, "line": lines}[kind](ax)
    legend = ax.get_legend()
    return rectangle(data), {
        "type": kind,
        "color": [str(colors.to_hex(c)) for c in used],
        "figsize": [float(x) for x in figure.get_size_inches()],
        "graph_title": ax.get_title() or "",
        "legend_title": legend.get_title().get_text() if legend and legend.get_title() else "",
        "labels": [t.get_text() for t in legend.get_texts()] if legend else [],
        "x_label": ax.get_xlabel() or "",
        "y_label": ax.get_ylabel() or "",
        "xtick_labels": [t.get_text() for t in ax.get_xticklabels()],
        "ytick_labels": [t.get_text() for t in ax.get_yticklabels()],
    }


def kind_of(ax):
    from matplotlib.collections import PathCollection
    from matplotlib.patches import Rectangle, Wedge
    if any(isinstance(p, Wedge) for p in ax.patches):
        return "pie"
    if any(isinstance(p, Rectangle) and p.get_width() != p.get_height() for p in ax.patches):
        return "bar"
    if any(isinstance(c, PathCollection) and len(c.get_offsets()) > 0 for c in ax.collections):
        return "scatter"
    if any(len(line.get_xdata()) > 1 and len(line.get_ydata()) > 1 for line in ax.get_lines()):
        return "line"
    return ""


def pie(ax):
    from matplotlib.patches import Wedge
    wedges = [p for p in ax.patches if isinstance(p, Wedge)]
    return [[abs(w.theta2 - w.theta1) / 360 for w in wedges]], {
        tuple(w.get_facecolor()) for w in wedges
    }


def bars(ax):
    """Heights, or widths if those vary more. A position left of the last one begins a group."""
    from matplotlib.patches import Rectangle
    found = [p for p in ax.patches if isinstance(p, Rectangle)]
    upright = len({p.get_height() for p in found}) > len({p.get_width() for p in found})
    groups, last = [[]], -1000
    for p in found:
        along, size, place = ((p.get_width(), p.get_height(), p.get_x()) if upright
                              else (p.get_height(), p.get_width(), p.get_y()))
        if along == 0:
            continue
        if place < last:
            groups.append([])
        groups[-1].append(size)
        last = place
    return [g for i, g in enumerate(groups) if g or i < len(groups) - 1], {
        tuple(p.get_facecolor()) for p in found
    }


def points(ax):
    from matplotlib.collections import PathCollection
    data, used = [], set()
    for child in ax.get_children():
        if isinstance(child, PathCollection) and len(child.get_offsets()) > 0:
            data.extend(child.get_offsets())
            used.update(tuple(c) for c in child.get_facecolor())
    return data, used


def lines(ax):
    import numpy as np
    data, used = [], set()
    for line in ax.get_lines():
        y = line.get_ydata()
        if len(line.get_xdata()) > 1 and len(y) > 1:
            y = np.asarray(y)
            if np.issubdtype(y.dtype, np.number) and not np.isnan(y).all():
                data.append(y)
                color = line.get_color()
                used.add(color if isinstance(color, str) else tuple(color))
    return data, used


def rectangle(data):
    import numpy as np
    try:
        return np.array(data) if len(data) else np.array([])
    except ValueError:  # several lengths: padded with zeros
        longest = max(len(x) for x in data)
        return np.array([np.pad(x, (0, longest - len(x)), "constant") for x in data])


def write(data, settings):
    import numpy as np
    os.makedirs("dabench", exist_ok=True)
    if len(data):
        np.save("dabench/result.npy", data)
    with open("dabench/plot.json", "w") as f:
        json.dump(settings, f)
