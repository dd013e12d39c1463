# fixer: target=lightning==2.5.0
"""Run on a new cluster before anything else: does this Lightning still check what it is given?"""
import lightning.pytorch as pl


def refuses(make, word):
    try:
        make()
    except (ValueError, TypeError) as error:
        return word in str(error)
    return False


def underscore():
    return pl.Trainer(accelerator="cpu", precision="16_mixed", logger=False)


def gpus():
    return pl.Trainer(gpus=1)


CHECKS = {"a precision with an underscore": (underscore, "16_mixed"), "the old gpus": (gpus, "gpus")}


def main():
    bad = [name for name, (make, word) in CHECKS.items() if not refuses(make, word)]
    if bad:
        raise SystemExit("this Lightning accepts: " + ", ".join(bad))
    print("ok")


if __name__ == "__main__":
    main()
