"""Every figure that can be drawn: those of seed 000 by their number, those of seed 001 with an `s` before theirs."""

from __future__ import annotations

from collections.abc import Mapping

from analysis import modality_figures, tooluse_figures
from analysis.errors import UsageError
from analysis.figures import PaperFigure

FIGURES: Mapping[str, PaperFigure] = {**modality_figures.FIGURES, **tooluse_figures.FIGURES}


def require(number: str) -> PaperFigure:
    """The figure of that number; UsageError names those there are."""
    if number not in FIGURES:
        raise UsageError(f"there is no figure {number}: there are {', '.join(FIGURES)}")
    return FIGURES[number]
