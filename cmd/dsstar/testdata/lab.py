"""Drives JupyterLab in a headless browser for a test.

    lab.py BROWSER URL TOKEN

Each line of stdin is a request, a JSON list of an action and its arguments; each line of stdout is
its answer, {"result": ...} or {"error": "..."}. Actions are what a person does. model() reads Lab's
own model of the open notebook, shown() the page.
"""

import contextlib
import json
import sys
import time

from playwright.sync_api import sync_playwright

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]
WAIT = 150  # seconds that any action may take
WIDTH, HEIGHT = 1300, 1000

PANEL = "const panel = window.jupyterapp?.shell.currentWidget;"
KERNEL = PANEL + "const kernel = panel?.sessionContext?.session?.kernel;"
IDLE = (
    "() => {"
    + KERNEL
    + "return kernel?.status === 'idle' && kernel.connectionStatus === 'connected'}"
)
# Lab draws the cells of a long notebook one by one.
DRAWN = (
    "() => {"
    + PANEL
    + """const cells = [...panel.node.querySelectorAll('.jp-Notebook .jp-Cell')];
    return cells.length === panel.content.model.cells.length &&
        cells.every(c => !c.matches('.jp-MarkdownCell') || c.querySelector('.jp-RenderedMarkdown')?.innerHTML)}"""
)


