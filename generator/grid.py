"""Which requests a study asks for, and the body of each: conditions x templates x thinking modes x replicates (seed paper 000, section 4).

A request is identified by all that could change its answer and by nothing else: the same study asks for the same keys in any process, in
any order, at any concurrency. Bodies are built when they are sent, so that a grid of any size holds no image in memory.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from analysis.errors import DataError
from generator import conversation, pictures, tools
from generator.items import Item
from generator.models import Model
from generator.prompts import PROMPT_SET, Image, Part, Prompt, render
from generator.study import Study, ToolUse

TEMPERATURE = 0.0  # greedy, one generation per arm (Appendix E.1)
FILM_ARMS = frozenset({"B", "title"})  # what all plot summaries of a film share: asked once per film (Appendix B.1)

# [decided] The paper used vLLM's loop detector and does not say how it was set. The last 16 repetitions of up to 256 tokens are a loop: a
# matrix row of zeros, a table rule or a row of dashes is not.
REPETITION_DETECTION = {"max_pattern_size": 256, "min_pattern_size": 1, "min_count": 16}

# The fields of a request body, by serving. vLLM accepts unknown fields in silence, so a misspelt one would change nothing and be believed.
CHAT_FIELDS: Mapping[str, type] = {"model": str, "messages": list, "temperature": float, "max_tokens": int, "seed": int}
VLLM_FIELDS: Mapping[str, type] = {**CHAT_FIELDS, "chat_template_kwargs": dict, "repetition_detection": dict}
FIELDS: Mapping[str, Mapping[str, type]] = {
    "vllm": VLLM_FIELDS,
    "simulated": VLLM_FIELDS,
    "openrouter": {**CHAT_FIELDS, "reasoning": dict, "provider": dict},
}


@dataclass(frozen=True)
class Cell:
    """One request, or one rollout: its columns of `raw.grid`, what `raw.completion` says was asked, and what its body is built from.

    All turns of a rollout have the cell's request_key. `prompt_sha256` covers the wording, `request_key` everything that could change the
    answer.
    """

    request_key: str
    pin_provider: str
    pin_precision: str
    protocol: str
    model_id: str
    thinking: bool
    task: str
    item_id: str
    arm: str
    template: str
    replicate: int
    prompt_set: str
    prompt_sha256: str
    temperature: float
    max_tokens: int
    seed: int
    model: Model = field(repr=False, compare=False)
    item: Item = field(repr=False, compare=False)

    def grid_row(self) -> dict[str, Any]:
        """The cell's columns of `raw.grid`: all but study, grid_id and created_at."""
        return {
            "request_key": self.request_key,
            "pin_provider": self.pin_provider,
            "pin_precision": self.pin_precision,
            "protocol": self.protocol,
            "model_id": self.model_id,
            "thinking": self.thinking,
            "task": self.task,
            "item_id": self.item_id,
            "arm": self.arm,
            "template": self.template,
            "replicate": self.replicate,
        }


def requests(study: Study, items: Iterable[Item], models: Mapping[str, Model]) -> Iterator[Cell]:
    """Every request or rollout of a study, by model, thinking mode, replicate, item (in the given order), arm and template.

    Items of tasks that the study does not ask are passed over. The seed of replicate r is the study's plus r [decided].
    """
    chosen = [item for item in items if item.task in study.tasks]
    conditions = {task: study.conditions(task) for task in study.tasks}
    for model in (models[model_id] for model_id in study.models):
        for thinking in study.modes(model):
            for replicate in range(study.replicates):
                for item in chosen:
                    for arm, template in conditions[item.task]:
                        if asks(item, arm):
                            yield _cell(study, model, thinking, replicate, item, arm, template)


def asks(item: Item, arm: str) -> bool:
    """Whether an arm is run on an item: on mm-IMDb what depends on the film alone is asked of the film, the rest of its plot summaries."""
    if item.task != "mmimdb":
        return True
    is_film = "plot" not in item.inputs
    return (arm in FILM_ARMS) == is_film


def body(cell: Cell, data: Path = Path("data")) -> dict[str, Any]:
    """The OpenAI chat body of a request, with its images read from `data/images/`; DataError where one is missing or is not itself."""
    prompt = render(cell.task, cell.arm, cell.template, cell.item)
    fields = {
        "model": cell.model.identifier,
        "messages": [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": [_content(part, data / "images") for part in prompt.parts]},
        ],
        **decoding(cell),
    }
    check_fields(fields, cell.model.serving)
    return fields


