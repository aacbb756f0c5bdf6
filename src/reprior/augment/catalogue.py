"""Every augmentation by its name: one line each, from the D features of its space."""

from collections.abc import Callable
from functools import partial

from reprior.augment.mixup import Mixup
from reprior.augment.noise import GaussianNoise
from reprior.augment.pad import PAD
from reprior.contracts import Augmentation, Mixer

Maker = Callable[[int], Augmentation | Mixer]

AUGMENTATIONS: dict[str, Maker] = {
    "mixup": Mixup,
    "noise": GaussianNoise,
    "pad": PAD,
}

# PAD with one thing changed at a time, for the ablation.
ABLATIONS: dict[str, Maker] = {
    "pad-without-a": partial(PAD, terms="BC"),
    "pad-without-b": partial(PAD, terms="AC"),
    "pad-without-ab": partial(PAD, terms="C"),
    "pad-without-c": partial(PAD, terms="AB"),
    "pad-mean-pooled": partial(PAD, pooling="mean"),
    "pad-no-threshold": partial(PAD, threshold=False),
    "pad-prior-zero": partial(PAD, prior_mean="zero"),
    "pad-half": partial(PAD, per_row=0.5),
    "pad-double": partial(PAD, per_row=2.0),
}


def augmentation(name: str, features: int) -> Augmentation | Mixer:
    """The augmentation of this name, or PAD as an ablation changes it."""
    return (AUGMENTATIONS | ABLATIONS)[name](features)
