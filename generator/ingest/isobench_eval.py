"""A record of the public IsoBench-Eval log (one per task and model, by the code that came with IsoBench), in the ingest form.

Each record is one plain call with one input: text is arm A, image arm B. The log holds the response's text only, so the stored body is
the least that carries it: no finish reason, no counts. What the log says about the response (`parsed_prediction`, `is_correct`) is kept
in `request.logged`; nothing here reads it as an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from generator.ingest.report import Unusable
from generator.ingest.source import Member

TASKS: Mapping[str, type] = {"math_parity": str, "graph_maxflow": int}  # by the type of their labels
ARMS = {"text": "A", "image": "B"}
PROMPT_TYPES = ("long", "short", None)  # early logs do not say
MATRIX = re.compile(r"capacity matrix:\s*(\[\[[^a-z]*?\]\])")
NODE = re.compile(r"(source|sink) node:? (\d+)", re.IGNORECASE)


def is_record(given: Mapping[str, Member]) -> bool:
    """Whether an object is a record of this log."""
    return "task_name" in given or "sample_index" in given


def as_line(given: Mapping[str, Member], model: str) -> dict[str, Member]:
    """The record in the ingest form; Unusable where it is of another task, modality or prompt, or lacks what a row needs."""
    record = {name: member.value for name, member in given.items()}
    sample, evaluation = _part(record, "dataset_sample"), _part(record, "evaluation")
    task, arm = _task(record.get("task_name")), _arm(record.get("modality"))
    if (prompt_type := evaluation.get("prompt_type")) not in PROMPT_TYPES:
        raise Unusable("unknown prompt", f"prompt_type {prompt_type!a} is neither long nor short")
    index = record.get("sample_index")
    if type(index) is not int or index < 0:
        raise Unusable("wrong column type", f"sample_index must be a whole number, not {index!a}")
    line = {
        "model_id": model,
        "task": f"isobench/{task}",
        "item_id": f"isobench/{task}/{index}",
        "arm": arm,
        "template": "plain",
        "prompt_set": f"isobench-eval/{prompt_type}" if prompt_type else "isobench-eval",
        "request": _request(record, evaluation),
        "item": {"gold": _gold(task, sample), "inputs": _inputs(task, sample, evaluation)},
        **_came_back(evaluation),
    }
    return {name: Member(value, json.dumps(value)) for name, value in line.items()}


def _part(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = record.get(name)
    if not isinstance(part, dict):
        raise Unusable("missing column", f"{name} of an IsoBench-Eval record")
    return part


def _task(name: Any) -> str:
    if not isinstance(name, str) or name not in TASKS:
        raise Unusable("unknown task", f"{name!a} is none of {', '.join(TASKS)}")
    return name


def _arm(modality: Any) -> str:
    if not isinstance(modality, str) or modality not in ARMS:
        raise Unusable("unknown modality", f"{modality!a} is none of {', '.join(ARMS)}")
    return ARMS[modality]


def _gold(task: str, sample: Mapping[str, Any]) -> Any:
    label = sample.get("label")
    if label is not None and type(label) is not TASKS[task]:
        raise Unusable("wrong column type", f"label of {task} must be {TASKS[task].__name__}, not {label!a}")
    return label


def _inputs(task: str, sample: Mapping[str, Any], evaluation: Mapping[str, Any]) -> dict[str, Any]:
    """What the record shows of the item's inputs, named and spelt as the item loader has them; the image is not in the log."""
    if task == "math_parity":
        found = {"text": sample.get("latex"), "code": sample.get("code")}
        return {name: value for name, value in found.items() if isinstance(value, str)}
    prompt = str(evaluation.get("input_prompt"))
    matrix = MATRIX.search(prompt)
    nodes = {f"{name.lower()}_node": int(number) for name, number in NODE.findall(prompt)} if matrix else {}
    return ({"text": matrix[1]} if matrix else {}) | nodes


def _request(record: Mapping[str, Any], evaluation: Mapping[str, Any]) -> dict[str, Any]:
    logged = {name: evaluation.get(name) for name in ("parsed_prediction", "ground_truth", "is_correct")}
    return {
        "input_prompt": evaluation.get("input_prompt"),
        "choices": evaluation.get("choices"),
        "logged": logged | {"timestamp": record.get("timestamp")},
    }


def _came_back(evaluation: Mapping[str, Any]) -> dict[str, Any]:
    """The response, or the error that stands in its place.

    Where a call failed, the log's code writes the prediction -1 beside the response of the call before, or `ERROR: …` as the response:
    neither is an answer to this prompt.
    """
    response, prediction = evaluation.get("model_response"), evaluation.get("parsed_prediction")
    if not isinstance(response, str):
        raise Unusable("wrong column type", f"model_response must be text, not {response!a}")
    if type(prediction) is int and prediction == -1:
        return {
            "response": None,
            "error": {"type": "failed_call", "message": "the log marks the call as failed", "model_response": response},
        }
    return {"response": {"choices": [{"message": {"role": "assistant", "content": response}}]}}
