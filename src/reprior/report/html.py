"""A report as one HTML file that needs nothing else: no network, no script, no other file."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from reprior.report.grid import Grid, html_table, html_text
from reprior.report.style import STYLE


class Text(NamedTuple):
    """Paragraphs, divided by empty lines. A callout is set apart, for what must not be missed."""

    text: str
    callout: bool = False


class Table(NamedTuple):
    """A table; numbers is the CSV text behind it, offered for download under that file name."""

    grid: Grid
    numbers: str = ""
    file: str = "table.csv"


class Figure(NamedTuple):
    """A picture from `figures.svg`, with its caption; numbers as for a table."""

    svg: str
    caption: str = ""
    numbers: str = ""
    file: str = "figure.csv"


Block = Text | Table | Figure


class Section(NamedTuple):
    heading: str
    blocks: Sequence[Block]


def page(title: str, sections: Sequence[Section], provenance: Mapping[str, str]) -> str:
    """The whole page. Only a figure's svg is read as markup; every other string is shown as is."""
    body = []
    figures = 0
    for number, section in enumerate(sections, start=1):
        body.append(f'<section id="s{number}">\n<h2>{html_text(section.heading)}</h2>')
        for block in section.blocks:
            if isinstance(block, Figure):
                figures += 1
            body.append(_block(block, f"f{figures}-"))
        body.append("</section>")
    content = "\n".join([*body, ""])
    facts = "".join(
        f"<div><dt>{html_text(name)}</dt><dd>{html_text(value)}</dd></div>\n"
        for name, value in provenance.items()
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{html_text(title)}</title>
<style>
{STYLE}</style>
</head>
<body>
<header>
<h1>{html_text(title)}</h1>
{_contents(sections)}</header>
<main>
{content}</main>
<footer>
<details>
<summary>Where these numbers come from</summary>
<dl>
{facts}</dl>
</details>
</footer>
</body>
</html>
"""


def _contents(sections: Sequence[Section]) -> str:
    if len(sections) < 3:
        return ""
    links = "".join(
        f'<li><a href="#s{number}">{html_text(section.heading)}</a></li>'
        for number, section in enumerate(sections, start=1)
    )
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>\n'


def _block(block: Block, prefix: str) -> str:
    if isinstance(block, Text):
        paragraphs = [p for p in re.split(r"\n\s*\n", block.text.strip()) if p]
        shown = "\n".join(f"<p>{html_text(paragraph)}</p>" for paragraph in paragraphs)
        return f'<div class="callout">\n{shown}\n</div>' if block.callout else shown
    if isinstance(block, Table):
        label = html_text(block.grid.caption)
        # The heading stands outside the box, so that it stays when the table scrolls sideways.
        box = f'<div class="scroll" role="region" aria-label="{label}" tabindex="0">'
        shown = f"<h3>{label}</h3>\n{box}\n{html_table(block.grid, caption=False)}\n</div>\n"
        return f'<div class="table">\n{shown}{_beneath(block.grid.note, block)}</div>'
    shown = f'<div class="scroll card">\n{_inline(block.svg, prefix, block.caption)}\n</div>'
    below = _beneath(block.caption, block)
    below = f"<figcaption>{below}</figcaption>" if below else ""
    return f"<figure>\n{shown}\n{below}</figure>"


def _beneath(words: str, block: Table | Figure) -> str:
    note = html_text(words)
    if block.numbers:
        address = f"data:text/csv;charset=utf-8,{quote(block.numbers)}"
        note += (
            f' <a class="numbers" download="{html_text(block.file)}" href="{address}">'
            f"Numbers as CSV</a>"
        )
    return f'<p class="note">{note.strip()}</p>\n' if note.strip() else ""


def _inline(svg: str, prefix: str, caption: str) -> str:
    """The svg element made ready to stand among others on one page."""
    if not svg.startswith("<svg"):
        raise ValueError(f"A figure's svg begins with {svg[:20]!r}; give what figures.svg returns.")
    # Two figures may use the same names inside, and a page may use a name only once.
    name = re.compile(r'(\bid="|\burl\(#|\bhref="#)')
    svg = re.sub(r"<[^<>]*>", lambda tag: name.sub(rf"\g<1>{prefix}", tag[0]), svg)
    size = re.match(r'<svg[^>]*?\bwidth="([\d.]+)pt"', svg)
    width = float(size[1]) if size else 480.0
    # On a phone the picture stays legible and its box scrolls; on a desk it may grow a little.
    shape = f"min-width:{0.85 * width:.0f}pt;max-width:{1.15 * width:.0f}pt"
    label = html_text(caption or "figure")
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}" style="{shape}"', 1)
