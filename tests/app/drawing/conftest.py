"""The sketched and recorded traces of the tests of pictures."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "pictures"))
