# fixer: target=transformers==5.23.0 unsafe
from transformers import TrainingArguments


def made(folder):
    common = dict(eval_strategy="steps")
    return TrainingArguments(output_dir=folder, **common), TrainingArguments(folder, **dict(use_cpu=True))


def filled(folder, more):
    common = {}
    common["evaluation_strategy"] = "steps"
    common.update(no_cuda=True)
    common.setdefault("logging_dir", "logs")
    for name in more:
        common = {**common, name: 1}
    return TrainingArguments(output_dir=folder, **common)


def put(folder):
    common = {}
    common["eval_strategy"] = "steps"
    return TrainingArguments(folder, **common)


def joined(folder, base):
    return TrainingArguments(**base | {"output_dir": folder}, **{**{"jit_mode_eval": True}})


def settings():
    return {"evaluation_strategy": "steps"}


def returned(folder):
    return TrainingArguments(folder, **settings())


def taken_away(folder):
    common = {"evaluation_strategy": "steps"}
    common["eval_strategy"] = common.pop("evaluation_strategy")
    return TrainingArguments(output_dir=folder, **common)


def chosen(folder, wide):
    common = {"evaluation_strategy": "steps"} if wide else {"eval_strategy": "steps"}
    return TrainingArguments(output_dir=folder, **common)


def another(folder, renamed):
    common = {"evaluation_strategy": "steps"}
    common = renamed(common)
    return TrainingArguments(output_dir=folder, **common)