def stored_request(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body as it is stored: each image is `sha256:` and the digest of the bytes that were sent in its place."""
    return {**body, "messages": [{**message, "content": _stored_content(message["content"])} for message in body["messages"]]}


def check_fields(body: Mapping[str, Any], serving: str) -> None:
    """DataError where a body has a field that its endpoint is not known to read, or lacks one, or has it with another type."""
    declared = FIELDS[serving]
    for name in body:
        if name not in declared:
            raise DataError(f"a request has the field {name!r}, which no {serving} endpoint reads: it would be ignored in silence")
    for name, kind in declared.items():
        if type(body.get(name)) is not kind:
            raise DataError(f"the field {name!r} of a request must be of type {kind.__name__}, not {body.get(name)!r}")


def _cell(study: Study, model: Model, thinking: bool, replicate: int, item: Item, arm: str, template: str) -> Cell:
    tool = tools.interface(model.interface or "") if isinstance(study, ToolUse) else None
    prompt = conversation.prompt(arm, tool, item) if tool else render(item.task, arm, template, item)
    cell = Cell(
        request_key="",
        pin_provider=model.provider,
        pin_precision=model.precision,
        protocol=study.protocol,
        model_id=model.model_id,
        thinking=thinking,
        task=item.task,
        item_id=item.item_id,
        arm=arm,
        template=template,
        replicate=replicate,
        prompt_set=tools.PROMPT_SET if tool else PROMPT_SET,
        prompt_sha256=prompt.prompt_sha256,
        temperature=tool.decoding.temperature if tool else TEMPERATURE,
        max_tokens=study.max_tokens,
        seed=study.seed + replicate,
        model=model,
        item=item,
    )
    if isinstance(study, ToolUse) and tool:
        return keyed(cell, prompt, rollout_decoding(cell), interface=tool.name, max_calls=study.max_calls)
    return keyed(cell, prompt, decoding(cell))


def keyed(cell: Cell, prompt: Prompt, how: Mapping[str, Any], **more: Any) -> Cell:
    """The cell with its request_key: 32 hexadecimal digits of a SHA-256 over canonical JSON of all that could change the answer.

    Where a model is reached (its URL, its key) is not in it; what answers is.
    """
    identity = {
        **cell.grid_row(),
        "identifier": cell.model.identifier,
        "serving": cell.model.serving,
        "behaviour": cell.model.behaviour,
        "system": prompt.system,
        "parts": [["image", part.image_sha256] if isinstance(part, Image) else ["text", part.text] for part in prompt.parts],
        "decoding": how,
        **more,
    }
    del identity["request_key"]
    key = hashlib.sha256(json.dumps(identity, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:32]
    return replace(cell, request_key=key)


def decoding(cell: Cell) -> dict[str, Any]:
    """The fields of the body that say how to decode and who may answer. Thinking is always explicit: the families' defaults differ."""
    common = {"temperature": cell.temperature, "max_tokens": cell.max_tokens, "seed": cell.seed}
    if cell.model.serving == "openrouter":
        return {**common, **_routing(cell)}
    return {**common, "chat_template_kwargs": {"enable_thinking": cell.thinking}, "repetition_detection": REPETITION_DETECTION}


def rollout_decoding(cell: Cell) -> dict[str, Any]:
    """The same for every turn of a rollout: the family's sampling (seed 001, Table 7), in both policies."""
    tool = tools.interface(cell.model.interface or "")
    temperature, top_p, top_k = tool.decoding
    common = {"temperature": temperature, "top_p": top_p, "max_tokens": cell.max_tokens, "seed": cell.seed}
    if cell.model.serving == "openrouter":
        return {**common, **({"top_k": top_k} if top_k > 0 else {}), **_routing(cell)}
    stop = {"stop": list(tool.stop), "include_stop_str_in_output": True} if tool.stop and cell.arm != "direct" else {}
    return {**common, "top_k": top_k, **stop, "chat_template_kwargs": {"enable_thinking": cell.thinking}}


def _routing(cell: Cell) -> dict[str, Any]:
    pin = {"order": [cell.pin_provider], "allow_fallbacks": False, "quantizations": [cell.pin_precision]}
    return {"reasoning": {"enabled": cell.thinking}, "provider": pin}


def _content(part: Part, images: Path) -> dict[str, Any]:
    if not isinstance(part, Image):
        return conversation.text_part(part.text)
    return {"type": "image_url", "image_url": {"url": pictures.data_url(*pictures.stored(part.image_sha256, images))}}


def _stored_content(content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    return [{**part, "image_url": {"url": _digest(part["image_url"]["url"])}} if part["type"] == "image_url" else part for part in content]


def _digest(url: str) -> str:
    return f"sha256:{hashlib.sha256(base64.b64decode(url.partition(',')[2])).hexdigest()}"
