"""The model registry: who is asked, through which serving path, pinned to what (seed paper 000, Table 16)."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from generator import schema, tools

HOSTED_URL = "https://openrouter.ai/api/v1"
LONGEST_PROMPT = 2_597  # tokens, the longest that the paper observed (Appendix E.2)
QUANTIZATIONS = ("int4", "int8", "fp4", "fp6", "fp8", "fp16", "bf16", "fp32")  # what OpenRouter's routing takes


@dataclass(frozen=True)
class Model:
    """One model as a study asks it. `provider` and `precision` are pins: an answer from elsewhere is a provider error.

    `thinking` lists the modes it may be run in. The API key is read from the environment variable that `api_key_env` names. `base_url` may
    list several servers of the same model: its requests are spread over them, and a study's `concurrency` is that of all together.

    Where the serving is `vllm` and `base_url` is None, `vllm serve` is started with `engine_args` (its options, by name), `environment`
    (variables added to the user's; with PATH, a vLLM in an environment of its own), `port` (else a free one) and `log` (else a file under
    data/logs), and may take `startup_s` seconds until it is healthy.

    `interface` names the tool of a model that crops (generator/tools). `option_forms` are the spellings of an option's letter whose first
    tokens are read after `<answer>`, each a single token of the model: `"{}"` alone, or with `" {}"`. `judge` marks a model that only rules
    on the answers of others.
    """

    model_id: str
    identifier: str
    serving: Literal["simulated", "vllm", "openrouter"]
    provider: str
    precision: str
    thinking: tuple[bool, ...] = (False, True)
    family: str | None = None
    size: str | None = None
    architecture: Literal["dense", "mixture"] | None = None
    engine_args: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    port: int | None = None
    log: str | None = None
    startup_s: int = 1_800
    base_url: str | tuple[str, ...] | None = None
    api_key_env: str | None = None
    behaviour: str | None = None
    interface: str | None = None
    option_forms: tuple[str, ...] = ("{}",)
    judge: bool = False

    def __post_init__(self) -> None:
        if self.serving == "openrouter" and self.precision not in QUANTIZATIONS:
            raise ValueError(f"precision {self.precision!r} cannot be pinned: it is one of {', '.join(QUANTIZATIONS)}")
        if (self.behaviour is None) == (self.serving == "simulated"):
            raise ValueError("behaviour belongs to simulated subjects, and each of them needs one")
        if self.interface is not None and self.interface not in tools.NAMES:
            raise ValueError(f"there is no tool interface {self.interface!r}: there are {', '.join(tools.NAMES)}")
        if any(form.count("{}") != 1 or form.strip() != "{}" for form in self.option_forms):
            raise ValueError("each of option_forms is {}, with or without white space around it")
        for name in ("engine_args", "environment", "port", "log"):
            if getattr(self, name) and self.serving != "vllm":
                raise ValueError(f"{name} belongs to a model whose serving is vllm")
        if self.port is not None and not 0 < self.port < 2**16:
            raise ValueError(f"port must be from 1 to {2**16 - 1}, not {self.port}")

    @property
    def base_urls(self) -> tuple[str, ...]:
        """Where the model is served already; nowhere where a server is to be started, or it answers in process."""
        return (self.base_url,) if isinstance(self.base_url, str) else self.base_url or ()

    def check_budget(self, max_tokens: int) -> None:
        """ValueError where a prompt and its answer may not fit the context that the engine is started with."""
        room = self.engine_args.get("max_model_len")
        if isinstance(room, int) and room < LONGEST_PROMPT + max_tokens:
            raise ValueError(
                f"max_model_len {room} of {self.model_id} does not hold the longest prompt ({LONGEST_PROMPT} tokens) and {max_tokens} "
                f"tokens of answer: set at least {LONGEST_PROMPT + max_tokens}"
            )


def load(extra: Mapping[str, Any] | None = None, where: str = "params.yaml: models") -> dict[str, Model]:
    """The registry by model_id: models.toml and `extra`, the user's own entries in the same form, which win over it.

    Raises DataError naming the entry and the field. The base URL of the hosted API, or several with spaces between, can be set by the
    environment variable OPENROUTER_BASE_URL.
    """
    with (Path(__file__).parent / "models.toml").open("rb") as file:
        built_in = tomllib.load(file)
    entries = [("models.toml", model_id, entry) for model_id, entry in built_in.items()]
    entries += [(where, model_id, entry) for model_id, entry in schema.mapping(extra or {}, where).items()]
    return {model_id: _model(model_id, entry, f"{place}.{model_id}") for place, model_id, entry in entries}


def _model(model_id: str, entry: object, where: str) -> Model:
    given = schema.mapping(entry, where)
    return schema.record(Model, {"identifier": model_id, **_defaults(given.get("serving")), **given}, where, model_id=model_id)


def _defaults(serving: object) -> dict[str, Any]:
    """What an entry need not say, by how the model is served."""
    if serving == "simulated":
        return {"provider": "simulated", "precision": "exact"}
    if serving == "vllm":
        return {"provider": "vllm"}
    if serving == "openrouter":
        return {
            "thinking": [False],
            "base_url": urls[0] if len(urls := os.environ.get("OPENROUTER_BASE_URL", "").split() or [HOSTED_URL]) == 1 else urls,
            "api_key_env": "OPENROUTER_API_KEY",
        }
    return {}
