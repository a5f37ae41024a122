"""How a run looks in the output of a cell. All of its texts come from data or a model: they are
escaped, and nothing is fetched from anywhere."""

import html
import os
import re
import shlex
import threading
import time
import urllib.parse
import uuid

from . import program

# The colours are those of JupyterLab's theme, of VS Code's, or neutral.
INK = "var(--jp-content-font-color1, var(--vscode-editor-foreground, inherit))"
FAINT = "var(--jp-content-font-color2, var(--vscode-descriptionForeground, #777))"
LINE = "var(--jp-border-color2, var(--vscode-panel-border, #8886))"
PAPER = "var(--jp-cell-editor-background, var(--vscode-textCodeBlock-background, #8881))"
GOOD = "var(--jp-success-color1, var(--vscode-testing-iconPassed, #388e3c))"
DOUBT = "var(--jp-warn-color1, var(--vscode-editorWarning-foreground, #b26a00))"
BAD = "var(--jp-error-color1, var(--vscode-errorForeground, #c62828))"
CODE = (
    f"background:{PAPER};color:{INK};border:1px solid {LINE};border-radius:3px;margin:4px 0;"
    "padding:6px 8px;max-height:16em;overflow:auto;font-size:12px;line-height:1.35;white-space:pre"
)
MOST = 20_000  # characters of a text that are shown


def esc(text):
    text = str(text)
    return html.escape(text if len(text) <= MOST else text[:MOST] + " …")


def tag(name, style, inner):
    return f'<{name} style="{style}">{inner}</{name}>'


def div(style, inner):
    return tag("div", style, inner)


def faint(inner):
    return div(f"color:{FAINT}", inner)


def command(text):
    return tag("code", f"background:{PAPER};color:{INK};padding:0 4px;border-radius:3px", esc(text))


def counted(run):
    """What the run has used, in words."""
    words = [f"{run.seconds():.0f} s"]
    if run.running:  # still true if the kernel ends, and nothing can change what is shown
        words[0] += time.strftime(" at %H:%M:%S")
    if run.spent.get("calls"):
        calls = run.spent["calls"]
        words.append(f"{calls} model call" + ("s" if calls > 1 else ""))
        words.append(f"{run.spent['input_tokens']:,} tokens in, {run.spent['output_tokens']:,} out")
    if run.spent.get("cost_usd") is not None:
        words.append(f"about ${run.spent['cost_usd']:.2f}")
    return " · ".join(words)


def standing(run):
    """The state of a run in a few words, and their colour."""
    r = run.result or {}
    if run.running:
        return ("stopping" if run.stopped else "working"), FAINT
    if r.get("answer") and run.code in (0, 3):
        return r["standing"], GOOD if r["verified"] else DOUBT
    if run.stopped or run.code == 130:
        return "stopped", DOUBT
    return "no answer", BAD


def page(run, busy=False):
    """The run as HTML."""
    word, colour = standing(run)
    head = (
        tag("strong", f"color:{INK}", "dsstar")
        + tag("span", f"color:{colour};font-weight:600;margin-left:8px", esc(word))
        + tag("span", f"color:{FAINT};margin-left:8px", esc(counted(run)))
    )
    body = [div("margin-bottom:4px", head), div(f"color:{INK}", esc(run.question))]
    body += progress(run, busy) if run.running else outcome(run)
    body.append(where(run))
    return div(
        f"border:1px solid {LINE};border-left:3px solid {colour};border-radius:4px;padding:8px 12px;"
        f"max-width:60em;font-size:13px;line-height:1.5;color:{INK};white-space:normal",
        "".join(body),
    )


def progress(run, busy):
    doing = run.waiting or "starting"
    if run.stopped:
        doing = "stopping: saving the notebook"
    elif busy:
        doing = "waiting for the kernel: a cell of yours is running"
    rows = [steps(run), div(f"color:{FAINT};margin-top:4px", "▸ " + esc(doing) + " …")]
    current = run.steps[-1] if run.steps else None
    if current and current.code:
        rows.insert(1, tag("pre", CODE, esc(current.code)))
    rows.append(faint(command("%dsstar stop") + " stops it, and nothing is lost · " + command("%dsstar")
                      + " shows what became of it"))
    return rows


def steps(run):
    rows = []
    for s in run.steps:
        said = []
        if s.status:
            said.append("ran" if s.status == "ok" else "failed, and is repaired" if run.running else s.status)
        if s.verdict:
            said.append(s.verdict + (f": {s.reason}" if s.reason else ""))
        style = "text-decoration:line-through;" if s.dropped else ""
        text = tag("span", style, f"<b>{s.number}</b> {esc(s.text)}")
        rows.append(div("margin-top:2px", text + (faint(esc(" · ".join(said))) if said else "")))
    return div("margin-top:6px", "".join(rows)) if rows else ""


