from transformers import AutoModelForVision2Seq

model = AutoModelForVision2Seq.from_pretrained("captions")
