"""Any body, any text: no crash, no guess, one row in and one outcome out; and what plain Python reads, the views read.

FUZZ=10000 tries that many bodies and texts; without it a few hundred. Each example is a batch that is read by one query.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sql import plain_reading
from tests.sql.calls import body, call, fields, session

BATCH = 250
fuzz = settings(max_examples=max(2, int(os.environ.get("FUZZ", "500")) // BATCH), deadline=None, suppress_health_check=list(HealthCheck))
batch = given(seed=st.integers(0, 2**64), odd=st.lists(st.text(max_size=6) | st.floats().map(str), min_size=1, max_size=8))

TASKS = ["mmimdb", "isobench/math_parity", "isobench/graph_maxflow", "goldenview"]
LABELS = [
    *("ANSWER", "PLOT_ALONE", "POSTER_ALONE", "TEXT_ALONE", "IMAGE_ALONE", "SET_A_ALONE", "WITH_POSTER", "WITH_TEXT", "WITH_IMAGE"),
    *("WITH_SET_B", "SUFFICIENCY", "Answer"),
]
VALUES = [
    *("odd", "Even", "neither", "neither even nor odd", "7", "+7", "007", "-0", "5.0", "12 units", "A", "b", "E", "B or C", "(C)"),
    *('["Drama"]', '["crime", "Drama"]', "['War']", '["News"]', "[]", "[1]", '["Sci\\u002dFi"]', '["a\\"war"]', '["Drama",]', "[NaN]"),
    *(
        "SUFFICIENT",
        "insufficient",
        "SUFFICIENT or INSUFFICIENT",
        "$A$",
        "\\boxed{7}",
        "\\boxed{\\text{odd}}",
        "**B**",
        "not even",
        "",
        ".",
    ),
]
PROSE = [
    *(
        "The function is odd.",
        "If f were even",
        "so the max flow is 12 units",
        "The answer is B.",
        "Final answer:",
        "not sure",
        "\ufeff",
        "\u00a0",
    ),
    *(
        "<think>",
        "</think>",
        "```",
        "{",
        "}",
        "[",
        "]",
        '"',
        "\\",
        "\x00",
        "\ud800",
        "\U0001f600",
        "\uff21",
        "\r",
        "\t",
        " ",
        ": ",
        "**",
        "$",
    ),
]


class Maker:
    """Draws bodies and texts from a seed and a few odd strings."""

    def __init__(self, seed: int, odd: list[str]) -> None:
        self.random = Random(seed)
        self.words = VALUES + PROSE + LABELS + odd

    def text(self) -> str:
        pick = self.random
        lines = []
        for _ in range(pick.randrange(7)):
            words = [pick.choice(self.words) for _ in range(pick.randrange(5))]
            blank, end = pick.choice(["", " ", "  ", "\t"]), pick.choice(["", "", ".", " ", "\r"])
            lines.append(pick.choice([f"{pick.choice(LABELS)}:{blank}{pick.choice(VALUES)}{end}", " ".join(words)]))
        return "\n".join(lines)

    def value(self, depth: int = 3) -> Any:
        pick = self.random
        if depth and pick.random() < 0.5:
            names = ("choices", "message", "content", "error", "type", "text", "finish_reason")
            inner = [self.value(depth - 1) for _ in range(pick.randrange(4))]
            return inner if pick.random() < 0.5 else {pick.choice(names): each for each in inner}
        return pick.choice([None, True, 0, -1.5, 10**30, float("inf"), pick.choice(self.words), [], {}])

    def good_body(self) -> str:
        pick = self.random
        finish: Any = pick.choice(["stop", "stop", "stop", "length", None, "repetition", "error", "STOP", 3])
        thought: dict[str, Any] = {"reasoning": self.text()} if pick.random() < 0.3 else {}
        return body(self.text(), finish, **thought)

    def any_body(self) -> str | None:
        pick = self.random
        good = self.good_body()
        cut = pick.randrange(len(good) + 1)
        odd = body(self.value(), self.value(0))
        drawn = pick.choice(
            [None, good, odd, json.dumps(self.value()), self.text(), good[:cut], good[:cut] + pick.choice(self.words) + good[cut:]]
        )
        # a VARCHAR holds no lone surrogate: a body that has one is kept as bytes
        return drawn.encode("utf-8", "replace").decode() if drawn else drawn

    def prompt(self) -> tuple[str, str, str]:
        return self.random.choice(TASKS), self.random.choice(["AB", "A", "B"]), self.random.choice(["plain", "assess"])


@fuzz
@batch
def test_one_row_in_one_outcome_out(seed: int, odd: list[str]) -> None:
    make = Maker(seed, odd)
    calls = [
        call(
            str(n),
            make.any_body(),
            *make.prompt(),
            http_status=make.random.choice([200, None, 500]),
            error=make.random.choice([None, {"type": "x"}]),
        )
        for n in range(BATCH)
    ]
    for rules in ("strict", "lenient"):
        reading = session(calls, settings={"parse.rules": rules})
        outcomes = {row["completion_id"]: row["outcome"] for row in reading.rows("SELECT completion_id, outcome FROM attrition.outcome")}
        assert reading.rows("SELECT count(*) AS n FROM attrition.outcome") == [{"n": BATCH}]
        assert len(outcomes) == BATCH
        unread = {"repetition", "truncated", "provider_error"}
        assert set(outcomes.values()) <= unread | {"unparsed_answer", "unparsed_report", "usable"}
        assert {key for key, _ in fields(reading)} == {key for key, outcome in outcomes.items() if outcome not in unread}


@fuzz
@batch
def test_the_views_read_what_plain_python_reads(seed: int, odd: list[str]) -> None:
    make = Maker(seed, odd)
    drawn = [(make.good_body(), make.prompt(), make.random.choice([200, 200, None, 500])) for _ in range(BATCH)]
    reading = session(call(str(n), said, *prompt, http_status=status) for n, (said, prompt, status) in enumerate(drawn))
    endings = {row["completion_id"]: row["ending"] for row in reading.rows("SELECT completion_id, ending FROM attrition.ending")}
    read: dict[str, dict[str, plain_reading.Read]] = {}
    for (key, label), row in fields(reading).items():
        read.setdefault(key, {})[label] = (row["value"], row["reason"])
    for n, (said, prompt, status) in enumerate(drawn):
        ended, final = plain_reading.ending(said, status, None)
        wanted = dict(plain_reading.fields(*prompt, final or "")) if ended == "completed" else {}
        assert (endings[str(n)], read.get(str(n), {})) == (ended, wanted), (said, prompt)


def stands_in(value: str, kind: str, text: str) -> bool:
    """Whether a text holds what was read of it, spelling apart."""
    plain = text.replace("\uff21", "A").lower()
    if kind == "genres":
        return all(genre.lower() in plain.replace("\\u002d", "-") for genre in json.loads(value))
    if kind == "integer":
        return re.search(f"(?<![0-9])0*{value.removeprefix('-')}(?![0-9])", plain) is not None
    return value.lower() in plain.replace(" ", "") or (value == "neither" and "not even" in plain)


@fuzz
@batch
def test_nothing_is_read_that_is_not_there_and_both_rule_sets_agree_where_both_read(seed: int, odd: list[str]) -> None:
    make = Maker(seed, odd)
    drawn = [(make.text(), make.prompt()) for _ in range(BATCH)]
    reading = session(call(str(n), body(said), *prompt) for n, (said, prompt) in enumerate(drawn))
    strict, lenient = fields(reading, "parse.strict"), fields(reading, "parse.lenient")
    for key, row in lenient.items():
        said, (_, _, template) = drawn[int(key[0])]
        if row["ok"]:
            assert stands_in(row["value"], row["kind"], said), (said, row)
        if row["ok"] and strict[key]["ok"] and (template == "assess" or row["kind"] != "genres"):
            assert row["value"] == strict[key]["value"], (said, row)


def test_a_made_up_study_is_read_as_plain_python_reads_it(shared: Path, tmp_path: Path) -> None:
    made = tmp_path / "made.jsonl"
    options = ["--seed", "7", "--models", "10", "--scale", "0.01", "--prose", "40", "--faults", "0.5", "--retries", "0.5"]
    subprocess.run([sys.executable, str(shared / "reference/make_completions.py"), str(made), *options], check=True)
    rows = [json.loads(said) for said in made.read_text(encoding="utf-8").splitlines()]
    calls = []
    for n, row in enumerate(rows):
        response = row["response"] if isinstance(row["response"], str) or row["response"] is None else json.dumps(row["response"])
        calls.append({**row, "completion_id": str(n), "request_key": str(n), "response": response})
        calls[-1].pop("item")
    reading = session(calls)
    endings = {row["completion_id"]: row["ending"] for row in reading.rows("SELECT completion_id, ending FROM attrition.ending")}
    read = {key: (row["value"], row["reason"]) for key, row in fields(reading).items()}
    wanted = {}
    for made_call in calls:
        key = made_call["completion_id"]
        ended, final = plain_reading.ending(made_call["response"], made_call["http_status"], made_call["error"])
        assert endings[key] == ended
        if ended == "completed":
            of = plain_reading.fields(made_call["task"], made_call["arm"], made_call["template"], final or "")
            wanted.update({(key, label): said for label, said in of})
    assert read == wanted
    assert len(set(endings.values())) == 4
