import yaml

settings = yaml.safe_load(open("train.yaml"))
for rank in settings.pop("lora_ranks"):
    print(rank)
