import re
from html.parser import HTMLParser
from urllib.parse import unquote

import numpy as np
import pytest

from reprior.report.figures import Curve, reliability_figure, svg
from reprior.report.grid import Cell, Grid, Line
from reprior.report.html import Figure, Section, Table, Text, page

VOID = {"meta", "link", "br", "hr", "img", "input"}
EVIL = "<script>alert('\"&')</script>"
LEVELS = np.linspace(0.1, 1, 10)


class Checked(HTMLParser):
    """Fails unless every element is closed by its own tag and every id is given once."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.links, self.data = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open
        assert len(self.ids) == len(set(self.ids))

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names))
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src", "xlink:href"):
                self.links.append(value)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.data.append(data)


def figure():
    return svg(reliability_figure([Curve("plain", LEVELS, LEVELS**2)]))


def sample(word="word", numbers="a,b\n1,2\n"):
    grid = Grid(word, (word, word), ((Line(word, (Cell(word, True, True),)),),), word)
    blocks = [Text(f"{word}\n\n{word}"), Text(word, callout=True), Table(grid, numbers, word)]
    figures = [Figure(figure(), word, numbers, word), Figure(figure(), word)]
    sections = [Section(word, blocks), Section(word, figures), Section(word, [])]
    return page(word, sections, {word: word})


def test_the_page_is_well_formed_and_each_id_stands_once():
    found = Checked(sample())
    assert found.tags.count("svg") == 2
    assert found.tags.count("details") == 1
    assert sample().startswith("<!DOCTYPE html>\n<html lang=")


def test_every_string_is_shown_and_none_is_read_as_markup():
    found = Checked(sample(EVIL))
    assert found.tags == Checked(sample()).tags
    assert "script" not in found.tags
    assert "<script" not in sample(EVIL)
    plain = "".join(found.data)
    assert plain.count(EVIL) == "".join(Checked(sample("xyzzy")).data).count("xyzzy")


def test_control_characters_do_not_reach_the_page():
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", sample("a\x00b\x1bc\x7f"))


def test_nothing_is_loaded_from_elsewhere():
    found = Checked(sample())
    assert found.links
    assert all(link.startswith(("#", "data:text/csv")) for link in found.links)
    assert not {"script", "link", "img", "iframe"} & set(found.tags)
    addresses = set(re.findall(r"https?://[^\"' ]+", sample()))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_links_inside_the_page_and_inside_figures_lead_somewhere():
    found = Checked(sample())
    inside = [link[1:] for link in found.links if link.startswith("#")]
    inside += re.findall(r"url\(#([^)]*)\)", sample())
    assert len(inside) > 10
    assert set(inside) <= set(found.ids)


def test_names_like_links_in_a_figures_labels_are_left_alone():
    curve = Curve('url(#x) id="y"', LEVELS, LEVELS)
    drawn = svg(reliability_figure([curve]))
    found = Checked(page("t", [Section("s", [Figure(drawn)])], {}))
    assert curve.title in found.data


def test_the_numbers_can_be_downloaded_unchanged():
    numbers = 'set,nll\n"a, b",−1.5%&#\n'
    links = [link for link in Checked(sample(numbers=numbers)).links if link.startswith("data:")]
    assert [unquote(link.split(",", 1)[1]) for link in links] == [numbers] * 2


def test_it_adapts_to_phones_and_to_the_night():
    text = sample()
    assert 'name="viewport" content="width=device-width' in text
    assert "prefers-color-scheme: dark" in text
    assert text.count('class="scroll') == 3  # one table and two figures, each in a box


def test_provenance_is_folded_away_and_complete():
    text = page("t", [], {"device": "cpu", "git revision": "abc"})
    folded = text[text.index("<details>") : text.index("</details>")]
    assert "<dt>git revision</dt><dd>abc</dd>" in folded
    Checked(text)


def test_the_same_page_is_the_same_text():
    assert sample() == sample()


def test_what_is_no_figure_is_refused():
    with pytest.raises(ValueError, match="give what figures"):
        page("t", [Section("s", [Figure("<img src=x>")])], {})
