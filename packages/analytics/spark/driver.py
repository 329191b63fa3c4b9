"""Runs an Edgetable batch program on Apache Spark 4 (Java 17).

    spark-submit driver.py --lake s3://bucket/lake --program program.json --out s3://bucket/ranks
    python3 driver.py --lake lake --program program.json --out ranks --local 2

The program is the JSON that `edgetable batch program <job>` prints: the same SELECTs that DuckDB runs. Several pairs of --program
and --out run one after the other in one session. Every table is kept by a local checkpoint, so that the plan of a long loop stays
short. One line of JSON for each step goes to standard output.
"""

import argparse
import json

from pyspark.sql import SparkSession


def read_json(spark, path):
    """A JSON file from wherever Spark reads: a folder, S3, HDFS."""
    text = "\n".join(row.value for row in spark.read.text(path).collect())
    return json.loads(text)


def keep(spark, name, select):
    frame = spark.sql(select).localCheckpoint(eager=True)
    frame.createOrReplaceTempView(name)


def run_steps(spark, job, steps, done, round_=None):
    for step in steps:
        if step["kind"] == "table":
            keep(spark, step["name"], step["select"])
            done[0] += 1
            print(json.dumps({"job": job, "steps": done[0], "round": round_}), flush=True)
            continue
        for at in range(1, step["atMost"] + 1):
            run_steps(spark, job, step["steps"], done, at)
            if "until" in step and spark.sql(step["until"]).collect()[0][0] == 0:
                break


def main():
    options = argparse.ArgumentParser(description="Runs an Edgetable batch program on Spark.")
    options.add_argument("--lake", required=True, help="the folder of the lake: a path or a URL that Spark reads")
    options.add_argument("--program", required=True, action="append", help="a program, as JSON")
    options.add_argument("--out", required=True, action="append", help="the folder for its result, as Parquet; replaced where it exists")
    options.add_argument("--local", type=int, help="run in this process on so many threads, not on a cluster")
    given = options.parse_args()

    builder = SparkSession.builder.appName("edgetable").config("spark.sql.ansi.enabled", "true").config("spark.sql.session.timeZone", "UTC")
    if given.local:
        builder = (
            builder.master(f"local[{given.local}]")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", str(2 * given.local))
        )
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    lake = given.lake.rstrip("/")
    for table in read_json(spark, f"{lake}/lake.json")["tables"]:
        spark.read.parquet(f"{lake}/{table['name']}").createOrReplaceTempView(table["name"])
    for path, out in zip(given.program, given.out, strict=True):
        program = read_json(spark, path)
        run_steps(spark, program["job"], program["steps"], [0])
        result = program["result"]
        spark.sql(f"select * from {result['table']} order by {result['orderBy']}").write.mode("overwrite").parquet(out)
        print(json.dumps({"done": program["job"], "out": out}), flush=True)
    spark.stop()


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # The one line that a caller needs; Java's stack is on standard error.
        print(json.dumps({"error": str(error).split("JVM stacktrace")[0].strip()[:4000]}), flush=True)
        raise
