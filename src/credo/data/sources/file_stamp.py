"""A stamp tells a file from what is written in its place later."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from credo.data.sources.unpack import gone

__all__ = ["FileStamp"]


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Which file it is, its size, and when it was last written: as it says itself, and as the file
    system does, which nobody can set back.
    """

    path: Path
    file: int
    size: int
    written: int
    changed_at: int

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """The stamp of a file as it is now; one that is gone is refused."""
        try:
            now = path.stat()
        except OSError:
            raise gone(path) from None
        return cls(path, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)

    def changed(self) -> bool:
        """Whether the file is another now."""
        return FileStamp.of(self.path) != self
