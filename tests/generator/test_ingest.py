"""A stranger's file becomes a study: every line is stored, stored already, or refused with a reason, and nothing is read into an answer."""

import hashlib
import json
import math
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import polars
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from analysis import session
from analysis.errors import DataError, UsageError
from generator import ingest as package
from generator import journal, warehouse
from generator.ingest import Report, ingest, lines, source
from generator.ingest.report import Unusable, ranges

BODY = {"choices": [{"message": {"role": "assistant", "content": "ANSWER: even"}, "finish_reason": "stop"}]}
FUZZ = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def line(**columns: Any) -> dict[str, Any]:
    needed = {"model_id": "m", "task": "isobench/math_parity", "item_id": "isobench/math_parity/1", "arm": "AB", "template": "plain"}
    return {**needed, "response": BODY, **columns}


def without(record: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


def log_record(index: int = 0, **evaluation: Any) -> dict[str, Any]:
    sample = {"label": "odd", "latex": "$$f(x) = x$$", "code": "f(x) = x"}
    said = {"choices": ["even", "odd"], "input_prompt": "…", "model_response": "odd", "parsed_prediction": "odd", "is_correct": True}
    return {
        "sample_index": index,
        "task_name": "math_parity",
        "modality": "text",
        "timestamp": "2025-08-07T13:40:52.805620",
        "dataset_sample": sample,
        "evaluation": {**said, "prompt_type": "long", **evaluation},
    }


class Folder:
    """A folder with one warehouse, into which tests ingest files that they write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warehouse = path / "warehouse.duckdb"

    def ingest(self, *records: Any, name: str = "study.jsonl", **options: Any) -> Report:
        """A dict is written as a line of JSON, a str or bytes as it is."""
        file = self.path / name
        parts = [json.dumps(record) if isinstance(record, dict) else record for record in records]
        file.write_bytes(b"\n".join(part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass") for part in parts))
        return ingest(file, self.warehouse, **options)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        with session.open(self.warehouse) as opened:
            return opened.rows(sql)

    def one(self, sql: str) -> Any:
        (row,) = self.rows(sql)
        (value,) = row.values()
        return value

    def digest(self) -> str:
        return hashlib.sha256(self.warehouse.read_bytes()).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def reasons(report: Report) -> list[tuple[int, str]]:
    return [(refusal.line, refusal.reason) for refusal in sorted(report.refused, key=lambda refusal: refusal.line)]


def detail(report: Report) -> str:
    (refusal,) = report.refused
    return refusal.detail


# What is stored


def test_a_line_of_the_needed_columns_gets_the_defaults(folder: Folder) -> None:
    report = folder.ingest(line())
    assert report.stored == {"completion": 1}
    (row,) = folder.rows("SELECT * FROM raw.completion")
    assert (row["protocol"], row["thinking"], row["attempt"], row["replicate"]) == ("modality", False, 1, 0)
    assert row["completion_id"] == warehouse.completion_id(row["request_key"], 1)
    assert (row["provider"], row["http_status"], row["prompt_tokens"], row["started_at"], row["error"]) == (None,) * 5
    (run,) = folder.rows("SELECT * FROM raw.run")
    assert run["study"] == "study"
    assert row["run_id"] == run["run_id"]


def test_the_request_key_is_the_digest_of_study_and_condition(folder: Folder) -> None:
    folder.ingest(line(replicate=2, attempt=3, thinking=True), study="s")
    parts = {
        "source": "ingest",
        "study": "s",
        "protocol": "modality",
        "model_id": "m",
        "thinking": True,
        "task": "isobench/math_parity",
        "item_id": "isobench/math_parity/1",
        "arm": "AB",
        "template": "plain",
        "replicate": 2,
    }
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    assert folder.one("SELECT request_key FROM raw.completion") == hashlib.sha256(text.encode()).hexdigest()[:32]


def test_every_column_of_a_line_is_stored_as_given(folder: Folder) -> None:
    given_columns = {
        "prompt_set": "p",
        "prompt_sha256": "0" * 64,
        "temperature": 0,
        "max_tokens": 8192,
        "seed": -3,
        "provider": "host",
        "served_model": "other",
        "precision": "bf16",
        "engine": "e",
        "engine_version": "1",
        "generation_id": "g",
        "prompt_tokens": 2**40,
        "completion_tokens": 0,
        "reasoning_tokens": 7,
        "cost_usd": 0.25,
        "latency_s": 1,
        "http_status": 200,
    }
    folder.ingest(line(**given_columns, started_at="2026-01-31T12:00:00+02:00", request={"a": 1}, error={"type": "t"}))
    (row,) = folder.rows("SELECT * FROM raw.completion")
    assert {name: row[name] for name in given_columns} == given_columns
    assert row["started_at"].isoformat() == "2026-01-31T10:00:00"
    assert (row["request"], row["error"]) == ('{"a": 1}', '{"type": "t"}')


@pytest.mark.parametrize(
    "text",
    [
        '{"choices":[],  "big":123456789012345678901234567890, "wide":1e400, "nan":NaN, "twice":1, "twice":2}',
        '{"choices": [{"message": {"content": "half a pair \\ud800, a NUL \\u0000, 0.10"}}]}',
        '{"digits": ' + "9" * 5000 + "}",
        "[1.50, 2]",
        "17",
        "true",
    ],
)
def test_a_response_that_is_no_text_keeps_every_character(folder: Folder, text: str) -> None:
    assert folder.ingest(json.dumps(line())[:-1] + ', "replicate": 1, "response" : X}'.replace("X", text), line()).refused[0].reason == (
        "column named twice"
    )
    folder.ingest(json.dumps(without(line(item_id="2"), "response"))[:-1] + f', "response" :\t{text} }}')
    assert folder.one("SELECT response FROM raw.completion WHERE item_id = '2'") == text


@pytest.mark.parametrize("body", ["<html>busy</html>", "", "line\r\nNUL \0 end\u2028", json.dumps(BODY), "é😀"])
def test_a_response_that_is_text_is_the_body_itself(folder: Folder, body: str) -> None:
    folder.ingest(line(response=body))
    assert folder.one("SELECT response FROM raw.completion") == body


def test_a_body_that_is_no_unicode_is_kept_as_bytes(folder: Folder) -> None:
    folder.ingest(line(response="half \ud800 a pair"))
    (row,) = folder.rows("SELECT response, response_bytes FROM raw.completion")
    assert row["response"] is None
    assert row["response_bytes"].decode("utf-8", "surrogatepass") == "half \ud800 a pair"


def test_a_call_that_brought_nothing_back_is_a_row(folder: Folder) -> None:
    folder.ingest(line(response=None, error={"type": "timeout"}, http_status=None))
    (row,) = folder.rows("SELECT response, error FROM raw.completion")
    assert row == {"response": None, "error": '{"type": "timeout"}'}


def test_who_answered_comes_from_the_line_else_from_the_body(folder: Folder) -> None:
    usage = {"prompt_tokens": 400, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 2}}
    body = {**BODY, "id": "gen-1", "model": "served", "provider": "host", "usage": usage}
    folder.ingest(line(response=body, prompt_tokens=1, provider="other"))
    (row,) = folder.rows(
        "SELECT provider, served_model, generation_id, prompt_tokens, completion_tokens, reasoning_tokens, cost_usd FROM raw.completion"
    )
    assert list(row.values()) == ["other", "served", "gen-1", 1, 5, 2, None]


def test_the_model_option_names_the_model_of_lines_that_name_none(folder: Folder) -> None:
    folder.ingest(without(line(), "model_id"), line(model_id="own"), model="given")
    assert {row["model_id"] for row in folder.rows("SELECT model_id FROM raw.completion")} == {"given", "own"}


def test_columns_that_cannot_be_taken_over_are_named(folder: Folder) -> None:
    report = folder.ingest(line(request_key="mine", colour="red"), line(replicate=1, colour="blue", item={"size": 1}))
    assert report.ignored == {"request_key": 1, "colour": 2, "item.size": 1}
    assert "columns left out: colour (2 lines), item.size (1 lines), request_key (1 lines)" in str(report)
    assert folder.one("SELECT count(*) FROM raw.completion WHERE request_key = 'mine'") == 0


# Items


def test_an_item_is_made_from_what_any_line_says_of_it(folder: Folder) -> None:
    item = {"cluster_id": "film", "gold": ["Drama"], "inputs": {"title": "T"}, "annotation": {"options": {"A": "a"}}}
    report = folder.ingest(line(), line(arm="A", item=item), line(arm="B", item={"gold": ["Drama"], "annotation": {"more": 1e400}}))
    assert report.new_items == 1
    assert folder.rows("SELECT * EXCLUDE (source_sha256) FROM raw.item") == [
        {
            "item_id": "isobench/math_parity/1",
            "task": "isobench/math_parity",
            "cluster_id": "film",
            "gold": '["Drama"]',
            "inputs": '{"title": "T"}',
            "annotation": '{"options": {"A": "a"}, "more": Infinity}',
            "source": "study.jsonl",
        }
    ]


def test_an_item_of_which_nothing_is_said_is_its_own_cluster_and_has_no_gold(folder: Folder) -> None:
    folder.ingest(line(item_id="x"))
    (row,) = folder.rows("SELECT * FROM raw.item")
    assert (row["item_id"], row["cluster_id"], row["gold"], row["inputs"], row["annotation"]) == ("x", "x", None, None, None)


def test_an_item_that_is_stored_stays_and_lines_agree_with_it(folder: Folder) -> None:
    with warehouse.writer(folder.warehouse) as writer:
        stored = {
            "item_id": "x",
            "task": "isobench/math_parity",
            "cluster_id": "x",
            "gold": '"even"',
            "inputs": '{"text":"t","image":"0f"}',
        }
        writer.merge("item", [{**stored, "annotation": '{"recomputed_gold":"even"}', "source": "synth"}])
    report = folder.ingest(
        line(item_id="x"),
        line(item_id="x", arm="A", item={"cluster_id": "x", "gold": "even", "inputs": {"text": "t"}, "annotation": {"more": 1}}),
        line(item_id="x", arm="B", item={"gold": "odd"}),
        line(item_id="x", arm="B", item={"inputs": {"text": "u"}}),
        line(item_id="x", arm="B", item={"cluster_id": "film"}),
    )
    assert reasons(report) == [(number, "one item, two contents") for number in (3, 4, 5)]
    assert [refusal.detail for refusal in report.refused] == [
        'item \'x\' has gold "even" in the warehouse and "odd" on line 3',
        'item \'x\' has inputs.text "t" in the warehouse and "u" on line 4',
        'item \'x\' has cluster_id "x" in the warehouse and "film" on line 5',
    ]
    assert folder.one("SELECT source FROM raw.item") == "synth"


def test_gold_that_comes_too_late_for_a_stored_item_is_refused_not_dropped(folder: Folder) -> None:
    folder.ingest(line(item_id="x"))
    report = folder.ingest(line(item_id="x", arm="A", item={"gold": "odd"}), line(item_id="x", arm="B"), name="second.jsonl")
    assert detail(report) == "item 'x' has gold null in the warehouse and \"odd\" on line 1"


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({"gold": "even"}, {"gold": "odd"}, 'gold "even" on line 1 and "odd" on line 2'),
        ({"gold": 24}, {"gold": "24"}, 'gold 24 on line 1 and "24" on line 2'),
        ({"cluster_id": "a"}, {"cluster_id": "b"}, 'cluster_id "a" on line 1 and "b" on line 2'),
        (
            {"annotation": {"golden_view": "L"}},
            {"annotation": {"golden_view": "R"}},
            'annotation.golden_view "L" on line 1 and "R" on line 2',
        ),
    ],
)
def test_one_id_with_two_contents_is_refused_naming_both_lines(folder: Folder, first: Any, second: Any, said: str) -> None:
    report = folder.ingest(line(item_id="x", item=first), line(item_id="x", arm="A", item=second))
    assert reasons(report) == [(2, "one item, two contents")]
    assert detail(report) == f"item 'x' has {said}"
    assert report.stored == {"completion": 1}


def test_one_id_in_two_tasks_is_refused(folder: Folder) -> None:
    report = folder.ingest(line(item_id="x"), line(item_id="x", task="mmimdb"))
    assert detail(report) == 'item \'x\' has task "isobench/math_parity" on line 1 and "mmimdb" on line 2'


def test_the_same_content_in_other_words_is_no_contradiction(folder: Folder) -> None:
    one = json.dumps(line(item={"gold": 5, "inputs": {"a": [1, {"x": 1, "y": 2}]}}))
    other = json.dumps(line(arm="A", item={"inputs": {"a": [1, {"y": 2, "x": 1}]}, "gold": 5})).replace("[1,", "[ 1 ,")
    assert folder.ingest(one, other).refused == []


@pytest.mark.parametrize(("first", "second"), [(1, "1"), ("1", 1)])
def test_ids_1_and_quoted_1_are_refused_naming_both(folder: Folder, first: Any, second: Any) -> None:
    report = folder.ingest(line(item_id=first), line(item_id=first, arm="A"), line(item_id=second, arm="B"))
    assert reasons(report) == [(3, "one id in two types")]
    assert detail(report) == f"item_id is {json.dumps(first)} on line 1 and {json.dumps(second)} on line 3"
    assert folder.one("SELECT item_id FROM raw.item") == "1"


def test_clusters_1_and_quoted_1_are_refused(folder: Folder) -> None:
    report = folder.ingest(line(item_id="a", item={"cluster_id": 1}), line(item_id="b", item={"cluster_id": "1"}))
    assert reasons(report) == [(2, "one id in two types")]


# Identity


def test_a_higher_attempt_supersedes_and_the_same_attempt_twice_is_refused_by_line(folder: Folder) -> None:
    report = folder.ingest(line(), line(attempt=2), line(response="other"), line())
    assert reasons(report) == [(3, "repeated"), (4, "repeated")]
    assert report.refused[0].detail == (
        "line 1 holds the same completion model_id 'm', thinking False, task 'isobench/math_parity', "
        "item_id 'isobench/math_parity/1', arm 'AB', template 'plain', replicate 0, attempt 1"
    )
    assert folder.rows("SELECT attempt, response FROM raw.completion ORDER BY attempt") == [
        {"attempt": 1, "response": json.dumps(BODY)},
        {"attempt": 2, "response": json.dumps(BODY)},
    ]


def test_a_file_read_twice_changes_no_byte(folder: Folder) -> None:
    records = [line(arm=arm, latency_s=0.1, started_at="2026-01-31", item={"gold": "even"}) for arm in ("AB", "A", "B")]
    folder.ingest(*records)
    before = folder.digest()
    report = folder.ingest(*records)
    assert (report.already, report.stored, report.new_items, report.refused) == (3, {}, 0, [])
    assert folder.digest() == before


def test_what_is_stored_with_other_content_is_refused_naming_both(folder: Folder) -> None:
    folder.ingest(line())
    report = folder.ingest(line(response="other"), line(arm="A"), name="second.jsonl", study="study")
    assert reasons(report) == [(1, "stored with other content")]
    assert detail(report).startswith("the warehouse has completion model_id 'm', thinking False, task 'isobench/math_parity'")
    assert folder.one("SELECT response FROM raw.completion WHERE arm = 'AB'") == json.dumps(BODY)


def test_the_same_completions_under_another_study_are_another_study(folder: Folder) -> None:
    folder.ingest(line(), study="one")
    assert folder.ingest(line(), study="two").stored == {"completion": 1}
    assert folder.one("SELECT count(DISTINCT study) FROM raw.grid") == 2


# The study


def newest_grid(folder: Folder, study: str) -> list[str]:
    sql = f"SELECT arm FROM raw.grid WHERE study = '{study}' AND grid_id = (SELECT max(grid_id) FROM raw.grid WHERE study = '{study}')"
    return sorted(row["arm"] for row in folder.rows(sql))


def test_a_study_asks_for_what_it_holds_and_a_second_file_adds_to_it(folder: Folder) -> None:
    folder.ingest(line(), line(arm="A"), line(arm="A", attempt=2), "not JSON")
    assert newest_grid(folder, "study") == ["A", "AB"]
    folder.ingest(line(arm="B"), line(arm="A"), name="more.jsonl", study="study")
    assert newest_grid(folder, "study") == ["A", "AB", "B"]
    assert folder.one("SELECT count(DISTINCT grid_id) FROM raw.grid") == 2
    (cell,) = folder.rows("SELECT DISTINCT pin_provider, pin_precision, protocol, replicate FROM raw.grid")
    assert cell == {"pin_provider": None, "pin_precision": None, "protocol": "modality", "replicate": 0}
    assert folder.one("SELECT count(*) FROM raw.grid LEFT JOIN raw.completion USING (request_key) WHERE completion_id IS NULL") == 0


def test_an_interrupted_ingest_is_completed_by_the_next(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "BATCH_ROWS", 2)
    records = [line(item_id=str(number)) for number in range(7)]
    merge_records = warehouse.Writer.merge_records
    calls: list[int] = []

    def failing(writer: warehouse.Writer, rows: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return merge_records(writer, rows)

    monkeypatch.setattr(warehouse.Writer, "merge_records", failing)
    with pytest.raises(KeyboardInterrupt):
        folder.ingest(*records)
    monkeypatch.setattr(warehouse.Writer, "merge_records", merge_records)
    assert folder.one("SELECT count(*) FROM raw.completion") == 4
    report = folder.ingest(*records)
    assert (report.already, report.stored["completion"], report.new_items) == (4, 3, 7)
    assert len(newest_grid(folder, "study")) == 7


# What cannot be used


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("{", "not JSON"),
        ('{"model_id": "m",}', "not JSON"),
        ('{"model_id": "m"} {}', "not JSON"),
        ('{"model_id" "m"}', "not JSON"),
        ('{"model_id": "tab\there"}', "not JSON"),
        ("nonsense", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"response": ' + "[" * 100_000 + "]" * 100_000 + "}", "not JSON"),
        ("[1]", "not an object"),
        ('"text"', "not an object"),
        ("null", "not an object"),
        ("", "empty line"),
        (" \t ", "empty line"),
        (b'{"model_id": "\xff"}', "not UTF-8"),
        (b'{"model_id": "\xed\xa0\x80"}', "not UTF-8"),
        ("{}", "missing column"),
        (without(line(), "response"), "missing column"),
        (without(line(), "task", "arm"), "missing column"),
        (line(model_id=None), "missing column"),
        (line(task="chess"), "unknown task"),
        (line(arm="C"), "unknown arm"),
        (line(arm="title"), "unknown arm"),
        (line(task="mmimdb", arm="title", template="assess"), "unknown template"),
        (line(template="long"), "unknown template"),
        (line(protocol="chat"), "unknown protocol"),
        (line(table="grid"), "unknown table"),
        (line(table=3), "unknown table"),
        (line(model_id=3), "wrong column type"),
        (line(model_id=""), "wrong column type"),
        (line(model_id="\ud800"), "wrong column type"),
        (line(item_id=1.0), "wrong column type"),
        (line(thinking="yes"), "wrong column type"),
        (line(thinking=1), "wrong column type"),
        (line(attempt="1"), "wrong column type"),
        (line(attempt=0), "wrong column type"),
        (line(attempt=True), "wrong column type"),
        (line(replicate=-1), "wrong column type"),
        (line(replicate=2**31), "wrong column type"),
        (line(prompt_tokens=2**63), "wrong column type"),
        (line(latency_s=math.nan), "wrong column type"),
        (line(latency_s=10**400), "wrong column type"),
        (line(cost_usd="1"), "wrong column type"),
        (line(started_at="yesterday"), "wrong column type"),
        (line(started_at="0001-01-01T00:00:00+14:00"), "wrong column type"),
        (line(started_at=1754573000), "wrong column type"),
        (line(response_bytes="AA=="), "wrong column type"),
        (line(item=[1]), "wrong column type"),
        (line(item={"annotation": "x"}), "wrong column type"),
        (json.dumps(line())[:-1] + ', "arm": "A"}', "column named twice"),
        (json.dumps(line())[:-1] + ', "\\u0061rm": "A"}', "column named twice"),
        (line(protocol="tool_use", arm="tool", template="free"), "missing column"),
        (line(protocol="tool_use", arm="AB", rollout_id="r", turn=1), "unknown arm"),
        (line(protocol="tool_use", arm="tool", rollout_id="r", turn=1), "unknown template"),
        (line(protocol="tool_use", arm="tool", template="free", rollout_id="r", turn=0), "wrong column type"),
        ({"table": "rollout", "rollout_id": "r", "end_reason": "tired"}, "unknown end_reason"),
        ({"table": "observation", "rollout_id": "r", "turn": 1}, "missing column"),
        ({"table": "observation", "rollout_id": "r", "turn": 1, "call_index": 0, "kind": "cat"}, "unknown kind"),
        ({"table": "probe", "rollout_id": "r", "turn": 1, "call_index": 0, "stage": "after"}, "unknown stage"),
        ({"table": "item", "item_id": "x"}, "missing column"),
    ],
)
def test_a_line_that_cannot_be_used_is_listed_and_the_others_are_stored(folder: Folder, bad: Any, reason: str) -> None:
    report = folder.ingest(line(), bad, line(arm="A"))
    assert reasons(report) == [(2, reason)]
    assert report.stored == {"completion": 2}
    assert f"refused, {reason}: 1 (line 2)" in str(report)
    assert str(report).isprintable() or str(report).replace("\n", "").isprintable()


def test_a_line_of_any_length_is_refused_without_being_held(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LONGEST", 1000)
    report = folder.ingest(line(), line(response="x" * 5000), line(arm="A"), line(response="x" * 1000))
    assert reasons(report) == [(2, "too long"), (4, "too long")]


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_a_line(folder: Folder) -> None:
    parts = [json.dumps(line(arm=arm)) for arm in ("AB", "A", "B")]
    report = folder.ingest("\ufeff" + "\r\n".join(parts) + "\r\n")
    assert (report.lines, report.stored) == (3, {"completion": 3})


def test_a_judge_may_speak_of_any_task_and_arm(folder: Folder) -> None:
    assert folder.ingest(line(protocol="judge", task="vstar", arm="tool", template="free")).refused == []


def test_the_summary_lists_every_refused_line_by_reason(folder: Folder) -> None:
    report = folder.ingest(line(), *["x"] * 6, "", line(arm="\x1b[31mC"))
    assert str(report).splitlines() == [
        "study study: 9 lines read as the ingest form",
        "stored: 1 completion; already stored: 0; new items: 1; refused: 8",
        "refused, empty line: 1 (line 8)",
        "  line 8: nothing stands on it",
        "refused, not JSON: 6 (lines 2-7)",
        "  line 2: no value at character 1",
        "  line 3: no value at character 1",
        "  line 4: no value at character 1",
        "  and 3 more like these",
        "refused, unknown arm: 1 (line 9)",
        r"  line 9: '\x1b[31mC' is none of AB, A, B",
    ]


def test_runs_of_line_numbers_are_folded() -> None:
    assert ranges([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"


@pytest.mark.parametrize("content", ["", "\n\n", "x\ny", "[]", "\x00", "{}"])
def test_a_file_of_which_nothing_can_be_used_is_one_clear_error(folder: Folder, content: str) -> None:
    with pytest.raises(DataError, match=r"^no line of .*study\.jsonl can be used: .+$"):
        folder.ingest(content)
    assert not folder.warehouse.exists()


def test_a_file_that_cannot_be_read_is_one_clear_error(folder: Folder) -> None:
    with pytest.raises(DataError, match="cannot be read: No such file"):
        ingest(folder.path / "missing.jsonl", folder.warehouse)
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        ingest(folder.path, folder.warehouse)


# Other tables, other shapes


def test_a_rollout_comes_in_with_its_observations_and_probes(folder: Folder) -> None:
    item = {"gold": "B", "annotation": {"options": {"A": "red", "B": "blue"}}}
    turn = line(protocol="tool_use", task="vstar", item_id="vstar/0", arm="tool", template="free", rollout_id="r", item=item)
    observation = {
        "table": "observation",
        "rollout_id": "r",
        "turn": 1,
        "call_index": 0,
        "kind": "real",
        "executed": {"bbox_2d": [1, 2, 3, 4]},
    }
    probe = {"table": "probe", "rollout_id": "r", "turn": 1, "call_index": 0, "stage": "real", "options": {"A": [39]}, "response": BODY}
    rollout = {"table": "rollout", "rollout_id": "r", "max_calls": 12, "end_reason": "answer"}
    image = {"table": "image", "image_sha256": "0f", "width": 3, "changes": ["upright"]}
    records = [rollout, {**turn, "turn": 1}, observation, {**observation, "draw": 1}, probe, {**turn, "turn": 2}, image]
    report = folder.ingest(*records, observation)
    assert report.stored == {"completion": 2, "rollout": 1, "observation": 2, "probe": 1, "image": 1}
    assert detail(report) == "line 3 holds the same observation rollout_id 'r', turn 1, call_index 0, draw 0"
    assert folder.one("SELECT count(DISTINCT request_key) FROM raw.completion") == 2
    assert folder.rows("SELECT attempt, max_calls, end_reason FROM raw.rollout") == [
        {"attempt": 1, "max_calls": 12, "end_reason": "answer"}
    ]
    assert folder.one("SELECT response FROM raw.probe") == json.dumps(BODY)
    assert folder.one("SELECT count(*) FROM raw.completion JOIN raw.grid USING (request_key)") == 2
    before = folder.digest()
    assert folder.ingest(*records).already == 7
    assert folder.digest() == before


def test_a_cell_that_the_study_asks_for_itself_is_refused(folder: Folder) -> None:
    condition = {**lines.ABSENT["completion"], **without(line(), "response")}
    cell = {name: condition[name] for name in lines.IDENTITY}
    with warehouse.writer(folder.warehouse) as writer:
        writer.append_grid("study", [{**cell, "request_key": "k", "pin_provider": "p", "pin_precision": "bf16"}])
    report = folder.ingest(line(), line(arm="A"))
    assert report.stored == {"completion": 1}
    assert reasons(report) == [(1, "asked for by generate")]
    assert folder.one("SELECT count(*) FROM raw.grid WHERE grid_id LIKE '0002-%'") == 2
    assert folder.ingest(line(), study="another").stored == {"completion": 1}


@pytest.mark.parametrize("study", ["  ", "a\x1b[31m", "a\nb"])
def test_a_study_has_a_printable_name(folder: Folder, study: str) -> None:
    with pytest.raises(UsageError, match="cannot name a study"):
        folder.ingest(line(), study=study)
    assert not folder.warehouse.exists()


def test_items_come_in_by_themselves(folder: Folder) -> None:
    item = {"table": "item", "item_id": "x", "task": "isobench/math_parity", "gold": "even", "inputs": {"text": "t"}}
    report = folder.ingest(item, line(item_id="x"), {**item, "gold": "odd"}, {**item, "item_id": "y", "cluster_id": "x"}, item)
    assert report.stored == {"item": 2, "completion": 1}
    assert reasons(report) == [(3, "one item, two contents"), (5, "repeated")]
    assert folder.rows("SELECT item_id, cluster_id, gold FROM raw.item ORDER BY item_id") == [
        {"item_id": "x", "cluster_id": "x", "gold": '"even"'},
        {"item_id": "y", "cluster_id": "x", "gold": '"even"'},
    ]
    assert folder.ingest(item).already == 1


def test_a_json_list_of_lines_is_read_as_they_are(folder: Folder) -> None:
    text = json.dumps([line(arm="AB"), line(arm="C"), line(arm="A")], indent=2)
    report = folder.ingest(text)
    assert report.stored == {"completion": 2}
    assert reasons(report) == [(text[: text.index('"C"')].count("\n") + 1 - 4, "unknown arm")]


@pytest.mark.parametrize(("text", "refused"), [('[{}, {"a": 1', [1, 1]), ("[{}\n{}]", [1]), ("[{}]\nmore", [1, 2]), ("[{},\n\n]", [1])])
def test_a_json_list_that_breaks_off_says_where(tmp_path: Path, text: str, refused: list[int]) -> None:
    file = tmp_path / "list.json"
    file.write_text(text)
    found = list(source.records(file))
    assert [record.line for record in found if record.fault or record.text == "{}"] == refused


# The IsoBench-Eval log


def test_a_log_needs_the_models_name(folder: Folder) -> None:
    with pytest.raises(UsageError, match="add --model NAME"):
        folder.ingest(log_record())
    assert not folder.warehouse.exists()


@pytest.mark.parametrize("as_list", [False, True])
def test_a_log_is_read_as_a_list_or_a_record_a_line(folder: Folder, as_list: bool) -> None:
    records = [log_record(0), {**log_record(0), "modality": "image"}, log_record(1)]
    report = folder.ingest(json.dumps(records, indent=2), model="m") if as_list else folder.ingest(*records, model="m")
    assert report.form == "an IsoBench-Eval log"
    assert folder.rows("SELECT item_id, arm, template, model_id FROM raw.completion ORDER BY item_id, arm") == [
        {"item_id": "isobench/math_parity/0", "arm": "A", "template": "plain", "model_id": "m"},
        {"item_id": "isobench/math_parity/0", "arm": "B", "template": "plain", "model_id": "m"},
        {"item_id": "isobench/math_parity/1", "arm": "A", "template": "plain", "model_id": "m"},
    ]


def test_a_log_keeps_the_response_word_for_word_and_the_verdicts_beside_it(folder: Folder) -> None:
    folder.ingest(log_record(model_response="It is \\boxed{odd}.\n\0 \ud800"), model="m")
    (row,) = folder.rows("SELECT response, request, http_status, served_model, started_at FROM raw.completion")
    message = {"role": "assistant", "content": "It is \\boxed{odd}.\n\0 \ud800"}
    assert json.loads(row["response"]) == {"choices": [{"message": message}]}
    assert json.loads(row["request"])["logged"] == {
        "parsed_prediction": "odd",
        "ground_truth": None,
        "is_correct": True,
        "timestamp": "2025-08-07T13:40:52.805620",
    }
    assert (row["http_status"], row["served_model"], row["started_at"]) == (None, None, None)


def test_a_call_that_the_log_marks_as_failed_has_an_error_and_no_answer(folder: Folder) -> None:
    folder.ingest(log_record(parsed_prediction=-1, model_response="the answer to another prompt"), model="m")
    (row,) = folder.rows("SELECT response, error FROM raw.completion")
    assert row["response"] is None
    assert json.loads(row["error"])["model_response"] == "the answer to another prompt"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({**log_record(), "task_name": "physics"}, "unknown task"),
        ({**log_record(), "task_name": ["math_parity"]}, "unknown task"),
        ({**log_record(), "modality": "audio"}, "unknown modality"),
        ({**log_record(), "sample_index": "0"}, "wrong column type"),
        ({**log_record(), "sample_index": True}, "wrong column type"),
        (without(log_record(), "evaluation"), "missing column"),
        (without(log_record(), "dataset_sample"), "missing column"),
        ({**log_record(), "dataset_sample": {"label": 3}}, "wrong column type"),
        (log_record(prompt_type="tiny"), "unknown prompt"),
        (log_record(model_response=None), "wrong column type"),
        ({"cost": 1}, "missing column"),
        ("{", "not JSON"),
    ],
)
def test_a_record_of_a_log_that_cannot_be_used_is_listed(folder: Folder, bad: Any, reason: str) -> None:
    report = folder.ingest(log_record(5), bad, model="m")
    assert reasons(report) == [(2, reason)]


# Real files


def test_the_worked_examples_are_ingested_whole(folder: Folder, shared: Path) -> None:
    for name in ("worked_example", "worked_rollouts"):
        file = shared / "reference" / f"{name}.jsonl"
        records = [json.loads(text) for text in file.read_text().splitlines()]
        report = ingest(file, folder.warehouse)
        assert report.refused == []
        assert sum(report.stored.values()) == report.lines == len(records)
        for table, stored in report.stored.items():
            assert stored == sum(record.get("table", "completion") == table for record in records)
    assert {row["response"] for row in folder.rows("SELECT response FROM raw.completion")} == {
        body if body is None or isinstance(body, str) else json.dumps(body)
        for file in (shared / "reference").glob("worked_*.jsonl")
        for record in map(json.loads, file.read_text().splitlines())
        if record.get("table", "completion") == "completion"
        for body in [record["response"]]
    }


@pytest.fixture
def field_log(shared: Path) -> Path:
    return shared / "data" / "field" / "isobench_eval.gpt-5-nano.jsonl"


def test_the_real_log_is_ingested_whole(folder: Folder, field_log: Path) -> None:
    report = ingest(field_log, folder.warehouse, model="gpt-5-nano")
    assert (report.lines, report.stored, report.refused, report.new_items) == (1024, {"completion": 1024}, [], 512)
    logged = {}
    for record in map(json.loads, field_log.read_text().splitlines()):
        item_id = f"isobench/{record['task_name']}/{record['sample_index']}"
        logged[item_id, {"text": "A", "image": "B"}[record["modality"]]] = record
    rows = folder.rows("SELECT item_id, arm, template, gold, response, request FROM raw.completion JOIN raw.item USING (item_id)")
    assert {(row["item_id"], row["arm"]) for row in rows} == logged.keys()
    for row in rows:
        record = logged[row["item_id"], row["arm"]]
        assert json.loads(row["response"])["choices"][0]["message"]["content"] == record["evaluation"]["model_response"]
        assert json.loads(row["gold"]) == record["dataset_sample"]["label"]
        assert json.loads(row["request"])["logged"]["is_correct"] == record["evaluation"]["is_correct"]


def test_the_real_logs_items_are_those_of_the_public_data_set(folder: Folder, field_log: Path, shared: Path) -> None:
    ingest(field_log, folder.warehouse, model="gpt-5-nano")
    items = {row["item_id"]: row for row in folder.rows("SELECT * FROM raw.item")}
    for task, text in (("math_parity", "latex"), ("graph_maxflow", "adjacency_matrix")):
        (file,) = (shared / "data" / "isobench" / task).glob("*.parquet")
        for index, row in enumerate(polars.read_parquet(file).iter_rows(named=True)):
            item = items[f"isobench/{task}/{index}"]
            inputs = json.loads(item["inputs"])
            assert json.loads(item["gold"]) == row["label"]
            assert inputs["text"] == row[text]
            for name in set(inputs) - {"text"}:
                assert inputs[name] == row[name]


# Anything at all

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
json_values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5)
IDENTIFYING = ["model_id", "task", "item_id", "arm", "template", "attempt", "thinking", "protocol", "turn"]
columns = st.sampled_from([*IDENTIFYING, "table", "response", "item", "error", "request", "seed"])
odd_lines = st.builds(lambda extra: line(**extra), st.dictionaries(columns, json_values, max_size=3))
good_lines = st.builds(
    lambda arm, item, replicate, body: line(arm=arm, item_id=item, replicate=replicate, response=body),
    st.sampled_from(["AB", "A", "B"]),
    st.sampled_from(["x", "y", 1, "1"]),
    st.integers(0, 2),
    json_values,
)


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[[], Folder]:
    """Makes a new folder for each example."""
    numbers = count()

    def make() -> Folder:
        path = tmp_path / str(next(numbers))
        path.mkdir()
        return Folder(path)

    return make


@given(content=st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(content=b"\xef\xbb\xbf[{")
@example(content=b"[{}]\n{}")
@example(content=b"\xff\xfe{\x00}\x00")
@settings(deadline=None, max_examples=500, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_crash_it(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    found = list(source.records(file))
    starts = [record.line for record in found]
    assert starts == sorted(starts)
    for record in found:
        with pytest.raises(Unusable):
            lines.read(source.members(record.text), "s")


@given(record=good_lines | odd_lines)
@settings(deadline=None, max_examples=1000)
def test_a_line_is_a_row_that_the_warehouse_can_take_or_is_refused(record: dict[str, Any]) -> None:
    try:
        row = lines.read(source.members(json.dumps(record)), "s")
    except Unusable:
        return
    json.dumps(journal.encode(row.table, row.values), ensure_ascii=False).encode()
    assert all(row.values[name] is not None for name in warehouse.KEYS[row.table])


@given(records=st.lists(good_lines | odd_lines, min_size=5, max_size=30))
@FUZZ
def test_every_line_is_accounted_for(fresh: Callable[[], Folder], records: list[dict[str, Any]]) -> None:
    folder = fresh()
    for _ in range(2):
        report = folder.ingest(line(), *records)
        assert report.lines == len(records) + 1
        assert report.lines == sum(report.stored.values()) + report.already + len(report.refused)
        assert len({refusal.line for refusal in report.refused}) == len(report.refused)
    assert not report.stored
    assert folder.one("SELECT count(*) FROM raw.completion") == folder.one("SELECT count(DISTINCT completion_id) FROM raw.completion")
    assert folder.one("SELECT count(*) - count(DISTINCT item_id) FROM raw.item") == 0


@given(value=st.dictionaries(st.text(), json_values), indent=st.sampled_from([None, 0, 3]), ascii_only=st.booleans())
@settings(deadline=None)
def test_an_object_is_taken_apart_as_pythons_own_parser_does(value: dict[str, Any], indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    found = source.members(text)
    assert repr({name: member.value for name, member in found.items()}) == repr(json.loads(text))
    assert all(repr(json.loads(member.text)) == repr(member.value) and member.text in text for member in found.values())


@given(text=st.text(alphabet='{}[]":,\\ \n1ae', max_size=30))
@settings(deadline=None, max_examples=500)
def test_what_pythons_own_parser_refuses_is_refused(text: str) -> None:
    try:
        pairs = json.loads(text, object_pairs_hook=lambda pairs: pairs)
        is_usable = text.strip(" \n").startswith("{") and len({name for name, _ in pairs}) == len(pairs)
    except ValueError:
        is_usable = False
    if is_usable:
        assert list(source.members(text)) == [name for name, _ in pairs]
    else:
        with pytest.raises(Unusable):
            source.members(text)
