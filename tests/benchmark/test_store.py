"""The results file: all of a population or nothing, one writer, and clear words when it fails."""

import math
import multiprocessing
import sqlite3

import pytest

from reprior.benchmark.plan import Cell, Population, Task
from reprior.benchmark.store import Store
from reprior.contracts import InputError

CELL = Cell("fair", "cluster", "diabetes", "mc_dropout", "pad")
MADE = {"version": "1", "device": "cpu"}
# See the two expected failures: a store that could not be opened leaves its lock to the collector.


def population(seed=0, stage="final", tasks=3):
    return Population(CELL, stage, tuple(Task(s, -1, 0) for s in range(tasks)), 2, 4, seed)


def row(split, nll=1.5, **more):
    settings = {"lr": 1e-3, "ell": math.inf}
    return {"split": split, "fold": -1, "candidate": 0, "nll": nll, "settings": settings} | more


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run" / "results.sqlite"


@pytest.fixture
def store(path):
    opened = Store(path)
    yield opened
    opened.close()


def test_what_is_added_is_done_and_comes_back_after_reopening(store, path):
    assert not store.done(population())
    assert store.rows(population()) == []
    store.add(population(), [row(1), row(0, nll=-0.25)], 3.0, MADE, waited=1.25)
    store.close()
    again = Store(path)
    assert again.done(population())
    assert not again.done(population(seed=1))
    assert [(r["split"], r["nll"]) for r in again.rows(population())] == [(0, -0.25), (1, 1.5)]
    assert again.made() == [MADE]
    assert again.seconds() == {"mc_dropout+pad": 3.0}
    assert again.wall_seconds() == 1.25
    again.close()


def test_every_digit_of_a_score_comes_back(store):
    store.add(population(), [row(0, nll=0.1 + 0.2, crps=1 / 3)], 1.0, MADE)
    (found,) = store.rows(population())
    assert found["nll"] == 0.1 + 0.2
    assert found["crps"] == 1 / 3


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_comes_back_as_not_a_number(store, value):
    store.add(population(), [row(0, nll=value, diverged=2)], 1.0, MADE)
    (found,) = store.rows(population())
    assert math.isnan(found["nll"])
    assert found["diverged"] == 2


def test_an_infinite_setting_is_kept_as_it_is(store):
    store.add(population(), [row(0)], 1.0, MADE)
    assert float(store.rows(population())[0]["settings"]["ell"]) == math.inf


def test_only_final_results_stand_in_the_table_with_their_cell(store):
    store.add(population(stage="tune"), [row(0)], 1.0, MADE)
    store.add(population(), [row(1), row(0)], 1.0, MADE)
    found = store.finals()
    assert [r["split"] for r in found] == [0, 1]
    assert {r["model"] for r in found} == {"mc_dropout"}
    assert {r["protocol"] for r in found} == {"fair"}


def test_a_failure_in_the_middle_leaves_nothing_behind(store):
    with pytest.raises(InputError):
        store.add(population(), [row(0), row(1), row(1)], 1.0, MADE)  # the last repeats a key
    assert not store.done(population())
    assert store.rows(population()) == []
    store.add(population(), [row(0)], 1.0, MADE)
    assert store.done(population())


