"""Answers: pages, exported pages, and problems in the form that the asker reads."""

import re

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from nfvbed.dashboard.problems import MEDIA_TYPE, Problem
from nfvbed.dashboard.rendering import render


def page(template: str, name: str, *, export: bool, **values: object) -> Response:
    """Return a page; exported it is a file to save, called after `name`."""
    answer = HTMLResponse(render(template, export=export, **values))
    if export:
        answer.headers["content-disposition"] = f'attachment; filename="{file_name(name)}.html"'
    return answer


def file_name(name: str) -> str:
    """Return a name with nothing in it that a header or a file system minds."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"nfvbed-{name}").strip("-")


def saved(name: str, ending: str) -> dict[str, str]:
    """Return the headers of a file that a browser shows, and saves under that name."""
    return {"content-disposition": f'inline; filename="{file_name(name)}.{ending}"'}


def refused(request: Request, found: Problem) -> Response:
    """Return a problem as JSON to programs, as a page to people."""
    if request.url.path.startswith(("/api/", "/openapi.json")):
        return Response(found.model_dump_json(), found.status, media_type=MEDIA_TYPE)
    return HTMLResponse(render("problem", title=found.title, problem=found), found.status)
