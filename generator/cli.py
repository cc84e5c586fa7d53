"""The writing commands. What they need is imported inside them, so that `vlmaudit --help` stays quick."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

ParamsOption = Annotated[Path, typer.Option("--params", metavar="PATH", help="The file that describes the studies.")]
DataOption = Annotated[Path, typer.Option("--data", metavar="FOLDER", help="The folder that holds items/ and images/.")]
WarehouseOption = Annotated[Path, typer.Option("--warehouse", metavar="PATH", help="The warehouse.")]
StudyOption = Annotated[list[str] | None, typer.Option("--study", metavar="NAME", help="Only this study. Repeatable.")]

PARAMS, DATA, WAREHOUSE = Path("params.yaml"), Path("data"), Path("data/warehouse.duckdb")


def register(app: typer.Typer) -> None:
    """Add the writing commands to the application."""
    for command in (items, generate, ingest, status, doctor):
        app.command()(command)


def items(params: ParamsOption = PARAMS, data: DataOption = DATA) -> None:
    """Make the items and images that the studies need.

    They come from the public data sets, or are synthetic ones in their form, as the studies say.
    """
    from generator import items as making
    from generator import study
    from generator.corpus import wanted

    for task, count in making.prepare(wanted(study.load(params).values()), data).items():
        print(f"{count} items of {task} in {data / 'items'}")


def generate(
    study: StudyOption = None,
    model: Annotated[list[str] | None, typer.Option("--model", metavar="NAME", help="Call only this model. Repeatable.")] = None,
    concurrency: Annotated[int | None, typer.Option("--concurrency", min=1, help="Requests in flight; by default the study's.")] = None,
    params: ParamsOption = PARAMS,
    warehouse: WarehouseOption = WAREHOUSE,
    data: DataOption = DATA,
) -> None:
    """Run studies: ask models, store every response.

    Only what is not settled is asked. Run it again to go on after a stop, or to retry what failed.
    """
    from generator import generate as running

    command = " ".join(["vlmaudit generate", *(f"--study {name}" for name in study or ()), *(f"--model {name}" for name in model or ())])
    options = running.Options(tuple(model or ()), concurrency, command, _note)
    try:
        results = running.generate(params, study or (), warehouse, data, options)
    except KeyboardInterrupt:
        _note("all that was received is stored; the same command goes on from here")
        raise
    for result in results:
        print(f"{result.study}: {result.settled:,} of {result.requests:,} requests settled, {result.stored:,} exchanges in this run")
        for failures in result.failures:
            print(f"  {failures}")
        if result.failures:
            print("  run the same command again to retry what failed")


def ingest(
    file: Annotated[Path, typer.Argument(help="JSON lines in the ingest form, or an IsoBench-Eval log.")],
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="The model of records that name none.")] = None,
    study: Annotated[str | None, typer.Option("--study", metavar="NAME", help="The study to add to; by default the file's name.")] = None,
    warehouse: WarehouseOption = WAREHOUSE,
) -> None:
    """Store completions that others made."""
    from generator.ingest import ingest as reading

    print(reading(file, warehouse, study, model))


def status(
    study: StudyOption = None,
    cost: Annotated[bool, typer.Option("--cost", help="Dry run: what is still to be sent, with estimates from what is stored.")] = False,
    params: ParamsOption = PARAMS,
    warehouse: WarehouseOption = WAREHOUSE,
    data: DataOption = DATA,
) -> None:
    """Show how far each study is.

    Requests done, missing and failed, by model, task, arm and template.
    """
    from analysis.render import to_table
    from generator import status as reporting

    if cost:
        estimate = reporting.cost(params, study or (), warehouse, data)
        if estimate.rows:
            print(to_table(estimate))
        print(reporting.total(estimate))
    else:
        state = reporting.status(warehouse, study or ())
        print(to_table(state))
        print("\n".join(reporting.totals(state)))
    for journal, count in reporting.waiting(warehouse).items():
        _note(f"{count:,} records more wait in {journal}: the next generate or ingest merges them")


def doctor(params: ParamsOption = PARAMS, warehouse: WarehouseOption = WAREHOUSE, data: DataOption = DATA) -> int:
    """Check the warehouse and what generating needs.

    Each fault comes with its remedy; exit code 3 where there is one.
    """
    from generator import doctor as checking

    findings = checking.examine(params, warehouse, data)
    for finding in findings:
        print(finding)
    return 3 if any(finding.is_fault for finding in findings) else 0


def _note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
