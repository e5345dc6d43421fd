"""The makers of the samples need a library that only developers install."""

import subprocess
import sys


def test_without_fpdf_it_is_said_what_to_install() -> None:
    code = "import sys; sys.modules['fpdf'] = None; import ops.sample_documents"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "pip install 'pincite[dev]'" in result.stderr.splitlines()[-1]
