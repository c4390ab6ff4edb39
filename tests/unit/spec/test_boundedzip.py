"""The reads of an archive are bounded, and its end is read in the way of every Python that nfvbed runs on."""

import io
import zipfile

import pytest

from nfvbed.spec.boundedzip import BoundedReads

END_OF_PYTHON_3_13 = 65_557
"""What its `zipfile` asks for, to find the record at the end."""


@pytest.mark.parametrize("most", [1, 2**16, 2**21])
def test_the_end_is_read_whatever_the_bound_and_no_more_than_both(most):
    content = bytes(2**22)
    with BoundedReads(io.BytesIO(content), most) as file:
        assert len(file.read(END_OF_PYTHON_3_13)) == END_OF_PYTHON_3_13
        with pytest.raises(zipfile.BadZipFile, match="are read"):
            file.read(max(most, END_OF_PYTHON_3_13) + 1)
