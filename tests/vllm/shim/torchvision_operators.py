"""Declares two operators of torchvision: its CUDA build cannot bring them to a CPU build of torch, and does not import without them."""

from __future__ import annotations

import torch

SIGNATURE = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
declared: list[torch.library.Library] = []  # an operator lasts as long as its library


def declare() -> None:
    """Called by torch at the end of its import."""
    library = torch.library.Library("torchvision", "FRAGMENT")
    for operator in ("nms", "qnms"):
        library.define(operator + SIGNATURE)
    declared.append(library)
