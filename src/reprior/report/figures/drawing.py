"""What all pictures share: their look, their colours, and how they become text."""

import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#1f2328"
FAINT = "#8a9099"
BLUE = "#0072b2"
ORANGE = "#d55e00"
# Okabe and Ito's, which colour-blind readers can tell apart; light yellow is left out.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
# Petroff's ten, made for the same readers, where seven are too few.
TEN_COLOURS = (
    *("#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6"),
    *("#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd"),
)
# One more than there are colours: a pair of both comes back after 56 only.
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "<")
WIDEST = 8.2  # inches; a page shows that much without making letters smaller

_STYLE: dict[str, Any] = {
    "font.size": 9,
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica"],
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "text.parse_math": False,  # a label may hold dollars
    "legend.frameon": False,
    "figure.facecolor": "none",  # the page lays a light card underneath
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "reprior",
}


def svg(figure: "Figure") -> str:
    """The figure as an <svg> element, for a page or a file of its own: the same text every time."""
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    text = io.StringIO()
    with our_style():
        figure.savefig(text, format="svg", metadata=nothing)
    drawn = text.getvalue()
    # A hundredth of a point is finer than any screen, and half the length. Labels are not in tags.
    return re.sub(
        r"<[^<>]*>",
        lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]),
        drawn[drawn.index("<svg") :],
    )


@contextmanager
def our_style() -> Iterator[None]:
    """Our look, whatever the user's own settings are."""
    from matplotlib import style

    with style.context(["default", _STYLE]):
        yield


def fitting(labels: Iterable[str], width: float) -> int:
    """How many entries of a legend fit beside one another, width in inches."""
    return max(1, int(width / (0.55 + 0.065 * max(map(len, labels)))))


def settle(figure: "Figure") -> None:
    """Place everything for good: the layout would move a little with every drawing."""
    figure.draw_without_rendering()
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
