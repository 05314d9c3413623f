"""What librdkafka writes goes to a file; what cannot be written there disturbs no cell."""

import logging
import shutil
from pathlib import Path

import pytest

from threebrokers.kafka.client_log import client_log


@pytest.fixture(autouse=True)
def _anew(tmp_path):
    yield
    client_log(tmp_path / "afterwards")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full disk at hand")
def test_a_full_disk_is_no_traceback_in_a_cell(tmp_path, capsys):
    (tmp_path / "clients.log").symlink_to("/dev/full")
    client_log(tmp_path).error("a broker is gone")
    client_log(tmp_path / "other").error("another one is gone")
    assert "another one is gone" in (tmp_path / "other" / "clients.log").read_text()
    assert capsys.readouterr() == ("", "")


def test_a_folder_that_was_deleted_is_no_fault_of_the_client(tmp_path, capsys):
    log = client_log(tmp_path / "logs")
    shutil.rmtree(tmp_path / "logs")
    log.error("a broker is gone")
    assert capsys.readouterr() == ("", "")


def test_words_of_any_language_are_written(tmp_path):
    log = client_log(tmp_path)
    log.error("Verbindung verweigert: ñ 接続")
    [handler] = log.handlers
    assert isinstance(handler, logging.FileHandler)
    assert handler.encoding == "utf-8"
    assert "接続" in (tmp_path / "clients.log").read_text("utf-8")
    assert log is logging.getLogger("threebrokers.kafka.clients")
