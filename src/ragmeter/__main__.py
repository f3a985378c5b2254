"""`python -m ragmeter`."""

import sys

from ragmeter.cli.main import main

sys.exit(main())
