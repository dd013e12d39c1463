"""`python -m codemods.verify.matrix`."""

import sys

from codemods.verify.matrix.program import main

sys.exit(main())
