"""Serves a site's pages as files by nginx, where it is installed: `apt install nginx-light` will do.

A crawler on two cores shares them with the server it crawls; nginx takes next to nothing of them.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from site_of_pages import Site, free_port

CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000;
  etag off;
  if_modified_since off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  types {{ text/html html; }}
  charset utf-8;
  server {{
{listen}
    root {folder}/pages;
  }}
}}
"""


def find_nginx() -> str | None:
    return shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")


@contextmanager
def serving(nginx: str, pages: int, hosts: int, folder: Path) -> Iterator[Site]:
    """The site on loopback addresses 127.0.0.1, 127.0.0.2, …, for as long as the `with` block lasts."""
    site = Site(pages, hosts, free_port())
    section = folder / "pages" / "section"
    section.mkdir(parents=True)
    for number in range(pages):
        (section / f"page-{number:07d}.html").write_bytes(site.body(number))
    listen = "\n".join(f"    listen 127.0.0.{host + 1}:{site.port};" for host in range(hosts))
    config = folder / "nginx.conf"
    config.write_text(CONFIG.format(folder=folder, listen=listen))
    folder.chmod(0o755)
    server = subprocess.Popen([nginx, "-c", str(config)], stderr=subprocess.PIPE)
    try:
        _wait_for(site, server)
        yield site
    finally:
        server.terminate()
        server.communicate()


def _wait_for(site: Site, server: subprocess.Popen[bytes]) -> None:
    while server.poll() is None:
        try:
            socket.create_connection((f"127.0.0.{site.hosts}", site.port), timeout=1).close()
        except OSError:
            continue
        return
    assert server.stderr is not None
    raise SystemExit(f"nginx did not start: {server.stderr.read().decode()}")
