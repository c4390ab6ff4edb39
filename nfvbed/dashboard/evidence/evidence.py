"""Routes beside runs and comparisons: the first page, before and after, trends, published tables, recommendations."""

from collections.abc import Callable
from datetime import datetime

from fastapi import APIRouter

from nfvbed.compare.recommendation.recommendation import Measures
from nfvbed.dashboard.annotating import annotating
from nfvbed.dashboard.evidence.acknowledging import acknowledging
from nfvbed.dashboard.evidence.diff import Diffs
from nfvbed.dashboard.evidence.diffpage import api_of_diffs, pages_of_diffs
from nfvbed.dashboard.evidence.frontpage import pages_of_front
from nfvbed.dashboard.evidence.publishedpage import api_of_published, pages_of_published
from nfvbed.dashboard.evidence.recommendation import Recommender
from nfvbed.dashboard.evidence.recommendationpage import api_of_recommendations, pages_of_recommendations
from nfvbed.dashboard.evidence.trend import Trends
from nfvbed.dashboard.evidence.trendpages import api_of_trends, figure_of_trends, files_of_trends, pages_of_trends
from nfvbed.dashboard.operations import Operations
from nfvbed.dashboard.results.pictures import FigureRenderer
from nfvbed.dashboard.results.source import Source


def evidence(
    source: Source,
    pictures: FigureRenderer,
    now: Callable[[], datetime],
    operations: Operations | None,
    measures: Measures,
) -> tuple[APIRouter, ...]:
    """Return the routers of the first page, diffs, trends, published tables, recommendations and annotations.

    Args:
        operations: what is needed to acknowledge steps and to annotate runs; None: nothing can be.
        measures: is asked of commands before they are proposed.
    """
    trends, recommender, diffs = Trends(source.store, now), Recommender(source, measures), Diffs(source)
    return (
        pages_of_front(source, recommender, now, measures),
        pages_of_diffs(diffs),
        api_of_diffs(diffs),
        pages_of_trends(trends, pictures),
        figure_of_trends(trends, pictures),
        files_of_trends(trends),
        api_of_trends(trends),
        pages_of_published(source.store, pictures),
        api_of_published(source.store),
        pages_of_recommendations(recommender),
        api_of_recommendations(recommender),
        *_words_of_people(source, trends, operations),
    )


def _words_of_people(source: Source, trends: Trends, operations: Operations | None) -> tuple[APIRouter, ...]:
    if operations is None:
        return ()
    return acknowledging(trends, operations.audit), annotating(source, operations.audit)
