"""Whose checkpoint a folder is, also if what stands there is none."""

import pytest

from threebrokers.spark.checkpoint import query_id


def test_a_checkpoint_names_its_query(tmp_path):
    (tmp_path / "metadata").write_text('{"id":"7d7a"}')
    assert query_id(tmp_path) == "7d7a"


@pytest.mark.parametrize("held", [None, b"", b"{", b"{}", b"[]", b"7", b"\xff"])
def test_what_is_no_checkpoint_names_none(tmp_path, held):
    if held is not None:
        (tmp_path / "metadata").write_bytes(held)
    assert query_id(tmp_path) is None
