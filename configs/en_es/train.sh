#!/usr/bin/env bash
# Trains checkpoints/en-es: bash configs/en_es/train.sh. It starts from the fourth stage
# of configs/en_de/train.sh, which also says what it needs: from your own in runs/en-de-4, else from
# checkpoints/en-de, which is trained further.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=runs/data/en-es
start=runs/en-de-4
[ -f $start/test.json ] || start=checkpoints/en-de
config=configs/en_es/stage_1.yaml

[ -f $data/augmented.tsv ] || python -m tools.corpora en-es $data
[ -d runs/en-es-start ] || python -m tools.new_vocabulary $start $config runs/en-es-start
if [ -d runs/en-es-1 ]; then
    python scripts/train.py --resume runs/en-es-1
else
    python scripts/train.py --config $config --name en-es-1 training.start_from=runs/en-es-start
fi
[ -d runs/en-es-8bit ] || python scripts/export.py --format checkpoint --quantization int8 --checkpoint runs/en-es-1 --output runs/en-es-8bit
