from unittest import mock

import train


@mock.patch("train.pl.Trainer")
def test_trainer_is_made_for_the_small_cards(make):
    train.run(epochs=7)
    make.assert_called_once_with(max_epochs=7, precision=16, devices=1, fast_dev_run=False)
    make.return_value.fit.assert_called_once()
