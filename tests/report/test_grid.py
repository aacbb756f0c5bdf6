from html.parser import HTMLParser

import pytest

from reprior.report.grid import FORMATS, Cell, Grid, Line, html_table, latex, markdown, text

GRID = Grid(
    "Sets & 100 %",
    ("Model", "my_set", "b|c"),
    (
        (
            Line("A", (Cell("−1.00±0.05", bold=True, underline=True), Cell("2.00±0.10"))),
            Line("paper", (Cell("1.00±0.50", bold=True), Cell("")), light=True),
        ),
        (Line("<i>", (Cell("3.00±0.00", underline=True), Cell("10.00±0.00"))),),
    ),
    "A note.",
)


def test_markdown_has_as_many_columns_in_every_line():
    lines = markdown(GRID).splitlines()
    table = [line.replace(r"\|", "") for line in lines if line.startswith("|")]
    assert [line.count("|") for line in table] == [4] * 5
    assert lines[0] == "**Sets &amp; 100 %**"
    assert r"| Model | my\_set | b\|c |" in lines
    assert "| A | **<u>−1.00±0.05</u>** | 2.00±0.10 |" in lines
    assert "| *paper* | ***1.00±0.50*** |  |" in lines
    assert "| &lt;i> | <u>3.00±0.00</u> | 10.00±0.00 |" in lines


def test_latex_escapes_what_it_would_take_for_commands():
    found = latex(GRID)
    assert r"\caption{Sets \& 100 \%}" in found
    assert r"Model & my\_set & b|c \\" in found
    assert r"A & \textbf{\underline{$-$1.00$\pm$0.05}} & 2.00$\pm$0.10 \\" in found
    assert r"\textcolor{gray}{paper} & \textcolor{gray}{\textbf{1.00$\pm$0.50}} &  \\" in found
    assert found.count("{") == found.count("}")
    for rule, times in ((r"\toprule", 1), (r"\midrule", 2), (r"\bottomrule", 1)):
        assert found.count(rule) == times
    assert r"a\textbackslash{}b\{\}\$\#\_\^".replace(r"\^", r"\textasciicircum{}") in latex(
        GRID._replace(caption="a\\b{}$#_^")
    )


def test_plain_text_keeps_digits_above_one_another():
    lines = text(GRID).splitlines()
    assert lines[0] == "Sets & 100 %"
    columns = [line.index("±") for line in lines if "±" in line]
    assert len(set(columns)) == 1
    assert "−1.00±0.05*!" in lines[4]
    assert lines[5].startswith("  paper")
    assert "Here * stands for bold" in lines[-1]
    assert max(map(len, lines[1:-2])) == len(lines[1])


class Outline(HTMLParser):
    """The tags of a text, each closed by its own; the rows of its table as plain text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows = [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def test_html_holds_the_same_cells():
    found = Outline(html_table(GRID))
    assert found.rows == [
        list(GRID.head),
        ["A", "−1.00±0.05", "2.00±0.10"],
        ["paper", "1.00±0.50", ""],
        ["<i>", "3.00±0.00", "10.00±0.00"],
    ]
    assert "<b><u>−1.00±0.05</u></b>" in html_table(GRID)
    assert html_table(GRID).count('<tr class="light">') == 1
    assert "<caption>" not in html_table(GRID, caption=False)


@pytest.mark.parametrize("name", FORMATS)
def test_a_table_without_lines_is_still_a_table(name):
    found = FORMATS[name](Grid("Nothing", ("Model",), ()))
    assert "Nothing" in found
    assert "Model" in found
