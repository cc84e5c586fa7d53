"""Makes the views of this folder in a session of pyspark, over raw tables as Parquet, and writes the results where asked.

    python run.py RAW [--out FOLDER]

RAW is a folder that `vlmaudit export --raw parquet` wrote. Each result becomes a folder of Parquet below FOLDER.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPORTED = ("attrition.", "modality.", "tooluse.", "quality.")
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.variable.substitute": "false",
    "spark.driver.extraJavaOptions": "-Xss16m",
}


def statements(folder: Path, raw: Path) -> Iterator[tuple[str, str]]:
    """The statements of the folder's files in order, each with the file's name; `raw` is where the Parquet lies."""
    for file in sorted(folder.glob("[0-9][0-9][0-9]_*.sql")):
        code = "\n".join(line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("--"))
        for statement in re.split(r";\n", f"{code}\n"):
            if statement.strip():
                yield file.name, statement.replace("${raw}", raw.resolve().as_posix()) if file.name.startswith("000_") else statement


def session(scratch: str, master: str = "local[*]", **settings: str) -> Any:
    """A session of its own whose tables lie in the folder `scratch`."""
    from pyspark.sql import SparkSession

    building = SparkSession.builder.master(master).appName("vlmaudit").config("spark.sql.warehouse.dir", scratch)
    for name, value in {**SETTINGS, **settings}.items():
        building = building.config(name, value)
    return building.getOrCreate()


def make(spark: Any, folder: Path, raw: Path) -> list[str]:
    """Make every relation; the names of those that are reported."""
    for file, statement in statements(folder, raw):
        try:
            spark.sql(statement)
        except Exception:
            print(f"in {file}:", file=sys.stderr)
            raise
    names = [file.name[4:].removesuffix(".sql") for file in sorted(folder.glob("[0-9][0-9][0-9]_*.sql"))]
    return [name for name in names if name.startswith(REPORTED)]


def main() -> None:
    """Run the folder that this file lies in."""
    parser = argparse.ArgumentParser(description="Make vlmaudit's views in Spark over raw tables as Parquet.")
    parser.add_argument("raw", type=Path, help="the folder that `vlmaudit export --raw parquet` wrote")
    parser.add_argument("--out", type=Path, help="where the results are written as Parquet, a folder each")
    parser.add_argument("--master", default="local[*]", help="Spark's master (default: %(default)s)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        spark = session(scratch, asked.master)
        spark.sparkContext.setLogLevel("ERROR")
        names = make(spark, Path(__file__).resolve().parent, asked.raw)
        for name in names if asked.out else ():
            spark.table(name).coalesce(1).write.mode("overwrite").parquet(str(asked.out / name))
        print(f"{len(names)} views" + (f" in {asked.out}" if asked.out else " made"))
        spark.stop()


if __name__ == "__main__":
    main()
