"""Real tables that scikit-learn carries with it, so that everything can be tried offline."""

import numpy as np

from reprior.contracts import Table


def diabetes() -> Table:
    """Regression: progression of diabetes after a year, from ten measurements (442 rows)."""
    from sklearn.datasets import load_diabetes  # type: ignore[import-untyped]

    # Unscaled: a Table holds values as they are in the file, and those are the same everywhere.
    raw = load_diabetes(scaled=False)
    return _table("diabetes", raw, "progression")


def digits() -> Table:
    """Classification: handwritten digits as 8×8 grey levels from 0 to 16 (1,797 rows)."""
    from sklearn.datasets import load_digits

    return _table("digits", load_digits(), "digit")


def _table(name: str, raw: object, target: str) -> Table:
    data, labels, features = (getattr(raw, key) for key in ("data", "target", "feature_names"))
    return Table(
        name,
        np.asarray(data, np.float64),
        np.asarray(labels, np.float64),
        tuple(str(feature) for feature in features),
        target,
    )
