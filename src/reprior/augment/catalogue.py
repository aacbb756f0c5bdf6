"""Every augmentation by its name: one line each, from the D features of its space."""

from collections.abc import Callable

from reprior.augment.pad import PAD

AUGMENTATIONS: dict[str, Callable[[int], PAD]] = {
    "pad": PAD,
}
