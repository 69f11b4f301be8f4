import os

from transformer_tf.config import load_config, save_config
from transformer_tf.training.reports import write_metrics
from transformer_tf.training.run_folder import lock_folder
from transformer_tf.training.run_list import runs_table


def write_run(folder, modified, scores=(), *overrides):
    """Writes the files of a run that the list reads."""
    folder.mkdir(parents=True)
    save_config(load_config(None, overrides), folder / "config.yaml")
    if scores:
        rows = [
            {"step": 600 * number, "val_perplexity": perplexity, "val_bleu": bleu}
            for number, (perplexity, bleu) in enumerate(scores, 1)
        ]
        write_metrics(rows, folder / "metrics.csv")
        (folder / "state").mkdir()
    for path in folder.iterdir():
        os.utime(path, (modified, modified))


def test_runs_with_their_state_and_best_score(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "runs"
    scores = [(20.0, 3.0), (9.5, 8.25), (9.75, 8.0)]
    write_run(root / "old", 1e9, scores)
    (root / "old" / "state" / "step-00001912.npz").touch()
    os.utime(root / "old" / "state", (1e9, 1e9))
    write_run(root / "busy", 3e9, scores, "training.best_metric=bleu", "data.target_language=es")
    write_run(root / "new", 2e9)
    write_run(root / "broken", 4e9)
    (root / "broken" / "config.yaml").write_text("model: [")
    os.utime(root / "broken" / "config.yaml", (4e9, 4e9))
    (root / "no run").mkdir()
    lock = lock_folder(root / "busy")
    lines = runs_table(root).splitlines()
    assert lines[0].split() == ["run", "pair", "state", "last", "step", "best", "last", "change"]
    old, new, busy, broken = (line.removeprefix(str(root)).split() for line in lines[1:])
    assert old[:7] == ["/old", "en-de", "stopped", "1", "912", "perplexity", "9.50"]
    assert new[:5] == ["/new", "en-de", "not", "trained", "0"]
    assert busy[:7] == ["/busy", "en-es", "training", "1", "800", "BLEU", "8.25"]
    assert broken == ["/broken", "damaged", "configuration"]
    lock.release()
    test = root / "busy" / "test.json"
    test.touch()
    for modified, state in ((3e9 + 1, "finished"), (3e9 - 1, "stopped")):  # resumed, then stopped
        os.utime(test, (modified, modified))
        assert f"en-es  {state}" in runs_table(root)


def test_no_runs(tmp_path):
    assert runs_table(tmp_path / "none") == ""
