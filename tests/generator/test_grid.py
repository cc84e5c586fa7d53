"""The grid asks for exactly what a study says, each request once, under a key that follows all that could change its answer."""

import base64
import hashlib
import json
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import DataError
from generator import models
from generator.grid import Cell, body, check_fields, requests, stored_request
from generator.items import Item
from generator.models import Model
from generator.study import Modality, Source

CAMERAS = ("CAM_FRONT", "CAM_FRONT_RIGHT", "CAM_BACK_RIGHT", "CAM_BACK", "CAM_BACK_LEFT", "CAM_FRONT_LEFT")
REGISTRY = models.load()
PARITY, MAXFLOW = "isobench/math_parity", "isobench/graph_maxflow"
PICTURE = b"\x89PNG, as it was normalised"
PICTURE_SHA256 = hashlib.sha256(PICTURE).hexdigest()


def parity_item(row: int = 0, text: str = "$$f(x) = x^{2}$$", image: str = PICTURE_SHA256) -> Item:
    name = f"{PARITY}/{row}"
    return Item(name, PARITY, name, "even", {"text": text, "code": "f(x) = x**2", "image": image})


def maxflow_item(row: int) -> Item:
    name = f"{MAXFLOW}/{row}"
    terminals = {"source_node": 0, "sink_node": 3, "source_node_color": "red", "sink_node_color": "blue"}
    return Item(name, MAXFLOW, name, 6, {"text": f"[[0, {row}], [0, 0]]", "image": PICTURE_SHA256, **terminals})


def film(number: int, plots: int) -> Iterator[Item]:
    name = f"mmimdb/{number:07d}"
    yield Item(name, "mmimdb", name, ["Drama"], {"title": f"Film {number}", "image": PICTURE_SHA256})
    for plot in range(plots):
        yield Item(f"{name}/{plot}", "mmimdb", name, ["Drama"], {"title": "x", "plot": f"Plot {plot}.", "image": PICTURE_SHA256})


def question(number: int) -> Item:
    inputs = {"question": "Why?", "images": dict.fromkeys(CAMERAS, PICTURE_SHA256)}
    annotation = {"set_a": CAMERAS[:3], "set_b": CAMERAS[3:], "options": dict.fromkeys("ABCD", "x")}
    return Item(f"goldenview/q{number}", "goldenview", f"goldenview/q{number}", "A", inputs, annotation)


def a_study(*model_ids: str, tasks: tuple[str, ...] = (PARITY,), **keys: Any) -> Modality:
    return Modality("s", model_ids or ("sim/mixed",), {task: Source("synth") for task in tasks}, **{"thinking": (False,), **keys})


def cells(study: Modality, items: list[Item], registry: dict[str, Model] | None = None) -> list[Cell]:
    return list(requests(study, items, registry or REGISTRY))


def test_a_film_is_asked_what_its_summaries_share_and_each_summary_the_rest() -> None:
    asked = cells(a_study(tasks=("mmimdb",)), list(film(62622, 2)))
    assert [(cell.item_id, cell.arm, cell.template) for cell in asked] == [
        ("mmimdb/0062622", "B", "plain"),
        ("mmimdb/0062622", "B", "assess"),
        ("mmimdb/0062622", "title", "plain"),
        ("mmimdb/0062622/0", "AB", "plain"),
        ("mmimdb/0062622/0", "AB", "assess"),
        ("mmimdb/0062622/0", "A", "plain"),
        ("mmimdb/0062622/0", "A", "assess"),
        ("mmimdb/0062622/1", "AB", "plain"),
        ("mmimdb/0062622/1", "AB", "assess"),
        ("mmimdb/0062622/1", "A", "plain"),
        ("mmimdb/0062622/1", "A", "assess"),
    ]


def test_models_modes_and_replicates_multiply_in_a_fixed_order() -> None:
    study = a_study("sim/copycat", "qwen/qwen3.5-27b", thinking=None, replicates=2, arms=("A",), templates=("plain",), seed=5)
    asked = cells(study, [parity_item(0), parity_item(1)])
    assert [(cell.model_id, cell.thinking, cell.replicate, cell.item_id[-1], cell.seed) for cell in asked] == [
        ("sim/copycat", False, 0, "0", 5),
        ("sim/copycat", False, 0, "1", 5),
        ("sim/copycat", False, 1, "0", 6),
        ("sim/copycat", False, 1, "1", 6),
        ("sim/copycat", True, 0, "0", 5),
        ("sim/copycat", True, 0, "1", 5),
        ("sim/copycat", True, 1, "0", 6),
        ("sim/copycat", True, 1, "1", 6),
        ("qwen/qwen3.5-27b", False, 0, "0", 5),
        ("qwen/qwen3.5-27b", False, 0, "1", 5),
        ("qwen/qwen3.5-27b", False, 1, "0", 6),
        ("qwen/qwen3.5-27b", False, 1, "1", 6),
    ]