def outcome(run):
    rows, r = [], run.result or {}
    if r.get("answer") and not run.errors:
        rows.append(answer(r))
        rows.append(div(f"color:{GOOD if r['verified'] else DOUBT}", esc(r["worth"])))
        rows += readings(r)
        if r["summary"]:
            rows.append(div("margin-top:6px", faint(esc(r["summary_label"]) + ":") + esc(r["summary"])))
        for w in run.warnings:
            rows.append(div(f"color:{DOUBT}", esc(w)))
        rows.append(
            faint(command("%dsstar insert") + " puts the cells below · "
                  + command("%dsstar result") + " is the answer as a value")
        )
    else:
        rows += [div(f"color:{BAD};white-space:pre-wrap", esc(e)) for e in complaints(run)]
        if run.run_dir:
            rows.append(faint(command("%dsstar resume") + " goes on from there"))
        rows += [div("margin-top:2px;white-space:pre-wrap", (command(cell) if cell else "") + faint(esc(note)))
                 for cell, note in hints(run)]
    if run.steps:
        inner = "".join(
            div("margin-top:4px", f"<b>{s.number}</b> {esc(s.text)}") + tag("pre", CODE, esc(s.code))
            for s in run.steps
            if not s.dropped and s.code
        )
        rows.append(
            f'<details style="margin-top:4px"><summary style="cursor:pointer;color:{FAINT}">'
            f"Steps and code</summary>{inner}</details>"
        )
    return rows


def aligned(text):
    """A printed table with the space before its first line, which an answer has not."""
    first, *rest = text.split("\n")
    width = len(rest[0]) if len(rest) > 1 else 0
    same = all(len(line) == width for line in rest[:-1]) and "  " in first
    return "\n".join([first.rjust(width) if same else first] + rest)


def answer(r):
    return tag("pre", CODE + ";font-weight:600", esc(aligned(r["answer"])))


def whole(option):
    """The answer of an option, and how its files differ from those of the answer that is taken."""
    differs = f" ({option['differs']})" if option["differs"] else ""
    return (aligned(option["answer"]) or "could not be computed") + differs


def readings(r):
    """The options of each open reading, named as %dsstar choose takes them."""
    rows, point = [], None
    for option in r["readings"]:
        if option["point"] != point:
            point = option["point"]
            rows.append(div(f"color:{DOUBT};margin-top:6px", "It depends on a reading: " + esc(point)))
        text = f"{esc(option['reading'])}"
        if option["chosen"]:
            text += tag("span", f"color:{FAINT}", " (taken)")
        shown = esc(whole(option))
        if option["chosen"]:
            shown = ""
        rows.append(
            div("margin:2px 0", command(f"%dsstar choose {option['choose']}") + " " + text)
            + (tag("pre", CODE + ";margin-left:16px", shown) if shown else "")
        )
    return rows


def complaints(run):
    if run.errors:
        return run.errors
    if run.stopped:
        return ["It was stopped before there was an answer."]
    return [f"The program ended with code {run.code} and gave no answer."]


OWN = {"--kernel": 2, "--progress": 2, "--json": 1}  # flags that the extension adds


def hints(run):
    """What the program advises, in pairs: a cell to paste, and a note. Commands that need a terminal
    are notes without a cell."""
    for hint in run.hints:
        text, _, note = hint.partition("   # ")
        try:
            words = shlex.split(text)
        except ValueError:
            words = []
        if words[:1] == ["export"]:
            yield "\n".join(map(setting, words[1:])), note
        elif words[:2] == ["dsstar", "nb"]:
            yield " ".join(["%%dsstar"] + options(words, "-", run.question)) + "\n" + run.question, note
        elif words[:2] == ["dsstar", "resume"]:
            yield " ".join(["%dsstar"] + options(words, run.run_dir) + ["resume"]), note
        elif words[:1] == ["dsstar"]:
            yield "!" + " ".join([shlex.quote(program() or "dsstar"), words[1]] + options(words)), note
        elif words[1:4] == ["-m", "pip", "install"]:
            yield "%pip install " + " ".join(words[4:]), note
        elif words[:1] in TERMINAL or words[:2] == ["jupyter", "lab"] or "${EDITOR" in text:
            yield "", "in a terminal: " + hint
        else:
            yield (text if text.startswith("%") else "!" + text), note


