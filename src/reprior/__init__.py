"""reprior: networks that go back to their prior where they have no data.

Prior Augmented Data (PAD) and the models it is compared with. Names are loaded when first used, so
that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reprior.contracts import InputError

__all__ = ["InputError"]
__version__ = "0.1.0.dev0"

_HOME = {"InputError": "reprior.contracts"}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'reprior' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
