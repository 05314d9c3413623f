"""The brokers' folders: laid out, and completed when one is lost; nothing is deleted that could be kept."""

import shutil

import pytest

from threebrokers.cluster import log_dirs, settings
from threebrokers.errors import LabError


@pytest.fixture
def template(tmp_path):
    folder = tmp_path / "template"
    folder.mkdir()
    (folder / "bootstrap.checkpoint").write_bytes(b"levels")
    return folder


@pytest.fixture
def home(tmp_path, template):
    """A home with three formatted folders, each with a record in it."""
    log_dirs.complete(tmp_path / "home", template, settings.BROKERS)
    for n in settings.BROKERS:
        (log_dirs.folder(tmp_path / "home", n) / "orders-0.log").write_text("a record")
    return tmp_path / "home"


def _records(home):
    return [n for n in settings.BROKERS if (log_dirs.folder(home, n) / "orders-0.log").exists()]


def _meta(home, node):
    text = (log_dirs.folder(home, node) / "meta.properties").read_text()
    return dict(line.split("=", 1) for line in text.splitlines())


def test_folders_are_laid_out_from_the_template(tmp_path, template):
    home = tmp_path / "home"
    cluster_id = log_dirs.complete(home, template, settings.BROKERS)
    assert log_dirs.clusters(home) == dict.fromkeys(settings.BROKERS, cluster_id)
    for n in settings.BROKERS:
        assert (log_dirs.folder(home, n) / "bootstrap.checkpoint").read_bytes() == b"levels"
        assert _meta(home, n)["node.id"] == str(n)
    assert len({_meta(home, n)["directory.id"] for n in settings.BROKERS}) == 3


def test_a_layout_that_fails_leaves_nothing_half_made(tmp_path):
    with pytest.raises(LabError, match="no-template cannot be used"):
        log_dirs.complete(tmp_path / "home", tmp_path / "no-template", settings.BROKERS)
    assert not list((tmp_path / "home").glob("*")) if (tmp_path / "home").exists() else True


def test_what_is_whole_is_left_alone(home, template):
    before = log_dirs.clusters(home)
    told = []
    log_dirs.complete(home, template, settings.BROKERS, told.append)
    assert (log_dirs.clusters(home), _records(home), told) == (before, [1, 2, 3], [])


@pytest.mark.parametrize("harm", ["gone", "without its properties", "of another cluster"])
def test_one_lost_disk_is_made_anew_and_what_was_left_of_it_is_kept(home, template, harm):
    before = log_dirs.clusters(home)
    lost = log_dirs.folder(home, 2)
    if harm == "gone":
        lost.rename(home.parent / "away")
    elif harm == "without its properties":
        (lost / "meta.properties").unlink()
    else:
        (lost / "meta.properties").write_text("version=1\ncluster.id=another\nnode.id=2\n")
    told = []
    log_dirs.complete(home, template, settings.BROKERS, told.append)
    assert log_dirs.clusters(home) == before
    assert _meta(home, 2)["node.id"] == "2"
    assert _records(home) == [1, 3], "the new folder should be empty, the others as they were"
    assert len(told) == 1
    assert "The disk of broker 2 was lost" in told[0]
    kept = home / "data" / "broker-2.lost" / "orders-0.log"
    assert kept.exists() == (harm != "gone")


def test_who_never_started_has_not_lost_a_disk(home, template):
    """A first start that broke off behind broker 1 begins again with all three."""
    (log_dirs.folder(home, 1) / "__cluster_metadata-0").mkdir()
    log_dirs.complete(home, template, settings.BROKERS)
    assert log_dirs.replaced(home) == set()
    shutil.rmtree(log_dirs.folder(home, 2))
    log_dirs.complete(home, template, settings.BROKERS, str)
    assert log_dirs.replaced(home) == {2}
    shutil.rmtree(log_dirs.folder(home, 3))
    with pytest.raises(LabError, match=r"disks of brokers 2 and 3 are lost.*threebrokers reset"):
        log_dirs.complete(home, template, settings.BROKERS)
    assert not log_dirs.folder(home, 3).exists()
    (log_dirs.folder(home, 2) / "__cluster_metadata-0").mkdir()  # it has started
    assert log_dirs.replaced(home) == set()


def test_two_lost_disks_are_told_and_nothing_is_touched(home, template):
    (log_dirs.folder(home, 1) / "meta.properties").unlink()
    (log_dirs.folder(home, 3) / "meta.properties").unlink()
    with pytest.raises(LabError, match=r"disks of brokers 1 and 3 are lost.*threebrokers reset"):
        log_dirs.complete(home, template, settings.BROKERS)
    assert _records(home) == [1, 2, 3]


def test_the_folder_of_a_running_broker_is_never_touched(home, template):
    (log_dirs.folder(home, 2) / "meta.properties").unlink()
    log_dirs.complete(home, template, [3])
    assert _records(home) == [1, 2, 3]
    assert log_dirs.clusters(home)[2] == ""


def test_what_was_kept_of_a_lost_disk_outlives_a_new_layout(home, template):
    (log_dirs.folder(home, 2) / "meta.properties").unlink()
    log_dirs.complete(home, template, settings.BROKERS, str)
    for n in settings.BROKERS:
        log_dirs.folder(home, n).rename(home.parent / f"away-{n}")
    log_dirs.complete(home, template, settings.BROKERS)
    assert (home / "data.lost" / "broker-2.lost" / "orders-0.log").exists()
    log_dirs.remove(home)
    assert not list(home.glob("data*"))
