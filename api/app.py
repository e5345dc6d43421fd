"""The HTTP application. `python -m api.app` serves it."""

import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio.to_thread
import uvicorn
from fastapi import FastAPI
from starlette.middleware import Middleware

from api.access import AccessMiddleware, refuse_open_door
from api.answering.writer import AnswerWriter
from api.bounds import BoundsMiddleware
from api.page_pictures import PagePictures
from api.problems import DECLARED, install_problems
from api.readiness import Readiness, look
from api.routes import ask, contents, documents, folders, health, pages, search, web
from api.runtime import ModelHolder, Runtime, SearchSlots
from db.connect import API_CONNECTIONS, Database, DatabaseUnavailableError
from pincite import __version__
from pincite.doorbell import Doorbell
from pincite.embedding import Embedder
from pincite.originals import Originals
from pincite.settings import Settings, SettingsError

THREADS = 100  # more than the searches that may wait, so that other calls never queue behind them
STATEMENT_SECONDS = 15.0  # then a search gives its slot back, whatever the planner made of it
_DATABASE_SECONDS = 5


def create_app(settings: Settings, *, model: Embedder | None = None) -> FastAPI:
    """The application; it connects when it starts. Without `model`, the configured one is loaded in the background."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        database = Database(
            settings.database,
            max_size=API_CONNECTIONS,
            timeout=_DATABASE_SECONDS,
            statement_seconds=STATEMENT_SECONDS,
        )
        models = ModelHolder(settings, model)
        runtime = Runtime(
            settings,
            database,
            Originals(settings.originals),
            Doorbell(settings),
            models,
            SearchSlots(),
            PagePictures(),
            AnswerWriter(settings) if settings.llm_base_url else None,
        )
        app.state.runtime, app.state.readiness = runtime, Readiness(lambda: look(runtime))
        models.start()
        try:
            yield
        finally:
            if runtime.writer is not None:
                await runtime.writer.close()
            await anyio.to_thread.run_sync(runtime.pictures.close)
            database.close()

    app = FastAPI(
        title="Pincite",
        version=__version__,
        description="Folders of documents in, answers that can be checked out.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=DECLARED,
        # The order matters: who may not call sends no body.
        middleware=[Middleware(AccessMiddleware), Middleware(BoundsMiddleware, settings=settings)],
    )
    install_problems(app)
    for rooms in (documents, contents, pages, folders, search, ask, health, web):
        app.include_router(rooms.router)
    return app


def main() -> None:
    """Serve the API, unless it would stand open to other machines without a token."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    settings = Settings()
    try:
        database = Database(settings.database, max_size=1, timeout=_DATABASE_SECONDS)
        try:
            refuse_open_door(settings, database)
        finally:
            database.close()
    except (SettingsError, DatabaseUnavailableError) as error:
        sys.exit(f"The API does not start: {error}")
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=10,
        log_config=None,
        access_log=False,
    )


if __name__ == "__main__":
    main()
