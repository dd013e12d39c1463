import contextlib

import pytest
import torch


def test_the_class_is_no_context_manager():
    with pytest.raises(TypeError):
        with torch.no_grad:
            pass
    with pytest.raises((AttributeError, TypeError)), torch.inference_mode:
        pass
    with contextlib.suppress(TypeError):
        with torch.enable_grad:
            pass
