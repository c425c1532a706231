"""A file system of its own that can be filled and made read-only: a tmpfs.

Mounting needs root, or a sudo that asks nothing (as on the machines of most CI services).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


class SmallDisk:
    """``folder`` is where it is mounted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def leave(self, free: int) -> None:
        """Leave at most so many bytes free."""
        disk = os.statvfs(self.folder)
        with (self.folder / "ballast").open("ab", 0) as ballast:
            ballast.write(bytes(max(disk.f_bavail * disk.f_frsize - free, 0)))

    def fill(self) -> None:
        """Leave no byte free."""
        with (self.folder / "ballast").open("ab", 0) as ballast:
            size = 4096
            while size:
                try:
                    ballast.write(bytes(size))
                except OSError:
                    size //= 2

    def relieve(self) -> None:
        """Free what ``fill`` took."""
        (self.folder / "ballast").unlink()

    def read_only(self, wanted: bool) -> None:
        """Remount it; to be made read-only it must have no file open for writing."""
        _run("mount", "-o", f"remount,{'ro' if wanted else 'rw'}", str(self.folder))


@contextmanager
def small_disk(folder: Path, size: int) -> Generator[SmallDisk]:
    """A disk of so many bytes, mounted at the folder."""
    folder.mkdir()
    owner = f"uid={os.getuid()},gid={os.getgid()},mode=700"
    _run("mount", "-t", "tmpfs", "-o", f"size={size},{owner}", "tmpfs", str(folder))
    try:
        yield SmallDisk(folder)
    finally:
        _run("umount", "-l", str(folder))


def _run(*command: str) -> None:
    sudo = [] if os.getuid() == 0 else ["sudo", "-n"]
    subprocess.run([*sudo, *command], check=True)
