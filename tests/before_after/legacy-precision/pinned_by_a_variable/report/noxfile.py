import nox

PL = ("1.9.5", "2.0.9", "2.6.6")


@nox.session(python="3.10")
@nox.parametrize("pl", PL)
def tests(session, pl):
    session.install("-e", ".", "pytest", "pytorch-lightning==" + pl)
    session.run("pytest", "-q")
