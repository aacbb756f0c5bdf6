import warnings

import numpy as np
import pytest
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

from reprior.contracts import InputError
from reprior.shifts import clusters, remembered
from reprior.shifts.clusters import assign, folds, splits

RNG = np.random.default_rng(0)
THREE = np.concatenate([RNG.normal(centre, 0.1, 30) for centre in (0, 5, 9)])[:, None]
LABELS = np.repeat(np.arange(10), 10)  # ten clusters of ten rows


def held_out(division, labels=LABELS):
    """Its clusters, after checking that it is a division by whole clusters."""
    train, test = labels[division.train], labels[division.test]
    assert not set(train) & set(test)
    assert len(train)
    assert len(test)
    assert sorted([*division.train, *division.test]) == list(range(len(labels)))
    assert (np.diff(division.train) > 0).all()
    assert (np.diff(division.test) > 0).all()
    return frozenset(test.tolist())


def test_three_groups_on_a_line_are_three_clusters():
    found = assign(THREE, clusters=3)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 30), found) == 1


def test_it_is_scikit_learns_clustering_of_standardised_inputs():
    x = RNG.normal(size=(120, 3)) * [1, 50, 1]
    z = (x - x.mean(0)) / x.std(0)
    model = SpectralClustering(10, affinity="nearest_neighbors", n_neighbors=10, random_state=0)
    assert adjusted_rand_score(model.fit_predict(z), assign(x)) == 1


def test_a_constant_column_changes_nothing():
    constant = np.hstack([THREE, np.full_like(THREE, 0.998)])
    np.testing.assert_array_equal(assign(constant, clusters=3), assign(THREE, clusters=3))


def test_a_graph_in_pieces_is_no_warning_but_anything_else_still_is():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assign(THREE, clusters=3)


def test_repeated_rows_are_fine():
    assert len(assign(np.repeat(THREE, 2, axis=0), clusters=3)) == 180


def test_more_clusters_than_rows_is_refused():
    with pytest.raises(InputError, match="There are 5 rows, but 10 clusters"):
        assign(np.zeros((5, 1)))


def test_a_table_is_clustered_once(monkeypatch):
    first = assign(THREE, clusters=3)
    monkeypatch.setattr(clusters, "compute", None)
    np.testing.assert_array_equal(assign(THREE, clusters=3), first)


def test_a_damaged_cache_is_computed_again(cache):
    first = assign(THREE, clusters=3)
    (file,) = (cache / "clusters").iterdir()
    file.write_text(file.read_text()[:50])
    np.testing.assert_array_equal(assign(THREE, clusters=3), first)
    assert remembered.recall(file.stem) is not None  # and stored again


def test_other_settings_are_other_clusters(cache):
    assign(THREE, clusters=3)
    assign(THREE, clusters=3, affinity="rbf")
    assert len(list((cache / "clusters").iterdir())) == 2


def test_ten_splits_differ_and_each_holds_out_whole_clusters_of_the_share():
    uneven = np.repeat(np.arange(10), [5, 40, 8, 12, 3, 20, 7, 15, 9, 11])
    found = splits(uneven)
    assert len({held_out(split, uneven) for split in found}) == 10
    assert all(0.2 <= len(split.test) / len(uneven) <= 0.4 for split in found)


def test_equal_clusters_of_a_tenth_are_held_out_in_pairs():
    assert {len(held_out(split)) for split in splits(LABELS)} == {2}


def test_a_cluster_above_the_bound_is_never_tested_on():
    labels = np.repeat(np.arange(7), [60, 10, 10, 5, 5, 5, 5])
    assert all(0 not in held_out(split, labels) for split in splits(labels))


def test_a_seed_fixes_the_splits_and_a_longer_list_begins_with_the_shorter():
    few, many = splits(LABELS, 3, seed=1), splits(LABELS, 10, seed=1)
    assert [held_out(s) for s in few] == [held_out(s) for s in many[:3]]
    assert [held_out(s) for s in splits(LABELS, 3, seed=2)] != [held_out(s) for s in few]


def test_labels_may_be_any_numbers():
    renamed = np.array([7, -3, 100, 41, 5, 6, 8, 9, 10, 11])[LABELS]
    for split in splits(renamed, 3):
        assert len(held_out(split, renamed)) == 2


def test_no_split_is_returned_twice_when_few_are_possible():
    labels = np.repeat([0, 1, 2], 30)  # only one cluster at a time can be held out
    with pytest.warns(UserWarning, match="3 different splits instead of 10"):
        found = splits(labels)
    assert {held_out(split, labels) for split in found} == {
        frozenset({0}), frozenset({1}), frozenset({2}),
    }  # fmt: skip


def test_clusters_that_allow_no_split_are_refused_with_their_sizes():
    with pytest.raises(InputError, match=r"2 clusters \(50, 50 rows\).*between 20% and 40%"):
        splits(np.repeat([0, 1], 50))


def test_shares_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="shares lie above 0"):
        splits(LABELS, share=0.5, most=0.4)


def test_the_papers_folds_hold_out_one_half_of_the_clusters_and_then_the_other():
    labels = LABELS[:70]
    one, other = (held_out(fold, labels) for fold in folds(labels, "paper"))
    assert one | other == set(range(7))
    assert not one & other
    assert {len(one), len(other)} == {3, 4}


def test_fair_folds_are_five_and_as_large_as_a_test_shift():
    found = folds(LABELS)
    assert len({held_out(fold) for fold in found}) == 5
    assert all(0.2 <= len(fold.test) / 100 <= 0.4 for fold in found)


def test_fair_folds_do_not_repeat_the_draws_of_splits():
    assert [held_out(f) for f in folds(LABELS)] != [held_out(s) for s in splits(LABELS, 5)]


def test_where_one_cluster_is_most_rows_the_fair_folds_hold_out_a_little_less():
    labels = np.repeat(np.arange(4), [84, 6, 5, 5])
    with pytest.warns(UserWarning, match="5 of 5 hold out"):
        found = folds(labels)
    assert {held_out(fold, labels) for fold in found} == {
        frozenset(chosen) for chosen in ({1, 2, 3}, {1, 2}, {1, 3}, {2, 3}, {1})
    }


@pytest.mark.filterwarnings("ignore:The training clusters allow too few folds")
def test_two_clusters_still_make_two_folds():
    labels = np.repeat([0, 1], 50)
    with pytest.warns(UserWarning, match="allow 2 different folds instead of 5"):
        found = folds(labels)
    assert {held_out(fold, labels) for fold in found} == {frozenset({0}), frozenset({1})}


@pytest.mark.parametrize(("protocol", "count"), [("fair", 5), ("paper", 2)])
def test_a_single_cluster_is_divided_by_random_rows(protocol, count):
    with pytest.warns(UserWarning, match="hold out random rows"):
        found = folds(np.zeros(50, int), protocol)
    assert [len(fold.test) for fold in found] == [10] * count


def test_an_unknown_protocol_is_refused():
    with pytest.raises(InputError, match="'papr'; choose 'paper' or 'fair'"):
        folds(LABELS, "papr")
