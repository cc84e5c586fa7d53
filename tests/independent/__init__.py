"""The modality audit in plain Python, written from the protocol and not from the SQL: an oracle for every view.

Nothing here imports the product, and nothing here is fast.
"""

from collections.abc import Callable, Iterator

from tests.independent import arms, grounding, performance, prospective, retrospective
from tests.independent.calls import Row
from tests.independent.study import Study

__all__ = ["VIEWS", "Row", "Study"]

_MODALITY = (
    *(prospective.single, prospective.prospective_item, prospective.prospective_cell, prospective.prospective_task),
    *(prospective.sufficiency_cell, prospective.sufficiency_task, prospective.counterfactual_item, prospective.counterfactual_agreement),
    *(prospective.prospective_wiring_item, prospective.prospective_wiring, prospective.prospective_wiring_task, prospective.noise_headline),
    *(retrospective.retrospective_item, retrospective.retrospective, retrospective.attribution_agreement),
    *(retrospective.retrospective_wiring_item, retrospective.retrospective_wiring),
    *(performance.scored_answer, performance.class_item, performance.task_score, performance.task_performance, performance.title_item),
    *(performance.title_floor, performance.assessment_cost, performance.assessment_cost_task),
    *(performance.chance_floor, performance.noise_floor),
    *(grounding.evidence, grounding.grounding_item, grounding.grounding, grounding.grounding_prospective),
)

VIEWS: dict[str, Callable[[Study], Iterator[Row]]] = {
    "attrition.condition": arms.condition,
    "arm.answer": arms.answer,
    "arm.item": arms.item,
    **{f"modality.{view.__name__}": view for view in _MODALITY},
}
