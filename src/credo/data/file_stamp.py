"""A stamp tells a file from what is written in its place later."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["FileStamp"]


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A file's size, and when it was last written."""

    path: Path
    size: int
    written: int

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """The stamp of a file as it is now."""
        now = path.stat()
        return cls(path, now.st_size, now.st_mtime_ns)

    def changed(self) -> bool:
        """Whether the file is another now; one that is gone is for its reader to tell."""
        try:
            return FileStamp.of(self.path) != self
        except OSError:
            return False
