"""The IsoBench loader on real parquet files: small ones written here, and the public set where it is at hand."""

import io
import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from analysis.errors import DataError
from generator import images
from generator.items import Item, isobench, load

IMAGE = polars.Struct({"bytes": polars.Binary, "path": polars.String})
FILE = "validation-00000-of-00001.parquet"


def picture(colour: str = "white") -> bytes:
    stream = io.BytesIO()
    Image.new("RGBA", (8, 6), colour).save(stream, "PNG")
    return stream.getvalue()


def parity_row(place: int, **other: object) -> dict[str, object]:
    code = ("x**2", "x", "x + 1")[place % 3]
    row = {
        "image": {"bytes": picture(), "path": None},
        "domain": None,
        "latex": f"$$f(x) = {code}$$",
        "code": f"f(x) = {code}",
        "label": ("even", "odd", "neither")[place % 3],
        "id": f"math_parity_{place}",
    }
    return {**row, **other}


def maxflow_row(place: int, **other: object) -> dict[str, object]:
    row = {
        "image": {"bytes": picture(), "path": None},
        "source_node": 0,
        "source_node_color": "red",
        "sink_node": 2,
        "sink_node_color": "blue",
        "adjacency_matrix": "[[0, 6, 5], [0, 0, 1], [0, 0, 0]]",
        "label": 6,
        "id": f"graph_maxflow_{place}",
    }
    return {**row, **other}


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    polars.DataFrame(rows, schema_overrides={"image": IMAGE}).write_parquet(path)
    return path


def loaded(task: str, source: Path, tmp_path: Path, n: int | None = None) -> list[Item]:
    return list(load(task, str(source), images.Store(tmp_path / "store"), n))


@pytest.mark.parametrize(
    ("written", "given_as"),
    [
        (f"set/math_parity/{FILE}", "set"),
        (f"set/math_parity/{FILE}", "set/math_parity"),
        (f"set/math_parity/{FILE}", f"set/math_parity/{FILE}"),
        ("set/math_parity/validation/0000.parquet", "set"),
        ("set/math_parity/validation/0000.parquet", "set/math_parity"),
        ("any.parquet", "any.parquet"),
    ],
)
def test_every_layout_of_the_hub_is_read(tmp_path: Path, written: str, given_as: str) -> None:
    path = write(tmp_path / written, [parity_row(place) for place in range(3)])
    items = loaded(isobench.PARITY, tmp_path / given_as, tmp_path)
    assert [item.item_id for item in items] == [f"isobench/math_parity/{place}" for place in range(3)]
    assert {item.source for item in items} == {f"isobench/IsoBench/math_parity/{path.name}"}


def test_a_parity_item_holds_latex_code_image_and_both_labels(tmp_path: Path) -> None:
    source = write(tmp_path / FILE, [parity_row(0, label="neither")])
    (item,) = loaded(isobench.PARITY, source, tmp_path)
    assert (item.gold, item.annotation) == ("neither", {"id": "math_parity_0", "recomputed_gold": "even"})
    assert (item.inputs["text"], item.inputs["code"]) == ("$$f(x) = x**2$$", "f(x) = x**2")
    assert images.Image.open(tmp_path / "store" / f"{item.inputs['image']}.png").mode == "RGB"
    assert item.cluster_id == item.item_id


def test_a_maxflow_item_holds_the_matrix_as_it_was_written(tmp_path: Path) -> None:
    text = "[[0,6,5],[0,0,1], [0,0,0]]"
    (item,) = loaded(isobench.MAXFLOW, write(tmp_path / FILE, [maxflow_row(0, adjacency_matrix=text, label=7)]), tmp_path)
    assert (item.gold, item.annotation["recomputed_gold"]) == (7, 6)
    assert item.inputs == {
        "text": text,
        "image": item.inputs["image"],
        "source_node": 0,
        "sink_node": 2,
        "source_node_color": "red",
        "sink_node_color": "blue",
    }


def test_rows_are_numbered_over_all_files_in_order(tmp_path: Path) -> None:
    for shard in (0, 1):
        write(tmp_path / "math_parity" / f"validation-0000{shard}-of-00002.parquet", [parity_row(2 * shard), parity_row(2 * shard + 1)])
    items = loaded(isobench.PARITY, tmp_path, tmp_path)
    assert [(item.item_id, item.annotation["id"]) for item in items] == [
        (f"isobench/math_parity/{n}", f"math_parity_{n}") for n in range(4)
    ]


def test_a_missing_file_of_several_is_told(tmp_path: Path) -> None:
    write(tmp_path / "math_parity" / "validation-00001-of-00002.parquet", [parity_row(0)])
    with pytest.raises(DataError, match="holds 1 of 2 parquet files"):
        loaded(isobench.PARITY, tmp_path, tmp_path)


def test_the_first_n_rows_are_taken_and_more_than_there_are_is_an_error(tmp_path: Path) -> None:
    source = write(tmp_path / FILE, [parity_row(place) for place in range(3)])
    assert len(loaded(isobench.PARITY, source, tmp_path, n=2)) == 2
    with pytest.raises(DataError, match="holds 3, fewer than the n of 4"):
        loaded(isobench.PARITY, source, tmp_path, n=4)
    with pytest.raises(DataError, match="n is 0; it must be at least 1"):
        loaded(isobench.PARITY, source, tmp_path, n=0)


