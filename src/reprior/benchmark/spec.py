"""What a benchmark run consists of: plain values, from which everything else follows."""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from reprior.augment.catalogue import ABLATIONS, AUGMENTATIONS
from reprior.contracts import InputError
from reprior.datasets import uci
from reprior.datasets.catalogue import is_file
from reprior.models.catalogue import MODELS
from reprior.shifts.catalogue import SHIFTS

Protocol = Literal["paper", "fair"]


@dataclass(frozen=True)
class Spec:
    """Every combination of the lists is one cell of the table, measured on `splits` splits."""

    sets: tuple[str, ...] = tuple(uci.SOURCES)
    models: tuple[str, ...] = tuple(MODELS)
    augments: tuple[str, ...] = ("", *AUGMENTATIONS)  # "" is the plain model
    protocols: tuple[str, ...] = ("paper", "fair")
    shift: str = "cluster"
    splits: int = 10
    epochs: int = 50
    candidates: int = 12
    seed: int = 0

    def __post_init__(self) -> None:
        for what, given, known in (
            ("set", [s for s in self.sets if not is_file(s)], (*uci.SOURCES, "diabetes")),
            ("model", self.models, tuple(MODELS)),
            ("augmentation", self.augments, ("", *AUGMENTATIONS, *ABLATIONS)),
            ("protocol", self.protocols, ("paper", "fair")),
            ("shift", (self.shift,), tuple(SHIFTS)),
        ):
            for name in given:
                if name not in known:
                    close = get_close_matches(name, known, 1)
                    names = ", ".join(repr(k) for k in known)
                    hint = f"did you mean {close[0]!r}?" if close else f"choose from {names}."
                    raise InputError(f"No {what} is called {name!r}; {hint}")
        for what, count in (
            ("splits", self.splits), ("epochs", self.epochs), ("candidates", self.candidates)
        ):  # fmt: skip
            if count < 1:
                raise InputError(f"{what} is {count}; it must be at least 1.")

    def conditions(self) -> dict[str, int]:
        """What the results of one table share. The rest of a spec says which results there are."""
        return {
            "splits": self.splits,
            "epochs": self.epochs,
            "candidates": self.candidates,
            "seed": self.seed,
        }


def batch_size(rows: int) -> int:
    """32 up to 2,000 rows, 128 above."""
    return 32 if rows <= 2000 else 128
