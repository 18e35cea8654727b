"""Asks the API as a script does: with a token and nothing else."""

import json

from django.test import Client

from annotate import tokens

ROOT = "/api/v1/"


class Script:
    """A person's script: `Script(cast.ana).get("projects/")`. What was asked, and answered, is JSON."""

    def __init__(self, member=None, secret=None, **headers):
        if secret is None and member is not None:
            _, secret = tokens.make_token(person=member.person, project=member.project, name="script")
        self.secret = secret
        self.headers = {**({"Authorization": f"Token {secret}"} if secret else {}), **headers}
        self.client = Client(raise_request_exception=False)

    def ask(self, method, address, body=None, *, content_type="application/json", headers=None, **options):
        if body is not None and not isinstance(body, str | bytes):
            body = json.dumps(body)
        address = address if address.startswith("/") else ROOT + address
        headers = self.headers | (headers or {})
        return self.client.generic(method, address, body or "", content_type, headers=headers, **options)

    def get(self, address, **options):
        return self.ask("GET", address, **options)

    def post(self, address, body=None, **options):
        return self.ask("POST", address, body, **options)

    def put(self, address, body=None, **options):
        return self.ask("PUT", address, body, **options)

    def patch(self, address, body=None, **options):
        return self.ask("PATCH", address, body, **options)


def codes(response):
    """What is wrong, by field."""
    return {(problem["field"], problem["code"]) for problem in response.json()["problems"]}
