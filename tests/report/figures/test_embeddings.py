import numpy as np
import pytest

from reprior.contracts import Split
from reprior.report.figures import pseudo_rows_figure, svg

ROWS = np.arange(12)
POINTS = np.stack([np.cos(ROWS), np.sin(2 * ROWS)], -1)


def points(axes):
    """What is drawn under each label, as rows of two numbers."""
    return {line.get_label(): np.stack(line.get_data(), -1) for line in axes.lines}


def test_both_splits_show_their_own_rows(shift):
    figure = shift()
    random, _, shifted, _ = figure.axes
    assert points(random)["test"] == pytest.approx(POINTS[[2, 5, 11]])
    assert points(random)["train"] == pytest.approx(np.delete(POINTS, [2, 5, 11], axis=0))
    assert points(shifted)["train"] == pytest.approx(POINTS[:8])
    assert points(shifted)["test"] == pytest.approx(POINTS[8:])


def test_every_cluster_shows_its_own_rows_and_whether_it_is_tested_on(shift):
    shown = points(shift().axes[1])
    assert list(shown) == ["0", "1", "2, test"]
    for i, found in enumerate(shown.values()):
        assert found == pytest.approx(POINTS[4 * i : 4 * i + 4])


def test_ten_clusters_have_ten_colours_and_no_two_the_same_look(shift):
    axes = shift(labels=np.minimum(ROWS, 9)).axes[1]
    assert len({line.get_color() for line in axes.lines}) == 10
    assert len({(line.get_color(), line.get_marker()) for line in axes.lines}) == 10


def test_the_legend_covers_no_panel_and_stays_within_the_figure(shift, words):
    figure = shift(labels=np.minimum(ROWS, 9))
    panel = figure.axes[3]
    legends = [child for child in panel.get_children() if hasattr(child, "get_texts")]
    boxes = [legend.get_window_extent() for legend in legends]
    assert len(boxes) == 2
    assert not boxes[0].overlaps(boxes[1])
    for box in boxes:
        assert not any(box.overlaps(axes.get_tightbbox()) for axes in figure.axes[:3])
        assert figure.bbox.contains(box.x0, box.y0)
        assert figure.bbox.contains(box.x1, box.y1)
    assert {"Yacht", "train", "test", "Random split", "Shifted split"} <= set(words(svg(figure)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"embedding": POINTS[:, :1]}, r"embedding has shape \(12, 1\); give \(N, 2\)"),
        ({"embedding": POINTS[:0]}, r"embedding has shape \(0, 2\)"),
        ({"embedding": np.where(POINTS > 0.9, np.nan, POINTS)}, "not finite"),
        ({"labels": ROWS[:5]}, "one label for each row"),
        ({"labels": ROWS}, "12 clusters of 12 .* at most 10"),
        ({"random": Split(ROWS[:5], ROWS[6:])}, "random split has 5 rows to train and 6"),
        ({"shifted": Split(ROWS, ROWS[:2])}, "shifted split has 12 .* but 12 rows are embedded"),
    ],
)
def test_what_does_not_fit_the_rows_is_an_error_that_helps(shift, changes, message):
    with pytest.raises(ValueError, match=message):
        shift(**changes)


def test_every_length_scale_shows_real_and_generated_rows_coloured_by_their_weight(pseudo):
    figure = pseudo()
    titles = [axes.get_title() for axes in figure.axes[:3]]
    assert titles == ["ℓ = 0.5", "ℓ = 1", "ℓ off"]
    for axes in figure.axes[:3]:
        (real,), (generated,) = axes.lines, axes.collections
        assert np.stack(real.get_data(), -1) == pytest.approx(POINTS)
        assert np.asarray(generated.get_offsets()) == pytest.approx(1.5 * POINTS[:5])
        assert np.asarray(generated.get_array()) == pytest.approx(np.linspace(0, 0.8, 5))


def test_one_scale_of_colours_from_0_to_1_serves_all_panels(pseudo, words):
    figure = pseudo(weight=np.array([0, 0.1, 0.1, 0, 0.2]))
    scales = {axes.collections[0].norm for axes in figure.axes[:3]}
    assert [(scale.vmin, scale.vmax) for scale in scales] == [(0, 1)]
    assert len(figure.axes) == 4
    assert figure.axes[3].get_ylim() == (0, 1)
    shown = words(svg(figure))
    assert shown.count("λ") == 1
    assert "Yacht" in shown


def test_generated_rows_are_drawn_over_real_ones(pseudo):
    axes = pseudo().axes[0]
    assert axes.collections[0].get_zorder() > axes.lines[0].get_zorder()


@pytest.mark.parametrize("ells", [(1.0,), (0.5, 1, 2, 4, 8, np.inf)])
def test_the_legend_fits_below_any_number_of_panels(pseudo, ells):
    figure = pseudo(ells)
    box = figure.legends[0].get_window_extent()
    assert figure.bbox.contains(box.x0, box.y0)
    assert figure.bbox.contains(box.x1, box.y1)
    assert not any(box.overlaps(axes.get_tightbbox()) for axes in figure.axes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"generated": POINTS[:, 0]}, r"generated rows at ℓ = 0.5 has shape \(12,\)"),
        ({"real": POINTS[:0]}, r"real rows at ℓ = 0.5 has shape \(0, 2\)"),
        ({"weight": np.zeros(3)}, "5 generated rows, but weights"),
        ({"weight": np.array([0, 0, 0, 0, 1.5])}, "outside 0 to 1"),
        ({"weight": np.array([0, 0, 0, 0, np.nan])}, "outside 0 to 1"),
    ],
)
def test_pseudo_rows_that_do_not_fit_together_are_an_error_that_helps(pseudo, changes, message):
    with pytest.raises(ValueError, match=message):
        pseudo(**changes)


def test_no_length_scale_is_an_error_that_helps():
    with pytest.raises(ValueError, match="at least one ℓ"):
        pseudo_rows_figure([])
