"""What a cluster promises, whoever runs its brokers: one class, run against every engine."""

from tests.contract.cuts import Cuts
from tests.contract.faults import Faults
from tests.contract.keeping import Keeping
from tests.contract.showing import Showing

__all__ = ["Contract"]


class Contract(Keeping, Cuts, Faults, Showing):
    """The promises, tried from the last base to the first.

    An engine's test has a fixture `started` (its brokers), and says how to look at them from outside.
    """