def test_a_process_that_dies_in_the_middle_leaves_nothing_behind(store, path):
    def rows():
        yield row(0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.add(population(), rows(), 1.0, MADE)
    store.close()
    again = Store(path)
    assert not again.done(population())
    assert again.rows(population()) == []
    again.close()


def test_rows_that_cannot_be_had_leave_the_open_store_as_it_was(store):
    with pytest.raises(KeyError):
        store.add(population(), [row(0), {"split": 1}], 1.0, MADE)
    assert not store.done(population())


def test_a_population_is_never_stored_twice(store):
    store.add(population(), [row(0)], 1.0, MADE)
    with pytest.raises(InputError):
        store.add(population(), [row(0, nll=9.0)], 1.0, MADE)
    assert [r["nll"] for r in store.rows(population())] == [1.5]


@pytest.mark.usefixtures("store")
def test_a_second_writer_is_refused_in_one_sentence(path):
    with pytest.raises(InputError, match="Another run is writing to") as caught:
        Store(path)
    assert "\n" not in str(caught.value)


def _try_to_write(path, told):
    try:
        Store(path).close()
        told.put("opened")
    except InputError as error:
        told.put(str(error))


def test_a_writer_in_another_process_is_refused_until_the_first_is_through(store, path):
    spawned = multiprocessing.get_context("spawn")
    for expected in ("Another run is writing to", "opened"):
        told = spawned.Queue()
        other = spawned.Process(target=_try_to_write, args=(path, told))
        other.start()
        assert expected in told.get(timeout=60)
        other.join()
        store.close()


def test_a_reader_may_look_while_a_run_writes(store, path):
    store.add(population(), [row(0)], 1.0, MADE)
    reader = Store(path, writing=False)
    assert len(reader.finals()) == 1
    reader.close()


def test_reading_where_there_are_no_results_says_what_to_do(path):
    with pytest.raises(InputError, match="reprior bench"):
        Store(path, writing=False)
    assert not path.exists()


def _text(path):
    path.write_text("this is not a database, whatever its name may say" * 50)


def _cut_short(path):
    store = Store(path)
    for seed in range(40):
        store.add(population(seed), [row(s) for s in range(30)], 1.0, MADE)
    store.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 3])


def _folder(path):
    path.mkdir()


@pytest.mark.parametrize("spoil", [_text, _cut_short, _folder])
@pytest.mark.parametrize("writing", [True, False])
def test_a_file_that_cannot_be_used_is_named_in_one_sentence(path, spoil, writing):
    path.parent.mkdir()
    spoil(path)
    with pytest.raises(InputError, match=r"results\.sqlite cannot be used") as caught:
        Store(path, writing).close()
    assert "\n" not in str(caught.value)


def test_a_folder_that_cannot_be_made_is_named_in_one_sentence(tmp_path):
    (tmp_path / "run").write_text("a file where a folder should be")
    with pytest.raises(InputError, match="cannot be used"):
        Store(tmp_path / "run" / "results.sqlite")


def test_a_store_that_could_not_be_opened_holds_no_lock(path):
    path.parent.mkdir()
    _text(path)
    with pytest.raises(InputError) as held:
        Store(path)
    path.unlink()
    Store(path).close()
    assert held.value


def test_a_full_disk_is_said_in_words_and_what_is_stored_is_kept(store):
    store.add(population(), [row(0)], 1.0, MADE)
    pages = store._db.execute("pragma page_count").fetchone()[0]
    store._db.execute(f"pragma max_page_count = {pages}")
    with pytest.raises(InputError, match=r"full.*make room"):
        store.add(population(seed=1), [row(s) for s in range(500)], 1.0, MADE)
    assert store.done(population())
    assert not store.done(population(seed=1))
    store._db.execute("pragma max_page_count = 100000")
    store.add(population(seed=1), [row(s) for s in range(500)], 1.0, MADE)
    assert len(store.rows(population(seed=1))) == 500


def test_what_is_stored_has_reached_the_disk(store):
    assert store._db.execute("pragma synchronous").fetchone()[0] == 2


def test_results_made_under_other_conditions_do_not_share_a_file(store):
    store.belongs_to({"epochs": 50, "seed": 0})
    store.belongs_to({"epochs": 50, "seed": 0})
    with pytest.raises(InputError, match="epochs 50 but 20 was asked for"):
        store.belongs_to({"epochs": 20, "seed": 0})


def test_the_file_is_plain_sqlite_that_anyone_can_read(store, path):
    store.add(population(), [row(0)], 1.0, MADE)
    other = sqlite3.connect(path)
    assert other.execute("select count(*) from results").fetchone() == (1,)
    other.close()
