"""A session of Spark Connect: its driver is a server, to which this kernel sends what it asks.

PySpark chooses by two variables of the environment which kind of session and of columns it makes; they are
set as long as this kernel has such a session.
"""

import atexit
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from threebrokers.cluster import ports, spark_cluster, spark_secret
from threebrokers.cluster.spark_settings import SETTINGS
from threebrokers.errors import LabError
from threebrokers.paths import home
from threebrokers.spark.checkpoint import query_id

if TYPE_CHECKING:
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.client.retries import RetryPolicy
    from pyspark.sql.connect.proto import ExecutePlanRequest, WriteStreamOperationStart
    from pyspark.sql.connect.session import SparkSession as Connected

    from threebrokers.spark.release import Watch

MODE, URL = "SPARK_CONNECT_MODE_ENABLED", "SPARK_REMOTE"
# Of a session: how its streaming queries were started, and how often it has asked for rows.
# And what releases it if this kernel is killed, and whether it has all its settings.
ASKED, PLANS, WATCH = "_threebrokers_asked", "_threebrokers_plans", "_threebrokers_watch"
WHOLE = "_threebrokers_whole"
ADDRESS = re.compile(r"sc://(?P<host>[^\s:/;]+):(?P<port>\d{1,5})(/.*)?")
PLACE = re.compile(r"\w+://(?P<host>[^\s:/;]+):(?P<port>\d{1,5})(?:/|$)")
# PySpark itself would ask a server that is gone for ten minutes.
TRIES = 5


def current() -> SparkSession | None:
    """Return this kernel's session of Spark Connect; None if it has another one, or none."""
    if MODE not in os.environ:
        return None
    from pyspark.sql.connect.session import SparkSession as Connected  # slow to import

    return cast("SparkSession | None", Connected._get_default_session())


def in_use() -> SparkSession:
    """Return the session that this kernel uses: that of Spark Connect, or else the classic one."""
    return current() or SparkSession.builder.getOrCreate()


def started(query: StreamingQuery) -> "WriteStreamOperationStart | None":
    """Return what this kernel's server was asked for when it started `query`; None if nobody knows.

    The server does not tell a query's trigger and output mode. What it was asked is known by the checkpoint,
    in which the query's id stands.
    """
    asked: dict[str, WriteStreamOperationStart] = getattr(current(), ASKED, {})
    return next((one for place, one in asked.items() if query_id(Path(place)) == query.id), None)


def plans_sent() -> int:
    """Return how many plans this kernel's session has sent to its server to get their rows."""
    return int(getattr(current(), PLANS, 0))


def answers() -> bool:
    """Tell whether this kernel has a session of Spark Connect whose server answers."""
    return current() is not None and _listens(os.environ.get(URL, ""))


def start(address: str) -> SparkSession:
    """Return the session with the server at `address`: the one that is there, or a new one.

    A query of the former that still runs is stopped. The session ends with this kernel, also when that is
    killed. Raises PySpark's errors.
    """
    kept = current()
    if kept is not None and getattr(kept, WHOLE, False) and os.environ.get(URL) == address:
        try:
            for query in kept.streams.active:
                query.stop()
            return kept
        except PySparkException:
            pass  # the server was started again, and does not know it
    end()
    from pyspark.sql.connect.session import SparkSession as Connected

    try:
        os.environ |= {MODE: "1", URL: address}
        made = Connected(connection=channel(address), hook_factories=[_noting])
        made.client.set_retry_policies([policy(address)])
        Connected._set_default_and_active_session(made)
        _end_with_kernel(made, address)
        made.conf._set_all({k: v for k, v in SETTINGS.items() if k.startswith("spark.sql.")}, silent=True)
        setattr(made, WHOLE, True)
    except BaseException:  # also when the cell is interrupted
        end()
        raise
    return cast(SparkSession, made)


def channel(address: str) -> "DefaultChannelBuilder":
    """Return what connects to the server at `address`, with the secret if that is this home's own.

    It is told to no other server: one of a stranger could use it.
    """
    from pyspark.sql.connect.client import DefaultChannelBuilder

    made = DefaultChannelBuilder(address)
    secret = spark_secret.kept(home())
    if secret and same_place(address, spark_cluster.connect_address(home())):
        # PySpark's own `token` wants a certificate of every host that is not named "localhost".
        made.set("authorization", f"Bearer {secret}")
    return made


def same_place(address: str, own: str | None) -> bool:
    """Tell whether an address is this home's `own`, which may be named "localhost" too."""
    found = PLACE.match(address)
    there = found and found["host"] in (ports.HOST, "localhost") and f"//{ports.HOST}:{found['port']}"
    return bool(own and there and own.endswith(there))


def is_refused(fault: Exception) -> bool:
    """Tell whether an error says that the server asks for a secret that it was not told."""
    return "UNAUTHENTICATED" in str(fault) or "authentication token" in str(fault)


def end() -> None:
    """Let go of the session of Spark Connect, if there is one; its server goes on."""
    if (session := current()) is not None:
        session.release_session_on_close = _listens(os.environ.get(URL, ""))  # type: ignore[attr-defined]
        session.stop()
        watch: Watch | None = getattr(session, WATCH, None)
        if watch is not None:
            watch.end()
    for name in (MODE, URL):
        os.environ.pop(name, None)


def not_here(what: str) -> LabError | None:
    """Return the sentence why `what` cannot be done while this kernel has a session of Spark Connect."""
    if current() is None:
        return None
    return LabError(
        f"{what} needs Spark's driver in this notebook, and with Spark Connect it is a server",
        "run `spark = session()`, and then this cell again",
    )


def is_lost(fault: Exception) -> bool:
    """Tell whether an error says that the server is gone, or was started again."""
    told = str(fault)
    return "INVALID_HANDLE" in told or not answers()


def policy(address: str) -> "RetryPolicy":
    """Return what says how often a server is asked again: only while it is there."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    class WhileThere(DefaultPolicy):
        """Asks again only a server that is there."""

        def can_retry(self, exception: BaseException) -> bool:
            return bool(super().can_retry(exception)) and _listens(address)

    return WhileThere(max_retries=TRIES, max_backoff=2_000)


def _end_with_kernel(made: "Connected", address: str) -> None:
    from threebrokers.spark.release import Watch

    setattr(made, WATCH, Watch(address, made.client._user_id or "", made.client._session_id))
    atexit.unregister(end)
    atexit.register(end)


def _noting(session: "Connected") -> "Connected.Hook":
    """Return what notes on the session with what each streaming query is started, by its checkpoint.

    And how many plans are sent for their rows.
    """
    from pyspark.sql.connect.session import SparkSession as Connected

    asked: dict[str, WriteStreamOperationStart] = {}
    setattr(session, ASKED, asked)
    setattr(session, PLANS, 0)

    class Noting(Connected.Hook):
        """Sees each request before it is sent, and changes none."""

        def on_execute_plan(self, request: "ExecutePlanRequest") -> "ExecutePlanRequest":
            if request.plan.command.HasField("write_stream_operation_start"):
                start = request.plan.command.write_stream_operation_start
                asked[start.options.get("checkpointLocation", "")] = start
            if request.plan.HasField("root"):
                setattr(session, PLANS, getattr(session, PLANS) + 1)
            return request

    return Noting()


def _listens(address: str) -> bool:
    found = ADDRESS.fullmatch(address)
    return found is not None and ports.answers(int(found["port"]), found["host"])
