"""Methods that learn in one go, from the plan to the rows of the store."""

import math
from dataclasses import dataclass

import pytest
import torch

from reprior.benchmark import executors, methods, plan
from reprior.benchmark.bench import bench
from reprior.benchmark.methods import InOneGo, Lessons
from reprior.benchmark.plan import Cell, divide, finals
from reprior.benchmark.run import FURTHER_MEASURES, run
from reprior.benchmark.spec import Spec
from reprior.benchmark.store import Store
from reprior.likelihoods import Gaussian, mixture
from reprior.models import gaussian_process
from reprior.models.boosted_quantiles import BoostedQuantiles
from reprior.models.catalogue import MODELS
from reprior.population.layout import questions, training_sets

DIRECT = ("gaussian_process", "boosted_quantiles")
SPEC = Spec(
    sets=("diabetes",), models=DIRECT, augments=("", "pad"), protocols=("paper",), splits=3,
    candidates=2,
)  # fmt: skip
CELL = Cell("paper", "cluster", "diabetes", "gaussian_process", "")


@pytest.fixture(scope="module", autouse=True)
def few_trees(tmp_path_factory):
    """Clusters in a folder of their own, and no more trees than a test needs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPRIOR_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setitem(MODELS, "boosted_quantiles", lambda *_: BoostedQuantiles(levels=5, trees=10))
        yield


@pytest.fixture(scope="module")
def divisions():
    return divide(CELL.set, CELL.shift, SPEC.splits, None)


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "store.sqlite")
    yield opened
    opened.close()


def final(divisions):
    (part,) = finals(CELL, SPEC, divisions, [0] * SPEC.splits, "cpu")
    return part


def test_a_benchmark_holds_one_scored_final_per_split_and_is_not_done_twice(store, monkeypatch):
    bench(SPEC, store, {})
    rows = store.finals()
    assert sorted((row["model"], row["split"]) for row in rows) == sorted(
        (name, split) for name in DIRECT for split in range(3)
    )
    for row in rows:
        assert row["augment"] == ""
        assert row["diverged"] == 0
        assert all(math.isfinite(row[name]) for name in ("nll", "ce", *FURTHER_MEASURES))
        # A guess at the mean of all labels is off by 77, their standard deviation.
        assert row["rmse"] < 77
        assert row["settings"].keys() == plan.space_of(Cell("", "", "", row["model"], ""), 1).keys()
    monkeypatch.setattr(executors, "run", None)
    bench(SPEC, store, {})
    assert store.finals() == rows


def test_a_benchmark_that_was_stopped_goes_on_and_ends_alike(store, tmp_path, monkeypatch):
    monkeypatch.setattr(methods, "TASKS", 1)
    bench(SPEC, store, {})
    seen = []

    def stopped(done, known, what):
        seen.append(done)
        if len(seen) == 4:
            raise KeyboardInterrupt

    other = Store(tmp_path / "other" / "store.sqlite")
    with pytest.raises(KeyboardInterrupt):
        bench(SPEC, other, {}, progress=stopped)
    assert other.finals() != store.finals()
    first = []
    bench(SPEC, other, {}, progress=lambda done, *_: first.append(done))
    assert first[0] == 3
    assert other.finals() == store.finals()
    other.close()


def test_every_task_learns_from_its_own_rows_and_answers_for_them(divisions):
    """As the method does on the very same rows, scaled by hand."""
    found = run(final(divisions), divisions)
    for result in found:
        train, test = divisions.splits[result.task.split]
        x, y = divisions.table.x, divisions.table.y
        mean, std = x[train].mean(0), x[train].std(0)
        scaled, loc, scale = (x - mean) / std, y[train].mean(), y[train].std()
        given = [torch.tensor(v) for v in (scaled[train], (y[train] - loc) / scale, scaled[test])]
        alone = gaussian_process.GaussianProcess().fit_predict(*given, {}, 0)
        labels = torch.tensor((y[test] - loc) / scale)
        nll = float(-alone.log_prob(labels).mean()) + math.log(scale)
        assert result.scores["nll"] == pytest.approx(nll, abs=1e-3)


@pytest.mark.parametrize(
    "error",
    [torch.linalg.LinAlgError("not positive-definite"), ValueError("NaN"), ZeroDivisionError()],
    ids=lambda error: type(error).__name__,
)
def test_a_task_that_cannot_be_learned_has_diverged_and_the_others_go_on(
    divisions, monkeypatch, error
):
    calm = run(final(divisions), divisions)
    true, calls = gaussian_process.posterior, []

    def fails_once(*given):
        calls.append(1)
        if len(calls) == 2:
            raise error
        return true(*given)

    monkeypatch.setattr(gaussian_process, "posterior", fails_once)
    found = run(final(divisions), divisions)
    assert [result.diverged for result in found] == [0, 1, 0]
    assert all(math.isnan(value) for value in found[1].scores.values())
    assert [found[0].scores, found[2].scores] == [calm[0].scores, calm[2].scores]


def test_where_nothing_can_be_learned_at_all_every_task_has_diverged(store, monkeypatch):
    def fails(*given):
        raise torch.linalg.LinAlgError("not positive-definite")

    monkeypatch.setattr(gaussian_process, "posterior", fails)
    bench(SPEC, store, {})
    rows = [row for row in store.finals() if row["model"] == "gaussian_process"]
    assert [row["diverged"] for row in rows] == [1, 1, 1]
    assert all(math.isnan(row["nll"]) for row in rows)


def test_a_prediction_that_is_no_number_has_diverged(divisions, monkeypatch):
    def lost(x, y, asked, found):
        nan = torch.full_like(asked[:, 0], math.nan)
        return Gaussian(nan, nan)

    monkeypatch.setattr(gaussian_process, "posterior", lost)
    assert [result.diverged for result in run(final(divisions), divisions)] == [1, 1, 1]


def test_a_lack_of_memory_is_no_result(divisions, monkeypatch):
    def full(*given):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(gaussian_process, "posterior", full)
    with pytest.raises(RuntimeError, match="memory"):
        run(final(divisions), divisions)


@dataclass(frozen=True)
class Counting:
    """Says how many rows it was given, and which task's settings."""

    name = "counting"
    space = {}  # noqa: RUF012

    def fit_predict(self, x, y, asked, settings, seed):
        said = torch.full_like(asked[:, 0], float(len(x)))
        return mixture(Gaussian(said[None], settings["width"] * torch.ones_like(said)[None]))


def test_a_method_is_given_no_row_that_fills_up_a_shorter_list():
    x, y = torch.randn(10, 2).double().numpy(), torch.randn(10).double().numpy()
    rows = [torch.arange(n).numpy() for n in (4, 7)]
    sets = training_sets(x, y, rows)
    asked = questions(sets, rows)
    group = torch.tensor([1, 0, 1])
    settings = [{"width": w} for w in (1.0, 2.0, 3.0)]
    done = []
    found = InOneGo(Counting()).answer(
        Lessons(sets, asked, group, settings, 1, 32, 0), lambda *now: done.append(now)
    )
    assert found.mixture.mean[:, 0].tolist() == [7, 4, 7]
    assert found.mixture.std[:, 0].tolist() == [1, 2, 3]
    assert found.lost.tolist() == [0, 0, 0]
    assert done == [(1, 3), (2, 3), (3, 3)]
