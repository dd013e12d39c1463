"""`python -m codemods.verify.architectures`."""

import sys

from codemods.verify.architectures.program import main

sys.exit(main(sys.argv[1:]))
