#!/usr/bin/env bash
# Trains checkpoints/en-es in three stages: bash configs/en_es/train.sh
# Stage 3 starts from the mean of stages 1 and 2.
# It starts from the fourth stage of configs/en_de/train.sh, which also says what it needs: from your
# own in runs/en-de-4, else from checkpoints/en-de, which is trained further.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=runs/data/en-es
start=runs/en-de-4
[ -f $start/test.json ] || start=checkpoints/en-de

[ -f $data/augmented.tsv ] || python -m tools.corpora en-es $data
[ -d runs/en-es-start ] || python -m tools.new_vocabulary $start configs/en_es/stage_1.yaml runs/en-es-start
train() {
    if [ -d runs/en-es-$1 ]; then
        python scripts/train.py --resume runs/en-es-$1
    else
        python scripts/train.py --config configs/en_es/stage_$1.yaml --name en-es-$1 training.start_from=$2
    fi
}
train 1 runs/en-es-start
train 2 runs/en-es-1
[ -d runs/en-es-1-2 ] || python -m tools.average runs/en-es-1 runs/en-es-2 runs/en-es-1-2
train 3 runs/en-es-1-2
[ -d runs/en-es-8bit ] || python scripts/export.py --format checkpoint --quantization int8 --checkpoint runs/en-es-3 --output runs/en-es-8bit
