"""Routes of the figures of a page: pictures, numbers, and specifications by which its script draws them."""

from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path
from starlette.responses import JSONResponse, Response

from nfvbed.dashboard.answers import saved
from nfvbed.dashboard.results.pictures import FigureRenderer, Figures, Form, live_figure, spec_of
from nfvbed.report.csv.figure import figure_to_csv

CSV_TYPE = "text/csv; charset=utf-8"
FigureName = Annotated[str, Path(pattern=r"^[a-z0-9-]{1,80}$")]


def figure_files(pictures: FigureRenderer, path: str, find: Callable[..., Figures]) -> APIRouter:
    """Return the routes of figures.

    Args:
        path: the address below which each is by its name.
        find: reads from a request what its page shows; a dependency of FastAPI's, with the parameters that it needs.
    """
    router = APIRouter(prefix=path, include_in_schema=False)

    @router.get("/{figure}.svg")
    def send_svg(
        figure: FigureName,
        found: Annotated[Figures, Depends(find)],
        theme: Literal["light", "dark", "print"] = "print",
    ) -> Response:
        form = Form.SVG if theme == "print" else Form(theme)
        drawn = pictures.draw(spec_of(found.drawn, figure), form)
        return Response(drawn, media_type="image/svg+xml", headers=saved(figure, "svg"))

    @router.get("/{figure}.png")
    def send_png(figure: FigureName, found: Annotated[Figures, Depends(find)]) -> Response:
        drawn = pictures.draw(spec_of(found.drawn, figure), Form.PNG)
        return Response(drawn, media_type="image/png", headers=saved(figure, "png"))

    @router.get("/{figure}.json")
    def send_spec(figure: FigureName, found: Annotated[Figures, Depends(find)]) -> Response:
        return JSONResponse(live_figure(found, figure))

    @router.get("/{figure}.csv")
    def send_numbers(figure: FigureName, found: Annotated[Figures, Depends(find)]) -> Response:
        rows = figure_to_csv(spec_of(found.drawn, figure))
        return Response(rows, media_type=CSV_TYPE, headers=saved(figure, "csv"))

    return router
