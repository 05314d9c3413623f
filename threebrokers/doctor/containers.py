"""Docker, if it runs the brokers: the engine itself, its memory, and containers that ended by themselves."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from threebrokers.cluster import action_log, docker
from threebrokers.cluster.actions import action_kind
from threebrokers.cluster.containers import PROJECT, Containers
from threebrokers.doctor.finding import Finding, told
from threebrokers.errors import LabError
from threebrokers.text import counted, shortened

GIGA = 1_000_000_000
# Each broker may use 640 MB, and uses half of it; the virtual machine of Docker Desktop needs some too.
MEMORY_NEEDED = 1.8 * GIGA
OURS = "threebrokers-"


def look_at_docker() -> Finding:
    """See whether there is a Docker that can run the brokers."""
    try:
        engine = _engine()
    except LabError as fault:
        return told("Docker", fault)
    return Finding("Docker", True, f"engine {engine['ServerVersion']} answers ({engine['OperatingSystem']})")


def look_at_memory() -> Finding:
    """Compare the memory of Docker, in its virtual machine if it has one, with what brokers need."""
    memory = int(_engine()["MemTotal"])
    what = f"{memory / GIGA:.1f} GB for all containers; three brokers need {MEMORY_NEEDED / GIGA:.1f} GB"
    enough = memory >= MEMORY_NEEDED
    cure = "give Docker more: in Docker Desktop, Settings, Resources, Memory"
    return Finding("memory of Docker", enough, what, "" if enough else cure)


def look_at_ends(containers: Containers, asked: Mapping[int, str]) -> Finding:
    """Name containers that ended without being asked; `asked` holds what was last done to each broker."""
    found = containers.look()
    if not found:
        return Finding("containers", True, "there are none")
    down = [(n, one) for n, one in sorted(found.items()) if one.state == "down"]
    starved = [n for n, one in down if containers.ended_for_memory(one)]
    if starved:
        return Finding(
            "containers",
            False,
            f"broker {', '.join(map(str, starved))} was killed for its memory was used up (OOMKilled)",
            "give Docker more memory, or raise mem_limit in docker-compose.yml; then `threebrokers up`",
        )
    gone = [(n, one) for n, one in down if action_kind(asked.get(n, "")).leaves != "down"]
    if gone:
        names = shortened([f"broker {n} ({one.name})" for n, one in gone])
        read = f"docker logs {gone[0][1].name}"
        return Finding(
            "containers",
            False,
            f"{names} ended without being asked",
            f"`threebrokers up`; `{read}` says more",
        )
    return Finding(
        "containers", True, f"{len(found) - len(down)} of {len(found)} run, and each end was asked for"
    )


def metas(containers: Containers, folder: Path, data: str) -> dict[int, str]:
    """Return each broker's meta.properties from its volume; `folder` is for copies."""
    texts = {}
    for n, one in containers.look().items():
        place = folder / f"broker-{n}"
        place.mkdir(parents=True, exist_ok=True)
        if containers.copy(one, f"{data}/meta.properties", place):
            texts[n] = (place / "meta.properties").read_text()
    return texts


def look_for_others(running: Iterable[Mapping[str, Mapping[str, str]]], own: str) -> Finding:
    """Name containers of other homes that run; `running` is Docker's list of containers."""
    projects = sorted(
        {name for one in running if (name := one["Labels"].get(PROJECT, "")).startswith(OURS) and name != own}
    )
    if not projects:
        return Finding("forgotten containers", True, "none")
    clones = counted(len(projects), "other home")
    return Finding("forgotten containers", True, f"none; brokers of {clones} run in containers too")


def running() -> list[Mapping[str, Mapping[str, str]]]:
    """Return Docker's list of the containers that run."""
    client = docker.client()
    with docker.faults_told():
        return list(client.containers(filters={"label": PROJECT}))


def last_actions(home: Path) -> dict[int, str]:
    """Return what was last done to each broker on purpose."""
    return {action.broker: action.kind for action in action_log.read(home)}


def _engine() -> Mapping[str, str]:
    client = docker.client()
    with docker.faults_told():
        return dict(client.info())
