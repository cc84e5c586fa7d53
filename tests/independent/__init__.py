"""The modality audit in plain Python, written from the protocol and not from the SQL: an oracle for every view.

Nothing here imports the product, and nothing here is fast. `VIEWS` holds the points, `ENDS` the intervals about them.
"""

from collections.abc import Callable, Iterator

from tests.independent import arms, grounding, intervals, performance, prospective, retrospective, worst_case
from tests.independent.calls import Row
from tests.independent.resampling import Bootstrap
from tests.independent.study import Study

__all__ = ["ENDS", "VIEWS", "Bootstrap", "Row", "Study"]

_MODALITY = (
    *(prospective.single, prospective.prospective_item, prospective.prospective_cell, prospective.prospective_task),
    *(prospective.sufficiency_cell, prospective.sufficiency_task, prospective.counterfactual_item, prospective.counterfactual_agreement),
    *(prospective.prospective_wiring_item, prospective.prospective_wiring, prospective.prospective_wiring_task, prospective.noise_headline),
    *(retrospective.retrospective_item, retrospective.retrospective, retrospective.retrospective_difference),
    *(retrospective.attribution_agreement, retrospective.retrospective_wiring_item, retrospective.retrospective_wiring),
    *(performance.scored_answer, performance.class_item, performance.task_score, performance.task_performance, performance.title_item),
    *(performance.title_floor, performance.assessment_cost, performance.assessment_cost_task),
    *(performance.chance_floor, performance.noise_floor),
    *(worst_case.worst_case_item, worst_case.prospective_worst_case, worst_case.cost),
    *(grounding.evidence, grounding.grounding_item, grounding.grounding, grounding.grounding_prospective),
)

VIEWS: dict[str, Callable[[Study], Iterator[Row]]] = {
    "attrition.condition": arms.condition,
    "arm.answer": arms.answer,
    "arm.item": arms.item,
    **{f"modality.{view.__name__}": view for view in _MODALITY},
}

ENDS: dict[str, Callable[[Bootstrap], intervals.Ends]] = {
    f"modality.{view.__name__}": view
    for view in (
        *(intervals.prospective_cell, intervals.prospective_task, intervals.sufficiency_cell, intervals.sufficiency_task),
        *(intervals.counterfactual_agreement, intervals.prospective_wiring, intervals.prospective_wiring_task),
        *(intervals.retrospective, intervals.retrospective_difference, intervals.attribution_agreement, intervals.retrospective_wiring),
        *(intervals.grounding, intervals.grounding_prospective, intervals.task_performance, intervals.assessment_cost),
        *(intervals.assessment_cost_task, intervals.title_floor, intervals.noise_floor),
    )
} | {"modality.prospective_worst_case": worst_case.worst_case_ends}
