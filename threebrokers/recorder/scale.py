"""Places on a time line, in px."""

WIDTH, LEFT, RIGHT, ROW, BAR, HEAD = 960, 178, 62, 27, 18, 20
STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)
MOST = 12


class Scale:
    """Where a time (s since 1970) lies on the picture."""

    def __init__(self, began: float, ended: float) -> None:
        self.began, self.seconds = began, max(ended - began, 0.1)
        self._pixels = (WIDTH - LEFT - RIGHT) / self.seconds

    def x(self, at: float) -> float:
        """Return the place of a time, never outside the picture."""
        return round(LEFT + min(max(at - self.began, 0), self.seconds) * self._pixels, 1)

    def steps(self) -> list[float]:
        """Return the seconds since the beginning that have a number below, at most about a dozen."""
        step = next((step for step in STEPS if self.seconds / step <= MOST), STEPS[-1])
        return [round(number * step, 1) for number in range(int(self.seconds / step) + 1)]
