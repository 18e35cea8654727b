"""`manage.py set_endpoint PROJECT NAME`: where a project's judges ask a model, made or changed."""

import sys
from dataclasses import fields, replace
from decimal import Decimal, InvalidOperation

from django.core.management.base import CommandError
from django.utils.translation import gettext

from annotate.errors import Refused
from annotate.management.said import SaidCommand, project_called
from scoring import endpoints
from scoring.endpoint_queries import endpoints_of
from scoring.endpoints import EndpointValues, values_of
from scoring.models import Endpoint

NUMBERS = {
    **dict.fromkeys(("max_output_tokens", "seed", "concurrency", "per_minute", "deadline_seconds", "most_bytes"), int),
    "temperature": float,
}


def price(word: str) -> Decimal:
    try:
        return Decimal(word)
    except InvalidOperation as error:
        raise ValueError from error


class Command(SaidCommand):
    help = "Make the endpoint of this name, or change what the options say of it. Its key is never an option."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("project")
        parser.add_argument("name")
        parser.add_argument("--provider", help=f"{', '.join(Endpoint.Provider.values)} (openai)")
        parser.add_argument("--address", help="of the server, such as https://host.example/v1")
        parser.add_argument("--model", help="its name, as the server knows it")
        parser.add_argument("--key-variable", metavar="NAME", help="the environment variable that holds the key")
        parser.add_argument("--key-from-input", action="store_true", help="store the key on standard input, encrypted")
        for name, kind in NUMBERS.items():
            parser.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar="N")
        parser.add_argument("--price-in", type=price, metavar="P", help="of a million tokens asked")
        parser.add_argument("--price-out", type=price, metavar="P", help="of a million tokens answered")
        parser.add_argument("--thinking", choices=["yes", "no"])
        parser.add_argument("--thinking-form", help=", ".join(Endpoint.ThinkingForm.values))
        parser.add_argument("--limit-field", help=", ".join(Endpoint.LimitField.values))
        parser.add_argument("--knows-schema", choices=["yes", "no"], help="whether the server takes a JSON schema")
        parser.add_argument("--is-proof", choices=["yes", "no"], help="whether it proves the wire only, in no report")
        parser.add_argument("--try", action="store_true", dest="is_tried", help="ask one small question then")

    def act(self, *, project, name, key_from_input, is_tried, **options):
        project = project_called(project)
        old = endpoints_of(project).filter(name=name).first()
        values = replace(values_of(old) if old else EndpointValues(name), **given(options, key_from_input))
        key = sys.stdin.read().strip() if key_from_input else ""
        if old is None:
            row = endpoints.make_endpoint(person=None, project=project, values=values, key=key)
        else:
            row = endpoints.change_endpoint(person=None, endpoint=old, values=values, key=key)
        result = {"project": project.slug, "endpoint": row.name, "is_new": old is None}
        return {**result, **tried(row)} if is_tried else result

    def words(self, result):
        if result["is_new"]:
            yield gettext("Endpoint %(endpoint)s of %(project)s was made.") % result
        else:
            yield gettext("Endpoint %(endpoint)s of %(project)s is as you said.") % result
        if "answer" in result:
            yield gettext("It answered after %(latency_ms)s ms: %(answer)s") % result


def given(options: dict, key_from_input: bool) -> dict:
    """What the options say, by the names of the values."""
    known = {field.name for field in fields(EndpointValues)}
    said = {name: value for name, value in options.items() if name in known and value is not None}
    said |= {name: said[name] == "yes" for name in ("thinking", "knows_schema", "is_proof") if name in said}
    if key_from_input and "key_variable" in said:
        raise CommandError("Give --key-variable or --key-from-input, not both.")
    if key_from_input:
        said["key_source"] = Endpoint.KeySource.STORED
    elif "key_variable" in said:
        said["key_source"] = Endpoint.KeySource.ENVIRONMENT
    return said


def tried(endpoint: Endpoint) -> dict:
    said = endpoints.try_endpoint(person=None, endpoint=endpoint)
    if said.problem is not None or said.reply is None:
        raise Refused(said.problem)
    return {"answer": said.reply.text, "latency_ms": said.reply.latency_ms}
