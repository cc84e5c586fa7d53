"""IsoBench's twin: the public form, the public distribution, labels that are right, pictures that say what they show."""

import json
from collections import Counter
from pathlib import Path

import polars
import pytest

from generator import images
from generator.items import isobench, load
from generator.items.synth import isobench as synth

N = 90


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("synth")
    synth.write_parity(made, N, seed=7)
    synth.write_maxflow(made, N, seed=7)
    return made


def public_columns(config: str) -> dict[str, object]:
    image = polars.Struct({"bytes": polars.Binary, "path": polars.String})
    text, whole = polars.String(), polars.Int64()
    return {
        "math_parity": {"image": image, "domain": polars.Float64(), "latex": text, "code": text, "label": text, "id": text},
        "graph_maxflow": {
            "image": image, "source_node": whole, "source_node_color": text, "sink_node": whole, "sink_node_color": text,
            "adjacency_matrix": text, "label": whole, "id": text,
        },
    }[config]  # fmt: skip


@pytest.mark.parametrize("config", ["math_parity", "graph_maxflow"])
def test_the_columns_are_the_public_ones_in_their_order(folder: Path, config: str) -> None:
    schema = polars.read_parquet_schema(folder / config / "validation-00000-of-00001.parquet")
    assert list(schema.items()) == list(public_columns(config).items())


@pytest.mark.parametrize("config", ["math_parity", "graph_maxflow"])
def test_the_public_set_has_those_columns(shared: Path, config: str) -> None:
    schema = polars.read_parquet_schema(shared / "data" / "isobench" / config / "validation-00000-of-00001.parquet")
    assert list(schema.items()) == list(public_columns(config).items())


def test_functions_are_even_odd_and_neither_in_equal_thirds_and_rightly_labelled(folder: Path, tmp_path: Path) -> None:
    items = list(load(isobench.PARITY, str(folder), images.Store(tmp_path / "images")))
    assert Counter(item.gold for item in items) == {"even": N // 3, "odd": N // 3, "neither": N // 3}
    assert all(item.annotation["recomputed_gold"] == item.gold for item in items)
    assert len({item.inputs["code"] for item in items}) == N
    assert all(item.inputs["text"].startswith("$$f(x) = ") and item.inputs["text"].endswith("$$") for item in items)


def latex_as_code(latex: str) -> str:
    text = latex.removeprefix("$$f(x) = ").removesuffix("$$").replace("\\left(", "(").replace("\\right)", ")").replace("\\cdot", "")
    sign, _, rest = text.partition("\\frac{")
    depth, end = 1, 0
    while depth:
        depth += {"{": 1, "}": -1}.get(rest[end], 0)
        end += 1
    above, below = rest[: end - 1], rest[end + 1 : -1]
    return "".join(f"{part}" for part in (sign, "(", spelled(above), ")/(", spelled(below), ")"))


def spelled(latex: str) -> str:
    import re

    powered = re.sub(r"\^\{(\d+)\}", r"**\1", latex)
    return re.sub(r"(?<=[\dx]) +(?=[x(])", "*", powered)


def test_latex_and_code_say_the_same_function(folder: Path) -> None:
    from generator.items import rational

    rows = polars.read_parquet(folder / "math_parity" / "validation-00000-of-00001.parquet").select("latex", "code").to_dicts()
    for row in rows:
        ours, theirs = rational.read(row["code"].removeprefix("f(x) = ")), rational.read(latex_as_code(row["latex"]))
        assert rational._times(ours.numerator, theirs.denominator) == rational._times(theirs.numerator, ours.denominator), row


def test_graphs_keep_the_promises_of_the_public_ones(folder: Path, tmp_path: Path) -> None:
    items = list(load(isobench.MAXFLOW, str(folder), images.Store(tmp_path / "images")))
    assert all(item.annotation["recomputed_gold"] == item.gold > 0 for item in items)
    sizes = Counter()
    lower = 0
    for item in items:
        matrix = json.loads(item.inputs["text"])
        nodes = range(len(matrix))
        sizes[len(matrix)] += 1
        assert (item.inputs["source_node"], item.inputs["sink_node"]) == (0, len(matrix) - 1)
        assert not any(matrix[i][0] or matrix[-1][i] or matrix[i][i] for i in nodes)
        assert not any(matrix[i][j] and matrix[j][i] for i in nodes for j in nodes)
        assert all(0 <= capacity <= 9 for row in matrix for capacity in row)
        lower += any(matrix[i][j] for i in nodes for j in nodes if i > j)
    assert sizes[3] > sizes[4] > 0 < sizes[5]
    assert 0.2 < lower / N < 0.8  # not only i < j: 75 of the public 128


def test_pictures_have_the_public_size_and_say_what_they_show(folder: Path, tmp_path: Path) -> None:
    for task in (isobench.PARITY, isobench.MAXFLOW):
        store = images.Store(tmp_path / task)
        for item in load(task, str(folder), store, n=12):
            path = tmp_path / task / f"{item.inputs['image']}.png"
            assert images.truth(path.read_bytes()) == {"task": task, "gold": item.gold}
            row = store.rows[item.inputs["image"]]
            assert (row["width"], row["height"], row["mode"]) == (512, 384, "RGB")
            assert "PNG RGBA 512x384" in row["changes"]


def test_a_seed_draws_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        synth.write_parity(tmp_path / name, 6, seed)
        synth.write_maxflow(tmp_path / name, 6, seed)
    for config in ("math_parity", "graph_maxflow"):
        a, b, c = ((tmp_path / name / config / "validation-00000-of-00001.parquet").read_bytes() for name in "abc")
        assert a == b != c


def test_more_of_the_same_seed_begins_with_the_same_items(tmp_path: Path) -> None:
    for n in (4, 8):
        synth.write_parity(tmp_path / str(n), n, 3)
    few, many = (polars.read_parquet(tmp_path / n / "math_parity" / "validation-00000-of-00001.parquet") for n in ("4", "8"))
    assert few.equals(many.head(4))
