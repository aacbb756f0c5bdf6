import numpy as np
import pytest

from reprior.report.figures import svg

X = np.linspace(-0.6, 1.6, 50)


def test_panels_share_the_scale_of_the_data_whatever_one_of_them_predicts(toy):
    calm, wild = toy(), toy(mean=1e6 * X)
    for figure in (calm, wild):
        for axes in figure.axes:
            assert axes.get_xlim() == (-0.6, 1.6)
            assert axes.get_ylim() == calm.axes[0].get_ylim()
    # Data and truth span −1 to 2, with half of that on either side.
    assert calm.axes[0].get_ylim() == pytest.approx((-2.5, 3.5))


def test_bands_reach_one_and_two_standard_deviations(toy):
    axes = toy().axes[0]
    std = 0.1 + X**2
    for band, width in zip(axes.collections, (2, 1), strict=True):
        edge = band.get_paths()[0].vertices
        assert edge[:, 1].max() == pytest.approx((np.sin(X) + width * std).max())
        assert edge[:, 1].min() == pytest.approx((np.sin(X) - width * std).min())


def test_a_missing_panel_is_left_blank_and_the_legend_stands_once(toy, words):
    figure = toy()
    assert [axes.get_visible() for axes in figure.axes] == [True, True, True, False]
    assert words(svg(figure)).count("truth") == 1


def test_a_diverged_prediction_says_so(toy, words):
    assert "diverged" in words(svg(toy(mean=np.full_like(X, np.nan))))
    assert "diverged" not in words(svg(toy()))
