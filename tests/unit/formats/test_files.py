"""Files: gzip within limits, missing files, and a save that is all or nothing."""

import errno
import gzip
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading

import pytest

from credo.data.out import atomic
from credo.errors import CredoError, InputError, LimitError
from credo.formats import FORMATS, Limits, WriteError, load, save
from credo.formats.files import ENDINGS

WRITTEN = [e for e, format in ENDINGS.items() if format in FORMATS]
ENDS = [*WRITTEN, *(f"{e}.gz" for e in WRITTEN), ".BIF", ".Xml.GZ"]


@pytest.mark.parametrize("ending", ENDS)
def test_each_ending(small, tmp_path, ending):
    path = tmp_path / f"net{ending}"
    small.save(str(path))
    back = load(str(path))
    assert back == small
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == ending.lower().endswith(".gz")
    if not ending.startswith(".credo"):
        assert back.record.source == path.name


def test_files_that_are_not_there(tmp_path, small):
    small.save(tmp_path / "asia.bif")
    with pytest.raises(
        InputError, match=r"There is no file .*asai\.bif\. Did you mean 'asia\.bif'\?"
    ):
        load(tmp_path / "asai.bif")
    with pytest.raises(InputError, match=r"There is no file .*none\.bif\.$"):
        load(tmp_path / "no" / "none.bif")
    (tmp_path / "folder.bif").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        load(tmp_path / "folder.bif")


