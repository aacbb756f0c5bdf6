import subprocess
import sys
import xml.etree.ElementTree as ET

import matplotlib
import numpy as np

from reprior.report.figures import Curve, reliability_figure, svg


def test_the_same_figure_is_the_same_text(example):
    assert svg(example()) == svg(example())
    one = example()
    assert svg(one) == svg(one)


def test_the_users_settings_change_nothing(example):
    before = svg(example())
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": True}):
        assert svg(example()) == before


def test_no_figure_is_wider_than_a_page_or_holds_a_bitmap(example):
    assert example().get_figwidth() <= 8.5
    # A page's policy lets no image in, not even one written out within it.
    assert "<image" not in svg(example())


def test_the_text_is_an_svg_element_without_date_or_maker(toy, words):
    text = svg(toy())
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert text.startswith("<svg")
    assert "metadata" not in text
    assert "Deep Ensemble + PAD" in words(text)


def test_shortened_coordinates_leave_labels_alone(words):
    curve = Curve("share 0.12345", np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    text = svg(reliability_figure([curve]))
    assert "share 0.12345" in words(text)


def test_names_are_shown_as_they_are(toy, words):
    name = "<script> $a_b$ & $5"
    assert name in words(svg(toy(title=name)))


def test_importing_the_room_does_not_load_matplotlib():
    code = "import reprior.report, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
