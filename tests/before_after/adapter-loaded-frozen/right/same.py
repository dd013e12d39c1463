from peft import AutoPeftModelForCausalLM, LoraConfig, PeftModel, get_peft_model
from torch.optim import AdamW
from transformers import Trainer
from trl import DPOTrainer, SFTTrainer


def trained(base, path, args, data):
    model = PeftModel.from_pretrained(base, path, is_trainable=True)
    Trainer(model=model, args=args, train_dataset=data).train()


def by_a_flag(base, path, args, data, training):
    model = PeftModel.from_pretrained(base, path, is_trainable=training)
    trainer = Trainer(model=model, args=args, train_dataset=data)
    if training:
        trainer.train()


def only_evaluated(base, path, args, data):
    model = PeftModel.from_pretrained(base, path)
    trainer = Trainer(model=model, args=args, eval_dataset=data)
    return trainer.evaluate()


def merged(base, path, args, data):
    model = PeftModel.from_pretrained(base, path)
    model = model.merge_and_unload()
    model = get_peft_model(model, LoraConfig(r=8))
    trainer = Trainer(model=model, args=args, train_dataset=data)
    trainer.train()


def merged_at_once(base, path, args, data):
    model = PeftModel.from_pretrained(base, path).merge_and_unload()
    SFTTrainer(model, args=args, train_dataset=data, peft_config=LoraConfig(r=8)).train()


def with_a_new_adapter(path, args, data):
    model = AutoPeftModelForCausalLM.from_pretrained(path)
    SFTTrainer(model, args=args, train_dataset=data, peft_config=LoraConfig(r=8)).train()


def reference(base, other, path, args, data):
    model = get_peft_model(base, LoraConfig(r=8))
    frozen = PeftModel.from_pretrained(other, path)
    DPOTrainer(model=model, ref_model=frozen, args=args, train_dataset=data).train()


def teacher(base, other, path, batches):
    teacher = PeftModel.from_pretrained(base, path)
    student = get_peft_model(other, LoraConfig(r=8))
    optimizer = AdamW(student.parameters(), lr=1e-4)
    for batch in batches:
        loss = (student(batch).logits - teacher(batch).logits).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def either(base, path, args, data, train):
    if train:
        model = get_peft_model(base, LoraConfig(r=8))
    else:
        model = PeftModel.from_pretrained(base, path)
    trainer = Trainer(model=model, args=args, train_dataset=data)
    if train:
        trainer.train()
    return trainer.predict(data)


def afterwards(base, path, args, data):
    model = get_peft_model(base, LoraConfig(r=8))
    trainer = Trainer(model=model, args=args, train_dataset=data)
    trainer.train()
    trainer.save_model(path)
    model = PeftModel.from_pretrained(base, path)
    return Trainer(model=model, args=args, eval_dataset=data).evaluate()


def returned(base, path):
    return PeftModel.from_pretrained(base, path)


class Classifier:
    def __init__(self, base, path, training):
        self.model = PeftModel.from_pretrained(base, path) if not training else get_peft_model(base, LoraConfig(r=8))
        if training:
            self.optimizer = AdamW(self.model.parameters())


def load(base, path, training):
    if training:
        return get_peft_model(base, LoraConfig(r=8))
    return PeftModel.from_pretrained(base, path)


def one_of_both(base, path, args):
    model = load(base, path, True)
    Trainer(model=model, args=args).train()
