"""params.yaml is read strictly: what it says is what is asked, and what it cannot mean is one line that names the key."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.errors import DataError
from generator import models, study
from generator.study import Modality, Source, ToolUse

SMALL = {"models": ["sim/honest"], "tasks": {"isobench/math_parity": {"source": "synth"}}}
PROJECT = Path(__file__).resolve().parents[2]


def written(folder: Path, document: object) -> Path:
    path = folder / "params.yaml"
    path.write_text(document if isinstance(document, str) else yaml.safe_dump(document), encoding="utf-8")
    return path


def test_the_default_study_needs_neither_gpu_nor_key() -> None:
    demo = study.load(PROJECT / "params.yaml")["demo"]
    registry = study.registry(PROJECT / "params.yaml")
    assert {registry[model_id].serving for model_id in demo.models} == {"simulated"}
    assert demo.tasks == {"isobench/math_parity": Source("synth", 60), "isobench/graph_maxflow": Source("synth", 40)}


def test_every_key_of_a_study_is_read(tmp_path: Path) -> None:
    text = """
        studies:
          mine:
            protocol: modality
            models: [own, sim/mixed]
            tasks:
              mmimdb: {source: ../mmimdb, n: 300}
              goldenview: {source: synth, seed: 4}
            arms: [AB, title]
            templates: [plain]
            thinking: [off]
            replicates: 3
            concurrency: 64
            seed: 7
            max_tokens: 512
            attempts: 2
            cost_ceiling_usd: 12
        models:
          own: {serving: vllm, precision: fp8, identifier: org/name}
    """
    mine = study.load(written(tmp_path, text))["mine"]
    assert mine == Modality(
        name="mine",
        models=("own", "sim/mixed"),
        tasks={"mmimdb": Source("../mmimdb", 300), "goldenview": Source("synth", None, 4)},
        arms=("AB", "title"),
        templates=("plain",),
        thinking=(False,),
        replicates=3,
        concurrency=64,
        seed=7,
        max_tokens=512,
        attempts=2,
        cost_ceiling_usd=12.0,
    )
    assert mine.conditions("mmimdb") == (("AB", "plain"), ("title", "plain"))
    assert mine.conditions("goldenview") == (("AB", "plain"),)
    assert study.registry(tmp_path / "params.yaml")["own"].precision == "fp8"


def test_what_a_study_leaves_out_is_all_that_tasks_and_registry_offer(tmp_path: Path) -> None:
    small = study.load(written(tmp_path, {"studies": {"small": SMALL}}))["small"]
    assert small.conditions("isobench/math_parity") == tuple((arm, form) for arm in ("AB", "A", "B") for form in ("plain", "assess"))
    assert small.modes(models.load()["sim/honest"]) == (False, True)
    assert (small.replicates, small.concurrency, small.seed, small.attempts, small.max_tokens) == (1, 32, 0, 5, 8192)


def changed(**keys: Any) -> dict[str, Any]:
    return {"studies": {"s": {**SMALL, **keys}}}


def tooled(**keys: Any) -> dict[str, Any]:
    tool_use = {"protocol": "tool_use", "models": ["sim/uses"], "tasks": {"vstar": {"source": "synth"}}}
    return {"studies": {"s": {**tool_use, **keys}}}


def test_every_key_of_a_tool_use_study_is_read(tmp_path: Path) -> None:
    keys = {"arms": ["direct", "tool"], "force_answer": ["tool"], "max_calls": 6, "replicates": 8, "probed": 4, "judge": "sim/judge"}
    mine = study.load(written(tmp_path, tooled(**keys)))["s"]
    assert isinstance(mine, ToolUse)
    assert (mine.protocol, mine.max_calls, mine.replicates, mine.probed, mine.judge) == ("tool_use", 6, 8, 4, "sim/judge")
    assert mine.conditions("vstar") == (("direct", "free"), ("tool", "free"), ("tool", "force_answer"))


def test_what_a_tool_use_study_leaves_out_is_the_papers(tmp_path: Path) -> None:
    mine = study.load(written(tmp_path, tooled()))["s"]
    assert isinstance(mine, ToolUse)
    assert (mine.max_calls, mine.probed, mine.judge) == (12, 1, None)
    assert mine.conditions("vstar") == tuple((arm, "free") for arm in ("direct", "tool", "random_crop", "noise", "blank"))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (changed(replicate=3), "studies.s: unknown key 'replicate'; did you mean 'replicates'?"),
        (changed(name="other"), "studies.s: unknown key 'name'"),
        (changed(replicates=0), "studies.s: replicates must be at least 1, not 0"),
        (changed(replicates="3"), "studies.s.replicates must be a whole number, not '3'"),
        (changed(replicates=True), "studies.s.replicates must be a whole number, not True"),
        (changed(concurrency=0), "studies.s: concurrency must be at least 1, not 0"),
        (changed(attempts=-1), "studies.s: attempts must be at least 1, not -1"),
        (changed(seed=-1), "studies.s: seed must be from 0 to"),
        (changed(seed=2**63 - 1, replicates=2), "studies.s: seed must be from 0 to"),
        (changed(max_tokens=2**31), "studies.s: max_tokens must be at most 2147483647, not 2147483648"),
        (changed(seed=1.5), "studies.s.seed must be a whole number, not 1.5"),
        (changed(seed=None), "studies.s.seed must be a whole number, not None"),
        (changed(cost_ceiling_usd=-1), "studies.s: cost_ceiling_usd must not be negative"),
        (changed(cost_ceiling_usd=float("nan")), "studies.s: cost_ceiling_usd must not be negative"),
        (changed(models=["sim/onest"]), "studies.s.models: unknown model 'sim/onest'; did you mean 'sim/honest'?"),
        (changed(models=[]), "studies.s.models is empty"),
        (changed(models="sim/honest"), "studies.s.models must be a list, not 'sim/honest'"),
        (changed(models=["sim/honest", "sim/honest"]), "studies.s.models lists 'sim/honest' twice"),
        (changed(tasks={"isobench/parity": {"source": "synth"}}), "studies.s: unknown task 'isobench/parity'; did you mean"),
        (changed(tasks={}), "studies.s: tasks is empty"),
        (changed(tasks={"mmimdb": {"source": "synth", "n": 0}}), "studies.s.tasks.mmimdb: n must be at least 1, not 0"),
        (changed(tasks={"mmimdb": {"n": 3}}), "studies.s.tasks.mmimdb: the key 'source' is missing"),
        (changed(tasks={"mmimdb": None}), "studies.s.tasks.mmimdb must be a table"),
        (changed(arms=["C"]), "studies.s.arms[0] must be one of AB, A, B, title, not 'C'"),
        (changed(arms=["AB", "title"]), "studies.s: no task of the study has the arm 'title'"),
        (changed(arms=["title"]), "studies.s: arms and templates leave nothing to ask of isobench/math_parity"),
        (changed(templates=["free"]), "studies.s.templates[0] must be one of plain, assess, not 'free'"),
        (changed(thinking=["off"]), "studies.s.thinking[0] must be true or false, not 'off'"),
        (changed(models=["qwen/qwen3.5-27b"], thinking=[True]), "studies.s.thinking: qwen/qwen3.5-27b runs with thinking false only"),
        (changed(models=["Qwen/Qwen3.5-4B"], max_tokens=10_000), "studies.s: max_model_len 11264 of Qwen/Qwen3.5-4B does not hold"),
        (changed(protocol="judge"), "studies.s.protocol must be one of modality, tool_use, not 'judge'"),
        (changed(protocol="tool_use"), "studies.s: unknown task 'isobench/math_parity'; known are vstar"),
        (changed(models=["sim/uses"]), "studies.s.models: sim/uses is a simulated tool user: only a tool_use study can ask it"),
        (tooled(models=["sim/honest"]), "studies.s.models: sim/honest uses no tool: give its `interface`, one of qwen3_vl"),
        (tooled(arms=["AB"]), "studies.s.arms[0] must be one of direct, tool, random_crop, noise, blank, not 'AB'"),
        (tooled(force_answer=["direct"]), "studies.s.force_answer[0] must be one of tool, random_crop, noise, blank, not 'direct'"),
        (tooled(templates=["free"]), "studies.s: unknown key 'templates'"),
        (tooled(probed=2), "studies.s: probed must be from 0 to the 1 replicates, not 2"),
        (tooled(max_calls=0), "studies.s: max_calls must be at least 1, not 0"),
        (tooled(judge="sim/jugde"), "studies.s.judge: unknown model 'sim/jugde'; did you mean 'sim/judge'?"),
        ({"studies": {"s": {"tasks": SMALL["tasks"]}}}, "studies.s: the key 'models' is missing"),
        ({"studies": {}}, "studies is empty"),
        ({"studies": {2026: SMALL}}, "studies: the key 2026 must be text: put it in quotes"),
        ({"studies": ["demo"]}, "studies must be a table"),
        ({"study": {"s": SMALL}}, "unknown key 'study'; did you mean 'studies'?"),
        ({"models": {}}, "studies must be a table of keys and values, not None"),
        ({**changed(), "models": {"own": {"serving": "vllm"}}}, "models.own: the key 'precision' is missing"),
    ],
)
def test_a_malformed_file_is_one_line_that_names_the_key(tmp_path: Path, document: object, message: str) -> None:
    with pytest.raises(DataError) as caught:
        study.load(written(tmp_path, document))
    assert str(caught.value).startswith(f"params.yaml: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("studies: {s: [", "is no YAML: while parsing"),
        ("studies: {a: 1}\nstudies: {b: 1}", "the key 'studies' is given twice"),
        ("studies: !!python/object/apply:os.getcwd []", "is no YAML: could not determine a constructor"),
        ("", "params.yaml must be a table of keys and values, not None"),
    ],
)
def test_a_file_that_is_no_yaml_table_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        study.load(written(tmp_path, text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_or_unreadable_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file"):
        study.load(tmp_path / "params.yaml")
    with pytest.raises(DataError, match="cannot be read"):
        study.load(tmp_path)
    (tmp_path / "latin.yaml").write_bytes(b"studies: \xff")
    with pytest.raises(DataError, match="cannot be read"):
        study.load(tmp_path / "latin.yaml")


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["AB", "plain", "synth", "sim/honest"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["source", "n", "mmimdb", "isobench/math_parity", "a\nb", "\x1b[2J"]), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = st.sampled_from(["models", "tasks", "arms", "templates", "thinking", "replicates", "seed", "cost_ceiling_usd", "protocol", "to\nll"])


@settings(deadline=None)  # the registry is read each time
@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_any_study_is_read_or_refused_in_one_line(tmp_path_factory: pytest.TempPathFactory, keys: dict[str, Any]) -> None:
    path = written(tmp_path_factory.getbasetemp(), changed(**keys))
    message = ""
    try:
        assert study.load(path)["s"].models
    except DataError as fault:
        message = str(fault)
    assert message.isprintable()