def test_items_of_other_tasks_are_passed_over() -> None:
    assert {cell.task for cell in cells(a_study(), [parity_item(), maxflow_item(1)])} == {PARITY}


def test_the_papers_study_is_81624_requests_each_with_its_own_key() -> None:
    items = [item for number in range(300) for item in film(number, 2 if number % 12 else 3)]
    items += [parity_item(row) for row in range(384)] + [maxflow_item(row) for row in range(128)] + [question(row) for row in range(55)]
    real = [model_id for model_id, model in REGISTRY.items() if model.serving != "simulated" and not model.interface and not model.judge]
    study = a_study(*real, tasks=("mmimdb", PARITY, MAXFLOW, "goldenview"), thinking=None)
    per_model: Counter[tuple[str, bool]] = Counter()
    keys = set()
    for cell in requests(study, items, REGISTRY):
        per_model[cell.model_id, cell.thinking] += 1
        keys.add(cell.request_key)
    assert len(keys) == 81_624
    assert len(per_model) == 12
    assert set(per_model.values()) == {6_802}


def test_a_grid_is_streamed() -> None:
    items = [parity_item(row) for row in range(200)]
    stream = requests(a_study(replicates=100), items, REGISTRY)
    next(stream)
    tracemalloc.start()
    for _ in islice(stream, 5_000):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300_000


def one(study: Modality | None = None, item: Item | None = None, registry: dict[str, Model] | None = None) -> Cell:
    study = study or a_study(arms=("AB",), templates=("plain",))
    return cells(study, [item or parity_item()], registry)[0]


def test_a_key_is_the_same_in_every_process_and_version() -> None:
    """A changed key would have every stored answer asked for again: change this literal only where that is meant."""
    assert one().request_key == "7c6c3775209a348e842130bf8ffea651"
    script = "from tests.generator.test_grid import one; print(one().request_key)"
    for hash_seed in ("1", "2"):
        environment = {"PYTHONHASHSEED": hash_seed, "PATH": ""}
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=Path(__file__).parents[2], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == one().request_key


def own(**changes: Any) -> dict[str, Model]:
    return {"sim/mixed": replace(REGISTRY["sim/mixed"], **changes)}


def test_each_thing_that_could_change_the_answer_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    base = a_study(arms=("AB",), templates=("plain",))
    variants = {
        "as it is": one(),
        "replicate": cells(replace(base, replicates=2), [parity_item()])[1],
        "seed": one(replace(base, seed=1)),
        "max_tokens": one(replace(base, max_tokens=100)),
        "thinking": one(replace(base, thinking=(True,))),
        "arm": one(replace(base, arms=("A",))),
        "template": one(replace(base, templates=("assess",))),
        "model": one(replace(base, models=("sim/honest",))),
        "identifier": one(registry=own(identifier="sim/other")),
        "pinned provider": one(registry=own(provider="other")),
        "pinned precision": one(registry=own(precision="fp8")),
        "planted behaviour": one(registry=own(behaviour="honest")),
        "item": one(item=parity_item(1)),
        "text input": one(item=parity_item(text="$$f(x) = x$$")),
        "image": one(item=parity_item(image="0" * 64)),
    }
    monkeypatch.setattr("generator.grid.TEMPERATURE", 0.7)
    variants["temperature"] = one()
    monkeypatch.undo()
    monkeypatch.setattr("generator.grid.REPETITION_DETECTION", {"max_pattern_size": 8, "min_pattern_size": 1, "min_count": 16})
    variants["loop detector"] = one()
    monkeypatch.undo()
    monkeypatch.setattr("generator.prompts.Wording.system", lambda *_: "Another system prompt.")
    variants["prompt"] = one()
    keys = {name: cell.request_key for name, cell in variants.items()}
    assert [names for key in set(keys.values()) if len(names := [name for name in keys if keys[name] == key]) > 1] == []


def test_two_replicates_never_share_a_key_even_where_their_seeds_meet() -> None:
    base = a_study(arms=("AB",), templates=("plain",))
    later = cells(replace(base, replicates=2), [parity_item()])[1]
    assert later.seed == one(replace(base, seed=1)).seed
    assert later.request_key != one(replace(base, seed=1)).request_key


def test_what_cannot_change_the_answer_leaves_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    base = a_study(arms=("AB",), templates=("plain",))
    assert one(replace(base, name="other", concurrency=1, attempts=9, cost_ceiling_usd=1.0, tasks={PARITY: Source("x", 9)})) == one()
    assert one(registry=own(base_url="http://127.0.0.1:1", api_key_env="KEY", thinking=(False,), family="f", size="s")) == one()
    annotated = replace(parity_item(), gold="odd", annotation={"recomputed_gold": "even"}, source="elsewhere")
    assert one(item=annotated).request_key == one().request_key