class Lab:
    def __init__(self, page, url, token):
        self.page, self.url, self.token, self.names = page, url, token, set()
        page.expose_function("ran", lambda name: self.names.add(name))

    def open(self, path):
        """Saves and closes the open notebook, opens another, and waits for its kernel."""
        if self.page.url.startswith(self.url):
            self.page.evaluate(
                "async path => {" + PANEL + """await panel.context.save(); panel.close();
                await window.jupyterapp.commands.execute('docmanager:open', {path})}""",
                path,
            )
        else:
            self.page.goto(f"{self.url}/lab/tree/{path}?reset&token={self.token}")
        self.page.wait_for_function(
            "path => {" + PANEL + "return panel?.context?.path.endsWith(path)}", arg=path
        )
        self.page.wait_for_selector(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell")
        self.page.wait_for_function(IDLE)
        if self.page.locator(".jp-DirListing").is_visible():
            self.page.evaluate(
                "() => window.jupyterapp.commands.execute('application:toggle-left-area')"
            )

    def save(self):
        """File > Save Notebook."""
        self.page.evaluate("async () => {" + PANEL + "await panel.context.save()}")

    def run_all(self):
        """Run > Run All Cells; returns when all have run."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")

    def run_new(self, code):
        """Types code into a new last cell, runs it and returns what it prints."""
        self.page.evaluate(
            "() => {" + PANEL + """panel.content.activeCellIndex = panel.content.widgets.length - 1;
            return window.jupyterapp.commands.execute('notebook:insert-cell-below')}"""
        )
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(".jp-Cell.jp-mod-active .cm-content:focus")
        self.page.keyboard.insert_text(code)
        self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
        index = self.page.evaluate("() => {" + PANEL + "return panel.content.activeCellIndex}")
        return printed(self.model()["cells"][index])

    def model(self):
        """The open notebook as Lab holds it."""
        return self.page.evaluate("() => {" + PANEL + "return panel.content.model.toJSON()}")

    def printed(self):
        """The printed text of each code cell, in order."""
        return [printed(cell) for cell in self.model()["cells"] if cell["cell_type"] == "code"]

    def sources(self):
        """The sources of the cells."""
        return ["".join(cell["source"]) for cell in self.model()["cells"]]

    def dark(self):
        """Settings > Theme > JupyterLab Dark."""
        self.page.evaluate(
            "() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
        )
        self.page.wait_for_selector("body[data-jp-theme-light=false]", state="attached")

    def follow(self, part):
        """Clicks the last link whose address has a part, and waits for the notebook that it opens."""
        self.page.locator(f'.jp-RenderedHTML a[href*="{part}"]').last.click()
        self.page.wait_for_function(
            "part => {" + PANEL + "return panel?.context?.path.endsWith('/' + part)}", arg=part
        )

    def shown(self):
        """The text on the page, cell by cell."""
        self.page.wait_for_function(DRAWN)
        return self.page.evaluate(
            "() => {"
            + PANEL
            + """return [...panel.node.querySelectorAll('.jp-Notebook .jp-Cell')].map(
            c => (c.querySelector('.jp-RenderedMarkdown') ?? c).innerText)}"""
        )

    def wait_for(self, texts):
        """Waits, without reloading, until the page shows the texts in order; returns the seconds."""
        begun = time.time()
        while True:
            page, at = "\n".join(shown := self.shown()), 0
            for text in texts:
                if (found := page.find(text, at)) < 0:
                    break
                at = found + len(text)
            else:
                return round(time.time() - begun, 2)
            if time.time() - begun > WAIT:
                raise TimeoutError(f"{text!r} is not shown there after {WAIT} s but {shown}")
            self.page.wait_for_timeout(100)

    def folds(self):
        """The numbers of folded sections and of closed ones."""
        return self.page.evaluate(
            "() => {" + PANEL + """const all = [...panel.node.querySelectorAll('details')];
            return [all.length, all.filter(d => !d.open).length]}"""
        )

    def visit(self, address):
        """Opens a page outside of Lab, pokes every element, and returns the page's requests."""
        asked = []
        self.page.on("request", listen := lambda request: asked.append(request.url))
        self.page.goto(address)
        self.poke("body")
        self.page.remove_listener("request", listen)
        return [url for url in asked if url != address and not url.startswith("data:")]

    def draw(self):
        """Makes Lab draw every cell, by bringing all into view."""
        self.page.set_viewport_size({"width": WIDTH, "height": 12000})
        self.page.wait_for_function(
            "() => {"
            + PANEL
            + """const cells = panel.content.widgets;
            return cells.length === panel.content.model.cells.length && cells.every(c => !c.isPlaceholder())}"""
        )
        self.page.wait_for_timeout(1500)

    def poke(self, where):
        """Does what a reader could do to each element in the matching ones, and waits a moment."""
        self.page.evaluate(
            """where => {
            for (const e of document.querySelectorAll(`:is(${where}) *`)) {
                const href = e.getAttribute('href') ?? e.getAttribute('xlink:href') ?? '';
                for (const type of ['mouseover', 'mouseenter', 'pointerover', 'focus', 'toggle', 'animationstart', 'error', 'load'])
                    e.dispatchEvent(new Event(type, {bubbles: type === 'mouseover'}));
                if (e.tagName === 'FORM') e.requestSubmit();
                if (/script:/i.test(href) || e.hasAttribute('onclick') || ['BUTTON', 'SUMMARY'].includes(e.tagName)) {
                    e.removeAttribute('target');
                    e.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
                }
            }
        }""",
            where,
        )
        self.page.wait_for_timeout(500)  # for calls of ran

    def ran(self, *expected):
        """The names given to ran(...) in any page or frame since the last time; waits for the expected."""
        begun = time.time()
        while not self.names.issuperset(expected) and time.time() - begun < WAIT:
            self.page.wait_for_timeout(100)
        names, self.names = sorted(self.names), set()
        return names

    def screenshot(self, path):
        """A picture of the whole notebook."""
        height = self.page.evaluate(
            "() => {" + PANEL + """const view = panel.node.querySelector('.jp-WindowedPanel-outer');
            return window.innerHeight + view.scrollHeight - view.clientHeight}"""
        )
        self.page.set_viewport_size({"width": WIDTH, "height": min(height, 8000)})
        time.sleep(0.5)  # until Lab has drawn what came into view
        self.page.screenshot(path=path)
        self.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})


def printed(cell):
    return "".join(
        "".join(o.get("text", "")) if o["output_type"] == "stream" else o.get("ename", "")
        for o in cell["outputs"]
    )


def main(browser, url, token):
    with sync_playwright() as playwright, contextlib.closing(
            playwright.chromium.launch(executable_path=browser, args=FLAGS)) as chromium:
        page = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_default_timeout(WAIT * 1000)
        lab = Lab(page, url, token)
        for line in sys.stdin:
            action, *arguments = json.loads(line)
            try:
                answer = {"result": getattr(lab, action)(*arguments)}
            except Exception as e:
                answer = {"error": f"{action}: {type(e).__name__}: {e}"}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
