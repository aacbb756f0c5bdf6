import pytest

from reprior.report.curve_figures import curve_figures


@pytest.fixture
def finals(results):
    found = []
    for augment in ("", "pad", "pad-half"):
        for row in results([1.0, 2.0], augment, set="wine"):
            found.append(
                row
                | {
                    "reliability": [0.2, 0.5, 0.8, 1.0],
                    "reversion_distance": [0.1, 0.5],
                    "reversion_std": [0.3, 1.0],
                    "reversion_error": [0.3, 1.2],
                    "reversion_rows": [10.0, 9.0],
                }
            )
    gp = results([1.0, 2.0], set="wine", model="gaussian_process")
    return [*found, *(row | {"reliability": [0.1, 0.4, 0.9, 1.0]} for row in gp)]


def test_every_augmented_model_has_both_figures_and_the_others_share_one(finals):
    captions = [figure.caption for figure in curve_figures(finals, "fair", "cluster")]
    assert len(captions) == 3
    assert captions[0].startswith("Deep Ensemble: share")
    assert captions[1].startswith("The models that take no augmentation")
    assert captions[2].startswith("Deep Ensemble, all sets")


def test_an_ablation_is_not_drawn_among_them(finals):
    text = "".join(figure.svg for figure in curve_figures(finals, "fair", "cluster"))
    assert "PAD" in text
    assert "half as many" not in text


def test_results_without_curves_or_of_another_place_draw_nothing(finals, results):
    assert curve_figures(finals, "paper", "cluster") == []
    assert curve_figures(results([1.0, 2.0]), "fair", "cluster") == []


def test_a_split_that_diverged_is_counted_in_the_legend_and_left_out_of_both_arms(finals):
    for row in finals:
        if row["augment"] == "pad" and row["split"] == 1:
            for name in [key for key in row if key.startswith("re")]:
                del row[name]
            row["diverged"] = 1
    figures = curve_figures(finals, "fair", "cluster")
    assert "diverged on 1 of" in figures[0].svg
    assert "neither of the two diverged" in figures[-1].caption
    only = [row for row in finals if row["split"] == 0]
    assert curve_figures(only, "fair", "cluster")[-1].svg == figures[-1].svg
