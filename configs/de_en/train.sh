#!/usr/bin/env bash
# Trains checkpoints/de-en from its version 3, which is in the history of the repository (a shallow clone lacks it):
# bash configs/de_en/train.sh. configs/en_de/train.sh says what it needs.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=runs/data/de-en
start=runs/de-en-version-3
config=configs/de_en/stage_1.yaml

[ -f $data/tatoeba.tsv ] || python -m tools.corpora de-en $data
if [ ! -d $start ]; then
    mkdir -p $start
    git archive 7eae71f checkpoints/de-en | tar -x --strip-components=2 -C $start
fi
[ -d runs/de-en-start ] || python -m tools.new_vocabulary $start $config runs/de-en-start
if [ -d runs/de-en-1 ]; then
    python scripts/train.py --resume runs/de-en-1
else
    python scripts/train.py --config $config --name de-en-1 training.start_from=runs/de-en-start
fi
python scripts/export.py --format checkpoint --quantization int8 --checkpoint runs/de-en-1 --output runs/de-en-8bit
