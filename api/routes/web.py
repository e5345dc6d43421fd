"""The web page and the list of calls: fixed files of this package, which fetch everything through the API."""

from importlib import resources

from fastapi import APIRouter
from starlette.responses import Response

router = APIRouter(include_in_schema=False)

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


@router.get("/")
async def page() -> Response:
    """Folders, failures, search."""
    return _file("index.html", "text/html")


@router.get("/docs")
async def docs() -> Response:
    """What the API takes and gives, read from /openapi.json; nothing comes from another site."""
    return _file("docs.html", "text/html")


@router.get("/web/app.js")
async def app_script() -> Response:
    """The page's script."""
    return _file("app.js", "text/javascript")


@router.get("/web/docs.js")
async def docs_script() -> Response:
    """The script of the list of calls."""
    return _file("docs.js", "text/javascript")


@router.get("/web/style.css")
async def style() -> Response:
    """How both look."""
    return _file("style.css", "text/css")


def _file(name: str, media_type: str) -> Response:
    content = resources.files("api").joinpath("web", name).read_bytes()
    return Response(content, media_type=media_type, headers=_HEADERS)
