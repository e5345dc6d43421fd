"""Is the language model's server there, and does it know the model: asked apart from writing answers."""

import json

import anyio

from api.answering.endpoint import CONNECTION_ERRORS, bounded, check_status, failure_of, open_client
from api.answering.fallbacks import FallbackCode, NoWrittenAnswer
from pincite.settings import Settings

PROBE_SECONDS = 10.0
_MOST_BYTES = 4 << 20


def known_models(settings: Settings) -> tuple[str, ...]:
    """The names of the models that the server lists (`GET {base_url}/models`). `settings.llm_base_url` must be set.

    Raises:
        NoWrittenAnswer: it cannot be asked; it may have no such list.
    """
    return anyio.run(_known_models, settings)


async def _known_models(settings: Settings) -> tuple[str, ...]:
    with anyio.move_on_after(PROBE_SECONDS):
        async with open_client(settings) as client:
            try:
                async with client.stream("GET", f"{settings.llm_base_url}/models") as response:
                    await check_status(response, settings)
                    bounded(response, _MOST_BYTES)
                    return _names(await response.aread())
            except CONNECTION_ERRORS as error:
                raise failure_of(error) from error
    raise NoWrittenAnswer(FallbackCode.TIMEOUT, f"no list of models within {PROBE_SECONDS:g} s")


def _names(content: bytes) -> tuple[str, ...]:
    try:
        listed = json.loads(content)["data"]
        return tuple(str(model["id"]) for model in listed)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise NoWrittenAnswer(
            FallbackCode.INVALID_RESPONSE, f"no list of models: {content.decode('utf-8', 'replace')}"
        ) from error
