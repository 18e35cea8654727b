"""A line between a client and a server that can be slowed, cut and held."""

import contextlib
import socket
import threading
import time

CHUNK = 1 << 16


class Proxy:
    """Listens on a port of its own and passes on to `upstream`, a port or the path of a unix socket. What it does to
    the bytes may be changed at any time: `delay` is slept before each piece, `cut_after` is how many bytes of answers
    a connection lets through before both ends are closed, and while `is_holding` nothing passes either way."""

    def __init__(self, upstream):
        self.upstream, self.delay, self.cut_after, self.is_holding = upstream, 0.0, None, False
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.sockets, self.is_over = set(), False
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.server.accept()
                threading.Thread(target=self.join, args=(client,), daemon=True).start()

    def join(self, client):
        try:
            server = self.connect()
        except OSError:
            client.close()
            return
        self.sockets |= {client, server}
        threading.Thread(target=self.carry, args=(client, server, False), daemon=True).start()
        self.carry(server, client, True)

    def connect(self):
        if isinstance(self.upstream, int):
            return socket.create_connection(("127.0.0.1", self.upstream))
        server = socket.socket(socket.AF_UNIX)
        server.connect(str(self.upstream))
        return server

    def carry(self, source, target, is_answer):
        n_passed = 0
        with contextlib.suppress(OSError):
            while piece := source.recv(CHUNK):
                while self.is_holding and not self.is_over:
                    time.sleep(0.02)
                if self.delay:
                    time.sleep(self.delay)
                if is_answer and self.cut_after is not None and n_passed + len(piece) > self.cut_after:
                    target.sendall(piece[: max(self.cut_after - n_passed, 0)])
                    break
                target.sendall(piece)
                n_passed += len(piece)
        for end in (source, target):
            close(end)
            self.sockets.discard(end)

    def end(self):
        self.is_over = True
        self.server.close()
        for one in list(self.sockets):
            close(one)


def close(one):
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextlib.contextmanager
def proxy(upstream):
    made = Proxy(upstream)
    try:
        yield made
    finally:
        made.end()
