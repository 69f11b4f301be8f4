#!/usr/bin/env bash
# Trains checkpoints/de-en: bash configs/de_en/train.sh. It starts from the third stage of
# configs/en_de/train.sh, which also says what it needs: from your own in runs/en-de-3, else from
# checkpoints/en-de, which is trained further.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=runs/data/de-en
start=runs/en-de-3
[ -f $start/test.json ] || start=checkpoints/en-de
config=configs/de_en/stage_1.yaml

[ -f $data/untranslated.txt ] || python -m tools.corpora de-en $data
[ -d runs/de-en-start ] || python -m tools.new_vocabulary $start $config runs/de-en-start
if [ -d runs/de-en-1 ]; then
    python scripts/train.py --resume runs/de-en-1
else
    python scripts/train.py --config $config --name de-en-1 training.start_from=runs/de-en-start
fi
[ -d runs/de-en-8bit ] || python scripts/export.py --format checkpoint --quantization int8 --checkpoint runs/de-en-1 --output runs/de-en-8bit
