"""Where results of steps land. Use `reactorl.rl.seat`."""



LEFT: int = 0

GOES_ON: int = 1

ENDED: int = 2

class Landing:
    """Where the results of one environment land."""

    def __init__(self, observation: object | None, reward: object, terminated: object, truncated: object, *, ends: bool) -> None:
        """
        The row of an observation, or a tuple of rows; the places of the rest; and whether the last steps of episodes land, too.
        """

    def take(self, result: object | None) -> int:
        """
        Put what a step returned where it belongs, or nothing at all: then it is LEFT to the caller, as it is not what most steps return.
        """

    def take_first(self, result: object | None) -> bool:
        """
        Likewise for the observation of what a reset returned; tells if it landed.
        """
