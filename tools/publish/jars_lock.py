"""Write threebrokers/cluster/jars.lock anew: resolve what Kafka and Spark need, and hash every jar.

For authors (`make lock`), never on a learner's machine. To move to another version, change ROOTS.
"""

import hashlib
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from jgo.maven import Artifact, MavenContext

from threebrokers.cluster.lockfile import LOCK, Jar, locked

KAFKA = "4.3.1"
ROOTS = (
    f"org.apache.kafka:kafka_2.13:{KAFKA}",
    f"org.apache.kafka:kafka-tools:{KAFKA}",
    f"org.apache.kafka:kafka-shell:{KAFKA}",
)
# Connect and its web server are half of the graph, and no lab needs them yet.
LEFT_OUT = ("org.apache.kafka:connect-runtime",)
# Kafka speaks SLF4J 1.7; the jar that binds it to log4j is not in Kafka's own graph.
BINDING, BOUND = "org.apache.logging.log4j:log4j-slf4j-impl", "log4j-core"

# These four are enough for Spark to read and write Kafka; PySpark carries the rest. Where several versions
# stand, the first that can be had is taken.
SPARK = (
    ("org.apache.spark:spark-sql-kafka-0-10_2.13", ("4.2.0",)),
    ("org.apache.spark:spark-token-provider-kafka-0-10_2.13", ("4.2.0", "4.0.0")),
    ("org.apache.kafka:kafka-clients", ("3.9.2",)),
    ("org.apache.commons:commons-pool2", ("2.13.1",)),
)
HEAD = """\
# Every jar that the course runs, exactly: what `make lab` fetches and verifies.
# Written by tools/publish/jars_lock.py (`make lock`): do not edit.
"""


def main() -> None:
    """Resolve, download, hash, write, and say what has changed."""
    before = (
        {group: {jar.coordinates for jar in locked(group)} for group in ("kafka", "spark")}
        if LOCK.exists()
        else {}
    )
    with tempfile.TemporaryDirectory() as folder:
        context = MavenContext(repo_cache=Path(folder), timeout=60)
        notes: dict[str, str] = {}
        groups = {"kafka": _kafka(context), "spark": _spark(context, notes)}
        lines = [HEAD]
        for group, artifacts in groups.items():
            lines.append(f"{group} = [")
            with ThreadPoolExecutor(16) as pool:
                jars = sorted(pool.map(_described, artifacts), key=lambda jar: jar.name)
            for jar in jars:
                lines += [f"    # {notes[jar.coordinates]}"] if jar.coordinates in notes else []
                lines.append(
                    f'    {{ jar = "{jar.coordinates}", size = {jar.size}, sha256 = "{jar.sha256}" }},'
                )
            lines.append("]\n")
            names = [jar.name for jar in jars]
            assert len(names) == len(set(names)), "two jars have the same file name"
    LOCK.write_text("\n".join(lines), encoding="utf-8")
    for group in groups:
        _report(group, before.get(group, set()))


def _kafka(context: MavenContext) -> list[Artifact]:
    left_out = [context.project(*name.split(":")) for name in LEFT_OUT]
    direct, further = context.resolver.resolve([context.create_dependency(root, left_out) for root in ROOTS])
    artifacts = [dependency.artifact for dependency in (*direct, *further)]
    log4j = next(artifact.version for artifact in artifacts if artifact.artifactId == BOUND)
    # Not a root: jgo would let its table of versions overrule Kafka's.
    return [*artifacts, context.create_dependency(f"{BINDING}:{log4j}").artifact]


def _spark(context: MavenContext, notes: dict[str, str]) -> Iterable[Artifact]:
    for name, versions in SPARK:
        refused = []
        for version in versions:
            artifact = context.create_dependency(f"{name}:{version}").artifact
            try:
                artifact.resolve()
            except RuntimeError:
                refused.append(version)
                continue
            if refused:
                notes[f"{name}:{version}"] = (
                    f"{', '.join(refused)} was tried first and could not be had; "
                    f"{version} runs with the connector in batch and in streams."
                )
            yield artifact
            break
        else:
            raise SystemExit(f"No version of {name} can be had: {', '.join(versions)}.")


def _described(artifact: Artifact) -> Jar:
    content = artifact.resolve().read_bytes()
    coordinates = f"{artifact.groupId}:{artifact.artifactId}:{artifact.version}"
    return Jar(coordinates, len(content), hashlib.sha256(content).hexdigest())


def _report(group: str, before: set[str]) -> None:
    jars = locked(group)
    now = {jar.coordinates for jar in jars}
    megabytes = sum(jar.size for jar in jars) / 1e6
    print(
        f"{group}: {len(jars)} jars, {megabytes:.1f} MB; {len(now - before)} new, {len(before - now)} gone."
    )
    for sign, names in (("+", now - before), ("-", before - now)):
        for name in sorted(names):
            print(f"  {sign} {name}")
