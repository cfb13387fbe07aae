"""A file of 8 MB, as Starlette answers with files."""

import os

from starlette.applications import Starlette
from starlette.responses import FileResponse
from starlette.routing import Route


async def file(request):
    return FileResponse(os.environ["FILE"])


app = Starlette(routes=[Route("/", file)])
