"""Progress says what is so: what is stored, how fast it goes now, and that it does not know where it does not."""

from typing import Any

import pytest

from generator.progress import Progress, Tally

KNOWN: dict[str, Any] = {"prompt_tokens": 100, "completion_tokens": 10, "cost_usd": 0.5}
UNKNOWN: dict[str, Any] = {"prompt_tokens": None, "completion_tokens": None, "cost_usd": None}


class Watch:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def test_the_time_left_is_unknown_until_something_ended() -> None:
    progress = Progress("s", now=Watch())
    progress.show(Tally(total=100))
    assert progress.line(Tally(total=100)) == "s: 0 of 100 done, 0 failed, 0.0/s, 0 tokens, $0.0000, time left unknown"


def test_rate_and_time_left_follow_the_last_half_minute() -> None:
    watch = Watch()
    progress = Progress("s", say=lambda line: None, now=watch)
    for second in range(61):
        watch.time = second
        ended = 10 * min(second, 30)
        progress.show(tally := Tally(total=1_300, done=ended, ended=ended, tokens=1_500))
        if second == 30:
            assert progress.line(tally) == "s: 300 of 1,300 done, 0 failed, 10.0/s, 1.5 k tokens, $0.0000, 1:40 left"
    assert progress.rate() == pytest.approx(0, abs=0.5)


def test_settled_before_this_run_counts_as_done_and_not_as_speed() -> None:
    watch = Watch()
    progress = Progress("s", now=watch)
    progress.show(Tally(total=100, done=90))
    watch.time = 10
    progress.show(Tally(total=100, done=95, ended=5))
    assert "95 of 100 done, 0 failed, 0.5/s" in progress.line(Tally(total=100, done=95, ended=5))


def test_lines_are_some_seconds_apart_where_there_is_no_terminal() -> None:
    watch, said = Watch(), list[str]()
    progress = Progress("s", say=said.append, now=watch)
    for tenth in range(300):
        watch.time = tenth / 10
        progress.show(Tally(total=1_000, done=tenth, ended=tenth))
    assert len(said) == 2


def test_a_request_counts_once_when_it_ends() -> None:
    tally = Tally(total=3)
    tally.count(UNKNOWN, is_good=False, is_last=False)
    tally.count(KNOWN, is_good=True, is_last=True)
    tally.count(UNKNOWN, is_good=False, is_last=True)
    tally.count(UNKNOWN, is_good=True, is_last=True)
    assert (tally.done, tally.failed, tally.ended, tally.tokens, tally.cost_usd, tally.unpriced) == (2, 1, 3, 110, 0.5, 1)


@pytest.mark.parametrize(
    ("tally", "said"),
    [
        (Tally(total=1, done=1, ended=1, unpriced=1), "cost not reported, nothing left"),
        (Tally(total=1, done=1, ended=1, cost_usd=0.25), "$0.2500, nothing left"),
        (Tally(total=9, done=9, ended=9, cost_usd=0.25, unpriced=2), "$0.2500 and 2 answers of unknown cost, nothing left"),
    ],
)
def test_cost_is_what_was_said(tally: Tally, said: str) -> None:
    assert Progress("s").line(tally).endswith(said)
