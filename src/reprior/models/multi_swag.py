"""Multi-SWAG (Wilson & Izmailov): five SWAGs that share nothing but their data.

Each walks from its own solution; the prediction mixes the draws of all five.
"""

from collections.abc import Callable

from torch import Tensor

from reprior.contracts import Likelihood, Network
from reprior.models.swag import SWAG


def multi_swag(network: Network, likelihood: Callable[[Tensor], Likelihood]) -> SWAG:
    return SWAG(network, likelihood, members=5, name="multi_swag")
