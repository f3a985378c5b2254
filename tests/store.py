"""An object store on loopback: moto's server, which answers as S3 does."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from moto.server import ThreadedMotoServer
from pyarrow import fs

#: What a user has in the environment for a store of their own.
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}


@contextmanager
def s3_server() -> Iterator[dict[str, str]]:
    """A store, as the environment variables that lead to it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request is too much
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield {**CREDENTIALS, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}
    finally:
        server.stop()


@contextmanager
def bucket(environment: dict[str, str], name: str) -> Iterator[str]:
    """An empty bucket, as an address, with the environment that leads to it."""
    with mock.patch.dict(os.environ, environment):
        host = environment["AWS_ENDPOINT_URL"].removeprefix("http://")
        store = fs.S3FileSystem(endpoint_override=host, scheme="http", region="us-east-1", allow_bucket_creation=True)
        store.create_dir(name)
        yield f"s3://{name}"
