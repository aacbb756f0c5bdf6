"""Every augmentation by its name: one line each, from the D features of its space."""

from collections.abc import Callable

from reprior.augment.mixup import Mixup
from reprior.augment.noise import GaussianNoise
from reprior.augment.pad import PAD
from reprior.contracts import Augmentation, Mixer

AUGMENTATIONS: dict[str, Callable[[int], Augmentation | Mixer]] = {
    "mixup": Mixup,
    "noise": GaussianNoise,
    "pad": PAD,
}
