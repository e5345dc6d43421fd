"""What `pincite doctor` finds of the processes that `pincite up` keeps running on this data directory."""

from collections.abc import Iterator

from ops.cli.checks import Finding
from ops.cli.remote import answers
from ops.services.children import NAMES
from ops.services.installation import running
from ops.services.leftovers import steady_children
from pincite.settings import Settings


def check_children(settings: Settings) -> Iterator[Finding]:
    """Each process lives and does not keep ending, and the API answers; where no `pincite up` runs, only a hint."""
    addresses = running(settings)
    if addresses is None:
        yield Finding("api", "warn", "none runs from this data directory", "`pincite up` starts one.")
        return
    steady = steady_children(settings.data.resolve())
    logs = settings.data.resolve() / "logs"
    for name in NAMES:
        step = f"See the end of {logs / name}.log; it is started again and again. Mend what it says."
        if name not in steady:
            yield Finding(f"process {name}", "fail", "it does not run, or keeps ending soon after its start", step)
        elif name != "api":
            yield Finding(f"process {name}", "ok", "it runs")
    url = addresses.api_url
    if url is not None and answers(url):
        yield Finding("api", "ok", url)
        return
    where = f"{url} does not answer" if url else "it does not answer, or not yet"
    yield Finding("api", "fail", where, f"See the end of {logs / 'api.log'}; a start takes a minute at most.")
