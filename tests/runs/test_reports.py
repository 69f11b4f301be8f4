import csv

from transformer_tf.runs import reports


def rows(count):
    return [{"step": 10 * number, "val_perplexity": 9 / number} for number in range(1, count + 1)]


def test_metrics_as_csv(tmp_path):
    path = tmp_path / "metrics.csv"
    for count in (3, 2):
        reports.write_metrics(rows(count), path)
        with path.open() as file:
            read = list(csv.DictReader(file))
        assert [int(row["step"]) for row in read] == [10 * n for n in range(1, count + 1)]
    assert [each.name for each in tmp_path.iterdir()] == ["metrics.csv"]


def test_the_best_validation_is_marked():
    metrics = [
        {"step": 10 * number, "val_perplexity": perplexity}
        for number, perplexity in enumerate([9.0, 7.0, 8.0, 7.0], 1)
    ]
    lines = reports.summary_table(metrics).splitlines()
    assert [line.split()[0] for line in lines if line.endswith("best")] == ["20"]
    short = reports.summary_table(metrics, max_rows=1).splitlines()
    assert [line.split()[0] for line in short] == ["step", "20", "40"]


def test_the_table_of_a_long_run_is_short():
    lines = reports.summary_table(rows(100)).splitlines()
    assert len(lines) <= 13
    assert lines[-1].startswith("1 000 ")
