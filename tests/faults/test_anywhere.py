"""Brokers where nobody expects them: on a machine without any network, in a folder with any letters."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import ROOT

# In a network of its own, which has nothing but its own loopback: 127.0.0.1, and that must be switched on.
PROGRAM = """
import fcntl, socket, struct

IS_UP = struct.pack("16sh", b"lo", 0x1 | 0x40)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    fcntl.ioctl(any_socket, 0x8914, IS_UP)

from threebrokers import open_lab

lab = open_lab("01")
try:
    topic = lab.fresh_topic("hello", partitions=1, replication_factor=3)
    producer = lab.producer({"acks": "all"})
    producer.produce(topic, "from nowhere")
    assert producer.flush(20) == 0
    consumer = lab.consumer({"group.id": lab.group("late"), "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    message = consumer.poll(20)
    print("read:", message.value().decode() if message else None)
finally:
    lab.close()
    lab.cluster.down()
"""


@pytest.mark.fault(
    "Environment", "there is no network, and the home's path has letters of any language, quotes and a comma"
)
def test_no_network_and_any_letters(tmp_path: Path, behaviour) -> None:
    home = tmp_path / 'Zoë\'s größte, "Ж" 日本' / "home"
    environment = {**os.environ, "THREEBROKERS_HOME": str(home), "PYTHONPATH": str(ROOT)}
    environment["JAVA_TOOL_OPTIONS"] = "-XX:+Nonsense"  # a Java machine that is given this does not start
    apart = ("unshare", "--net", "--map-root-user", sys.executable, "-c", PROGRAM)
    done = subprocess.run(apart, env=environment, capture_output=True, text=True, check=False, timeout=150)
    if "unshare" in done.stderr and "Traceback" not in done.stderr:
        pytest.skip(f"no network namespace can be made here: {done.stderr.strip()}")
    assert "read: from nowhere" in done.stdout, done
    behaviour("brokers start, and clients reach them")
