import sys

import lightning as L
from gan import Gan

L.Trainer(precision=sys.argv[1]).fit(Gan())
