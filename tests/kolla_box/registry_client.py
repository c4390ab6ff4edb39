"""A registry over a folder of images, and a client that asks it as a container engine does; prints answers as JSON.

registry_client.py ROOT STORAGE: ROOT has Debian's docker-registry and its C library. It runs in a network namespace.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ADDRESS = "127.0.0.1:5000"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def ask(path, *, head=False):
    """Return the answer's headers and content."""
    request = urllib.request.Request(f"http://{ADDRESS}/v2/{path}", headers={"Accept": MANIFEST})
    request.method = "HEAD" if head else "GET"
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
        return answer.headers, answer.read()


def wait():
    """Wait until the registry answers."""
    for _ in range(100):
        try:
            ask("")
            return
        except OSError:
            time.sleep(0.2)
    sys.exit("the registry does not answer")


def look(repository, tag):
    """Return what is served of an image, its blobs compared with their digests."""
    manifest = json.loads(ask(f"{repository}/manifests/{tag}")[1])
    shared, small = manifest["layers"]
    content = ask(f"{repository}/blobs/{small['digest']}")[1]
    return {
        "manifest": manifest,
        "config": json.loads(ask(f"{repository}/blobs/{manifest['config']['digest']}")[1]),
        "small_is_whole": f"sha256:{hashlib.sha256(content).hexdigest()}" == small["digest"],
        "shared_bytes": int(ask(f"{repository}/blobs/{shared['digest']}", head=True)[0]["Content-Length"]),
    }


def main(root, storage):
    """Start the registry, ask it, end it."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write(
            f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {storage}}},"
            " maintenance: {readonly: {enabled: true}}}\n"
            f"http: {{addr: {ADDRESS!r}}}\n"
        )
        file.flush()
        libraries = f"{root}/usr/lib/x86_64-linux-gnu"
        loader = [f"{libraries}/ld-linux-x86-64.so.2", "--library-path", libraries]
        argv = [*loader, f"{root}/usr/bin/docker-registry", "serve", file.name]
        registry = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait()
            tag = json.loads((Path(storage) / "images.json").read_text())["tag"]
            names = json.loads(ask("_catalog?n=1000")[1])["repositories"]
            json.dump({name: look(name, tag) for name in names}, sys.stdout)
        finally:
            registry.kill()
            registry.wait()


main(*sys.argv[1:])
