"""Which studies a call reads: the named one, else the newest of either audit, each with its newest grid."""

from typing import Any

from tests.sql.literal import run


def grid(study: str, number: int, day: int, protocol: str = "modality") -> dict[str, Any]:
    cell = {"model_id": "m", "thinking": False, "task": "t", "item_id": "i", "arm": "A", "template": "plain", "replicate": 0}
    return {
        "study": study,
        "grid_id": f"{number:04d}-x",
        "created_at": f"2026-01-{day:02d}",
        "request_key": f"{study}{number}",
        "protocol": protocol,
        **cell,
    }


GRIDS = [
    grid("old", 1, 1),
    grid("new", 1, 2),
    grid("new", 2, 3),
    grid("zoom", 1, 1, "tool_use"),
    grid("zoom", 2, 5, "judge"),
    grid("earlier zoom", 1, 4, "tool_use"),
]


def shown(rows: list[dict[str, Any]], settings: dict[str, str] | None = None) -> set[tuple[str, str]]:
    return {(row["study"], row["grid_id"]) for row in run("arm.study", {"raw.grid": rows}, settings)}


def test_without_a_name_the_newest_study_of_either_audit_is_read() -> None:
    assert shown(GRIDS) == {("new", "0002-x"), ("zoom", "0002-x")}
    assert {row["request_key"] for row in run("arm.request", {"raw.grid": GRIDS})} == {"new2", "zoom2"}


def test_a_named_study_is_read_alone() -> None:
    assert shown(GRIDS, {"study": "old"}) == {("old", "0001-x")}
    assert shown(GRIDS, {"study": "none"}) == set()


def test_an_empty_warehouse_has_no_study() -> None:
    assert shown([]) == set()
