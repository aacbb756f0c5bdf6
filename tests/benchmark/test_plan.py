"""The plan: the same every time, every task once, equal hands for all, no test row in tuning."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from reprior.benchmark import methods, plan
from reprior.benchmark.plan import Cell, Task, build, candidates, cells, divide, finals, tuning
from reprior.benchmark.run import division
from reprior.benchmark.spec import Spec
from reprior.contracts import InputError, Setting

SPEC = Spec(sets=("diabetes",), splits=3, epochs=2, candidates=4)
CELLS = list(cells(SPEC))
CELL = Cell("fair", "cluster", "diabetes", "mc_dropout", "pad")
TRAINED = [cell for cell in CELLS if isinstance(build(cell, 10), methods.BySteps)]
DIRECT = [cell for cell in CELLS if cell not in TRAINED]
AUGMENTED = sorted({cell.model for cell in CELLS if build(cell, 10).takes_augmentation})
TUNED = [cell for cell in CELLS if plan.space_of(cell, 10)]


@pytest.fixture(scope="module")
def divisions(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPRIOR_CACHE", str(tmp_path_factory.mktemp("cache")))
        return divide(CELL.set, CELL.shift, SPEC.splits, None)


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setitem(methods.WORK, "cpu", 2_000)


def test_every_combination_of_a_spec_is_one_cell():
    plain = {Cell(p, "cluster", "diabetes", m, "") for p in SPEC.protocols for m in SPEC.models}
    taking = [cell for cell in plain if cell.model in AUGMENTED]
    assert len(set(CELLS)) == len(CELLS)
    assert set(CELLS) == plain | {
        replace(cell, augment=a) for cell in taking for a in SPEC.augments
    }


def test_what_is_not_trained_by_steps_is_never_augmented_and_has_no_settings_of_training():
    assert {cell.model for cell in DIRECT} == {"gaussian_process", "boosted_quantiles"}
    for cell in DIRECT:
        assert not cell.augment
        assert not {"lr", "weight_decay"} & plan.space_of(cell, 10).keys()
    assert not any("gaussian_process+" in label for label in plan.ranges(SPEC))


def test_what_sets_itself_is_not_tuned(divisions):
    cell = replace(CELL, model="gaussian_process", augment="")
    assert cell not in TUNED
    assert tuning(cell, SPEC, divisions, "cpu") == []
    (part,) = finals(cell, SPEC, divisions, [0, 0, 0], "cpu")
    assert candidates(plan.space_of(cell, 10), part.candidates, part.seed)[0] == {}


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_what_is_not_trained_by_steps_is_stored_after_a_few_tasks(divisions, device):
    cell = replace(CELL, model="boosted_quantiles", augment="")
    parts = tuning(cell, SPEC, divisions, device)
    assert max(len(part.tasks) for part in parts) <= methods.TASKS
    assert min(len(part.tasks) for part in parts) >= methods.TASKS - 1


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("cell", TUNED, ids=str)
def test_every_candidate_meets_every_fold_of_every_split_exactly_once(divisions, cell):
    parts = tuning(cell, SPEC, divisions, "cpu")
    counts = Counter(task for part in parts for task in part.tasks)
    assert set(counts.values()) == {1}
    folds = [len(divisions.folds(s, cell.protocol, cell.augment)) for s in range(SPEC.splits)]
    expected = {Task(s, f, c) for s in range(3) for f in range(folds[s]) for c in range(4)}
    assert set(counts) == expected
    assert len(parts) > 1
    assert all(part.tasks for part in parts)


@pytest.mark.usefixtures("small_parts")
def test_every_split_has_one_final_with_the_candidate_it_chose(divisions):
    parts = finals(CELL, SPEC, divisions, [2, 0, 3], "cpu")
    found = {task for part in parts for task in part.tasks}
    assert found == {Task(0, -1, 2), Task(1, -1, 0), Task(2, -1, 3)}


@pytest.mark.usefixtures("small_parts")
def test_the_same_spec_gives_the_same_plan(divisions):
    again = divide(CELL.set, CELL.shift, SPEC.splits, None)
    for cell in CELLS:
        one, other = tuning(cell, SPEC, divisions, "cpu"), tuning(cell, SPEC, again, "cpu")
        assert [part.key for part in one] == [part.key for part in other]
        assert [part.number for part in one] == [part.number for part in other]


@pytest.mark.usefixtures("small_parts")
def test_no_two_populations_of_a_plan_share_a_key_or_a_seed(divisions):
    parts = [part for cell in CELLS for part in tuning(cell, SPEC, divisions, "cpu")]
    parts += [part for cell in CELLS for part in finals(cell, SPEC, divisions, [0, 1, 2], "cpu")]
    assert len({part.key for part in parts}) == len(parts)
    assert len({part.number for part in parts}) == len(parts)


@pytest.mark.parametrize("changed", [{"epochs": 3}, {"candidates": 5}, {"seed": 1}])
def test_whatever_changes_the_numbers_changes_the_key(divisions, changed):
    one = finals(CELL, SPEC, divisions, [0, 0, 0], "cpu")[0]
    other = finals(CELL, replace(SPEC, **changed), divisions, [0, 0, 0], "cpu")[0]
    assert one.key != other.key


def test_a_plan_is_cut_into_more_parts_where_less_fits_into_one(divisions, monkeypatch):
    whole = len(tuning(CELL, SPEC, divisions, "cuda"))
    monkeypatch.setitem(methods.WORK, "cuda", 100_000)
    assert len(tuning(CELL, SPEC, divisions, "cuda")) > whole


@pytest.mark.parametrize("augment", ["", "pad"])
@pytest.mark.parametrize("protocol", ["paper", "fair"])
def test_tuning_never_sees_a_test_row_nor_learns_from_a_row_it_is_judged_on(
    divisions, protocol, augment
):
    for s, split in enumerate(divisions.splits):
        assert np.intersect1d(split.train, split.test).size == 0
        for fold in divisions.folds(s, protocol, augment):
            assert np.intersect1d(fold.train, fold.test).size == 0
            assert np.isin(np.concatenate([*fold]), split.train).all()
            assert len(fold.train) + len(fold.test) == len(split.train)


def test_plain_models_tune_on_random_rows_in_the_papers_protocol_and_augmented_ones_on_clusters(
    divisions,
):
    clusters_of = divisions.labels
    for s, split in enumerate(divisions.splits):
        (plain,) = divisions.folds(s, "paper", "")
        assert len(plain.test) == round(0.2 * len(split.train))
        assert np.intersect1d(clusters_of[plain.train], clusters_of[plain.test]).size > 0
        halves = divisions.folds(s, "paper", "pad")
        assert len(halves) == 2
        for fold in halves:
            assert np.intersect1d(clusters_of[fold.train], clusters_of[fold.test]).size == 0


def test_everyone_tunes_on_the_same_cluster_folds_in_the_fair_protocol(divisions):
    clusters_of = divisions.labels
    for s in range(SPEC.splits):
        plain, augmented = divisions.folds(s, "fair", ""), divisions.folds(s, "fair", "pad")
        for one, other in zip(plain, augmented, strict=True):
            assert np.array_equal(one.test, other.test)
            assert np.intersect1d(clusters_of[one.train], clusters_of[one.test]).size == 0


def test_a_final_is_judged_on_the_test_rows_and_nothing_else_is(divisions):
    part = finals(CELL, SPEC, divisions, [0, 0, 0], "cpu")[0]
    for task in part.tasks:
        assert division(divisions, part, task.split, task.fold) is divisions.splits[task.split]
    part = tuning(CELL, SPEC, divisions, "cpu")[0]
    for task in part.tasks:
        found = division(divisions, part, task.split, task.fold)
        assert np.intersect1d(found.test, divisions.splits[task.split].test).size == 0


def space(cell):
    return plan.space_of(cell, 10)


@pytest.mark.parametrize("cell", CELLS, ids=str)
@pytest.mark.parametrize("count", [12, 24])
def test_every_choice_of_every_setting_is_dealt_equally_often(cell, count):
    for name, setting in space(cell).items():
        counts = Counter(hand[name] for hand in candidates(space(cell), count, seed=0))
        assert set(counts) == set(setting.choices)
        assert max(counts.values()) - min(counts.values()) <= (count % len(setting.choices) > 0)


def test_a_hand_that_does_not_divide_evenly_differs_by_one_at_most():
    counts = Counter(h["a"] for h in candidates({"a": Setting(1, (1, 2, 3, 4, 5), "")}, 12, 0))
    assert sorted(counts.values()) == [2, 2, 2, 3, 3]


@pytest.mark.parametrize("name", AUGMENTED)
def test_a_model_gets_the_same_hands_with_and_without_an_augmentation(name):
    plain = Cell("fair", "cluster", "diabetes", name, "")
    augmented = replace(plain, augment="pad")
    for one, other in zip(
        candidates(space(plain), 12, 0), candidates(space(augmented), 12, 0), strict=True
    ):
        assert one.items() <= other.items()
    assert len(candidates(space(plain), 12, 0)) == len(candidates(space(augmented), 12, 0))


def test_settings_that_all_models_share_have_identical_ranges():
    names = ("lr", "weight_decay")
    shared = [{name: space(cell)[name] for name in names} for cell in TRAINED]
    assert all(one == shared[0] for one in shared)
    assert min(shared[0]["lr"].choices) == 1e-3
    assert max(shared[0]["lr"].choices) == 1e-2


def test_the_budget_is_at_least_twelve_candidates_for_everyone():
    assert Spec().candidates >= 12


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ({"sets": ("diabets",)}, "did you mean 'diabetes'"),
        ({"models": ("mc_dropot",)}, "did you mean 'mc_dropout'"),
        ({"augments": ("pat",)}, "did you mean 'pad'"),
        ({"protocols": ("far",)}, "did you mean 'fair'"),
        ({"shift": "clusters"}, "did you mean 'cluster'"),
        ({"candidates": 0}, "at least 1"),
    ],
)
def test_a_spec_that_cannot_be_run_is_refused_in_one_sentence(wrong, hint):
    with pytest.raises(InputError, match=hint):
        Spec(**wrong)
