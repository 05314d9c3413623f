"""What brokers went through, counted in lines that they really wrote."""

from tools.unrest import Unrest, unrest

FENCED = (
    "10:59:32.635 INFO  [QuorumController id=1] Fencing broker 2 at epoch 12 because its session "
    "has timed out. (ReplicationControlManager)\n"
)
ELECTED = (
    "10:59:27.050 INFO  [RaftManager id=1] Attempting durable transition to Leader(localVoterNode=…\n"
    "10:59:27.054 INFO  [RaftManager id=1] Completed transition to Leader(localVoterNode=…\n"
)


def test_fencings_and_elections_are_counted(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "broker-1.log").write_text(ELECTED, "utf-8")
    before = unrest(tmp_path)
    (tmp_path / "logs" / "broker-1.log").write_text(ELECTED + FENCED, "utf-8")
    (tmp_path / "logs" / "broker-2.log").write_text(FENCED + ELECTED, "utf-8")
    assert before == Unrest(0, 1)
    assert str(unrest(tmp_path).since(before)) == "2 fencings, 1 elections"
