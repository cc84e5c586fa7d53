"""Every figure of the worked rollouts: 720 made-up rollouts of three models, and what each view has to say about them."""

import json
from collections import Counter
from pathlib import Path

from analysis import session
from generator.ingest import ingest


def test_every_figure_of_the_worked_rollouts_is_reproduced(shared: Path, tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse.duckdb"
    report = ingest(shared / "reference" / "worked_rollouts.jsonl", warehouse)
    assert not report.refused
    figures = json.loads((shared / "reference" / "worked_rollouts.expected.json").read_text(encoding="utf-8"))
    with session.open(warehouse) as opened:
        tables = {view: opened.rows(f"SELECT * FROM {view}") for view in {figure["view"] for figure in figures}}
        broken = {view: opened.rows(f"SELECT * FROM {view}") for view in opened.catalog if view.startswith("quality.")}

    wrong = [figure for figure in figures if not _stands_in(tables[figure["view"]], figure)]
    assert not wrong, f"{len(wrong)} of {len(figures)} figures differ: {Counter(figure['view'] for figure in wrong)}, first {wrong[0]}"
    errors = {view: rows for view, rows in broken.items() if rows and opened.catalog[view].severity == "error"}
    assert not errors


def test_a_judge_rules_on_the_rollouts_of_two_models_on_one_item(tmp_path: Path) -> None:
    item = {"cluster_id": "vstar/0", "gold": "A", "annotation": {"options": {"A": "red", "B": "blue"}}}
    about = {"task": "vstar", "item_id": "vstar/0", "arm": "tool", "template": "free", "item": item}
    rows: list[dict[str, object]] = []
    for model, said, ruling in (("one", "the reddish one", "correct"), ("two", "it cannot be seen", "incorrect")):
        answer, verdict = ({"choices": [{"message": {"content": text}}]} for text in (f"<answer>{said}</answer>", ruling))
        rows += [
            {**about, "protocol": "tool_use", "model_id": model, "rollout_id": model, "turn": 1, "response": answer},
            {**about, "protocol": "judge", "model_id": "judge", "rollout_id": model, "response": verdict},
            {"table": "rollout", "rollout_id": model, "max_calls": 12, "end_reason": "answer"},
        ]
    file = tmp_path / "judged.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    report = ingest(file, tmp_path / "warehouse.duckdb")
    assert not report.refused
    with session.open(tmp_path / "warehouse.duckdb") as opened:
        ruled = opened.rows("SELECT model_id, correct, ruling FROM tooluse.rollout ORDER BY model_id")
    assert ruled == [{"model_id": "one", "correct": True, "ruling": "judge"}, {"model_id": "two", "correct": False, "ruling": "judge"}]


def _stands_in(rows: list[dict[str, object]], figure: dict[str, object]) -> bool:
    """Whether exactly one row has the figure's key, and its value (to 1e-9 where it is a number)."""
    key = {name: value for name, value in figure.items() if name not in ("view", "column", "value")}
    found = [row[str(figure["column"])] for row in rows if key.items() <= row.items()]
    if len(found) != 1:
        return False
    got, wanted = found[0], figure["value"]
    if isinstance(got, float) and isinstance(wanted, int | float):
        return abs(got - wanted) < 1e-9
    return got == wanted
