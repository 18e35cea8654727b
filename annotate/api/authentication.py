"""Who asks: whoever holds the secret in the Authorization header. No query, no cookie and no session opens anything."""

from dataclasses import dataclass

from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.throttling import SimpleRateThrottle

from annotate import tokens

SCHEME = "Token"


@dataclass(frozen=True, slots=True)
class Key:
    """What a request's token opens: one project, in one part."""

    token_id: int
    project: str
    role: str


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Token SECRET`. A missing header and every kind of bad secret get the same 401."""

    def authenticate(self, request):
        words = get_authorization_header(request).decode("latin-1").split()
        token = tokens.find_token(words[1]) if len(words) == 2 and words[0].lower() == SCHEME.lower() else None
        if token is None:
            raise exceptions.NotAuthenticated
        return token.person, Key(token.pk, token.project.slug, token.role)

    def authenticate_header(self, request):
        return SCHEME


class TokenThrottle(SimpleRateThrottle):
    """A script that runs wild is told to wait. The counts lie in the memory of each web process, so that what a token
    gets is this rate times the number of processes, and nothing about other people's use."""

    rate = "600/min"

    def get_cache_key(self, request, view):
        return f"api-token-{request.auth.token_id}"
