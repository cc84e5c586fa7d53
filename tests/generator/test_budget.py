"""The ceiling holds whatever the requests in flight turn out to cost, as long as none costs twice what any did before."""

from hypothesis import given
from hypothesis import strategies as st

from generator.budget import Budget, Prices


def test_the_first_request_goes_alone() -> None:
    budget = Budget(1.0)
    assert budget.reserve("a", "m")
    assert not budget.reserve("b", "m")
    budget.charge("m", 0.01)
    budget.release("a")
    assert [budget.reserve(key, "m") for key in "bcde"] == [True, True, True, False]


def test_what_is_reserved_leaves_less_room() -> None:
    budget = Budget(1.0, spent=0.5, prices={"m": Prices(observed=10, dearest=0.1)})
    assert [budget.reserve(key, "m") for key in "abc"] == [True, True, False]
    budget.charge("m", 0.05)
    budget.release("a")
    assert budget.reserve("c", "m")
    assert not budget.idle


def test_an_answer_of_unknown_cost_counts_as_the_dearest() -> None:
    budget = Budget(1.0, prices={"m": Prices(observed=1, dearest=0.3)})
    budget.charge("m", None)
    assert (budget.spent, budget.prices["m"]) == (0.3, Prices(observed=2, dearest=0.3))


def test_nothing_goes_out_once_the_ceiling_is_reached() -> None:
    assert not Budget(0.0).reserve("a", "m")
    assert not Budget(1.0, spent=1.0).reserve("a", "m")


@given(st.floats(1, 20), st.integers(1, 8), st.lists(st.floats(0.5, 1.0), min_size=1, max_size=60), st.data())
def test_spending_never_exceeds_the_ceiling(ceiling: float, flying: int, costs: list[float], data: st.DataObject) -> None:
    budget, in_flight = Budget(ceiling), list[int]()
    for n in range(len(costs)):
        while not budget.reserve(str(n), "m"):
            if not in_flight:
                return
            land(budget, in_flight, costs, data)
        in_flight.append(n)
        if len(in_flight) == flying:
            land(budget, in_flight, costs, data)
        assert budget.spent + sum(costs[flight] for flight in in_flight) <= ceiling + 1e-9


def land(budget: Budget, in_flight: list[int], costs: list[float], data: st.DataObject) -> None:
    n = in_flight.pop(data.draw(st.integers(0, len(in_flight) - 1)))
    budget.charge("m", costs[n])
    budget.release(str(n))