def without(row: dict[str, object], column: str) -> dict[str, object]:
    return {name: value for name, value in row.items() if name != column}


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([without(parity_row(0), "latex")], "has no column latex; it has image, domain, code, label, id"),
        ([maxflow_row(0)], "has no column latex, code"),
        ([parity_row(0, label=1)], "column label is Int64, not String"),
        ([parity_row(0), parity_row(1, label="both")], "isobench/math_parity/1: the label 'both' is none of even, odd, neither"),
        ([parity_row(0, code="x**2")], r"isobench/math_parity/0: the code 'x\*\*2' is no function of x"),
        ([parity_row(0, code="f(x) = x +")], "isobench/math_parity/0: the code"),
        ([parity_row(0), parity_row(1, latex=None)], "isobench/math_parity/1: latex is missing"),
        ([parity_row(0), parity_row(1, image=None)], "isobench/math_parity/1: image is missing"),
        ([parity_row(0), parity_row(1, image={"bytes": None, "path": "x.png"})], "isobench/math_parity/1: image is missing"),
        ([parity_row(0, image={"bytes": picture()[:60], "path": None})], "isobench/math_parity/0: the image is damaged or cut short"),
        ([parity_row(0), parity_row(1, id="math_parity_0")], "math_parity/0 and isobench/math_parity/1 have the same id 'math_parity_0'"),
        ([], "has no column|holds no item"),
    ],
)
def test_what_is_off_in_a_file_is_one_line(tmp_path: Path, rows: list[dict[str, object]], says: str) -> None:
    source = write(tmp_path / FILE, rows)
    with pytest.raises(DataError, match=says) as refused:
        loaded(isobench.PARITY, source, tmp_path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (maxflow_row(0, adjacency_matrix="[[0, 1], [0"), "the adjacency matrix is no valid JSON"),
        (maxflow_row(0, adjacency_matrix="[[0, 1], [0]]"), "no square of whole capacities"),
        (maxflow_row(0, adjacency_matrix="[[0, 1.5], [0, 0]]"), "no square of whole capacities"),
        (maxflow_row(0, adjacency_matrix="[[0, -1], [0, 0]]"), "no square of whole capacities"),
        (maxflow_row(0, adjacency_matrix="__import__('os')"), "no valid JSON"),
        (maxflow_row(0, sink_node=3), "source 0 and sink 3 are no two nodes of a graph of 3"),
        (maxflow_row(0, sink_node=0), "source 0 and sink 0 are no two nodes"),
    ],
)
def test_a_graph_that_cannot_be_meant_is_one_line(tmp_path: Path, row: dict[str, object], says: str) -> None:
    with pytest.raises(DataError, match=f"^isobench/graph_maxflow/0: .*{says}"):
        loaded(isobench.MAXFLOW, write(tmp_path / FILE, [row]), tmp_path)


def test_a_missing_source_a_folder_without_the_set_and_a_bad_parquet_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="its source .*nowhere does not exist"):
        loaded(isobench.PARITY, tmp_path / "nowhere", tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=f"has no math_parity/{FILE}: give the folder"):
        loaded(isobench.PARITY, tmp_path / "empty", tmp_path)
    whole = write(tmp_path / FILE, [parity_row(0)]).read_bytes()
    for bad in (
        b"",
        b"PAR1",
        b"version https://git-lfs",
        whole[: len(whole) // 2],
        whole[:-40] + whole[-8:],
        b"PAR1" + b"\xff" * 100 + b"PAR1",
    ):
        (tmp_path / "bad.parquet").write_bytes(bad)
        with pytest.raises(DataError, match="cannot be read as parquet") as refused:
            loaded(isobench.PARITY, tmp_path / "bad.parquet", tmp_path)
        assert "\n" not in str(refused.value)


def test_parity_where_the_code_is_no_rational_function_is_unknown() -> None:
    assert isobench.parity("f(x) = sin(x)", "x/1") is None
    assert isobench.parity("f(x) = 0", "x/1") == ["even", "odd"]
    assert isobench.parity("f(x) = x + 1", "x/1") == "neither"


def min_cut(matrix: list[list[int]], source: int, sink: int) -> int:
    """The smallest capacity over all ways to part the nodes: equals the largest flow (Ford and Fulkerson)."""
    inner = [node for node in range(len(matrix)) if node not in (source, sink)]
    sides = [{source, *chosen} for size in range(len(inner) + 1) for chosen in combinations(inner, size)]
    return min(sum(matrix[i][j] for i in side for j in range(len(matrix)) if j not in side) for side in sides)


@given(st.integers(2, 6).flatmap(lambda n: st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=n, max_size=n)))
def test_max_flow_is_the_smallest_cut(matrix: list[list[int]]) -> None:
    assert isobench.max_flow(matrix, 0, len(matrix) - 1, "x/1") == min_cut(matrix, 0, len(matrix) - 1)


def test_the_public_set_loads_whole_and_the_label_audit_finds_the_six_rows(shared: Path, tmp_path: Path) -> None:
    parity = loaded(isobench.PARITY, shared / "data" / "isobench", tmp_path)
    maxflow = loaded(isobench.MAXFLOW, shared / "data" / "isobench", tmp_path)
    assert (len(parity), len(maxflow)) == (384, 128)
    assert Counter(item.gold for item in parity) == {"even": 128, "odd": 128, "neither": 128}
    differing = {
        item.item_id.rpartition("/")[2]: item.annotation["recomputed_gold"]
        for item in parity + maxflow
        if item.annotation["recomputed_gold"] != item.gold
    }
    assert differing == {"57": "even", "71": "even", "94": "even", "164": "even", "268": "even", "311": ["even", "odd"]}
    assert Counter(len(json.loads(item.inputs["text"])) for item in maxflow) == {3: 50, 4: 37, 5: 41}
    assert all(item.inputs["sink_node"] == len(json.loads(item.inputs["text"])) - 1 for item in maxflow)
