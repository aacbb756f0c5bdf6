"""A table for people, as a value, and its four ways onto paper and screen."""

import html
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple


class Cell(NamedTuple):
    text: str
    bold: bool = False
    underline: bool = False


class Line(NamedTuple):
    label: str
    cells: tuple[Cell, ...]
    light: bool = False  # something to compare with, of less weight than the line above


class Grid(NamedTuple):
    caption: str
    head: tuple[str, ...]  # of the label, then of each cell
    groups: tuple[tuple[Line, ...], ...]  # lines that belong together, ruled off from the next
    note: str = ""


def markdown(grid: Grid) -> str:
    """GitHub's tables. Lighter lines are in italics."""

    def styled(cell: Cell, light: bool) -> str:
        text = _markdown_text(cell.text)
        if not text:
            return ""
        text = f"<u>{text}</u>" if cell.underline else text
        text = f"**{text}**" if cell.bold else text
        return f"*{text}*" if light else text

    lines = [f"**{_markdown_text(grid.caption)}**", ""]
    lines.append(_piped(map(_markdown_text, grid.head)))
    lines.append(_piped([":---", *["---:"] * (len(grid.head) - 1)]))
    for line in _lines(grid):
        cells = [styled(cell, line.light) for cell in line.cells]
        lines.append(_piped([styled(Cell(line.label), line.light), *cells]))
    return "\n".join([*lines, *(["", _markdown_text(grid.note)] if grid.note else []), ""])


def latex(grid: Grid) -> str:
    """A table environment; needs the packages booktabs and xcolor."""

    def styled(cell: Cell, light: bool) -> str:
        text = _latex_text(cell.text)
        text = rf"\underline{{{text}}}" if cell.underline else text
        text = rf"\textbf{{{text}}}" if cell.bold else text
        return rf"\textcolor{{gray}}{{{text}}}" if light and text else text

    body = []
    for group in grid.groups:
        body.append(r"\midrule")
        for line in group:
            cells = [Cell(line.label), *line.cells]
            body.append(" & ".join(styled(cell, line.light) for cell in cells) + r" \\")
    note = [rf"\par\smallskip {_latex_text(grid.note)}"] if grid.note else []
    return "\n".join(
        [
            "% needs booktabs and xcolor",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_latex_text(grid.caption)}}}",
            r"\footnotesize",
            rf"\begin{{tabular}}{{l{'r' * (len(grid.head) - 1)}}}",
            r"\toprule",
            " & ".join(map(_latex_text, grid.head)) + r" \\",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *note,
            r"\end{table}",
            "",
        ]
    )


def html_table(grid: Grid, caption: bool = True) -> str:
    """A table element; the page around it brings the style and the box it scrolls in."""

    def styled(cell: Cell) -> str:
        text = html_text(cell.text)
        text = f"<u>{text}</u>" if cell.underline else text
        return f"<b>{text}</b>" if cell.bold else text

    head = "".join(f'<th scope="col">{html_text(name)}</th>' for name in grid.head)
    body = ""
    for group in grid.groups:
        body += "<tbody>\n"
        for line in group:
            row = '<tr class="light">' if line.light else "<tr>"
            cells = "".join(f"<td>{styled(cell)}</td>" for cell in line.cells)
            label = f'<th scope="row">{html_text(line.label)}</th>'
            body += f"{row}{label}{cells}</tr>\n"
        body += "</tbody>\n"
    title = f"<caption>{html_text(grid.caption)}</caption>\n" if caption else ""
    return f"<table>\n{title}<thead><tr>{head}</tr></thead>\n{body}</table>"


def text(grid: Grid) -> str:
    """For a terminal, where * stands for bold and ! for underlined."""
    marked = [False] * len(grid.head)  # by column
    for line in _lines(grid):
        for column, cell in enumerate(line.cells, start=1):
            marked[column] |= cell.bold or cell.underline

    table = [list(grid.head)]
    for line in _lines(grid):
        cells = [cell.text + "*" * cell.bold + "!" * cell.underline for cell in line.cells]
        # Digits stay above one another where some cells of a column are marked.
        padded = [
            shown + " " * (2 - cell.bold - cell.underline) if marked[column] else shown
            for column, (shown, cell) in enumerate(zip(cells, line.cells, strict=True), start=1)
        ]
        table.append([f"  {line.label}" if line.light else line.label, *padded])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))

    def joined(row: list[str]) -> str:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return "  ".join([row[0].ljust(widths[0]), *cells]).rstrip()

    rows = iter(table)
    lines = [grid.caption, rule, joined(next(rows)), rule]
    for group in grid.groups:
        lines += [joined(next(rows)) for _ in group] + [rule]
    if grid.note:
        lines.append(grid.note)
    if any(marked):
        lines.append("Here * stands for bold and ! for underlined.")
    return "\n".join([*lines, ""])


FORMATS: dict[str, Callable[[Grid], str]] = {
    "md": markdown,
    "latex": latex,
    "html": html_table,
    "text": text,
}


def html_text(text: str) -> str:
    """Text as it is to be read, safe inside an element and inside a quoted attribute."""
    # Control characters are not allowed in a page, not even escaped.
    return html.escape(re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "\ufffd", text))


def _lines(grid: Grid) -> Iterable[Line]:
    return (line for group in grid.groups for line in group)


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_text(text: str) -> str:
    for special in "\\`*_[]|":
        text = text.replace(special, f"\\{special}")
    return " ".join(text.replace("&", "&amp;").replace("<", "&lt;").split())


_LATEX = {
    **{special: f"\\{special}" for special in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": "$-$",
    "≥": r"$\geq$",
    "×": r"$\times$",
}


def _latex_text(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
