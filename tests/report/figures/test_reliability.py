import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from reprior.report.figures import Curve, reliability_figure, svg

LEVELS = np.linspace(0.1, 1, 10)
SPLITS = np.stack([LEVELS**2, LEVELS**3, LEVELS**4])


def lines(axes):
    """All but the diagonal, which comes first."""
    return axes.lines[1:]


def visible(figure):
    return [axes for axes in figure.axes if axes.get_visible()]


def test_the_diagonal_is_perfect():
    axes = reliability_figure([Curve("plain", LEVELS, LEVELS**2)]).axes[0]
    perfect, curve = axes.lines
    assert list(perfect.get_xdata()) == list(perfect.get_ydata()) == [0, 1]
    assert curve.get_xdata() == pytest.approx(LEVELS)
    assert curve.get_ydata() == pytest.approx(LEVELS**2)
    assert math.isclose(axes.get_aspect(), 1.0)


def test_a_line_is_the_mean_over_splits_and_its_band_one_standard_deviation():
    axes = reliability_figure([Curve("swag", LEVELS, SPLITS)]).axes[0]
    (line,), (band,) = lines(axes), axes.collections
    mean, std = SPLITS.mean(0), SPLITS.std(0, ddof=1)
    assert line.get_ydata() == pytest.approx(mean)
    edge = band.get_paths()[0].vertices
    for level, low, high in zip(LEVELS, mean - std, mean + std, strict=True):
        found = edge[np.isclose(edge[:, 0], level), 1]
        assert (found.min(), found.max()) == pytest.approx((low, high))


@pytest.mark.parametrize("observed", [LEVELS**2, LEVELS[None] ** 2])
def test_a_single_split_has_a_line_and_no_band(observed):
    axes = reliability_figure([Curve("swag", LEVELS, observed)]).axes[0]
    assert lines(axes)[0].get_ydata() == pytest.approx(LEVELS**2)
    assert not axes.collections


def test_every_set_has_a_panel_in_the_order_of_the_tables(words):
    names = ("yacht", "a.csv", "housing", "wine", "energy")
    curves = [Curve("swag", LEVELS, SPLITS ** (1 + i), set=name) for i, name in enumerate(names)]
    figure = reliability_figure(curves)
    shown = {axes.get_title(): lines(axes)[0].get_ydata() for axes in visible(figure)}
    assert list(shown) == ["Housing", "Energy", "Wine", "Yacht", "a"]
    assert shown["Wine"] == pytest.approx((SPLITS**4).mean(0))
    assert words(svg(figure)).count("SWAG") == 1


def test_colour_tells_the_model_and_the_kind_of_line_its_augmentation():
    names = ("swag", "mc_dropout", "deep_ensemble")
    cells = [(model, augment) for model in names for augment in ("pad", "")]
    axes = reliability_figure([Curve(m, LEVELS, SPLITS, a) for m, a in cells]).axes[0]
    looks = {
        cell: (line.get_color(), line.is_dashed())
        for cell, line in zip(cells, lines(axes), strict=True)
    }
    assert len({colour for colour, _ in looks.values()}) == 3
    for (model, augment), (colour, dashed) in looks.items():
        assert colour == looks[model, ""][0]
        assert dashed == (augment == "")


def test_the_legend_stands_outside_the_panels(words):
    figure = reliability_figure([Curve("swag", LEVELS, SPLITS), Curve("swag", LEVELS, SPLITS, "p")])
    assert {"perfect calibration", "SWAG", "SWAG + p"} <= set(words(svg(figure)))
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert all(not box.overlaps(axes.get_tightbbox()) for axes in visible(figure))
    assert figure.bbox.contains(box.x0, box.y0)
    assert figure.bbox.contains(box.x1, box.y1)


def test_diverged_splits_are_left_out_and_counted(words):
    wild = np.vstack([SPLITS, np.full_like(LEVELS, np.nan)])
    figure = reliability_figure([Curve("swag", LEVELS, wild), Curve("mc_dropout", LEVELS, SPLITS)])
    assert lines(figure.axes[0])[0].get_ydata() == pytest.approx(SPLITS.mean(0))
    assert {"SWAG (diverged on 1 of 4 splits)", "MC Dropout"} <= set(words(svg(figure)))


def test_a_model_that_diverged_everywhere_is_named_and_has_no_line(words):
    figure = reliability_figure([Curve("swag", LEVELS, np.full_like(LEVELS, np.nan))])
    assert not lines(figure.axes[0])
    assert "SWAG (diverged on 1 of 1 split)" in words(svg(figure))


def test_more_models_than_colours_can_be_drawn():
    curves = [Curve(f"m{i}", LEVELS, SPLITS, set=s) for i in range(10) for s in ("wine", "yacht")]
    figure = reliability_figure(curves)
    assert len({line.get_color() for line in lines(figure.axes[0])}) == 10
    ET.fromstring(svg(figure))


def test_no_curve_is_an_error_that_helps():
    with pytest.raises(ValueError, match="at least one"):
        reliability_figure([])


@pytest.mark.parametrize("observed", [LEVELS[:5], SPLITS.T, SPLITS[:0], SPLITS[None]])
def test_shares_of_another_shape_are_an_error_that_helps(observed):
    with pytest.raises(ValueError, match=r"SWAG \+ PAD .* \(S, L\) shares"):
        reliability_figure([Curve("swag", LEVELS, observed, "pad")])
