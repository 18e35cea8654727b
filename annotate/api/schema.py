"""The OpenAPI document, made from the operations. Leads only: it says what there is for leads."""

from functools import cache

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.types import OpenApiTypes

from annotate.api.operations import LEADS, operation


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "annotate.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema):
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Token SECRET`, made on the page of tokens; for one project, in one's part there.",
        }


@operation("GET", audience=LEADS, summary="This document", answers={200: OpenApiTypes.OBJECT})
def show_schema(request):
    return document()


@cache
def document():
    """The same for everybody, so it is made once."""
    return SchemaGenerator().get_schema(request=None, public=True)
