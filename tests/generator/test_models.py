"""The registry is Table 16 of the paper, and a user's own entries are read as strictly as it is."""

from typing import Any

import pytest

from analysis.errors import DataError
from generator import models
from generator.study import MAX_TOKENS

TABLE_16 = [
    ("Qwen/Qwen3.5-4B", "4B", "dense", "vllm", "vllm", "bf16"),
    ("Qwen/Qwen3.5-9B", "9B", "dense", "vllm", "vllm", "bf16"),
    ("google/gemma-4-E2B-it", "2B effective", "dense", "vllm", "vllm", "bf16"),
    ("google/gemma-4-E4B-it", "4B effective", "dense", "vllm", "vllm", "bf16"),
    ("google/gemma-4-31b-it", "31B", "dense", "openrouter", "CoreWeave", "bf16"),
    ("google/gemma-4-26b-a4b-it", "26B total, 4B active", "mixture", "openrouter", "NextBit", "bf16"),
    ("qwen/qwen3.5-27b", "27B", "dense", "openrouter", "Novita", "bf16"),
    ("qwen/qwen3.5-35b-a3b", "35B total, 3B active", "mixture", "openrouter", "Parasail", "fp8"),
]
OWN = {"identifier": "org/name", "serving": "vllm", "precision": "bf16"}


TOOL_USERS = {
    "ChenShawn/DeepEyes-7B": "deepeyes",
    "TIGER-Lab/PixelReasoner-RL-v1": "pixel_reasoner",
    "Mini-o3/Mini-o3-7B-v1": "mini_o3",
    "Qwen/Qwen3-VL-8B-Instruct": "qwen3_vl",
    "Qwen/Qwen3-VL-4B-Instruct": "qwen3_vl",
}
SUBJECTS = ("honest", "copycat", "mixed", "ignores", "uses", "sure", "goes-on", "never-stops", "never-calls", "tool-mixture", "judge")


def subjects_of_seed_000() -> list[models.Model]:
    return [model for model in models.load().values() if not model.interface and not model.judge]


def test_the_registry_is_table_16_and_simulated_subjects() -> None:
    registry = models.load()
    real = [model for model in subjects_of_seed_000() if model.serving != "simulated"]
    assert [(m.identifier, m.size, m.architecture, m.serving, m.provider, m.precision) for m in real] == TABLE_16
    assert all(model.model_id == model.identifier for model in real)
    assert [model.family for model in real] == ["Qwen3.5"] * 2 + ["Gemma 4"] * 4 + ["Qwen3.5"] * 2
    simulated = {m.model_id: (m.behaviour, m.provider, m.precision) for m in registry.values() if m.serving == "simulated"}
    assert simulated == {f"sim/{name}": (name, "simulated", "exact") for name in SUBJECTS}


def test_the_registry_has_the_tool_users_of_seed_001_and_its_judge() -> None:
    real = [model for model in models.load().values() if model.serving == "vllm"]
    assert {model.model_id: model.interface for model in real if model.interface} == TOOL_USERS
    assert [model.model_id for model in real if model.judge] == ["Qwen/Qwen3-30B-A3B-Instruct-2507"]
    assert {model.precision for model in real} == {"bf16"}


def test_local_models_run_in_both_thinking_modes_and_hosted_ones_with_thinking_off() -> None:
    for model in subjects_of_seed_000():
        assert model.thinking == ((False,) if model.serving == "openrouter" else (False, True))


def test_the_context_of_a_local_model_holds_the_longest_prompt_and_the_budget() -> None:
    for model in models.load().values():
        model.check_budget(MAX_TOKENS)
    papers = models.load({"own": {**OWN, "engine_args": {"max_model_len": 10_752}}})["own"]
    with pytest.raises(ValueError, match="max_model_len 10752 of own .* set at least 10789"):
        papers.check_budget(MAX_TOKENS)


