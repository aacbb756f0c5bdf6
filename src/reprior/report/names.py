"""What people read where the store and the command line say `deep_ensemble`.

The order of each dictionary is the order of rows and columns in every table and figure.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

SETS = {  # the paper's columns
    "housing": "Housing",
    "concrete": "Concrete",
    "energy": "Energy",
    "kin8nm": "Kin8nm",
    "naval": "Naval",
    "power": "Power",
    "wine": "Wine",
    "yacht": "Yacht",
}
MODELS = {  # the paper's rows, then ours
    "gaussian_process": "Gaussian Process",
    "functional_bnn": "Functional BNN",
    "depth_uncertainty": "Depth Uncertainty",
    "deep_ensemble": "Deep Ensemble",
    "rank_one_bnn": "Rank-1 BNN",
    "swag": "SWAG",
    "mc_dropout": "MC Dropout",
    "multi_swag": "Multi-SWAG",
    "laplace": "Laplace",
    "sngp": "SNGP",
    "boosted_quantiles": "Boosted Quantiles",
}
AUGMENTS = {
    "": "plain",
    "mixup": "Mixup",
    "noise": "noise",
    "pad": "PAD",
    "pad+": "PAD+",
    "pad-without-a": "PAD without A",
    "pad-without-b": "PAD without B",
    "pad-without-ab": "PAD without A, B",
    "pad-without-c": "PAD without C",
    "pad-mean-pooled": "PAD, mean pooled",
    "pad-no-threshold": "PAD, C from 0",
    "pad-prior-zero": "PAD to N(0, 1)",
    "pad-half": "PAD, half as many",
    "pad-double": "PAD, twice as many",
}
ABLATIONS = tuple(name for name in AUGMENTS if name.startswith("pad-"))  # one thing changed
MEASURES = {"nll": "negative log likelihood", "ce": "calibration error"}
SHORT_MEASURES = {"nll": "NLL", "ce": "CE"}
PROTOCOLS = {"paper": "tuned as in the paper", "fair": "tuned fairly"}
SHIFTS = {"cluster": "cluster shift", "random": "random rows, no shift"}


def human(names: Mapping[str, str], key: str) -> str:
    """The human name of a key; one we have no name for is its own, a file the file's."""
    return names.get(key, Path(key).stem if key.endswith((".csv", ".parquet")) else key)


def label(model: str, augment: str) -> str:
    """Deep Ensemble, or Deep Ensemble + PAD."""
    name = human(MODELS, model)
    return f"{name} + {human(AUGMENTS, augment)}" if augment else name


def ordered(names: Mapping[str, str], keys: Iterable[str]) -> list[str]:
    """Each key once: those with a name in the order of the names, then the rest by alphabet."""
    known = list(names)
    return sorted(
        set(keys), key=lambda key: (known.index(key) if key in names else len(known), key)
    )