TERMINAL = ["sudo"], ["apt-get"], ["brew"], ["wsl"]  # they ask something


def setting(assignment):
    """The magic that does what export does with an assignment: a subshell could not."""
    name, _, value = assignment.partition("=")
    value = re.sub(r"\$\((.*)\)", lambda found: "{get_ipython().getoutput(%r).s}" % found[1], value)
    return f"%env {name}={value}"


def options(words, *known):
    """What follows the command in a command line, without what the extension adds: it names this
    kernel, which the cell keeps busy."""
    kept, skip = [], 0
    for word in words[2:]:
        if skip:
            skip -= 1
        elif word in OWN:
            skip = OWN[word] - 1
        elif word == "<":
            break
        elif word not in known:
            kept.append(shlex.quote(word) if word != "…" else word)
    return kept


def where(run):
    """The link to the run's notebook: JupyterLab and Notebook resolve it beside the open notebook."""
    if not run.run_dir:
        return ""
    path = (run.result or {}).get("notebook") or os.path.join(run.run_dir, "notebook.ipynb")
    session = os.environ.get("JPY_SESSION_NAME", "")
    beside = os.path.dirname(session) if os.path.isabs(session) else run.folder
    link = urllib.parse.quote(os.path.relpath(path, beside).replace(os.sep, "/"))
    shown = f'<a href="{html.escape(link)}" target="_blank">{esc(os.path.relpath(path, run.folder))}</a>'
    return div(f"color:{FAINT};margin-top:4px", "Notebook of the run: " + shown)


def plain(run, busy=False):
    """The run as text, for front ends that show no HTML."""
    word, _ = standing(run)
    r = run.result or {}
    lines = [f"dsstar: {word} · {counted(run)}"]
    if run.running:
        lines += [f"step {s.number}  {s.text}" for s in run.steps if not s.dropped][-1:]
        lines.append("waiting for the kernel: a cell of yours is running" if busy else run.waiting or "starting")
        lines.append("%dsstar shows how far it is, %dsstar stop stops it")
    elif r.get("answer") and not run.errors:
        lines += [aligned(r["answer"]), r["worth"]]
        point = None
        for o in r["readings"]:
            if o["point"] != point:
                point = o["point"]
                lines.append(f"it depends on a reading: {point}")
            said = "taken" if o["chosen"] else whole(o)
            lines.append(f"  %dsstar choose {o['choose']}: {o['reading']}: {said}")
        if r["summary"]:
            lines += [r["summary_label"] + ":", r["summary"]]
        lines.append("%dsstar insert puts the cells below, %dsstar result is the answer as a value")
    else:
        lines += complaints(run)
        for cell, note in hints(run):
            lines += ["hint: " + (note or cell), cell if note else ""]
        if run.run_dir:
            lines.append("%dsstar resume goes on from there")
    if run.run_dir:
        lines.append("notebook " + os.path.join(run.run_dir, "notebook.ipynb"))
    return "\n".join(line for line in lines if line)


class Display:
    """A part of a cell's output that can change after the cell has ended, from any thread. Its
    messages say that they belong to that cell, whatever cell the kernel is running."""

    def __init__(self, shell):
        self.publisher, self.id = shell.display_pub, uuid.uuid4().hex
        self.parent = shell.kernel.get_parent("shell")
        self.shown = None

    def show(self, data):
        if data == self.shown:
            return
        kind = "display_data" if self.shown is None else "update_display_data"
        self.shown = data
        self.publisher.session.send(
            self.publisher.pub_socket,
            kind,
            {"data": data, "metadata": {}, "transient": {"display_id": self.id}},
            parent=self.parent,
            ident=self.publisher.topic,
        )


class Painter:
    """Keeps displays of a run up to date, at most a few times a second, until it has ended."""

    def __init__(self, run, busy):
        self.run, self.busy, self.displays = run, busy, []
        self.news = threading.Event()
        self.thread = threading.Thread(target=self.work, name="dsstar display", daemon=True)

    def add(self, display):
        display.show(self.bundle())
        self.displays.append(display)

    def bundle(self):
        busy = self.run.running and self.busy()
        return {"text/html": page(self.run, busy), "text/plain": plain(self.run, busy)}

    def work(self):
        painted, busy = 0.0, False
        while True:
            if self.news.wait(1) or time.monotonic() - painted > 5 or self.busy() != busy:
                self.news.clear()
                painted, busy = time.monotonic(), self.busy()
                running, data = self.run.running, self.bundle()
                for display in list(self.displays):
                    display.show(data)
                if not running:
                    return
                time.sleep(0.25)