def test_hosted_models_name_where_their_key_and_address_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENROUTER_BASE_URL", raising=False)
    hosted = models.load()["qwen/qwen3.5-27b"]
    assert (hosted.base_url, hosted.api_key_env) == ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY")
    monkeypatch.setenv("OPENROUTER_BASE_URL", "http://127.0.0.1:9/v1")
    assert models.load()["qwen/qwen3.5-27b"].base_url == "http://127.0.0.1:9/v1"
    assert models.load({"own": {**OWN, "base_url": "http://127.0.0.1:8000/v1"}})["own"].base_url == "http://127.0.0.1:8000/v1"


def test_a_model_may_be_served_at_several_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    urls = ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"]
    monkeypatch.setenv("OPENROUTER_BASE_URL", "  ".join(urls))
    assert models.load()["qwen/qwen3.5-27b"].base_urls == tuple(urls)
    assert models.load({"own": {**OWN, "base_url": urls}})["own"].base_urls == tuple(urls)
    assert models.load({"own": {**OWN, "base_url": urls[0]}})["own"].base_urls == (urls[0],)
    assert models.load()["Qwen/Qwen3.5-4B"].base_urls == ()
    for given, said in (([], "is empty"), ([urls[0]] * 2, "twice"), ([1], "must be text")):
        with pytest.raises(DataError, match=f"models.own.base_url.* {said}"):
            models.load({"own": {**OWN, "base_url": given}})


def test_an_entry_of_ones_own_may_leave_out_what_its_serving_implies() -> None:
    own = models.load({"own": OWN, "sim/second": {"serving": "simulated", "behaviour": "copycat"}})
    assert (own["own"].identifier, own["own"].provider, own["own"].thinking) == ("org/name", "vllm", (False, True))
    assert (own["sim/second"].identifier, own["sim/second"].behaviour) == ("sim/second", "copycat")
    assert models.load({"sim/mixed": {"serving": "simulated", "behaviour": "honest"}})["sim/mixed"].behaviour == "honest"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({**OWN, "presicion": "bf16"}, "models.own: unknown key 'presicion'; did you mean 'precision'?"),
        ({**OWN, "model_id": "x"}, "models.own: unknown key 'model_id'"),
        ({"serving": "vllm"}, "models.own: the key 'precision' is missing"),
        ({"serving": "openrouter", "precision": "bf16"}, "models.own: the key 'provider' is missing"),
        ({"precision": "bf16"}, "models.own: the key 'serving' is missing"),
        ({**OWN, "serving": "vlm"}, "models.own.serving must be one of simulated, vllm, openrouter, not 'vlm'"),
        ({**OWN, "thinking": [0]}, "models.own.thinking[0] must be true or false, not 0"),
        ({**OWN, "thinking": True}, "models.own.thinking must be a list, not True"),
        ({**OWN, "thinking": []}, "models.own.thinking is empty"),
        ({**OWN, "thinking": [False, False]}, "models.own.thinking lists False twice"),
        ({**OWN, "size": 4}, "models.own.size must be text, not 4"),
        ({**OWN, "engine_args": ["--dtype"]}, "models.own.engine_args must be a table"),
        ({**OWN, "behaviour": "honest"}, "models.own: behaviour belongs to simulated subjects"),
        ({**OWN, "interface": "qwen"}, "models.own: there is no tool interface 'qwen': there are qwen3_vl, deepeyes"),
        ({**OWN, "option_forms": ["({})"]}, "models.own: each of option_forms is {}, with or without white space around it"),
        ({"serving": "simulated"}, "models.own: behaviour belongs to simulated subjects, and each of them needs one"),
        ({"serving": "openrouter", "provider": "Novita", "precision": "16"}, "models.own: precision '16' cannot be pinned"),
        ("Qwen/Qwen3.5-4B", "models.own must be a table of keys and values, not 'Qwen/Qwen3.5-4B'"),
        (None, "models.own must be a table"),
    ],
)
def test_a_malformed_entry_is_one_line_that_names_it(entry: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        models.load({"own": entry})
    assert str(caught.value).startswith(f"params.yaml: {message}")
    assert "\n" not in str(caught.value)
