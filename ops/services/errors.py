"""What can go wrong with an installation and its private services. Every message says what to do next."""

from pathlib import Path


class ServiceError(Exception):
    """A private service could not be set up, started or kept running."""


class AlreadyRunningError(ServiceError):
    """Another process holds this data directory."""

    def __init__(self, data: Path, pid: int | None) -> None:
        self.data, self.pid = data, pid
        holder = f"process {pid}" if pid else "another process"
        super().__init__(
            f"Pincite is already running for {data} ({holder}). Stop that one first, "
            "or name another data directory with --data."
        )


class NotRunningError(ServiceError):
    """A command needs a running installation and there is none."""

    def __init__(self, data: Path) -> None:
        self.data = data
        super().__init__(f"Pincite is not running for {data}: start it with `pincite up --data {data}`")
