from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reprior.contracts import InputError, Table
from reprior.datasets.tables import check_for_benchmark, numbers, read


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str, name: str = "houses.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_the_last_column_is_the_target_unless_one_is_named(write):
    path = write("a,b,c\n1,2,3\n4,5,6\n")
    assert read(path).target == "c"
    table = read(path, target="a")
    assert table.name == "houses"
    assert table.features == ("b", "c")
    np.testing.assert_array_equal(table.x, [[2, 3], [5, 6]])
    np.testing.assert_array_equal(table.y, [1, 4])


def test_ignored_columns_may_hold_anything(write):
    table = read(write("a,sold_at,b\n1,2020-01-01,2\n"), ignore=["sold_at"])
    assert table.features == ("a",)


def test_every_digit_survives(write):
    assert read(write("a,b\n0.1,2.2250738585072014e-308\n")).y[0] == 2.2250738585072014e-308


def test_parquet_reads_as_csv_does(tmp_path, write):
    path = tmp_path / "houses.parquet"
    pd.DataFrame({"a": [1, 2], "b": [True, False]}).to_parquet(path)
    np.testing.assert_array_equal(read(path).x, read(write("a,b\n1,1\n2,0\n")).x)
    np.testing.assert_array_equal(read(path).y, [1, 0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["houses.csv is empty"]),
        ("\n\n", ["houses.csv is empty"]),
        ("a,b\n", ["no rows", "at least one row"]),
        ("a\n1\n", ["single column (a)", "commas"]),
        ("a;b\n1;2\n", ["single column (a;b)", "commas"]),
        ("a,b,a\n1,2,3\n", ["more than one column named 'a'"]),
        (",b,c\n1,2,3\n", ["no name for column 1"]),
        ("1.5,2\n3,4\n", ["numbers 1.5, 2", "line of names"]),
        ("a,b\n1,2\n1,2,3\n", ["more values than its header"]),
        ("a,b\n1,2,3\n1,2,3\n", ["more values than its header"]),
        ("a,b\n1,2\n,4\n,5\n", ["(NaN)", "column 'a'", "row 2", "2 in all"]),
        ("a,b\n1,2\n3,-inf\n", ["infinite", "column 'b'", "row 2"]),
        ("a,b\n1,2\nlarge,4\n", ["text 'large'", "column 'a'", "row 2"]),
        (b"a,b\n\xff\xfe,1\n".decode("latin1").encode("latin1"), ["not UTF-8"]),
        ("sold,b\n2020-01-01,2\n", ["text '2020-01-01'", "column 'sold'"]),
    ],
)
def test_bad_tables_get_one_sentence_that_names_the_place(write, text, words):
    with pytest.raises(InputError) as caught:
        read(write(text))
    message = str(caught.value)
    assert all(word in message for word in words), message
    assert "\n" not in message
    assert message.endswith(".")


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(InputError, match=r"gone\.csv is not a file"):
        read(tmp_path / "gone.csv")


def test_a_truncated_parquet_file_is_refused(tmp_path):
    path = tmp_path / "houses.parquet"
    pd.DataFrame({"a": [1.0] * 99, "b": [2.0] * 99}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="cut short"):
        read(path)


def test_an_unknown_target_gets_the_nearest_name(write):
    with pytest.raises(InputError, match=r"no column 'pric'; did you mean 'price'\?"):
        read(write("rooms,price\n1,2\n"), target="pric")


def test_columns_missing_at_prediction_are_named():
    with pytest.raises(InputError, match=r"new\.csv has no column 'b'"):
        numbers(pd.DataFrame({"a": [1.0]}), ["a", "b"], "new.csv")


def test_a_date_column_is_not_a_number():
    frame = pd.DataFrame({"sold": pd.to_datetime(["2020-01-01"])})
    with pytest.raises(InputError, match="column 'sold'"):
        numbers(frame, ["sold"], "houses.parquet")


def table(x, y):
    return Table("houses", np.asarray(x, float), np.asarray(y, float), ("a",), "price")


def test_a_benchmark_refuses_a_constant_target_and_too_few_rows():
    with pytest.raises(InputError, match="same target 'price' = 3 in every row"):
        check_for_benchmark(table(np.ones((20, 1)), np.full(20, 3)))
    with pytest.raises(InputError, match="9 rows, but shifts are made of 10 clusters"):
        check_for_benchmark(table(np.ones((9, 1)), np.arange(9)))


def test_a_benchmark_takes_constant_features_and_repeated_rows():
    check_for_benchmark(table(np.ones((20, 1)), [0, 1] * 10))
