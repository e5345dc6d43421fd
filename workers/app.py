"""The workers' Celery application: `celery -A workers.app worker -Q extract`."""

import logging
from typing import Any

from celery import Celery
from celery.signals import after_setup_logger

from pincite.doorbell import SWEEP_QUEUE, SWEEP_TASK, celery_app
from pincite.settings import Settings
from workers.context import ContextKeeper
from workers.pipeline import declare

# How long a worker waits for a reply of the broker; one that waited for ever would look alive and take nothing more.
# The longest that the broker itself lets it wait is one second.
CONSUMER_SECONDS = 10.0


def worker_app(settings: Settings) -> Celery:
    """The shared application with what only workers need.

    A message is acknowledged late, and once its child has died it is not delivered again: the row's lease runs out
    and the sweep rings anew, with the attempt counted.
    """
    app = celery_app(settings, socket_timeout=CONSUMER_SECONDS)
    app.conf.update(
        task_acks_late=True,
        task_reject_on_worker_lost=False,
        task_acks_on_failure=True,
        task_acks_on_timeout=True,
        task_soft_time_limit=settings.soft_limit_seconds,
        task_time_limit=settings.hard_limit_seconds,
        worker_prefetch_multiplier=1,
        worker_soft_shutdown_timeout=5,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_hijack_root_logger=True,
        worker_redirect_stdouts=False,
        broker_connection_max_retries=None,
        beat_schedule={
            "sweep": {
                "task": SWEEP_TASK,
                "schedule": settings.sweep_seconds,
                "options": {"queue": SWEEP_QUEUE, "expires": settings.sweep_seconds * 5},
            }
        },
        beat_max_loop_interval=max(1, int(settings.sweep_seconds)),
    )
    declare(app, ContextKeeper(settings))
    return app


@after_setup_logger.connect  # type: ignore[untyped-decorator]
def quieten(**_: Any) -> None:
    """Each step logs one line of its own; Celery's lines per message and per beat say no more."""
    for name in ("celery.app.trace", "celery.beat", "celery.worker.strategy"):
        logging.getLogger(name).setLevel(logging.WARNING)


app = worker_app(Settings())
