import json

import numpy as np
import pytest

from reprior.shifts.remembered import key, recall, remember

X = np.arange(12.0).reshape(6, 2)
LABELS = np.array([0, 1, 2, 11, 1, 0])


def test_labels_come_back_as_they_went(cache):
    assert recall(key(X)) is None
    remember(key(X), LABELS)
    np.testing.assert_array_equal(recall(key(X)), LABELS)
    assert len(list((cache / "clusters").iterdir())) == 1


def test_a_key_depends_on_every_value_the_shape_and_the_settings():
    other = X.copy()
    other[5, 1] = np.nextafter(other[5, 1], 99)
    keys = [key(X), key(other), key(X.reshape(4, 3)), key(X, seed=1), key(X, seed=2)]
    assert len(set(keys)) == 5


def test_a_key_does_not_depend_on_how_the_array_lies_in_memory():
    assert key(np.asfortranarray(X)) == key(X) == key(X.astype(">f8"))


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-9],
        lambda text: "",
        lambda text: "[]",
        lambda text: text.replace("11", "10"),
        lambda text: json.dumps({**json.loads(text), "labels": ["a"]}),
        lambda text: json.dumps({**json.loads(text), "labels": [0, 1]}),
    ],
)
def test_a_damaged_file_is_as_good_as_none(cache, damage):
    remember(key(X), LABELS)
    (file,) = (cache / "clusters").iterdir()
    file.write_text(damage(file.read_text()))
    assert recall(key(X)) is None


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("REPRIOR_CACHE", str(tmp_path / "file"))
    remember(key(X), LABELS)
    assert recall(key(X)) is None
