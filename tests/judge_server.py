"""A model's server on loopback that answers as its script says, and counts what it was asked.

    with JudgeServer() as server:                       # answers rightly
    with JudgeServer(mix(seed=1, busy=0.1, garbage=0.02)) as server:
    with JudgeServer(in_turn(down(), right())) as server:

A script is a function of what was asked (`Asked`) that gives an `Act`. What is right is a function of the request
alone: the prompts of judges are known by the blocks they quote, and what quotes nothing under a system prompt or with
tools is a reply that is to be written. As a process of its own, which prints its
address and answers its counts to GET /counts:

    python -m tests.judge_server --mix busy=0.1,down=0.03,garbage=0.02 --latency 0.05
"""

import argparse
import hashlib
import json
import re
import socket
import ssl
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MEBIBYTE = 1024 * 1024


# What is asked


@dataclass(frozen=True)
class Asked:
    """A request: its body, how often the same body came before it, and its headers with the names in lower case."""

    body: dict[str, Any]
    raw: bytes
    before: int
    headers: dict[str, str]
    number: int
    """From 1, over all requests of the server."""

    @property
    def text(self) -> str:
        """All that the messages say."""
        return "\n".join(str(message.get("content", "")) for message in self.body.get("messages", []))

    @property
    def blocks(self) -> dict[str, str]:
        """The quoted materials of a prompt by their names."""
        found = re.findall(r"^\[\[(\S+) begin (\w+)\]\]\n(.*?)\n\[\[\1 end \2\]\]", self.text, re.DOTALL | re.MULTILINE)
        return {name: text for _, name, text in found}

    @property
    def prompt(self) -> str:
        """The key of the prompt that this is; empty for another."""
        blocks = self.blocks
        if "trajectory" in blocks:
            given = "evidenceret" if "steps" in blocks else "stepcls"
            return "juror" if "guideline" in blocks else given if "step" in blocks else "stepdet"
        known = {
            **{"work": "writer.separate", "message": "rewriter", "window": "classifier", "solved_run": "workflow"},
            **{"conversation": "reader.questions", "questions": "reader.answers", "record": "checker"},
        }
        return next((key for name, key in known.items() if name in blocks), "writer" if self.is_context else "")

    @property
    def is_context(self) -> bool:
        """Whether the messages are the context of an agent that worked."""
        return len(self.body.get("messages", [])) > 1


# What is answered


@dataclass(frozen=True)
class Act:
    """How a request is answered. `text` is a function of the request: the content of the model's message. With `body`
    the answer is these bytes and no message."""

    name: str
    text: Callable[[Asked], str] | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Callable[[Asked], bytes] | None = None
    finish: str = "stop"
    refusal: str | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)
    """Calls of tools that the message makes."""
    wait: float = 0.0
    """Seconds before the first byte."""
    pause: float = 0.0
    """Seconds between the bytes, sent one by one."""
    reset: bool = False
    """The connection is reset in the middle of the answer."""
    is_answer: bool = True
    """Whether the provider would charge for it."""


Script = Callable[[Asked], Act]


def right() -> Act:
    return Act("right", right_text)


def slow(seconds: float) -> Act:
    return replace(right(), name="slow", wait=seconds)


