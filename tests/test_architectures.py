"""The rules on checkpointing speak for what was run: the families against the record, the record against its page."""

from __future__ import annotations

import pytest

from codemods.frameworks.checkpointing import families
from codemods.verify.architectures.program import PAGE, known, loses, main, page, read, summary

RUNS = read()
NEW = next(run for run in RUNS if int(run["versions"]["transformers"].partition(".")[0]) >= 5)
OLD = next(run for run in RUNS if int(run["versions"]["transformers"].partition(".")[0]) < 5)


def test_enough_architectures_were_run() -> None:
    assert len(NEW["architectures"]) >= 80 and len(OLD["architectures"]) >= 80


def test_the_page_is_that_of_the_record() -> None:
    assert PAGE.read_text() == page(RUNS)


def test_the_families_are_those_of_the_record() -> None:
    assert known(NEW) | known(OLD) == families.FAMILIES
    assert known(OLD, "lora") - loses(OLD, "lora/reentrant/own") == families.LORA_KEEPS_ALL
    assert known(OLD, "frozen-embeddings") - loses(OLD, "frozen-embeddings/reentrant/own") == families.FROZEN_KEEPS_ALL
    by_hook = [loses(run, f"{t}/reentrant/hook") for run in RUNS for t in ("lora", "frozen-embeddings")]
    assert frozenset().union(*by_hook) == families.HOOK_LOSES
    by_wrapper = [loses(run, f"{t}/reentrant/wrapper") for run in RUNS for t in ("lora", "frozen-embeddings")]
    assert frozenset().union(*by_wrapper) == families.WRAPPER_LOSES


@pytest.mark.parametrize("trained", ["full", "lora", "frozen-embeddings"])
def test_since_transformers_5_nothing_is_lost(trained: str) -> None:
    """CKP003 and CKP004 speak of Transformers before 5 only."""
    for variant in ("reentrant", "non-reentrant"):
        assert loses(NEW, f"{trained}/{variant}/own") == frozenset()


def test_full_training_loses_nothing_that_checkpointing_as_such_does_not_break() -> None:
    """So CKP003 and CKP004 want adapters or frozen weights to be shown."""
    broken = loses(OLD, "full/reentrant/hook")
    assert loses(OLD, "full/reentrant/own") == broken and len(broken) <= 2


def test_the_repair_loses_nothing() -> None:
    """`use_reentrant=False`, whoever lets inputs require gradients; what it breaks, it breaks in full training too."""
    for run in RUNS:
        broken = loses(run, "full/non-reentrant/none")
        assert len(broken) <= 1
        for trained in ("lora", "frozen-embeddings"):
            for inputs in ("none", "own", "hook", "wrapper"):
                assert loses(run, f"{trained}/non-reentrant/{inputs}") <= broken


@pytest.mark.parametrize(
    ("checkpoint", "model"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", "qwen2"),
        ("Qwen/Qwen1.5-0.5B", "qwen2"),
        ("Qwen/Qwen3-8B", "qwen3"),
        ("Qwen/Qwen-7B-Chat", None),
        ("Qwen/Qwen2-VL-7B", None),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama"),
        ("meta-llama/Meta-Llama-3-8B", "llama"),
        ("NousResearch/Llama-2-7b-hf", "llama"),
        ("huggyllama/llama-7b", "llama"),
        ("meta-llama/Llama-3.2-11B-Vision", None),
        ("mistralai/Mistral-7B-v0.1", "mistral"),
        ("google/gemma-2-9b", "gemma2"),
        ("google/gemma-7b", "gemma"),
        ("microsoft/Phi-3-mini-4k-instruct", "phi3"),
        ("THUDM/chatglm3-6b", None),
        ("baichuan-inc/Baichuan2-7B-Base", None),
        ("openai-community/gpt2-medium", "gpt2"),
        ("/models/my-own", None),
        ("", None),
    ],
)
def test_families_by_the_names_of_checkpoints(checkpoint: str, model: str | None) -> None:
    assert families.family(checkpoint) == model
    assert model is None or model in families.FAMILIES


def test_what_the_child_says_becomes_a_run() -> None:
    cells = {
        "full/reentrant/own": {"lost": 0},
        "lora/reentrant/own": {"lost": 3},
        "lora/reentrant/none": {"error": "E: x"},
    }
    built = {
        "name": "a",
        "kind": "causal",
        "class": "A",
        "parameters": {"full": 9, "lora": 4},
        "layers": 2,
        "cells": cells,
    }
    never = {**built, "name": "b", "cells": {"full/reentrant/own": {"error": "ValueError: no"}}}
    run = summary([{"versions": {"torch": "2"}}, built, never, {"name": "c", "kind": "causal", "unbuilt": "why"}])
    assert known(run) == {"a"} and known(run, "frozen-embeddings") == frozenset()
    assert loses(run, "lora/reentrant/own") == loses(run, "lora/reentrant/none") == {"a"}
    assert loses(run, "full/reentrant/own") == frozenset()
    assert list(run["not checkpointed"]) == ["b (causal)"] and run["not built"] == {"c (causal)": "why"}


@pytest.mark.torch
def test_the_command_shows_one_architecture(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "llama"]) == 0
    said = capsys.readouterr().out
    assert "1 architectures; 0 do not support checkpointing, 0 could not be built." in said
    assert "`lora/reentrant/none`: none keep all" in said
