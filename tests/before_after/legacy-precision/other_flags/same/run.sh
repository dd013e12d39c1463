python train.py --precision 16 --trainer.precision 16 trainer.precision=16
python scripts/ours.py --precision 16
python scripts/changed.py --precision 16
python scripts/lightning_too.py --precision 32 --mixed-precision 16