def test_a_file_that_cannot_be_opened(tmp_path, monkeypatch):
    def denied(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", denied)
    with pytest.raises(InputError, match=r"cannot be read: Permission denied"):
        load(tmp_path / "a.bif")


def test_the_size_of_a_file_is_limited(small, tmp_path):
    small.save(tmp_path / "a.bif")
    with pytest.raises(LimitError, match=r"a\.bif has more than 100 bytes"):
        load(tmp_path / "a.bif", limits=Limits(file_bytes=100))


@pytest.mark.parametrize("format", FORMATS)
def test_gzip_bombs_are_refused(tmp_path, format):
    path = tmp_path / f"bomb.{format}.gz"
    path.write_bytes(gzip.compress(b" " * 2**26))
    with pytest.raises(LimitError, match=r"grows to more than [\d,]+ bytes when unpacked"):
        load(path)
    with pytest.raises(LimitError, match="more than 1,000,000 bytes"):
        load(path, limits=Limits(decompressed_bytes=1_000_000))


def test_what_compresses_too_well_is_stored(tmp_path):
    from credo.formats.files import read_bytes, write_bytes

    path = tmp_path / "a.gz"
    write_bytes(path, b" " * 2**22, packed=True)
    assert read_bytes(path, Limits(), packed=True) == b" " * 2**22


def test_damaged_gzip_is_refused(small, tmp_path):
    path = tmp_path / "a.bif.gz"
    small.save(path)
    data = path.read_bytes()
    for n in range(len(data)):
        path.write_bytes(data[:n])
        with pytest.raises(CredoError):
            load(path)
    path.write_bytes(data + b"rubbish")
    with pytest.raises(InputError, match="is damaged"):
        load(path)
    half = len(data) // 2
    text = gzip.decompress(data)
    path.write_bytes(gzip.compress(text[:half]) + gzip.compress(text[half:]))
    assert load(path) == small


def test_files_of_other_encodings(tmp_path):
    text = "variable å { type discrete { y }; }\nprobability (å) { table 1; }"
    path = tmp_path / "a.bif"
    path.write_bytes(text.encode("latin-1"))
    net = load(path)
    assert net.names == ("å",)
    assert net.record.notes == ("line 1 is not UTF-8; the file was read as Latin-1",)
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load(path).names == ("å",)


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
@pytest.mark.parametrize("before", [False, True])
def test_a_full_disk_leaves_the_old_file(small, tmp_path, monkeypatch, step, before):
    path = tmp_path / "a.credo"
    if before:
        path.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    if step == "write":
        real = os.fdopen

        def fdopen(*args):
            class Full:
                def __init__(self, file):
                    self.file = file

                def __enter__(self):
                    return self

                def __exit__(self, *_):
                    self.file.close()

                def write(self, data):
                    self.file.write(data[: len(data) // 2])
                    full()

            return Full(real(*args))

        monkeypatch.setattr(atomic.os, "fdopen", fdopen)
    else:
        monkeypatch.setattr(atomic.os, step, full)
    with pytest.raises(
        WriteError, match=r"a\.credo could not be written: No space left on device\. What was"
    ):
        save(small, path)
    with pytest.raises(OSError):
        save(small, path)
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == (["a.credo"] if before else [])
    assert not before or path.read_bytes() == b"old"
    save(small, path)
    assert load(path) == small


def test_a_missing_folder_is_said(small, tmp_path):
    with pytest.raises(WriteError, match="could not be written: No such file"):
        save(small, tmp_path / "none" / "a.bif")


def test_the_mode_of_the_old_file_stays_and_links_are_followed(small, tmp_path):
    path = tmp_path / "a.bif"
    save(small, path)
    path.chmod(0o640)
    link = tmp_path / "link.bif"
    link.symlink_to(path)
    save(small, link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("ending", [".credo", ".bif", ".bif.gz"])
def test_a_full_device_is_said_and_stays_a_device(small, tmp_path, ending):
    """The device was replaced by a file, and the save reported as done."""
    link = tmp_path / f"a{ending}"
    link.symlink_to("/dev/full")
    with pytest.raises(WriteError, match=r"could not be written: No space left on device\.$"):
        save(small, link)
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    assert os.listdir(tmp_path) == [link.name]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("ending", [".credo", ".bif", ".bif.gz"])
def test_a_pipe_is_written_to(small, tmp_path, ending):
    pipe, copy = tmp_path / f"a{ending}", tmp_path / f"copy{ending}"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: copy.write_bytes(pipe.read_bytes()))
    reader.start()
    save(small, pipe)
    reader.join(timeout=20)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert load(copy) == small


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout here")
def test_standard_output_is_written_to(small, tmp_path):
    """Also where it is a file, which was replaced under the feet of who had opened it."""
    save(small, tmp_path / "a.bif")
    say = "import sys; from credo.formats import *; print('first', flush=True); "
    say += f"save(load({str(tmp_path / 'a.bif')!r}), '/dev/stdout', format='bif'); print('last')"
    with open(tmp_path / "out", "wb") as out:
        subprocess.run([sys.executable, "-c", say], check=True, stdout=out)
    first, *text, last = (tmp_path / "out").read_text().splitlines()
    assert (first, last) == ("first", "last")
    assert "\n".join(text) + "\n" == (tmp_path / "a.bif").read_text()


KILLED = """
import os, sys
from credo.data.out import atomic
from credo.formats import load, save
net = load(sys.argv[1])
def stop(*args):
    print("here", flush=True)
    os.kill(os.getpid(), 9)
if sys.argv[2] == "after":
    real = os.replace
    def replace(*args):
        real(*args)
        stop()
    atomic.os.replace = replace
else:
    setattr(atomic.os, sys.argv[2], stop)
save(net, sys.argv[1])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
@pytest.mark.parametrize("step", ["fsync", "replace", "after"])
def test_a_kill_leaves_the_old_or_the_new_file(small, tmp_path, step):
    path = tmp_path / "a.credo"
    save(small, path)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(path), step],
        capture_output=True,
        text=True,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert done.stdout == "here\n"
    assert load(path) == small


def test_limits_must_be_whole_numbers():
    for bad in (0, -1, 1.5, True, "9"):
        with pytest.raises(InputError, match="The limit 'ratio' must be a whole number above 0"):
            Limits(ratio=bad)
