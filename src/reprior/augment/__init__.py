"""What is added to the data: which pseudo rows, how strongly they count, where they pull."""

from reprior.augment.pad import PAD

__all__ = ["PAD"]
