import math
import subprocess
import sys
import xml.etree.ElementTree as ET

import matplotlib
import numpy as np
import pytest

from reprior.report.figures import (
    Curve,
    Panel,
    delta_figure,
    reliability_figure,
    svg,
    toy_figure,
)
from reprior.report.tables import aggregate

X = np.linspace(-0.6, 1.6, 50)
DATA = (np.array([0.1, 0.3, 0.9]), np.array([1.0, 2.0, -1.0]))
TRUTH = (X, np.sin(X))


def toy(**changes):
    panels = [
        [Panel("Deep Ensemble", X, np.sin(X), 0.1 + X**2), Panel("GP", X, 0 * X, 1 + 0 * X)],
        [Panel("Deep Ensemble + PAD", X, np.sin(X), 0.2 + X**2)],
    ]
    panels[0][0] = panels[0][0]._replace(**changes)
    return toy_figure(panels, DATA, TRUTH)


def words(text):
    return [node.text for node in ET.fromstring(text).iter() if node.tag.endswith("text")]


@pytest.fixture
def table(results):
    rows = []
    for model, pad in (("deep_ensemble", [1.0, 1.5]), ("swag", [5.0, 5.25])):
        for name in ("wine", "yacht"):
            rows += results([2.0, 2.0], model=model, set=name)
            rows += results(pad, "pad", model=model, set=name)
    return rows


def test_the_same_figure_is_the_same_text():
    assert svg(toy()) == svg(toy())
    one = toy()
    assert svg(one) == svg(one)


def test_the_users_settings_change_nothing():
    before = svg(toy())
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": True}):
        assert svg(toy()) == before


def test_the_text_is_an_svg_element_without_date_or_maker():
    text = svg(toy())
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert text.startswith("<svg")
    assert "metadata" not in text
    assert "Deep Ensemble + PAD" in words(text)


def test_shortened_coordinates_leave_labels_alone():
    curve = Curve("share 0.12345", np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    text = svg(reliability_figure([curve]))
    assert "share 0.12345" in words(text)


def test_names_are_shown_as_they_are():
    name = "<script> $a_b$ & $5"
    assert name in words(svg(toy(title=name)))


def test_panels_share_the_scale_of_the_data_whatever_one_of_them_predicts():
    calm, wild = toy(), toy(mean=1e6 * X)
    for figure in (calm, wild):
        for axes in figure.axes:
            assert axes.get_xlim() == (-0.6, 1.6)
            assert axes.get_ylim() == calm.axes[0].get_ylim()
    # Data and truth span −1 to 2, with half of that on either side.
    assert calm.axes[0].get_ylim() == pytest.approx((-2.5, 3.5))


def test_bands_reach_one_and_two_standard_deviations():
    axes = toy().axes[0]
    std = 0.1 + X**2
    for band, width in zip(axes.collections, (2, 1), strict=True):
        edge = band.get_paths()[0].vertices
        assert edge[:, 1].max() == pytest.approx((np.sin(X) + width * std).max())
        assert edge[:, 1].min() == pytest.approx((np.sin(X) - width * std).min())


def test_a_missing_panel_is_left_blank_and_the_legend_stands_once():
    figure = toy()
    assert [axes.get_visible() for axes in figure.axes] == [True, True, True, False]
    assert words(svg(figure)).count("truth") == 1


def test_a_diverged_prediction_says_so():
    assert "diverged" in words(svg(toy(mean=np.full_like(X, np.nan))))
    assert "diverged" not in words(svg(toy()))


def test_a_whisker_is_two_standard_errors(table):
    axes = delta_figure(aggregate(table)).axes[0]
    first = axes.containers[0]  # wine, Deep Ensemble: differences −1 and −0.5
    dot, _, (whisker,) = first.lines
    assert dot.get_xdata() == pytest.approx([-0.75])
    ends = whisker.get_segments()[0][:, 0]
    assert ends == pytest.approx([-0.75 - 2 * 0.25, -0.75 + 2 * 0.25])
    assert len(axes.containers) == 4


def test_protocols_stand_side_by_side(table):
    both = table + [row | {"protocol": "paper"} for row in table]
    assert len(delta_figure(aggregate(both)).axes) == 2
    assert {"tuned fairly", "tuned as in the paper"} <= set(
        words(svg(delta_figure(aggregate(both))))
    )


@pytest.mark.parametrize(("pad", "plain", "side"), [(None, 1.0, 0.98), (1.0, None, 0.02)])
def test_divergence_is_a_cross_on_the_side_of_the_winner(results, table, pad, plain, side):
    rows = results([plain, 1.0], model="mc_dropout") + results(
        [pad, 1.0], "pad", model="mc_dropout"
    )
    figure = delta_figure(aggregate(table + rows))
    crosses = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    assert [list(line.get_xdata()) for line in crosses] == [[side]]
    assert "diverged" in words(svg(figure))


def test_far_apart_differences_get_a_logarithmic_axis(results, table):
    assert delta_figure(aggregate(table)).axes[0].get_xscale() == "linear"
    table += results([1.0, 1.0], set="energy") + results([900.0, 901.0], "pad", set="energy")
    figure = delta_figure(aggregate(table))
    assert figure.axes[0].get_xscale() == "symlog"
    assert {"−1", "0", "100"} <= set(words(svg(figure)))


@pytest.mark.parametrize("pad", [[2.0], [2.0, 2.0], [1.5], [None]])
def test_small_tables_draw_too(results, pad):
    rows = results([2.0] * len(pad)) + results(pad, "pad")
    ET.fromstring(svg(delta_figure(aggregate(rows))))


def test_nothing_to_compare_is_an_error_that_helps(table):
    with pytest.raises(ValueError, match="augmentation 'noise'"):
        delta_figure(aggregate(table), augment="noise")


def test_more_models_than_colours_can_be_drawn(results):
    rows = []
    for number in range(12):
        rows += results([1.0], model=f"m{number}") + results([2.0], "pad", model=f"m{number}")
    assert "m11" in words(svg(delta_figure(aggregate(rows), measure="ce")))


def test_the_diagonal_is_perfect():
    levels = np.linspace(0.1, 1, 10)
    axes = reliability_figure([Curve("plain", levels, levels**2)]).axes[0]
    perfect, curve = axes.lines
    assert list(perfect.get_xdata()) == list(perfect.get_ydata()) == [0, 1]
    assert curve.get_ydata() == pytest.approx(levels**2)
    assert math.isclose(axes.get_aspect(), 1.0)


def test_importing_the_room_does_not_load_matplotlib():
    code = "import reprior.report, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
