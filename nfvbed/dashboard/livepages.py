"""The run page while its run goes on: events that say how far it is."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from nfvbed.dashboard.live import Streams
from nfvbed.dashboard.rendering import render
from nfvbed.dashboard.results.parameters import RunName
from nfvbed.dashboard.results.progress import Plans, live_of
from nfvbed.dashboard.results.source import Source


def live_pages(source: Source, plans: Plans, streams: Streams) -> APIRouter:
    """Return the route of a run's events."""
    router = APIRouter(include_in_schema=False)

    @router.get("/runs/{name}/events")
    def send_run(name: RunName, request: Request) -> Response:
        run = source.run(name)

        def part() -> tuple[str, bool]:
            live = live_of(source, plans, source.run(run.id))
            return (render("run-progress", live=live), False) if live is not None else ("", True)

        return streams.follow(request, part)

    return router
