import xml.etree.ElementTree as ET

import numpy as np
import pytest

from reprior.contracts import Split
from reprior.report.figures import (
    Curve,
    Panel,
    PseudoRows,
    Reversion,
    cluster_shift_figure,
    pseudo_rows_figure,
    reliability_figure,
    reversion_figure,
    toy_figure,
)

X = np.linspace(-0.6, 1.6, 50)
ROWS = np.arange(12)


def _words(text):
    return [node.text for node in ET.fromstring(text).iter() if node.tag.endswith("text")]


def _toy(**changes):
    panels = [
        [Panel("Deep Ensemble", X, np.sin(X), 0.1 + X**2), Panel("GP", X, 0 * X, 1 + 0 * X)],
        [Panel("Deep Ensemble + PAD", X, np.sin(X), 0.2 + X**2)],
    ]
    panels[0][0] = panels[0][0]._replace(**changes)
    data = (np.array([0.1, 0.3, 0.9]), np.array([1.0, 2.0, -1.0]))
    return toy_figure(panels, data, (X, np.sin(X)))


def _reliability():
    levels = np.linspace(0.1, 1, 10)
    shares = np.stack([levels**2, levels**3])
    return reliability_figure(
        [Curve("swag", levels, shares, set="wine"), Curve("swag", levels, shares**2, "pad", "wine")]
    )


def _reversion():
    distance = np.linspace(0.5, 3, 40)
    plain = Reversion("SWAG", distance, 0.1 * distance, np.sin(9 * distance))
    return reversion_figure([plain, plain._replace(title="SWAG + PAD", std=np.tanh(distance))])


def _shift(**changes):
    """Twelve rows in three clusters; the last of these is what the shift tests on."""
    given = {
        "embedding": np.stack([np.cos(ROWS), np.sin(2 * ROWS)], -1),
        "labels": ROWS // 4,
        "random": Split(np.setdiff1d(ROWS, [2, 5, 11]), np.array([2, 5, 11])),
        "shifted": Split(ROWS[:8], ROWS[8:]),
        "table": "yacht",
    }
    return cluster_shift_figure(**given | changes)


def _pseudo(ells=(0.5, 1.0, np.inf), **changes):
    points = np.stack([np.cos(ROWS), np.sin(2 * ROWS)], -1)
    panel = PseudoRows(0.0, points, 1.5 * points[:5], np.linspace(0, 0.8, 5))._replace(**changes)
    return pseudo_rows_figure([panel._replace(ell=ell) for ell in ells], "yacht")


@pytest.fixture
def words():
    """All labels in the text of an svg element."""
    return _words


@pytest.fixture
def toy():
    return _toy


@pytest.fixture
def shift():
    return _shift


@pytest.fixture
def pseudo():
    return _pseudo


@pytest.fixture(params=[_toy, _reliability, _reversion, _shift, _pseudo])
def example(request):
    """One of the figures, as a function that draws it anew."""
    return request.param
