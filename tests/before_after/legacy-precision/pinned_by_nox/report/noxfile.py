import nox


@nox.session
def train(session):
    session.install("pytorch-lightning==1.9.5")
    session.run("python", "train.py")
