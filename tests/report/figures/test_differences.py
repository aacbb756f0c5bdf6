import xml.etree.ElementTree as ET

import pytest

from reprior.report.figures import delta_figure, svg
from reprior.report.tables import aggregate


@pytest.fixture
def table(results):
    rows = []
    for model, pad in (("deep_ensemble", [1.0, 1.5]), ("swag", [5.0, 5.25])):
        for name in ("wine", "yacht"):
            rows += results([2.0, 2.0], model=model, set=name)
            rows += results(pad, "pad", model=model, set=name)
    return rows


def test_a_whisker_is_two_standard_errors(table):
    axes = delta_figure(aggregate(table)).axes[0]
    first = axes.containers[0]  # wine, Deep Ensemble: differences −1 and −0.5
    dot, _, (whisker,) = first.lines
    assert dot.get_xdata() == pytest.approx([-0.75])
    ends = whisker.get_segments()[0][:, 0]
    assert ends == pytest.approx([-0.75 - 2 * 0.25, -0.75 + 2 * 0.25])
    assert len(axes.containers) == 4


def test_protocols_stand_side_by_side(table, words):
    both = table + [row | {"protocol": "paper"} for row in table]
    assert len(delta_figure(aggregate(both)).axes) == 2
    assert {"tuned fairly", "tuned as in the paper"} <= set(
        words(svg(delta_figure(aggregate(both))))
    )


@pytest.mark.parametrize(("pad", "plain", "side"), [(None, 1.0, 0.98), (1.0, None, 0.02)])
def test_divergence_is_a_cross_on_the_side_of_the_winner(results, table, pad, plain, side, words):
    rows = results([plain, 1.0], model="mc_dropout") + results(
        [pad, 1.0], "pad", model="mc_dropout"
    )
    figure = delta_figure(aggregate(table + rows))
    crosses = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    assert [list(line.get_xdata()) for line in crosses] == [[side]]
    assert "diverged" in words(svg(figure))


def test_far_apart_differences_get_a_logarithmic_axis(results, table, words):
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


def test_more_models_than_colours_can_be_drawn(results, words):
    rows = []
    for number in range(12):
        rows += results([1.0], model=f"m{number}") + results([2.0], "pad", model=f"m{number}")
    figure = delta_figure(aggregate(rows), measure="ce")
    assert "m11" in words(svg(figure))
    handles = figure.legends[0].legend_handles
    assert len({(handle.get_color(), handle.get_marker()) for handle in handles}) == 12
