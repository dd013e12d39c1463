"""One module for each generation of Lightning. The old cluster (see ops/old-cluster.md) has 1.5."""
import importlib

import pytorch_lightning

generation = pytorch_lightning.__version__.split(".")[0]
current = importlib.import_module(f".gen{generation}", __name__)
