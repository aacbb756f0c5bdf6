import xml.etree.ElementTree as ET

import numpy as np
import pytest

from reprior.report.figures import Reversion, reversion_figure, svg
from reprior.report.figures.reversion import binned, quantile_edges

RNG = np.random.default_rng(0)
DISTANCE = RNG.gamma(2.0, size=60)
STD = RNG.uniform(0.1, 0.5, 60)
ERROR = RNG.normal(size=60)
PLAIN = Reversion("Deep Ensemble", DISTANCE, STD, ERROR)
PAD = Reversion("Deep Ensemble + PAD", DISTANCE, np.tanh(DISTANCE), 0.9 * ERROR)


def line(axes, words):
    (found,) = [line for line in axes.lines if line.get_label().startswith(words)]
    return found


def test_bins_hold_equally_many_rows_and_their_upper_edge():
    edges = quantile_edges(np.arange(12.0, 0, -1), 3)
    assert edges == pytest.approx([1, 4, 8, 12])
    assert list(binned(np.arange(1.0, 13), np.ones(12), np.ones(12), edges).rows) == [4, 4, 4]


def test_a_bin_is_the_mean_distance_and_the_root_mean_squares_of_its_rows():
    edges = quantile_edges(DISTANCE, 5)
    found = binned(DISTANCE, STD, ERROR, edges)
    by_hand = np.array_split(np.argsort(DISTANCE), 5)
    assert list(found.rows) == [12] * 5
    for i, rows in enumerate(by_hand):
        assert found.distance[i] == pytest.approx(DISTANCE[rows].mean())
        assert found.std[i] == pytest.approx(np.sqrt((STD[rows] ** 2).mean()))
        assert found.error[i] == pytest.approx(np.sqrt((ERROR[rows] ** 2).mean()))


def test_rows_that_are_equally_far_share_a_bin():
    distance = np.array([0.0] * 6 + [1, 2, 3, 4])
    edges = quantile_edges(distance, 5)
    assert edges == pytest.approx([0, 0, 2, 4])
    assert list(binned(distance, distance, distance, edges).rows) == [6, 2, 2]


@pytest.mark.parametrize("distance", [[2.0], [2.0, 2.0], [3.0, 1.0], [0.0, 0.0, 5.0]])
@pytest.mark.parametrize("bins", [1, 2, 10])
def test_no_bin_is_empty_however_few_the_rows(distance, bins):
    distance = np.array(distance)
    found = binned(distance, distance, distance, quantile_edges(distance, bins))
    assert (found.rows > 0).all()
    assert found.rows.sum() == len(distance)
    ET.fromstring(svg(reversion_figure([Reversion("m", distance, distance, distance)], bins)))


def test_a_bin_without_rows_is_nan():
    found = binned(np.array([0.5, 2.5]), np.ones(2), np.ones(2), np.array([0.0, 1, 2, 3]))
    assert list(found.rows) == [1, 0, 1]
    assert np.isnan(found.std).tolist() == [False, True, False]


def test_what_is_drawn_is_what_is_binned():
    figure = reversion_figure([PLAIN, PAD], bins=6)
    edges = quantile_edges(DISTANCE, 6)
    for panel, axes, below in zip((PLAIN, PAD), figure.axes[:2], figure.axes[2:], strict=True):
        found = binned(panel.distance, panel.std, panel.error, edges)
        assert axes.get_title() == panel.title
        for words, values in (("predicted", found.std), ("realised", found.error)):
            assert line(axes, words).get_xdata() == pytest.approx(found.distance)
            assert line(axes, words).get_ydata() == pytest.approx(values)
        assert [bar.get_height() for bar in below.patches] == [10] * 6
        assert [bar.get_x() for bar in below.patches] == pytest.approx(edges[:-1])
        assert [bar.get_width() for bar in below.patches] == pytest.approx(np.diff(edges))


def test_the_prior_is_a_line_at_one_which_is_always_in_sight():
    small = Reversion("m", DISTANCE, 1e-3 + 0 * STD, 1e-2 * ERROR)
    for panel in (small, small._replace(std=100 + STD, error=100 + ERROR)):
        axes = reversion_figure([panel]).axes[0]
        assert list(line(axes, "the prior").get_ydata()) == [1, 1]
        low, high = axes.get_ylim()
        assert low < 1 < high


def test_panels_share_their_axes():
    axes = reversion_figure([PLAIN, PAD]).axes
    assert axes[0].get_ylim() == axes[1].get_ylim()
    assert axes[2].get_ylim() == axes[3].get_ylim()
    assert len({each.get_xlim() for each in axes}) == 1


def test_a_diverged_prediction_says_so(words):
    wild = PAD._replace(std=np.where(STD > 0.4, np.nan, STD))
    assert "diverged" in words(svg(reversion_figure([PLAIN, wild])))
    assert "diverged" not in words(svg(reversion_figure([PLAIN, PAD])))


def test_no_panel_is_an_error_that_helps():
    with pytest.raises(ValueError, match="at least one panel"):
        reversion_figure([])


@pytest.mark.parametrize(
    "changes",
    [
        {"std": STD[:5]},
        {"error": ERROR[:, None]},
        {"distance": DISTANCE[:0], "std": STD[:0], "error": ERROR[:0]},
    ],
)
def test_arrays_of_different_rows_are_an_error_that_helps(changes):
    with pytest.raises(ValueError, match=r"Deep Ensemble has .* for every test row"):
        reversion_figure([PLAIN._replace(**changes)])


def test_a_distance_must_be_a_number():
    with pytest.raises(ValueError, match="not finite"):
        reversion_figure([PLAIN._replace(distance=np.where(STD > 0.4, np.inf, DISTANCE))])
