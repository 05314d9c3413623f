"""The learner's own files: what was lost or saved by other programs is told, and nothing comes twice."""

import json

import pytest

from tests.faults.stand_ins import LAB, Clone, clone, notebook
from threebrokers import progress, workspace
from threebrokers.cluster import Cluster
from threebrokers.lab import opening
from threebrokers.lab.lab import Lab

__all__ = ["clone"]


@pytest.mark.fault("Learners' files", "the register of what was handed out (.handed_out.json) is lost")
def test_a_lost_register(clone: Clone, behaviour):
    workspace.hand_out()
    clone.work.write_text(notebook("Mine"), "utf-8")
    (clone.root / "work" / ".handed_out.json").unlink()
    told = workspace.hand_out()
    assert "newer version" not in " ".join(told)
    assert workspace.hand_out() == [], "it is said once"
    assert clone.work.read_text("utf-8") == notebook("Mine")
    assert [path.name for path in clone.work.parent.glob("*.ipynb")] == [LAB]
    (clone.root / "labs" / LAB).write_text(notebook("Newer"), "utf-8")
    assert "has a newer version" in workspace.hand_out()[0]
    behaviour("every notebook stays as it is, and no second one lands beside it", says=told[0])


def without_ids(text: str, minor: int) -> str:
    told = json.loads(text) | {"nbformat_minor": minor}
    for cell in told["cells"]:
        del cell["id"]
    return json.dumps(told)


@pytest.mark.parametrize("minor", [4, 5])
@pytest.mark.fault("Learners' files", "a notebook was saved without cell ids, then an exercise is restored")
def test_a_notebook_without_ids(clone: Clone, minor: int, behaviour):
    workspace.hand_out()
    text = notebook().replace("keys = ...", "keys = 1")
    clone.work.write_text(without_ids(text, minor), "utf-8")
    done = clone.run("restore", "02", "--exercise", "1")
    assert done.exit_code == 0
    sources = [cell["source"] for cell in json.loads(clone.work.read_text("utf-8"))["cells"]]
    assert sources == ["# What is a topic?", "### Exercise 2.1: key the flights", "# TODO: key\nkeys = ..."]
    assert "id" not in json.loads(clone.work.read_text("utf-8"))["cells"][0]
    assert "untouched already" in clone.run("restore", "02", "--exercise", "1").output
    behaviour("the exercise is known by its heading, and comes back in its place", says=done.output)


@pytest.mark.parametrize("name", ["progress.json", "predictions.json"])
@pytest.mark.fault("Learners' files", "progress or predictions are damaged")
def test_damaged_progress_is_told_once(clone: Clone, name: str, behaviour):
    clone.home.mkdir()
    (clone.home / name).write_bytes(b'{"2.1": ')
    first = clone.run("status").output
    kept = clone.home / name.replace(".json", ".damaged.json")
    assert kept.read_bytes() == b'{"2.1": '
    assert str(kept) in first
    assert str(kept) not in clone.run("status").output
    (clone.home / name).write_bytes(b"\xff")
    assert str(kept).replace(".json", "-2.json") in clone.run("progress").output
    said = next(line for line in first.splitlines() if str(kept) in line)
    what = "progress" if name == "progress.json" else "predictions"
    behaviour(
        "they are kept beside, and told once: by `status`, `progress`, `make lab` or the lab's first cell",
        says=said.replace("Your solved exercises", f"Your {what}").replace(what, "progress"),
    )


@pytest.mark.fault("Learners' files", "progress is damaged while a notebook is open")
def test_a_lab_that_is_opened_tells(clone: Clone, monkeypatch, capsys, behaviour):
    clone.home.mkdir()
    (clone.home / "progress.json").write_bytes(b"[")
    progress.record("2.1", solved=True)  # a check, which says nothing of it
    monkeypatch.setattr(Cluster, "up", lambda *_, **__: [])
    monkeypatch.setattr(Cluster, "bootstrap", "127.0.0.1:1")
    monkeypatch.setattr(Lab, "clear", lambda *_: None)
    monkeypatch.setattr(opening.cluster_defaults, "told", lambda lab: "")
    opening.open_lab("02").close()
    said = [line for line in capsys.readouterr().out.splitlines() if "progress.damaged.json" in line]
    assert len(said) == 1
    assert set(progress.solved()) == {"2.1"}
    opening.open_lab("02").close()
    assert "damaged" not in capsys.readouterr().out
    behaviour("checks go on; the next lab that is opened tells what was lost", says=said[0])
