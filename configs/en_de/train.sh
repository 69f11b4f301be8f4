#!/usr/bin/env bash
# Trains checkpoints/en-de from random weights, in six stages of at most two hours on two cores:
# bash configs/en_de/train.sh
# Stage 6 starts from the mean of stages 4 and 5. The translator is the mean of that start and stage 6.
# Needs $TRANSFORMER_TF_DATA, the folder of the sources (docs/data.md). A finished stage is skipped, a
# stopped one is resumed. After an update of the project, delete runs/data/en-de and runs/en-de*.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=runs/data/en-de

[ -f $data/untranslated.txt ] || python -m tools.corpora en-de $data
if [ ! -f $data/back_translated.tsv ]; then
    python scripts/translate.py --checkpoint de-en --beam-size 1 \
        --input $data/untranslated.txt --output $data/translated.txt
    python -m tools.corpora.back_translations $data
fi
train() {
    if [ -d runs/en-de-$1 ]; then
        python scripts/train.py --resume runs/en-de-$1
    else
        python scripts/train.py --config configs/en_de/stage_$1.yaml --name en-de-$1
    fi
}
for stage in 1 2 3 4 5; do train $stage; done
[ -d runs/en-de-4-5 ] || python -m tools.average runs/en-de-4 runs/en-de-5 runs/en-de-4-5
train 6
[ -d runs/en-de ] || python -m tools.average runs/en-de-4-5 runs/en-de-6 runs/en-de
[ -d runs/en-de-8bit ] || python scripts/export.py --format checkpoint --quantization int8 --checkpoint runs/en-de --output runs/en-de-8bit
