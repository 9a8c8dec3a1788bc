"""Writes a wheel anew with Zopfli's deflate, which every unzip reads and which is about four percent smaller.

usage: python tools/compress_wheel.py WHEEL    (needs the package zopfli; takes a few minutes)
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from unittest import mock

import zopfli.zlib


class Compressor:
    """Has the interface of zlib.compressobj's objects; compresses a file as a whole."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def compress(self, data: bytes) -> bytes:
        self.parts.append(data)
        return b""

    def flush(self) -> bytes:
        # Omits the header and the checksum of zlib's own format, which zip files do not have.
        return zopfli.zlib.compress(b"".join(self.parts), numiterations=1)[2:-4]


def main(path: Path) -> None:
    before = path.stat().st_size
    packed = path.with_suffix(".packed")
    with (
        mock.patch("zipfile._get_compressor", lambda *_: Compressor()),
        zipfile.ZipFile(path) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for info in old.infolist():
            new.writestr(info, old.read(info), zipfile.ZIP_DEFLATED)
    packed.replace(path)
    print(f"{path.name}: {before / 1e6:.1f} MB, compressed {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
