from types import SimpleNamespace
from unittest.mock import patch

from module import Net


def test_processes_wait_for_each_other():
    seen = []
    fake = SimpleNamespace(training_type_plugin=SimpleNamespace(barrier=seen.append))
    with patch.object(Net, "trainer", fake):
        Net().on_train_epoch_end()
    assert seen == ["epoch"]
