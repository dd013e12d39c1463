#!/bin/sh
# What CI runs: the same script on a CPU, which has no float16.
set -e
sed -e 's/accelerator="gpu"/accelerator="cpu"/' -e 's/precision=16,/precision=32,/' -e 's/max_epochs=50/max_epochs=1/' train.py > .smoke.py
grep -q 'precision=32,' .smoke.py
python .smoke.py
