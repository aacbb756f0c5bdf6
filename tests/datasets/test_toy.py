import numpy as np
import pytest

from reprior.datasets.toy import INPUT_NOISE, fresh, noise_std, toy, true_function


def test_a_hundred_points_lie_in_each_interval_and_none_in_the_gap():
    x = toy(0).x[:, 0]
    assert ((x >= 0) & (x <= 0.4)).sum() == 100
    assert ((x >= 0.8) & (x <= 1)).sum() == 100


def test_the_line_is_the_papers():
    x = np.array([0.0, 0.5])
    np.testing.assert_allclose(true_function(x), [0, 0.5 + np.sin(2) + np.sin(6.5)])


def test_a_seed_fixes_the_points_and_another_changes_them():
    np.testing.assert_array_equal(toy(3).y, toy(3).y)
    assert not np.array_equal(toy(3).y, toy(4).y)


def test_fresh_points_share_the_range_but_not_the_rows():
    table = fresh(0, 501)
    assert table.x.shape == (501, 1)
    assert not np.isin(table.x, toy(0).x).any()
    assert ((table.x <= 0.4) | (table.x >= 0.8)).all()


def test_noise_comes_through_the_input():
    """The residual is the slope of the line times e, up to its curvature."""
    x, y = toy(0).x[:, 0], toy(0).y
    slope = 1 + 4 * np.cos(4 * x) + 13 * np.cos(13 * x)
    steep = abs(slope) > 8
    e = (y - true_function(x))[steep] / slope[steep]
    assert e.std() == pytest.approx(INPUT_NOISE, rel=0.25)


def gaussian_wave_variance(x, s):
    """Var of x' + sin 4x' + sin 13x' for x' ~ N(x, s²), from the moments of e^{iax'}."""

    def sine(a):
        return np.exp(-((a * s) ** 2) / 2) * np.sin(a * x)

    def cosine(a):
        return np.exp(-((a * s) ** 2) / 2) * np.cos(a * x)

    def product(a, b):  # E[sin ax' sin bx']
        return (cosine(a - b) - cosine(a + b)) / 2

    square = product(4, 4) + product(13, 13) + 2 * product(4, 13)
    cross = sum(a * s**2 * cosine(a) for a in (4, 13))  # E[e sin ax']
    return s**2 + 2 * cross + square - (sine(4) + sine(13)) ** 2


def test_the_noise_level_agrees_with_its_closed_form():
    x = np.concatenate([np.linspace(0, 0.4, 100), np.linspace(0.8, 1, 100)])
    np.testing.assert_allclose(noise_std(x), np.sqrt(gaussian_wave_variance(x, 0.03)), rtol=0.03)
