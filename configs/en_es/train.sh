#!/usr/bin/env bash
# Trains checkpoints/en-es in two stages and averages them: bash configs/en_es/train.sh
# It starts from the fourth stage of configs/en_de/train.sh, which also says what it needs: from your
# own in runs/en-de-4, else from checkpoints/en-de, which is trained further.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=runs/data/en-es
start=runs/en-de-4
[ -f $start/test.json ] || start=checkpoints/en-de

[ -f $data/augmented.tsv ] || python -m tools.corpora en-es $data
[ -d runs/en-es-start ] || python -m tools.new_vocabulary $start configs/en_es/stage_1.yaml runs/en-es-start
from=runs/en-es-start
for stage in 1 2; do
    if [ -d runs/en-es-$stage ]; then
        python scripts/train.py --resume runs/en-es-$stage
    else
        python scripts/train.py --config configs/en_es/stage_$stage.yaml --name en-es-$stage training.start_from=$from
    fi
    from=runs/en-es-$stage
done
[ -d runs/en-es ] || python -m tools.average runs/en-es-1 runs/en-es-2 runs/en-es
[ -d runs/en-es-8bit ] || python scripts/export.py --format checkpoint --quantization int8 --checkpoint runs/en-es --output runs/en-es-8bit
