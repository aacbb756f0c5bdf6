import numpy as np

from reprior.datasets.bundled import diabetes, digits


def test_diabetes_comes_unscaled():
    table = diabetes()
    assert table.x.shape == (442, 10)
    assert table.x[0, 0] == 59  # years
    assert table.features[2] == "bmi"
    assert table.y.dtype == np.float64


def test_digits_have_ten_classes_as_floats():
    table = digits()
    assert table.x.shape == (1797, 64)
    np.testing.assert_array_equal(np.unique(table.y), np.arange(10.0))
