"""Subjects solve the text inputs themselves, exactly."""

from pathlib import Path

import polars
import pytest

from generator.subjects.answers import alternatives, expression, guess, parity, solve
from tests.generator.subjects.asking import TASKS


@pytest.mark.parametrize(
    ("latex", "held"),
    [
        (r"$$f(x) = - \frac{2 x^{5}}{2 x^{8} - 4 x^{6} + 11.16}$$", "odd"),
        (r"$$f(x) = \frac{- 2 x^{8} - 2 x^{5} - 4 x + 0.9}{2 x^{10} + 16.19}$$", "neither"),
        (r"$$f(x) = \frac{x^{3} \cdot \left(10.0 x^{6} - 10.0\right)}{4.0 x^{10} + 12.0}$$", "odd"),
        (r"$$f(x) = \frac{2 x \left(x^{8} + 1\right)}{10 x^{10} + 1.56}$$", "odd"),
        (r"$$f(x) = \frac{\left(x^{2} + 1\right) \left(x^{2} - 1\right)}{3}$$", "even"),
        (r"$$f(x) = x^{4} + 2$$", "even"),
        (r"$$f(x) = 0$$", "odd"),
        (r"f(x) = x + 1", "neither"),
        (r"$$f(x) = \sin x$$", None),
        (r"$$f(x) = __import__('os')$$", None),
        ("", None),
        ("$$f(x) = " + "(" * 3000, None),
    ],
)
def test_parity_is_read_from_latex(latex: str, held: str | None) -> None:
    assert parity(latex) == held


def test_latex_becomes_an_expression() -> None:
    assert expression(r"$$f(x) = - \frac{2 x^{5}}{x \left(x + 1\right)}$$") == "-(2*x**(5))/(x*(x+1))"


def test_every_label_of_the_public_set_is_found_but_the_five_that_are_wrong(shared: Path) -> None:
    rows = polars.read_parquet(shared / "data/isobench/math_parity/*.parquet").select("latex", "label").rows()
    assert len(rows) == 384
    assert [n for n, (latex, label) in enumerate(rows) if parity(latex) != label] == [57, 71, 94, 164, 268]


def test_every_flow_of_the_public_set_is_found(shared: Path) -> None:
    rows = polars.read_parquet(shared / "data/isobench/graph_maxflow/*.parquet").rows(named=True)
    found = [solve("isobench/graph_maxflow", row["adjacency_matrix"], (row["source_node"], row["sink_node"])) for row in rows]
    assert found == [str(row["label"]) for row in rows]


@pytest.mark.parametrize("text", ["", "[[0, 1]", "[[0, 1], [0]]", "no matrix", "[[0]]"])
def test_a_matrix_that_is_none_has_no_flow(text: str) -> None:
    assert solve("isobench/graph_maxflow", text, (0, 1)) is None


@pytest.mark.parametrize("task", TASKS)
def test_alternatives_are_other_answers_and_as_many_for_each(task: str) -> None:
    made = [guess(task, n) for n in range(200)]
    assert len(set(made)) > 2
    counts = {len(set(alternatives(task, answer)) - {answer}) for answer in made}
    assert len(counts) == 1
