python main.py fit --trainer.precision 16
