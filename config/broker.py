"""The broker of files: kombu's own, for which whatever cannot be read is not there.

Somebody may look while a file is being written, a killed process leaves half a file behind, and a start empties the
folder: none of it may end a worker. Any message may be lost; the next sweep finds what it told of.
"""

import contextlib
from pathlib import Path
from queue import Empty

from kombu import transport
from kombu.exceptions import ChannelError
from kombu.transport import filesystem

UNREADABLE = (OSError, ChannelError, ValueError, TypeError, LookupError, AttributeError)
"""What kombu raises of files that are no JSON, or JSON of another shape."""


class Channel(filesystem.Channel):
    def make_folders(self):
        """kombu makes one of them, and only beneath a folder that is there."""
        for folder in (self.data_folder_in, self.data_folder_out, self.control_folder):
            Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)

    def _get(self, queue):
        """A file is moved away before it is read, so one that cannot be read is met once."""
        try:
            payload = super()._get(queue)
            self.Message(payload, channel=self)
        except UNREADABLE:
            raise Empty from None
        return payload

    def _put(self, queue, payload, **more):
        self.make_folders()
        super()._put(queue, payload, **more)

    def _size(self, queue):
        with contextlib.suppress(FileNotFoundError):
            return super()._size(queue)
        return 0

    def _purge(self, queue):
        with contextlib.suppress(FileNotFoundError):
            return super()._purge(queue)
        return 0

    def get_table(self, exchange):
        """Which queues a message goes to: as it stands in the folder, else as this process wrote it there."""
        found = []
        with contextlib.suppress(*UNREADABLE):
            found = super().get_table(exchange)
        return found or self.state.exchanges.get(exchange, {}).get("table", [])

    def _queue_bind(self, exchange, routing_key, pattern, queue):
        self.make_folders()
        try:
            super()._queue_bind(exchange, routing_key, pattern, queue)
        except UNREADABLE:
            self._exchange_file(exchange).unlink(missing_ok=True)
            super()._queue_bind(exchange, routing_key, pattern, queue)


class Transport(filesystem.Transport):
    Channel = Channel


def use():
    """Addresses of the scheme `filesystem` mean this broker in this process."""
    transport.TRANSPORT_ALIASES["filesystem"] = f"{__name__}:Transport"
