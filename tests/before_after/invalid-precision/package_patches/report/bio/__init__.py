from bio import _compat

_compat.install()
