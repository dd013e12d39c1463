import lib
import torch


def main(name="sgd"):
    model = torch.nn.Linear(4, 1)
    if name == "sgd":
        maker, options = torch.optim.SGD, {"momentum": 0.9}
    else:
        maker, options = torch.optim.Adam, {}
    optimizer = maker(model.parameters(), lr=0.1, **options)  # chosen_by_name
    trainer = lib.Trainer(model, torch.nn.MSELoss(), optimizer, [(torch.randn(2, 4), torch.randn(2, 1))])
    trainer.train_epoch()


if __name__ == "__main__":
    main()
