"""Two processes of gloo, each with batches of its own: how far their weights are apart after two steps of two batches."""

import multiprocessing
import tempfile

import torch
from torch import distributed

from codemods.verify.observe import batches, settle, watch

SYMPTOM = "differs"


def join(rank, store):
    distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    settle()
    return torch.nn.Linear(8, 1)


def other(case, store, results):
    model = join(1, store)
    case.train(model, batches(8)[4:], 2)
    results.put(model.weight.detach().tolist())
    distributed.destroy_process_group()


def run(case):
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        store, results = f"{folder}/store", context.Queue()
        process = context.Process(target=other, args=(case, store, results))
        process.start()
        model = join(0, store)
        with watch(model) as seen:
            case.train(model, batches(8)[:4], 2)
        weight = torch.tensor(results.get(timeout=60))
        distributed.destroy_process_group()
        process.join(60)
    seen.losses = []
    seen.weights, seen.moved = {}, {}
    seen.numbers = {"apart": float((model.weight.detach() - weight).abs().max())}
    return seen


def reference(case):
    """Weights of replicas are equal."""
    with watch(torch.nn.Linear(8, 1)) as seen:
        pass
    seen.gradients, seen.weights, seen.moved = {}, {}, {}
    seen.numbers = {"apart": 0.0}
    return seen