def test_order_of_items_models_and_arms_leaves_the_keys() -> None:
    items = [parity_item(row) for row in range(3)]
    forward = cells(a_study("sim/mixed", "sim/honest", arms=("AB", "A")), items)
    backward = cells(a_study("sim/honest", "sim/mixed", arms=("A", "AB")), items[::-1])
    assert {cell.request_key: cell for cell in forward} == {cell.request_key: cell for cell in backward}


def test_a_row_of_the_grid_has_its_columns_and_no_more() -> None:
    row = one().grid_row()
    assert row == {
        "request_key": one().request_key,
        "pin_provider": "simulated",
        "pin_precision": "exact",
        "protocol": "modality",
        "model_id": "sim/mixed",
        "thinking": False,
        "task": PARITY,
        "item_id": f"{PARITY}/0",
        "arm": "AB",
        "template": "plain",
        "replicate": 0,
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / f"{PICTURE_SHA256}.png").write_bytes(PICTURE)
    return tmp_path


def test_a_body_for_a_local_server_and_a_simulated_subject(data: Path) -> None:
    for model_id, thinking in (("Qwen/Qwen3.5-4B", True), ("sim/mixed", False)):
        cell = one(a_study(model_id, thinking=(thinking,), arms=("AB",), templates=("plain",), seed=3))
        sent = body(cell, data)
        assert sent == {
            "model": model_id,
            "messages": [
                {"role": "system", "content": sent["messages"][0]["content"]},
                {
                    "role": "user",
                    "content": [
                        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"}},
                        {"type": "text", "text": "$$f(x) = x^{2}$$"},
                    ],
                },
            ],
            "temperature": 0,
            "max_tokens": 8192,
            "seed": 3,
            "chat_template_kwargs": {"enable_thinking": thinking},
            "repetition_detection": {"max_pattern_size": 256, "min_pattern_size": 1, "min_count": 16},
        }
        assert sent["messages"][0]["content"].startswith("You are given the LaTeX definition and plot of a single-variable function f(x).")


def test_a_body_for_a_hosted_model_pins_provider_and_precision_and_has_no_loop_detector(data: Path) -> None:
    sent = body(one(a_study("qwen/qwen3.5-35b-a3b", arms=("B",))), data)
    assert {name: value for name, value in sent.items() if name != "messages"} == {
        "model": "qwen/qwen3.5-35b-a3b",
        "temperature": 0,
        "max_tokens": 8192,
        "seed": 0,
        "reasoning": {"enabled": False},
        "provider": {"order": ["Parasail"], "allow_fallbacks": False, "quantizations": ["fp8"]},
    }


def test_a_stored_request_names_the_bytes_that_were_sent_and_holds_none(data: Path) -> None:
    sent = body(one(), data)
    stored = stored_request(sent)
    assert stored["messages"][1]["content"][0] == {"type": "image_url", "image_url": {"url": f"sha256:{PICTURE_SHA256}"}}
    assert "base64" not in json.dumps(stored)
    assert {**stored, "messages": []} == {**sent, "messages": []}
    assert stored["messages"][0] == sent["messages"][0]
    assert stored["messages"][1]["content"][1] == sent["messages"][1]["content"][1]
    assert sent["messages"][1]["content"][0]["image_url"]["url"].startswith("data:image/png")  # the body itself is untouched


def test_an_image_is_sent_as_the_type_it_is(data: Path) -> None:
    (data / "images" / f"{PICTURE_SHA256}.png").rename(data / "images" / f"{PICTURE_SHA256}.jpg")
    assert body(one(), data)["messages"][1]["content"][0]["image_url"]["url"].startswith("data:image/jpeg;base64,")


def test_a_missing_or_altered_image_is_refused_before_anything_is_sent(data: Path) -> None:
    picture = data / "images" / f"{PICTURE_SHA256}.png"
    picture.write_bytes(b"other")
    with pytest.raises(DataError, match="does not hold the bytes that its name says: make the items again"):
        body(one(), data)
    picture.unlink()
    with pytest.raises(DataError, match=f"there is no image {PICTURE_SHA256}"):
        body(one(), data)


@pytest.mark.parametrize(
    ("serving", "change", "message"),
    [
        ("vllm", {"max_token": 10}, "a request has the field 'max_token', which no vllm endpoint reads: it would be ignored in silence"),
        (
            "openrouter",
            {"repetition_detection": {}},
            "a request has the field '(chat_template_kwargs|repetition_detection)', which no openrouter endpoint reads",
        ),
        ("vllm", {"seed": None}, "the field 'seed' of a request must be of type int, not None"),
        ("vllm", {"temperature": "0"}, "the field 'temperature' of a request must be of type float, not '0'"),
    ],
)
def test_a_field_that_the_endpoint_would_ignore_is_refused(data: Path, serving: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        check_fields({**body(one(), data), **change}, serving)