def cut() -> Act:
    """The output limit ends the JSON in its middle."""
    return Act("cut", lambda asked: right_text(asked)[: len(right_text(asked)) // 2], finish="length")


def busy(retry_after: float | str | None = None) -> Act:
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return error(429, "Rate limit reached.", "rate_limit_exceeded", name="busy", headers=headers)


def down(status: int = 500) -> Act:
    return error(status, "The server had an error.", "server_error", name="down")


def no_key() -> Act:
    """Quotes what it was sent, as some servers do."""
    return replace(error(401, "", "invalid_api_key", name="no_key"), body=quoting_the_key)


def no_quota() -> Act:
    return error(429, "You exceeded your quota.", "insufficient_quota", name="no_quota")


def error(status: int, message: str, code: str, *, name: str = "error", headers: dict[str, str] | None = None) -> Act:
    body = json.dumps({"error": {"message": message, "type": code, "code": code}}).encode()
    return Act(name, status=status, headers=headers or {}, body=lambda asked: body, is_answer=False)


def quoting_the_key(asked: Asked) -> bytes:
    sent = asked.headers.get("authorization", "")
    return json.dumps({"error": {"message": f"Incorrect API key provided: {sent}", "code": "invalid_api_key"}}).encode()


def garbage() -> Act:
    return Act("garbage", lambda asked: "Certainly! Here is what I think: {\"questions\": [maybe")


def html() -> Act:
    page = b"<html><body>502 Bad Gateway</body></html>"
    return Act("html", headers={"Content-Type": "text/html"}, body=lambda asked: page)


def bare() -> Act:
    """The right JSON as the whole body, without the envelope of a reply."""
    return Act("bare", body=lambda asked: right_text(asked).encode())


def empty() -> Act:
    return Act("empty", lambda asked: "")


def no_body() -> Act:
    return Act("no_body", body=lambda asked: b"")


def broken_json() -> Act:
    return Act("broken_json", body=lambda asked: b'{"choices": [{"message": {"role": "assis')


def refusal() -> Act:
    return Act("refusal", lambda asked: "", refusal="I cannot help with that.")


def tool_call() -> Act:
    """Calls a tool and says nothing."""
    call = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    return Act("tool_call", lambda asked: "", finish="tool_calls", calls=[call])


def refusal_in_words() -> Act:
    return Act("refusal_in_words", lambda asked: "I'm sorry, but I cannot help with that.")


def wrong_ids() -> Act:
    """JSON of the right shape that speaks of what was not asked: one entry too few or too many, types there are not."""
    return Act("wrong_ids", wrong_ids_text)


def twice_the_keys() -> Act:
    """One key twice: which of the two counts is luck."""
    return Act("twice_the_keys", lambda asked: twice_keyed(right_text(asked)))


def invented() -> Act:
    """Answers to every question, with quotes that stand nowhere."""
    return Act("invented", invented_text)


def half_pairs() -> Act:
    """Names half of a step. Of these answers about redundant steps each breaks one rule of the index contract; to every
    other question they are the right answer."""
    return Act("half_pairs", lambda asked: changed(asked, lambda one: {**one, STEP: one[STEP][:1]}))


def unknown_types() -> Act:
    return Act("unknown_types", lambda asked: changed(asked, lambda one: {**one, TYPE: "Wasted Step"}))


def repeated() -> Act:
    """Every step twice, the second time as another type."""
    return Act("repeated", lambda asked: changed(asked, lambda one: one, again=lambda one: {**one, TYPE: ABNORMAL}))


def above_one() -> Act:
    return Act("above_one", lambda asked: changed(asked, lambda one: {**one, "confidence": 1.5}))


def from_one() -> Act:
    """Indexes that count from 1."""
    return Act("from_one", lambda asked: changed(asked, counted_from_one))


def in_prose() -> Act:
    return Act("in_prose", lambda asked: f"Here is what I found:\n{right_text(asked)}\nI hope that helps.")


def obeys() -> Act:
    """Does what the judged text tells it to."""
    return Act("obeys", obeying_text)


def huge(n_bytes: int = 50 * MEBIBYTE) -> Act:
    return Act("huge", body=lambda asked: b'{"choices": "' + b"x" * n_bytes + b'"}')


def drip(pause: float = 1.0) -> Act:
    return replace(right(), name="drip", pause=pause)


def reset() -> Act:
    return replace(right(), name="reset", reset=True, is_answer=False)


def redirect(to: str) -> Act:
    return Act("redirect", status=307, headers={"Location": to}, body=lambda asked: b"", is_answer=False)


def packed() -> Act:
    """Says that it is compressed, which nobody asked for."""
    return Act("packed", headers={"Content-Encoding": "gzip"}, body=lambda asked: b"\x1f\x8b\x08\x00")


ACTS: dict[str, Callable[[], Act]] = {
    **{act.__name__: act for act in (right, cut, busy, down, no_key, no_quota, garbage, html, bare, empty, no_body)},
    **{act.__name__: act for act in (broken_json, refusal, refusal_in_words, wrong_ids, twice_the_keys, invented)},
    **{act.__name__: act for act in (obeys, huge, drip, reset, packed)},
    **{act.__name__: act for act in (half_pairs, unknown_types, repeated, above_one, from_one, in_prose)},
}


# Scripts


def always(act: Act) -> Script:
    return lambda asked: act


def in_turn(*acts: Act) -> Script:
    """One after the other over all requests; the last one for all that follow."""
    return lambda asked: acts[min(asked.number, len(acts)) - 1]


def mix(*, seed: int = 1, latency: float = 0.0, **shares: float | tuple[float, Act]) -> Script:
    """Each act by its name with its share, and right otherwise. What a request meets hangs on its body and on how often
    it came, so that neither threads nor workers change it."""
    acts = [(*share,) if isinstance(share, tuple) else (share, ACTS[name]()) for name, share in shares.items()]

    def script(asked: Asked) -> Act:
        digest = hashlib.sha256(b"%d %d " % (seed, asked.before) + asked.raw).digest()
        drawn = int.from_bytes(digest[:8], "big") / 2**64
        for share, act in acts:
            if drawn < share:
                return act if not act.is_answer else replace(act, wait=act.wait + latency)
            drawn -= share
        return replace(right(), wait=latency)

    return script


# What is right

IDENTIFIER = re.compile(r"`([^`\n]{1,60})`|\b([A-Za-z]+[-_]?\d\w*)\b")
SENTENCE = re.compile(r"[^.!?。！？；\n]+[.!?。！？；]?")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
EXPLAINS = re.compile(r"\b(?:is|are|means|stands for)\b|是|指|即|[:：(（]")


def right_text(asked: Asked) -> str:
    blocks = asked.blocks
    if asked.prompt in ("writer", "writer.separate"):
        return written("\n".join(blocks.values()) or asked.text, asked.text)
    if asked.prompt == "workflow":
        return workflow(blocks["solved_run"])
    if asked.prompt == "rewriter":
        return rewritten(blocks["message"])
    answer: Any = {"answer": "ready"}
    if asked.prompt == "reader.questions":
        answer = right_questions(blocks["reply"])
    elif asked.prompt == "reader.answers":
        answer = [right_answer(question, blocks["text"]) for question in numbered(blocks["questions"])]
    elif asked.prompt == "checker":
        answer = right_lists(blocks["record"], blocks["reply"])
    elif asked.prompt == "classifier":
        answer = {"category": right_category(blocks["span"])}
    elif "trajectory" in blocks:
        answer = right_steps(asked.prompt, blocks)
    return json.dumps(answer, ensure_ascii=False)


def right_questions(reply: str) -> dict[str, Any]:
    """A question for each of the first identifiers, and the first sentence as the answer."""
    names = dict.fromkeys(found[1] or found[2] for found in IDENTIFIER.finditer(reply))
    questions = [{"q": f"What is `{name}`?", "type": "reference", "about": name} for name in [*names][:3]]
    sentence = next((said.strip() for said in SENTENCE.findall(reply) if len(said.strip()) >= 12), "")
    return {"questions": questions, "answer_needed": bool(sentence), "answer_quote": sentence or "NONE"}


def numbered(questions: str) -> list[str]:
    return re.findall(r"^\s*\d+[.):、]\s*(.*)$", questions, re.MULTILINE)


def right_answer(question: str, text: str) -> dict[str, str]:
    """The first sentence that explains a name of the question."""
    names = [found[1] or found[2] for found in IDENTIFIER.finditer(question)]
    for sentence in SENTENCE.findall(text):
        said = sentence.strip()
        if any(name in said and explains(said.replace(name, " ")) for name in names):
            return {"answer": "It says so.", "quote": said}
    return {"answer": "NOT_IN_TEXT", "quote": ""}


def explains(rest: str) -> bool:
    is_long = len(re.findall(r"[A-Za-z]+", rest)) >= 3 or len(re.findall(r"[\u4e00-\u9fff]", rest)) >= 6
    return bool(EXPLAINS.search(rest)) and is_long


def right_lists(record: str, reply: str) -> dict[str, list[str]]:
    """An error for each number of the reply that the record does not have, an omission for each of its lines that
    begins with RESULT and whose number the reply does not have."""
    known, said = set(NUMBER.findall(record)), set(NUMBER.findall(reply))
    results = re.findall(r"^RESULT\b.*$", record, re.MULTILINE)
    return {
        "errors": [f"{number} stands nowhere in the record." for number in sorted(said - known)],
        "omissions": [f"Left out: {line}" for line in results if not set(NUMBER.findall(line)) <= said],
        "downplayed": [],
    }


STEP, TYPE, EVIDENCE = "redundant_step_idx", "redundant_step_type", "evidence_step_idx"
DUPLICATED, INCORRECT, ABNORMAL = "Duplicated Step", "Incorrect Step", "Abnormal Step"
PART = re.compile(r"^=+ \[(\d+)\] (.*)$", re.MULTILINE)
CALLS = re.compile(r"^(?:calls|调用) (\S+) \[(\d+), (\d+)\]: (.*)$", re.MULTILINE)
MARKED = re.compile(r"^\[\[.*\]\]$\n?", re.MULTILINE)
FAILED = re.compile(r"\berror\b|错误", re.IGNORECASE)


def right_steps(prompt: str, blocks: dict[str, str]) -> Any:
    """Calls that gave the same before, as duplicates of the earliest, and results that speak of an error as incorrect.
    A step that is given is a duplicate if it is one of the first kind."""
    found = redundant_in(blocks["trajectory"])
    if prompt in ("stepcls", "evidenceret"):
        step = json.loads(blocks["step"])
        one = next((one for one in found if one[STEP] == step), {TYPE: INCORRECT, EVIDENCE: [-1]})
        return {name: one[name] for name in ([TYPE] if prompt == "stepcls" else [EVIDENCE, TYPE])}
    if prompt == "juror":
        return found
    return [{**one, "confidence": round(0.9 - place / 100, 2)} for place, one in enumerate(found[:80])]


def redundant_in(trajectory: str) -> list[dict[str, Any]]:
    pieces = PART.split(MARKED.sub("", trajectory))
    texts = {int(index): text for index, text in zip(pieces[1::3], pieces[3::3], strict=True)}
    agents = {int(index) for index, who in zip(pieces[1::3], pieces[2::3], strict=True) if who in ("agent", "代理")}
    first: dict[tuple[str, str, str], list[int]] = {}
    found = []
    for index, text in texts.items():
        for tool, call, result, arguments in CALLS.findall(text):
            pair, said = [int(call), int(result)], texts.get(int(result), "").strip()
            if int(call) != index or index not in agents or not said:
                continue
            earliest = first.setdefault((tool, arguments, said), pair)
            if earliest is not pair:
                found.append({STEP: pair, TYPE: DUPLICATED, EVIDENCE: earliest})
            elif FAILED.search(said):
                found.append({STEP: pair, TYPE: INCORRECT, EVIDENCE: [-1]})
    return found


def changed(
    asked: Asked, change: Callable[[dict[str, Any]], Any], again: Callable[[dict[str, Any]], Any] | None = None
) -> str:
    """The right answer with every step that it names changed; with `again` each comes a second time."""
    if asked.prompt not in ("juror", "stepdet", "stepcls", "evidenceret"):
        return right_text(asked)
    answer = json.loads(right_text(asked))
    if isinstance(answer, dict):
        return json.dumps(change({STEP: json.loads(asked.blocks["step"]), **answer}))
    steps = answer or [some_step(asked)]
    twice = [again(one) for one in steps] if again else []
    return json.dumps([change(one) for one in steps] + twice)


def some_step(asked: Asked) -> dict[str, Any]:
    """The first step that could be redundant, for trajectories without one."""
    pairs = re.findall(r"^\[(\d+), (\d+)\]", asked.blocks["steps"], re.MULTILINE)
    sure = {"confidence": 0.5} if asked.prompt == "stepdet" else {}
    return {STEP: [int(one) for one in pairs[0]], TYPE: INCORRECT, EVIDENCE: [-1], **sure}


def counted_from_one(one: dict[str, Any]) -> dict[str, Any]:
    shifted = {STEP: [index + 1 for index in one[STEP]]}
    if EVIDENCE in one:
        shifted[EVIDENCE] = [index if index < 0 else index + 1 for index in one[EVIDENCE]]
    return {**one, **shifted}


CATEGORIES = ("pointer", "coined", "term", "background")


def right_category(span: str) -> str:
    """One of the four by the words of the gap, whoever asks."""
    return CATEGORIES[hashlib.sha256(span.encode()).digest()[0] % len(CATEGORIES)]


def written(text: str, request: str) -> str:
    """A reply made from what was sent: its last number and some of its names, under a code of the whole request."""
    names = dict.fromkeys(found[1] or found[2] for found in IDENTIFIER.finditer(text))
    numbers = NUMBER.findall(text)
    code = hashlib.sha256(request.encode()).hexdigest()[:6]
    said = f"The answer is {numbers[-1]}." if numbers else "The work is done."
    return " ".join([said, *(f"See `{name}`." for name in [*names][-2:]), f"This is draft D-{code}."])


def workflow(run: str) -> str:
    """A point for each call of the agent, in the order of the record, and a last one to tell the user."""
    tools = re.findall(r"^=+ call of (.*), by the agent$", run, re.MULTILINE)
    points = [f"Call `{tool}` with what the user gave, and check what comes back." for tool in tools]
    return "\n".join(f"{n}. {text}" for n, text in enumerate([*points, "Tell the user what was done."], start=1))


def rewritten(message: str) -> str:
    """The message with its names explained."""
    names = dict.fromkeys(found[1] or found[2] for found in IDENTIFIER.finditer(message))
    return "\n".join([message, *(f"{name} is a name for one step of the work." for name in names)])


def wrong_ids_text(asked: Asked) -> str:
    if asked.prompt in ("writer", "writer.separate", "rewriter", "workflow"):
        return right_text(asked)
    answer = json.loads(right_text(asked))
    if isinstance(answer, list):
        answer = [*answer, {"answer": "One more.", "quote": "One more."}]
    elif "questions" in answer:
        answer["questions"] = [{"q": "Which?", "type": "riddle", "about": "x"}]
    elif "category" in answer:
        answer = {"category": "riddle"}
    elif "errors" in answer:
        answer = {"mistakes": [], "gaps": []}
    else:
        answer = {"another": "ready"}
    return json.dumps(answer, ensure_ascii=False)


def twice_keyed(text: str) -> str:
    """The first key of the first object once more, before itself."""
    return re.sub(r"\{(\"[^\"]+\"):", r'{\1: null, \1:', text, count=1)


def invented_text(asked: Asked) -> str:
    if asked.prompt != "reader.answers":
        return right_text(asked)
    quote = "This sentence was never written by anybody in this text."
    return json.dumps([{"answer": "It is known.", "quote": quote} for _ in numbered(asked.blocks["questions"])])


def obeying_text(asked: Asked) -> str:
    """The last JSON that the judged texts hold, else the words of one who was talked round."""
    judged = "\n".join(asked.blocks.values()) or asked.text
    asked_for = re.findall(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", judged)
    return asked_for[-1] if asked_for else "As instructed, the message passes. Score: 10/10."


# The server


class JudgeServer:
    """Serves until the end of its `with`. Counts stay readable afterwards."""

    def __init__(
        self, script: Script | Act | None = None, *, key: str | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        """With `key` every other one gets 401."""
        act = script or right()
        self.script: Script = always(act) if isinstance(act, Act) else act
        self.key, self.is_tls = key, tls is not None
        self.lock = threading.Lock()
        self.asked: list[Asked] = []
        self.acts: Counter[str] = Counter()
        self.times: list[float] = []
        """When each request was there, by the monotonic clock."""
        self.n_connections = 0
        self.n_answered = 0
        """Answers that a provider would charge for."""
        self.at_once = self.most_at_once = 0
        self.bodies: Counter[bytes] = Counter()
        self.keeps_bodies = True
        """Whether what was asked is kept; a benchmark needs the counts alone."""
        self.http = Server(("127.0.0.1", 0), type("Handler", (Handler,), {"judge": self}))
        if tls:
            self.http.socket = tls.wrap_socket(self.http.socket, server_side=True)

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.http.server_address[1]}"

    @property
    def url(self) -> str:
        """The address of an endpoint."""
        return f"{'https' if self.is_tls else 'http'}://{self.place}/v1"

    def __enter__(self) -> "JudgeServer":
        threading.Thread(target=self.http.serve_forever, args=(0.05,), name="judge server", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.is_over.set()
        self.http.shutdown()
        self.http.server_close()

    def most_within(self, seconds: float) -> int:
        """The most requests in any stretch of so many seconds."""
        window: deque[float] = deque()
        most = 0
        for at in sorted(self.times):
            window.append(at)
            while window[0] <= at - seconds:
                window.popleft()
            most = max(most, len(window))
        return most

    def counts(self) -> dict[str, Any]:
        with self.lock:
            times = len(self.times)
            return {
                "n_asked": times,
                "n_answered": self.n_answered,
                "n_different": len(self.bodies),
                "most_at_once": self.most_at_once,
                "most_a_minute": self.most_within(60),
                "most_a_second": self.most_within(1),
                "acts": dict(self.acts),
            }

    def act_for(self, raw: bytes, headers: dict[str, str]) -> tuple[Act, Asked]:
        digest = hashlib.sha256(raw).digest()
        with self.lock:
            self.times.append(time.monotonic())
            number, before = len(self.times), self.bodies[digest]
            self.bodies[digest] += 1
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        asked = Asked(body if isinstance(body, dict) else {}, raw, before, headers, number)
        is_known = self.key is None or headers.get("authorization") == f"Bearer {self.key}"
        act = self.script(asked) if is_known else no_key()
        with self.lock:
            self.acts[act.name] += 1
            if self.keeps_bodies:
                self.asked.append(asked)
        return act, asked


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512
    allow_reuse_address = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.is_over = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what some acts are for."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    judge: JudgeServer

    def setup(self) -> None:
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.judge.lock:
            self.judge.n_connections += 1
        super().setup()

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.send(200, {"Content-Type": "application/json"}, json.dumps(self.judge.counts()).encode())

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        judge = self.judge
        with judge.lock:
            judge.at_once += 1
            judge.most_at_once = max(judge.most_at_once, judge.at_once)
        try:
            act, asked = judge.act_for(raw, {name.lower(): value for name, value in self.headers.items()})
            self.answer(act, asked)
        finally:
            with judge.lock:
                judge.at_once -= 1

    def answer(self, act: Act, asked: Asked) -> None:
        is_over = self.server.is_over  # type: ignore[attr-defined]
        if act.wait and is_over.wait(act.wait):
            return
        body = act.body(asked) if act.body else envelope(act, asked)
        headers = {"Content-Type": "application/json", "x-request-id": f"req-{asked.number}", **act.headers}
        if act.is_answer:
            with self.judge.lock:
                self.judge.n_answered += 1
        if act.reset:
            self.send(act.status, headers, body[: len(body) // 2], length=len(body))
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.request.close()
            self.close_connection = True
        elif act.pause:
            self.send(act.status, headers, b"", length=len(body))
            for byte in body:
                if is_over.wait(act.pause):
                    return
                self.wfile.write(bytes([byte]))
        else:
            self.send(act.status, headers, body)

    def send(self, status: int, headers: dict[str, str], body: bytes, *, length: int | None = None) -> None:
        """Head and body in one write: two would wait for each other."""
        head = [f"HTTP/1.1 {status} {self.responses.get(status, ('',))[0]}"]
        head += [f"{name}: {value}" for name, value in headers.items()]
        head += [f"Content-Length: {len(body) if length is None else length}", "", ""]
        self.wfile.write("\r\n".join(head).encode() + body)


def envelope(act: Act, asked: Asked) -> bytes:
    """The message of the model as the protocol wraps it, with the tokens it took, of four characters each."""
    text = act.text(asked) if act.text else ""
    message = {"role": "assistant", "content": text or None, **({"refusal": act.refusal} if act.refusal else {})}
    message |= {"tool_calls": act.calls} if act.calls else {}
    usage = {"prompt_tokens": len(asked.text) // 4 + 1, "completion_tokens": len(text) // 4 + 1}
    usage["total_tokens"] = sum(usage.values())
    whole = {
        "id": f"chatcmpl-{asked.number}",
        "object": "chat.completion",
        "created": 0,
        "model": asked.body.get("model", ""),
        "choices": [{"index": 0, "message": message, "finish_reason": act.finish}],
        "usage": usage,
    }
    return json.dumps(whole, ensure_ascii=False).encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mix", default="", help="NAME=SHARE of each act that is not right, by commas")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    shares = {name: float(share) for name, share in (one.split("=") for one in chosen.mix.split(",") if one)}
    with JudgeServer(mix(seed=chosen.seed, latency=chosen.latency, **shares)) as server:
        server.keeps_bodies = False
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
