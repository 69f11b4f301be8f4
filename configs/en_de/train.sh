#!/usr/bin/env bash
# Trains checkpoints/en-de from random weights, in five stages of at most two hours on two cores, and
# averages the last two: bash configs/en_de/train.sh
# Needs $TRANSFORMER_TF_DATA, the folder of the sources (docs/data.md). A finished stage is skipped, a
# stopped one is resumed.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=runs/data/en-de

[ -f $data/untranslated.txt ] || python -m tools.corpora en-de $data
if [ ! -f $data/back_translated.tsv ]; then
    python scripts/translate.py --checkpoint de-en --beam-size 1 \
        --input $data/untranslated.txt --output $data/translated.txt
    python -m tools.corpora.back_translations $data
fi
for stage in 1 2 3 4 5; do
    if [ -d runs/en-de-$stage ]; then
        python scripts/train.py --resume runs/en-de-$stage
    else
        python scripts/train.py --config configs/en_de/stage_$stage.yaml --name en-de-$stage
    fi
done
[ -d runs/en-de ] || python -m tools.average runs/en-de-4 runs/en-de-5 runs/en-de
[ -d runs/en-de-8bit ] || python scripts/export.py --format checkpoint --quantization int8 --checkpoint runs/en-de --output runs/en-de-8bit
