"""What callers send: a word that nobody knows is refused, since a slip would otherwise do something else."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A body or query whose fields are all known."""

    model_config = ConfigDict(extra="forbid")
