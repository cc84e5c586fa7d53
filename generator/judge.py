"""The judge: a model's verdict on answers that exact match cannot read (seed 001, A.2), stored as rows of the protocol `judge`.

It is shown the question, the gold answer and the response, decodes greedily with thinking off, and says `correct` or `incorrect`. Which
answers need it is asked of a view, and so is what it said. The words are this project's own [decided]: the paper's are not given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.session import Session
from generator.conversation import text_part
from generator.grid import Cell, check_fields, decoding, keyed
from generator.models import Model
from generator.prompts import Prompt, Text
from generator.study import ToolUse

PROMPT_SET = "judge/1"
MAX_TOKENS = 512
SYSTEM = (
    "You check answers. You are given a question, its correct answer, and a response to the question. Judge whether the final answer of "
    "the response means the same as the correct answer. Wording, case and punctuation do not matter; a number or a name that differs "
    "does. Do not answer the question yourself. Reply with one word: correct or incorrect."
)

# What exact match could not read, once the rollout has ended in an answer.
NEEDED = """
    SELECT rollout.rollout_id, finished.request_key, text.final_text AS response
    FROM tooluse.rollout AS rollout
    INNER JOIN (
        SELECT finished.rollout_id, completion.request_key, completion.completion_id
        FROM tooluse.finished AS finished
        INNER JOIN raw.completion AS completion ON finished.last_completion_id = completion.completion_id
    ) AS finished ON rollout.rollout_id = finished.rollout_id
    INNER JOIN parse.text AS text ON finished.completion_id = text.completion_id
    WHERE rollout.ruling IN ('judge', 'pending', 'none')
    ORDER BY rollout.rollout_id
"""


@dataclass(frozen=True)
class Verdict:
    """A ruling that is to be asked for: the cell of the grid, the rollout that is judged, and what the judge is shown."""

    cell: Cell
    rollout_id: str
    prompt: Prompt

    def body(self) -> dict[str, Any]:
        """The chat body."""
        messages = [
            {"role": "system", "content": self.prompt.system},
            {"role": "user", "content": [text_part(part.text) for part in self.prompt.parts if isinstance(part, Text)]},
        ]
        body = {"model": self.cell.model.identifier, "messages": messages, **decoding(self.cell)}
        check_fields(body, self.cell.model.serving)
        return body


def verdicts(reading: Session, study: ToolUse, judge: Model, cells: Iterable[Cell]) -> Iterator[Verdict]:
    """The verdicts that the finished rollouts of these cells need, whether or not they were asked for."""
    rolled = {cell.request_key: cell for cell in cells}
    for row in reading.rows(NEEDED):
        if cell := rolled.get(row["request_key"]):
            yield _verdict(study, judge, cell, row)


def _verdict(study: ToolUse, judge: Model, rolled: Cell, row: Mapping[str, Any]) -> Verdict:
    prompt = Prompt(SYSTEM, (Text(shown(rolled, row["response"])),))
    cell = Cell(
        request_key="",
        pin_provider=judge.provider,
        pin_precision=judge.precision,
        protocol="judge",
        model_id=judge.model_id,
        thinking=False,
        task=rolled.task,
        item_id=rolled.item_id,
        arm=rolled.arm,
        template=rolled.template,
        replicate=rolled.replicate,
        prompt_set=PROMPT_SET,
        prompt_sha256=prompt.prompt_sha256,
        temperature=0.0,
        max_tokens=MAX_TOKENS,
        seed=study.seed,
        model=judge,
        item=rolled.item,
    )
    return Verdict(keyed(cell, prompt, decoding(cell), rollout_id=row["rollout_id"]), row["rollout_id"], prompt)


def shown(rolled: Cell, response: str) -> str:
    """Question, gold answer and response as the judge sees them."""
    item = rolled.item
    options = item.annotation.get("options") or {}
    question = "\n".join([item.inputs["question"], *(f"({letter}) {text}" for letter, text in options.items())])
    gold = f"({item.gold}) {options[item.gold]}" if item.gold in options else str(item.gold)
    return f"Question:\n{question}\n\nCorrect answer:\n{gold}\n\nResponse:\n{response.strip()}"
