"""All that reaches one person's browser, searched for what is hidden from them: bodies, headers and addresses, the page
as it stands, its title, cookies, every store, the console, and what is downloaded."""

import json
from dataclasses import dataclass

from playwright.sync_api import Error

from tests.guards.canary import Token, Viewer

UNSENT = "sightline:unsent:"
"""Drafts that have not reached the server stay in the browser of whoever typed them, and nothing else does."""
ADDRESS = "htmx-current-path-for-history"
"""The address that htmx is at, as the bar of the browser has it, for as long as one is signed in."""
STORES = """async () => {
  const found = { local: { ...localStorage }, session: { ...sessionStorage }, databases: [], caches: [] };
  for (const { name } of await indexedDB.databases()) {
    const base = await new Promise((done, failed) => {
      const asked = indexedDB.open(name);
      asked.onsuccess = () => done(asked.result);
      asked.onerror = failed;
    });
    for (const store of base.objectStoreNames) {
      const rows = await new Promise((done) => {
        const asked = base.transaction(store).objectStore(store).getAll();
        asked.onsuccess = () => done(asked.result);
      });
      found.databases.push([name, store, JSON.stringify(rows)]);
    }
    base.close();
  }
  for (const name of window.caches ? await caches.keys() : []) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      found.caches.push([name, request.url, await (await cache.match(request)).text()]);
    }
  }
  found.workers = (await navigator.serviceWorker?.getRegistrations() ?? []).length;
  return found;
}"""


@dataclass(frozen=True)
class Found:
    step: str
    channel: str
    token: Token
    how: str

    def __str__(self):
        return f"{self.step}: {self.channel}: {self.token} {self.how}"


class Recording:
    """Of one window. `look` searches what has come since the last look, by what this person may be sent now."""

    def __init__(self, world, page, who):
        self.world, self.page, self.who = world, page, who
        self.found: list[Found] = []
        self.heard: list[tuple[str, bytes]] = []
        self.missed: list[str] = []
        self.addresses: list[str] = []
        self.n_bodies = 0
        page.on("requestfinished", self.note)
        page.on("framenavigated", lambda frame: self.addresses.append(frame.url))
        page.on("console", lambda message: self.hear("console", message.text))
        page.on("websocket", lambda socket: self.missed.append(f"frames of {socket.url}"))

    def hear(self, channel, words):
        self.heard.append((channel, words if isinstance(words, bytes) else words.encode("utf-8", "replace")))

    def note(self, request):
        self.hear("address", request.url)
        answer = request.response()
        head = "\n".join(f"{one['name']}: {one['value']}" for one in answer.headers_array())
        self.hear("header", f"{answer.status} {answer.status_text}\n{head}")
        if answer.status in (204, 301, 302, 303):
            return
        try:
            self.hear("body", answer.body())
            self.n_bodies += 1
        except Error:  # a file that is the same for everybody may be gone with its page
            self.missed += [] if "/static/" in request.url else [request.url]

    def look(self, step, known=""):
        """What is in the words of `known` was there before."""
        self.page.wait_for_load_state()
        self.hear("page", self.page.content())
        self.hear("title", f"{self.page.title()} {self.page.url}")
        kept = self.kept()
        self.hear("cookie", json.dumps(self.page.context.cookies()))
        self.hear("store", kept)
        person = self.world.people[self.who]
        viewer = Viewer(person.pk if person else None)
        heard, self.heard = self.heard, []
        for channel, words in heard:
            for catch in self.world.net.catch(words):
                is_kept = channel in ("cookie", "store")
                if catch.token.text not in known and (is_kept or not catch.token.may_reach(viewer)):
                    self.found.append(Found(step, channel, catch.token, catch.how))

    def kept(self):
        """What stands in the stores of this browser beside unsent drafts."""
        stores = self.page.evaluate(STORES)
        assert stores["workers"] == 0
        stores["local"] = {name: value for name, value in stores["local"].items() if not name.startswith(UNSENT)}
        if self.who != "anonymous":
            stores["session"].pop(ADDRESS, None)
        return json.dumps(stores)

    def save(self, waiting, step):
        """A download: its name and what is in it."""
        download = waiting.value
        self.hear("name of a download", download.suggested_filename)
        with open(download.path(), "rb") as file:
            self.hear("download", file.read())
        self.look(step)

    def channels(self):
        return {one.channel for one in self.found}
