"""params.yaml: the studies that a person asks for, and the models of their own that these may name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from analysis.errors import DataError
from generator import models, schema
from generator.items import TASKS
from generator.models import Model
from generator.prompts import wordings
from generator.tools import LIMIT, NAMES

MOST, LAST_SEED = 2**31 - 1, 2**62  # what the columns of raw.completion hold; replicates add to the seed
MAX_TOKENS = 8_192  # the paper's generation budget (Appendix E.1)


@dataclass(frozen=True)
class Source:
    """Where a task's items come from: `synth`, or the folder of the public data set; the first `n`, or all. `seed` is that of `synth`."""

    source: str
    n: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n is not None and self.n < 1:
            raise ValueError(f"n must be at least 1, not {self.n}")


@dataclass(frozen=True)
class Study:
    """What the studies of both protocols say: which models are asked what, and how.

    `attempts` is how often a failing request is tried in one run. `thinking`, where given, restricts the registry's modes. The cost ceiling
    is in US dollars over the whole study, earlier runs included.
    """

    name: str
    models: tuple[str, ...]
    tasks: Mapping[str, Source]
    thinking: tuple[bool, ...] | None = None
    replicates: int = 1
    concurrency: int = 32
    seed: int = 0
    max_tokens: int = MAX_TOKENS
    attempts: int = 5
    cost_ceiling_usd: float | None = None
    protocol: Literal["modality", "tool_use"] = "modality"

    def __post_init__(self) -> None:
        for name in ("replicates", "concurrency", "max_tokens", "attempts"):
            if (number := getattr(self, name)) < 1:
                raise ValueError(f"{name} must be at least 1, not {number}")
        for name in ("replicates", "max_tokens", "attempts"):
            if (number := getattr(self, name)) > MOST:
                raise ValueError(f"{name} must be at most {MOST}, not {number}")
        if not 0 <= self.seed <= LAST_SEED:
            raise ValueError(f"seed must be from 0 to {LAST_SEED}, not {self.seed}")
        if self.cost_ceiling_usd is not None and not self.cost_ceiling_usd >= 0:
            raise ValueError(f"cost_ceiling_usd must not be negative, but is {self.cost_ceiling_usd}")
        if not self.tasks:
            raise ValueError(f"tasks is empty: name at least one of {', '.join(self.offered())}")
        for task in self.tasks:
            if task not in self.offered():
                raise ValueError(f"unknown task {task!r}{schema.nearest(task, self.offered())}")

    @classmethod
    def offered(cls) -> Collection[str]:
        """The tasks of the protocol."""
        raise NotImplementedError

    def conditions(self, task: str) -> tuple[tuple[str, str], ...]:
        """The pairs (arm, template) that the study asks of a task."""
        raise NotImplementedError

    def modes(self, model: Model) -> tuple[bool, ...]:
        """The thinking modes that the study asks of a model, off first: the registry's, less what `thinking` leaves out."""
        return tuple(sorted(mode for mode in model.thinking if self.thinking is None or mode in self.thinking))


@dataclass(frozen=True)
class Modality(Study):
    """A modality audit (seed 000). `arms` and `templates`, where given, restrict what the tasks offer."""

    arms: tuple[Literal["AB", "A", "B", "title"], ...] | None = None
    templates: tuple[Literal["plain", "assess"], ...] = ("plain", "assess")

    def __post_init__(self) -> None:
        super().__post_init__()
        for task in self.tasks:
            if not self.conditions(task):
                raise ValueError(f"arms and templates leave nothing to ask of {task}")
        offered = {arm for task in self.tasks for arm, _ in wordings()[task].conditions()}
        for arm in self.arms or ():
            if arm not in offered:
                raise ValueError(f"no task of the study has the arm {arm!r}")

    @classmethod
    def offered(cls) -> Collection[str]:
        """The tasks that have prompts."""
        return wordings()

    def conditions(self, task: str) -> tuple[tuple[str, str], ...]:
        """The pairs (arm, template) that the study asks of a task: those with a prompt, less what `arms` and `templates` leave out."""
        return tuple(
            (arm, template)
            for arm, template in wordings()[task].conditions()
            if (self.arms is None or arm in self.arms) and template in self.templates
        )


