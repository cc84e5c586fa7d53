"""The writing commands. What they need is imported inside them, so that `vlmaudit --help` stays quick."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from analysis.errors import UsageError

if TYPE_CHECKING:
    from generator.run import Result
    from generator.shard import Shard

ParamsOption = Annotated[Path, typer.Option("--params", metavar="PATH", help="The file that describes the studies.")]
DataOption = Annotated[Path, typer.Option("--data", metavar="FOLDER", help="The folder that holds items/ and images/.")]
WarehouseOption = Annotated[Path, typer.Option("--warehouse", metavar="PATH", help="The warehouse.")]
StudyOption = Annotated[list[str] | None, typer.Option("--study", metavar="NAME", help="Only this study. Repeatable.")]
ModelOption = Annotated[list[str] | None, typer.Option("--model", metavar="NAME", help="Call only this model. Repeatable.")]
ConcurrencyOption = Annotated[int | None, typer.Option("--concurrency", min=1, help="Requests in flight; by default the study's.")]
ShardOption = Annotated[str | None, typer.Option("--shard", metavar="i/n", help="Only part i of n, one for each of n machines.")]
StageOption = Annotated[Literal["rollouts", "probes", "verdicts"] | None, typer.Option("--only", help="Only this part of the work.")]

PARAMS, DATA, WAREHOUSE = Path("params.yaml"), Path("data"), Path("data/warehouse.duckdb")


def register(app: typer.Typer) -> None:
    """Add the writing commands to the application."""
    for command in (items, generate, rollout, ingest, merge, status, doctor):
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
    model: ModelOption = None,
    concurrency: ConcurrencyOption = None,
    shard: ShardOption = None,
    params: ParamsOption = PARAMS,
    warehouse: WarehouseOption = WAREHOUSE,
    data: DataOption = DATA,
) -> None:
    """Run modality studies: ask models, store every response.

    Only what is not settled is asked. Run it again to go on after a stop, or to retry what failed.
    """
    from generator import generate as running
    from generator.shard import parse

    part = parse(shard)
    options = running.Options(tuple(model or ()), concurrency, _command("generate", study, model, part), _note, shard=part)
    _run(partial(running.generate, params, study or (), warehouse, data, options), "requests")


def rollout(
    study: StudyOption = None,
    model: ModelOption = None,
    concurrency: ConcurrencyOption = None,
    shard: ShardOption = None,
    only: StageOption = None,
    params: ParamsOption = PARAMS,
    warehouse: WarehouseOption = WAREHOUSE,
    data: DataOption = DATA,
) -> None:
    """Run tool-use studies: let models crop, probe what they saw, have answers judged.

    Only what is not settled is asked. Run it again to go on after a stop, or to retry what failed.
    """
    from generator import run, tool_use
    from generator.shard import parse

    stages, part = (only,) if only else run.STAGES, parse(shard)
    options = run.Options(tuple(model or ()), concurrency, _command("rollout", study, model, part), _note, stages=stages, shard=part)
    _run(partial(tool_use.rollout, params, study or (), warehouse, data, options), "rollouts")


def ingest(
    file: Annotated[Path, typer.Argument(help="JSON lines in the ingest form, or an IsoBench-Eval log.")],
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="The model of records that name none.")] = None,
    study: Annotated[str | None, typer.Option("--study", metavar="NAME", help="The study to add to; by default the file's name.")] = None,
    warehouse: WarehouseOption = WAREHOUSE,
) -> None:
    """Store completions that others made."""
    from generator.ingest import ingest as reading

    print(reading(file, warehouse, study, model))


def merge(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The warehouse to add to; it is made where it is missing.")],
    sources: Annotated[list[Path], typer.Argument(metavar="IN...", help="The warehouses that it takes rows from; they are only read.")],
) -> None:
    """Bring the warehouses of several machines together in one.

    Each row once; rows that differ under one key are named, and nothing is written. Images of observations beside them come along.
    """
    from generator import merge as merging

    merged = merging.merge(out, sources)
    print(f"{out}: {merged}")
    if merged.missing:
        _note(f"{merged.missing:,} images of observations lie beside no warehouse: bring data/observations too, and merge again")


def status(
    study: StudyOption = None,
    cost: Annotated[bool, typer.Option("--cost", help="Dry run: what is still to be sent, with estimates from what is stored.")] = False,
    shard: Annotated[str | None, typer.Option("--shard", metavar="i/n", help="With --cost: of part i of n.")] = None,
    params: ParamsOption = PARAMS,
    warehouse: WarehouseOption = WAREHOUSE,
    data: DataOption = DATA,
) -> None:
    """Show how far each study is.

    Requests done, missing and failed, by model, task, arm and template.
    """
    from analysis.render import to_table
    from generator import status as reporting
    from generator.shard import parse

    if shard and not cost:
        raise UsageError("--shard goes with --cost: what a warehouse holds is shown whole")
    if cost:
        estimate = reporting.cost(params, study or (), warehouse, data, parse(shard))
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
    from analysis.render import inert
    from generator import doctor as checking

    findings = checking.examine(params, warehouse, data)
    for finding in findings:
        print(inert(str(finding), keep="\n"))
    return 3 if any(finding.is_fault for finding in findings) else 0


def _command(name: str, studies: list[str] | None, models: list[str] | None, shard: Shard) -> str:
    chosen = [*(f"--study {study}" for study in studies or ()), *(f"--model {model}" for model in models or ())]
    if shard.of > 1:
        chosen.append(f"--shard {shard}")
    return " ".join([f"vlmaudit {name}", *chosen])


def _run(running: Callable[[], list[Result]], what: str) -> None:
    try:
        results = running()
    except KeyboardInterrupt:
        _note("all that was received is stored; the same command goes on from here")
        raise
    for result in results:
        print(f"{result.study}: {result.settled:,} of {result.requests:,} {what} settled, {result.stored:,} exchanges in this run")
        for failures in result.failures:
            print(f"  {failures}")
        if result.failures:
            print("  run the same command again to retry what failed")


def _note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
