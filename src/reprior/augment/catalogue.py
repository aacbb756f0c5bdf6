"""Every augmentation by its name: one line each, from the D features of its space."""

from collections.abc import Callable

from reprior.augment.pad import PAD
from reprior.contracts import Augmentation

AUGMENTATIONS: dict[str, Callable[[int], Augmentation]] = {
    "pad": PAD,
}
