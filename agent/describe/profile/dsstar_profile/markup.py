"""Readers of XML and of pages. They import lxml themselves, as a user's own Python may lack it."""

from __future__ import annotations

import itertools
import re
from typing import Any

from dsstar_profile import grids, nested, texts
from dsstar_profile.found import TEXT, Found, clean, document
from dsstar_profile.grids import Table
from dsstar_profile.hints import FILE, Call
from dsstar_profile.values import show

ROWS = 50_000  # of a table
TABLES = 60  # of a page that are looked at
BEGINNING = "rows and figures are from the beginning of the file"


def xml(source: texts.Text) -> Found:
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        recover=not source.whole,
        huge_tree=False,
        remove_comments=True,
    )
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", source.text)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        found = document("XML", source.text[:4000], warnings=[f"not valid XML: {show(error, 160)}"])
        found.cut = len(source.text) > 4000
        return found
    found = Found("XML")
    if root is None:
        return found
    if not source.whole:
        _whole_rows(root)
    found.lines.append(f"root element {show(root.tag)}")
    found.tables, lines = nested.tables(nested.of_xml(root), nested._local(str(root.tag)))
    found.lines += lines
    for table in found.tables:
        table.text_source = True
        if not source.whole:
            table.extra["least"] = True
    if not source.whole:
        found.warnings.append(BEGINNING)
    return found


def _whole_rows(root: Any) -> None:
    """Takes the last of equal elements away: a text without its end has it in part."""
    while len(root) and (len(root) == 1 or root[-1].tag != root[-2].tag):
        root = root[-1]
    if len(root):
        root.remove(root[-1])


def html(source: texts.Text) -> Found:
    from lxml import html

    text = source.text
    last = max(text.rfind("<tr"), text.rfind("<TR"))
    if not source.whole and not re.search(r"</t(r|able)\b", text[last:], re.I):
        text = text[:last]  # a row without its end
    page = html.document_fromstring(
        text.encode("utf-8", "replace"), parser=html.HTMLParser(encoding="utf-8", huge_tree=False)
    )
    found = Found("HTML")
    for n, table in enumerate(filter(_shown, page.xpath("//table"))):
        table.set("index", str(n))
    for br in page.xpath("//br"):
        br.tail = "\n" + (br.tail or "")
    for junk in page.xpath("//script|//style|//noscript|//nav|//*[contains(@class, 'navbox')]"):
        junk.drop_tree()
    if title := page.xpath("string(//title)").strip():
        found.lines.append("title: " + show(title, 200))
    inner = page.xpath("//table[@index and not(.//table)]")
    found.more = len(inner[TABLES:])
    for table in inner[:TABLES]:
        trs = table.xpath(".//tr")
        rows = _spanned([_cells(tr) for tr in trs[:ROWS]])
        caption = show(" ".join(table.xpath("string(./caption)").split()), 120)
        if len(rows) > 1 and max(map(len, rows)) > 1:
            name = f"read_html()[{table.get('index')}]" + (f" ({caption})" if caption else "")
            found.tables += grids.tables(rows, name, True)
            if more := len(trs[ROWS:]):
                found.tables[-1].total = len(found.tables[-1].rows) + more
            found.tables[-1].calls = _html_calls(found.tables[-1], table.get("index"))
            table.drop_tree()
    if not source.whole:
        found.warnings.append(BEGINNING)
        for table in found.tables:
            table.extra["least"] = True
    parts = [x.text_content() for x in page.xpath("//p|//h1|//h2|//h3|//li[not(.//a)]|//dl|//pre")]
    lines = parts if sum(map(len, parts)) > 200 else page.text_content().split("\n")
    words = "\n".join(filter(None, (" ".join(x.split()) for x in lines)))
    found.text, found.cut = clean(words)[:TEXT], len(words) > TEXT or not source.whole
    return found


def _html_calls(table: Table, index: str) -> list[Call]:
    """Calls that may read a table of a page: pandas takes cells marked as such for its names."""
    below = f".iloc[:{len(table.rows)}]"
    header: Any = table.header[0] if len(table.header) == 1 else table.header or None
    return [
        Call(f"pd.read_html({FILE}", options, f"[{index}]{after}")
        for after in ("", below)
        for options in (
            {},
            {"header": header} if table.header else {"header": None, "skiprows": table.skip},
        )
    ]


def _shown(table: Any) -> bool:
    """Whether pandas' read_html returns the table, so that its index can be told."""
    hidden = "display:none" in (table.get("style") or "").replace(" ", "")
    words = any(text.strip("\n") for text in table.itertext())  # text_content() is quadratic
    return not hidden and words and next(table.iter("td", "th"), None) is not None


def _cells(tr: Any) -> list[tuple[str, int, int]]:
    def span(cell: Any, name: str) -> int:
        text = cell.get(name) or "1"
        return max(1, min(int(text), 50)) if text.isdigit() else 1

    return [
        (_cell(c.text_content()), span(c, "colspan"), span(c, "rowspan"))
        for c in tr.xpath("./td|./th")
    ]


def _cell(text: str) -> str:
    """The text as pandas' read_html has it, which keeps a single non-breaking space."""
    return re.sub(r"[\r\n]+|\s{2,}", " ", text.strip())


def _spanned(rows: list[list[tuple[str, int, int]]]) -> list[tuple]:
    """The rows as a grid, with a cell that spans several in each of them."""
    grid: dict[tuple[int, int], str] = {}
    for y, row in enumerate(rows):
        x = 0
        for text, across, down in row[:500]:
            while (y, x) in grid:
                x += 1
            for dy, dx in itertools.product(range(down), range(across)):
                grid[y + dy, x + dx] = text
            x += across
    width = max((x for _, x in grid), default=-1) + 1
    return [tuple(grid.get((y, x)) for x in range(width)) for y in range(len(rows))]
