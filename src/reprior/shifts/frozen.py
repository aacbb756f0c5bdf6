"""The splits every figure of ours is measured on, fixed before any model was run.

    python -m reprior.shifts.frozen FOLDER/*.csv

writes the cluster labels that ship and prints the fingerprints below. Each CSV file has a header
and its target last. It is run again only if the definition of a cluster changes; the fingerprints
then change for all to see.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from reprior.contracts import Floats, Rows
from reprior.shifts import clusters, remembered
from reprior.shifts.divisions import fingerprint

# Of the ten splits, with seed 0 and the defaults of `clusters`.
FINGERPRINTS = {
    "diabetes": "44646f80c50375a0137cd5f5180c70ff6b5c3b40265d0d893c5c20ae8da91c28",
    "concrete": "681f9f614960fd70adf09e8f701a70ea0ed2209882044ae108a38406330fbbc7",
    "energy": "3b007576de2d2c567bd5211a1a0e39cbf0cdc1bc0b6e6f06fc76a57e05c34a31",
    "housing": "f7deeb4a22225451624c1394a795561a4baa9f9e97ccfb71fb7ebe37b5dcf3ed",
    "kin8nm": "75b1d3389bc9fce1bd81ffefba2ae7732ae7872acb1c8b4244d6e2c3cf7ceb37",
    "naval": "b9039f5c8e3cf9fcfc3640f905b83e62675e4bf8c60e7170f4baa511093b93d0",
    "power": "478e5cca8e2aa8a17517cc631093840ed1a81c2b1db3b2308bf6ae9304a98259",
    "wine": "2e612b3aa505eca2fe97e43872c3ea2fcb70e9a327b9c64f1f1cab17cf40e413",
    "yacht": "dd2539892d1e73cb25c29e557765c4405371434e277c0dde07e4d6eb1327ead5",
}


def freeze(tables: Iterable[tuple[str, Floats]], path: Path) -> dict[str, Rows]:
    """Cluster each named table afresh and store the labels at path; the labels, by name.

    tables  names and inputs (N, D), as they come from the file
    """
    labels = {}
    entries = {}
    for name, x in tables:
        labels[name] = clusters.compute(x, clusters.DEFAULT)
        digits = "".join(map(str, labels[name]))
        entries[remembered.key(x, **clusters.DEFAULT._asdict())] = {"name": name, "labels": digits}
    path.write_text(json.dumps(entries, indent=0) + "\n")
    return labels


def main(files: list[str]) -> None:
    from sklearn.datasets import load_diabetes  # type: ignore[import-untyped]

    tables = [("diabetes", load_diabetes(scaled=False).data)]
    for file in sorted(map(Path, files)):
        with file.open() as lines:
            rows = [line.split(",")[:-1] for line in lines][1:]
        tables.append((file.stem, np.array(rows, np.float64)))
    for name, labels in freeze(tables, Path(__file__).with_name(remembered.SHIPPED)).items():
        print(f'    "{name}": "{fingerprint(clusters.splits(labels))}",')


if __name__ == "__main__":
    main(sys.argv[1:])