@dataclass(frozen=True)
class ToolUse(Study):
    """A tool-use audit (seed 001). `arms` are the policies and interventions that are run as they are, `force_answer` those that are also
    run so that a model must answer at the limit of `max_calls` tool calls. Of the unhindered `tool` rollouts the first `probed` replicates
    are probed. `judge` is the model that rules on answers that exact match cannot read; without one they are wrong.
    """

    protocol: Literal["modality", "tool_use"] = "tool_use"
    arms: tuple[Literal["direct", "tool", "random_crop", "noise", "blank"], ...] = ("direct", "tool", "random_crop", "noise", "blank")
    force_answer: tuple[Literal["tool", "random_crop", "noise", "blank"], ...] = ()
    max_calls: int = LIMIT
    probed: int = 1
    judge: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_calls < 1:
            raise ValueError(f"max_calls must be at least 1, not {self.max_calls}")
        if not 0 <= self.probed <= self.replicates:
            raise ValueError(f"probed must be from 0 to the {self.replicates} replicates, not {self.probed}")

    @classmethod
    def offered(cls) -> Collection[str]:
        """The tasks whose items are a question about one image."""
        return tuple(task for task in TASKS if task not in wordings())

    def conditions(self, task: str) -> tuple[tuple[str, str], ...]:
        """The pairs (arm, template), the same for every task."""
        return (*((arm, "free") for arm in self.arms), *((arm, "force_answer") for arm in self.force_answer))


def load(params: Path) -> dict[str, Study]:
    """The studies of a file like params.yaml, by name; DataError, in one line with the key, for anything malformed."""
    document = _read(params)
    known = models.load(document.get("models"), f"{params.name}: models")
    entries = schema.mapping(document.get("studies"), f"{params.name}: studies")
    if not entries:
        raise DataError(f"{params.name}: studies is empty: describe at least one study")
    return {name: _study(name, entry, known, f"{params.name}: studies.{name}") for name, entry in entries.items()}


def registry(params: Path) -> dict[str, Model]:
    """The models that the studies of the file may name: the registry and the file's own entries."""
    return models.load(_read(params).get("models"), f"{params.name}: models")


def _study(name: str, entry: object, known: Mapping[str, Model], where: str) -> Study:
    kind: type[Study] = ToolUse if schema.mapping(entry, where).get("protocol") == "tool_use" else Modality
    study = schema.record(kind, entry, where, name=name)
    for model_id in study.models:
        _check_model(study, _known(model_id, known, f"{where}.models"), where)
    if isinstance(study, ToolUse) and study.judge is not None:
        _known(study.judge, known, f"{where}.judge")
    return study


def _known(model_id: str, known: Mapping[str, Model], where: str) -> Model:
    if model_id not in known:
        raise DataError(f"{where}: unknown model {model_id!r}{schema.nearest(model_id, known)}")
    return known[model_id]


def _check_model(study: Study, model: Model, where: str) -> None:
    if not study.modes(model):
        modes = ", ".join(str(mode).lower() for mode in model.thinking)
        raise DataError(f"{where}.thinking: {model.model_id} runs with thinking {modes} only")
    if study.protocol == "tool_use" and model.interface is None:
        raise DataError(f"{where}.models: {model.model_id} uses no tool: give its `interface`, one of {', '.join(NAMES)}")
    if study.protocol == "modality" and model.serving == "simulated" and model.interface:
        raise DataError(f"{where}.models: {model.model_id} is a simulated tool user: only a tool_use study can ask it")
    try:
        model.check_budget(study.max_tokens)
    except ValueError as fault:
        raise DataError(f"{where}: {fault}") from None


class _Loader(yaml.SafeLoader):
    """YAML that refuses a key given twice: the plain loader would keep the last and drop a study in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        for key, _ in node.value:
            if keys.count(key.value) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key.value!r} is given twice", key.start_mark)
        return super().construct_mapping(node, deep)


def _read(params: Path) -> Mapping[str, Any]:
    try:
        document = yaml.load(params.read_text(encoding="utf-8"), _Loader)  # noqa: S506 (a safe loader)
    except FileNotFoundError:
        raise DataError(f"there is no file {params}: run in the project's folder, or name the file") from None
    except (OSError, UnicodeDecodeError) as fault:
        raise DataError(f"{params} cannot be read: {fault}") from None
    except yaml.YAMLError as fault:
        raise DataError(f"{params} is no YAML: {' '.join(str(fault).split())}") from None
    table = schema.mapping(document, params.name)
    for key in table:
        if key not in ("studies", "models"):
            raise DataError(f"{params.name}: unknown key {key!r}{schema.nearest(key, ('studies', 'models'))}")
    return table
