from . import precision_names  # noqa: F401  installs the names of our clusters
