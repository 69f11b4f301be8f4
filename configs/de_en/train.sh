#!/usr/bin/env bash
# Trains checkpoints/de-en in three stages: bash configs/de_en/train.sh
# It starts from the third stage of configs/en_de/train.sh, which also says what it needs: from your
# own in runs/en-de-3, else from checkpoints/en-de, which is trained further.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=runs/data/de-en
start=runs/en-de-3
[ -f $start/test.json ] || start=checkpoints/en-de

[ -f $data/untranslated.txt ] || python -m tools.corpora de-en $data
[ -d runs/de-en-start ] || python -m tools.new_vocabulary $start configs/de_en/stage_1.yaml runs/de-en-start
train() {
    if [ -d runs/de-en-$1 ]; then
        python scripts/train.py --resume runs/de-en-$1
    else
        python scripts/train.py --config configs/de_en/stage_$1.yaml --name de-en-$1 training.start_from=$2
    fi
}
train 1 runs/de-en-start
train 2 runs/de-en-1
train 3 runs/de-en-2
[ -d runs/de-en-8bit ] || python scripts/export.py --format checkpoint --quantization int8 --checkpoint runs/de-en-3 --output runs/de-en-8bit
