import functools

import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import fully_shard
from torch.distributed.fsdp.wrap import lambda_auto_wrap_policy
from torch.optim import AdamW


def named(model):
    model.body.requires_grad_(False)
    model = FSDP(model, use_orig_params=True)
    return AdamW(model.parameters())


def in_units(model, choose):
    model.body.requires_grad_(False)
    policy = functools.partial(lambda_auto_wrap_policy, lambda_fn=choose)
    model = FSDP(model, auto_wrap_policy=policy)
    return AdamW(model.parameters())


def by_position(model, group, strategy, offload, policy):
    model.body.requires_grad_(False)
    model = FSDP(model, group, strategy, offload, policy)
    return AdamW(model.parameters())


def ignored(model):
    model.body.requires_grad_(False)
    model = FSDP(model, ignored_modules=[model.body])
    return AdamW(model.parameters())


def nothing_frozen(model):
    model = FSDP(model)
    return AdamW(model.parameters())


def all_frozen(teacher, student):
    teacher.requires_grad_(False)
    teacher = FSDP(teacher)
    student = FSDP(student)
    return teacher, AdamW(student.parameters())


def frozen_piece_by_piece(teacher):
    teacher.body.requires_grad_(False)
    teacher.head.requires_grad_(False)
    return FSDP(teacher)


def another(model, other):
    other.body.requires_grad_(False)
    model = FSDP(model)
    return AdamW(model.parameters())


def the_part_alone(model):
    model.body.requires_grad_(False)
    model.head = FSDP(model.head)
    return AdamW(model.head.parameters())


def afterwards(model):
    model = FSDP(model)
    optimizer = AdamW(model.parameters())
    model.body.requires_grad_(False)
    return optimizer


def second_generation(model):
    model.body.requires_grad_(False)
    fully_shard(model)
    return AdamW(model.parameters())


def either(model, freeze, plain):
    if freeze:
        model.body.requires_grad_(False)
        model = FSDP(model, use_orig_params=True)
    else:
        model = FSDP(model)
    return AdamW(model.parameters())


def all_trained(model):
    model.requires_grad_(True)
    for p in model.body.parameters():
        p.requires_grad = True
    model = FSDP(model)
    return AdamW(model.parameters())
