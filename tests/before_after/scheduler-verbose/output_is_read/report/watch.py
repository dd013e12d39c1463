import contextlib
import io


def said(call, *args):
    """Whether the call had something to report."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        call(*args)
    return bool(text.getvalue().strip())
