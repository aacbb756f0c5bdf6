"""Adam's update on a GPU as one Triton kernel: every number is read once and written once."""

from torch import Tensor

try:
    import triton
    import triton.language as tl
except ImportError:  # it comes with PyTorch's CUDA builds for Linux, and with no other
    triton = None

usable = triton is not None
BLOCK = 1024


def adam(
    params: Tensor,
    grads: Tensor,
    first: Tensor,
    second: Tensor,
    gate: Tensor,
    rate: Tensor,
    eps: Tensor,
    new_first: float,
    new_second: float,
) -> None:
    """In place for params, first and second (P, n), where gate (P,) is open.

    rate, eps  (P,) the learning rate and ε, each with its correction for the steps taken so far
    new_first  share of the new gradient in its running mean, 1 − β₁; new_second of its square
    """
    members, n = params.shape
    _adam[(members, triton.cdiv(n, BLOCK))](
        params, grads, first, second, gate, rate, eps, n, new_first, new_second, BLOCK, num_warps=8
    )


if usable:

    @triton.jit
    def _adam(W, G, M, V, GATE, RATE, EPS, n, new_first, new_second, BLOCK: tl.constexpr):
        member = tl.program_id(0).to(tl.int64)
        place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        inside = place < n
        at = member * n + place
        if tl.load(GATE + member) != 0:
            grad = tl.load(G + at, mask=inside)
            m = tl.load(M + at, mask=inside)
            v = tl.load(V + at, mask=inside)
            m += new_first * (grad - m)
            v += new_second * (grad * grad - v)
            move = tl.load(RATE + member) * m / (tl.sqrt(v) + tl.load(EPS + member))
            tl.store(M + at, m, mask=inside)
            tl.store(V + at, v, mask=inside)
            tl.store(W + at, tl.load(W + at, mask=inside) - move, mask=inside)
