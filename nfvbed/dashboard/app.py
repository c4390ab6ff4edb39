"""The application: routes, and errors as answers."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from nfvbed import __version__
from nfvbed.compare.recommendation.recommendation import Measures, unchecked
from nfvbed.dashboard.access.security import Access, Guard
from nfvbed.dashboard.answers import refused
from nfvbed.dashboard.api import api, api_of_runs
from nfvbed.dashboard.auditing import auditing
from nfvbed.dashboard.chain.page import chain_changes, chain_page
from nfvbed.dashboard.chain.reading import Chains
from nfvbed.dashboard.deployments import FindDeployments, api_of_deployments, no_sites
from nfvbed.dashboard.evidence.evidence import evidence
from nfvbed.dashboard.live import Streams
from nfvbed.dashboard.livepages import live_pages
from nfvbed.dashboard.metrics import metrics
from nfvbed.dashboard.operations import Operations
from nfvbed.dashboard.pages import (
    FindJob,
    figures_of_comparisons,
    files_of_comparisons,
    pages,
    pages_of_comparisons,
    pages_of_reasons,
    pages_of_runs,
)
from nfvbed.dashboard.problems import problem, problem_of
from nfvbed.dashboard.results.pictures import FigureRenderer
from nfvbed.dashboard.results.progress import Plans
from nfvbed.dashboard.results.source import Source
from nfvbed.dashboard.starting.jobpages import JobOperations, api_of_jobs, forms_of_jobs, pages_of_jobs
from nfvbed.errors import NfvbedError
from nfvbed.store import Store

LOG = logging.getLogger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


def make_app(
    store: Store,
    access: Access,
    now: Callable[[], datetime] = _now,
    operations: Operations | None = None,
    deployments: FindDeployments = no_sites,
    measures: Measures = unchecked,
) -> ASGIApp:
    """Return the dashboard of a store.

    Args:
        store: opened to be read.
        now: the time from which ages are counted.
        operations: what is needed to change things; None: nothing can be.
        deployments: what is deployed on the sites that the server knows; none are known unless it is given.
        measures: is asked about commands before they are proposed; without it they are proposed as they are.
    """
    app = FastAPI(
        title="nfvbed dashboard",
        version=__version__,
        description="Results of nfvbed, and jobs that make some.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # Its page would be loaded from elsewhere.
        redoc_url=None,
    )
    source, streams, plans = Source(store), Streams(), Plans()
    for router in (*_that_read(source, (streams, plans), now, operations, measures), api_of_deployments(deployments)):
        app.include_router(router)
    if operations is not None:
        app.state.audit = operations.audit
        for router in _that_operate(operations, source, (streams, plans)):
            app.include_router(router)
    app.add_exception_handler(NfvbedError, _answer_error)
    app.add_exception_handler(RequestValidationError, _answer_bad_request)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(Exception, _answer_fault)
    return Guard(app, access, operations.audit if operations else None)


def _that_read(
    source: Source,
    shared: tuple[Streams, Plans],
    now: Callable[[], datetime],
    operations: Operations | None,
    measures: Measures,
) -> tuple[APIRouter, ...]:
    """Return the routes of what is stored."""
    streams, plans = shared
    pictures = FigureRenderer()
    find_job: FindJob = operations.jobs.of_run if operations else lambda _: None
    return (
        pages(source, now),
        pages_of_runs(source, pictures, now, plans, find_job),
        live_pages(source, plans, streams),
        pages_of_reasons(source, pictures),
        pages_of_comparisons(source, pictures, find_job),
        *figures_of_comparisons(source, pictures),
        files_of_comparisons(source),
        api(source, now),
        api_of_runs(source, now),
        metrics(source, operations),
        *evidence(source, pictures, now, operations, measures),
    )


def _that_operate(operations: Operations, source: Source, shared: tuple[Streams, Plans]) -> tuple[APIRouter, ...]:
    """Return the routes of what can be changed."""
    chains, desk = Chains(operations.jobs), JobOperations(operations, source, *shared)
    return (
        auditing(operations.audit),
        pages_of_jobs(desk),
        forms_of_jobs(desk),
        api_of_jobs(desk),
        chain_page(operations, chains),
        chain_changes(operations, chains),
    )


def _answer_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, NfvbedError)
    return refused(request, problem_of(error))


def _answer_bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    said = problem(422, "a parameter of this address is not valid", where=where, observed=first["msg"],
                   fix="correct it; /api/openapi.json describes all of them")  # fmt: skip
    return refused(request, said)


def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = problem(error.status_code, str(error.detail), where=request.url.path, fix="begin at /")
    return refused(request, said)


def _answer_fault(request: Request, error: Exception) -> Response:
    LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    fix = "this is a fault of nfvbed; the server printed where it is"
    return refused(request, problem(500, "internal error", where=request.url.path, fix=fix))
