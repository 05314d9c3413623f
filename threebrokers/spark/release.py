"""A session of Spark Connect ends with its kernel, also when that is killed.

Its server would keep it for as long as one of its queries runs, and a query without an end runs for ever. So
a process beside the kernel waits for the kernel's end, and releases the session then: its queries stop.
"""

import subprocess
import sys

from threebrokers.spark import connect

# Nothing is imported before the kernel has ended: so long it is the smallest Python there is.
WAITS = (
    "import sys; sys.stdin.buffer.read(); "
    "from threebrokers.spark.release import release; release(*sys.argv[1:])"
)


class Watch:
    """Such a process; `user` and `session` are what the server knows the kernel's session by."""

    def __init__(self, address: str, user: str, session: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", WAITS, address, user, session],
            stdin=subprocess.PIPE,  # it is closed with the kernel, however that ends
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Jupyter kills a kernel with all its group
        )

    def end(self) -> None:
        """End it, and release nothing: the kernel has let go of the session itself."""
        self._process.kill()
        self._process.communicate()


def release(address: str, user: str, session: str) -> None:
    """Let the server at `address` stop all queries of a session, and forget it. Raises PySpark's errors."""
    from pyspark.sql.connect.client import SparkConnectClient  # slow to import

    named = f"{address if address.count('/') > 2 else f'{address}/'};session_id={session}"
    client = SparkConnectClient(connect.channel(named), user_id=user)
    client.set_retry_policies([connect.policy(address)])
    client.release_session()
    client.close()
