"""The .credo file: a zip of `model.json` and `arrays.bin`, checked to the last bit.

`model.json` holds the version, the variables with the types of their states, the parents, the
kind of each distribution and the record; `arrays.bin` the numbers, little-endian float64, one
array after the other, each with its SHA-256 in `model.json`. The zip's comment holds the
SHA-256 of all that stands before it, so one flipped bit anywhere is refused. Nothing in the
file is ever executed.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from typing import Any

from credo.core.errors import CredoError, InputError, LimitError
from credo.formats import archive_decisions as decisions
from credo.formats.archive_markov import KINDS, factor_model_of, said_of
from credo.formats.archive_markov import VERSION as UNDIRECTED
from credo.formats.archive_model import VERSION, model_of, network_of
from credo.formats.archive_structures import KIND as STRUCTURES
from credo.formats.archive_structures import posterior_said, structures_of
from credo.formats.files import raise_limits
from credo.formats.reading import Reading
from credo.formats.strict_json import loads as strict_loads
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.networks.network import Network
from credo.model.structures.structure_posterior import StructurePosterior
from credo.model.undirected.factor_model import FactorModel

MODEL, ARRAYS = "model.json", "arrays.bin"
JSON_BYTES = 32 * 2**20
"""`model.json` may be this large: it holds names, not numbers."""
_SEAL = b"credo sha256 "
_SEALED = len(_SEAL) + 64
_END = struct.Struct("<4s4H2LH")  # the zip's end of central directory


def write(net: Network | FactorModel | DecisionNetwork | StructurePosterior) -> bytes:
    """A model as the bytes of a .credo file."""
    if isinstance(net, DecisionNetwork):
        model, arrays = decisions.said_of(net)
    elif isinstance(net, StructurePosterior):
        model, arrays = posterior_said(net)
    else:
        model, arrays = said_of(net) if isinstance(net, FactorModel) else model_of(net)
    members = {
        MODEL: json.dumps(model, ensure_ascii=True, allow_nan=False).encode("ascii"),
        ARRAYS: b"".join(arrays),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", allowZip64=False) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)  # its date is 1980: the same network, the same bytes
            packed = len(zlib.compress(data, 6))
            worth = len(data) / 100 < packed < 0.9 * len(data) or len(data) < 2**20
            info.compress_type = zipfile.ZIP_DEFLATED if worth else zipfile.ZIP_STORED
            try:
                archive.writestr(info, data)
            except zipfile.LargeZipFile:
                raise LimitError("The network is too large for one .credo file.") from None
        archive.comment = _SEAL + b"0" * 64
    data = out.getvalue()[:-_SEALED]
    return data + _SEAL + hashlib.sha256(data).hexdigest().encode("ascii")


def read(
    data: bytes, reading: Reading
) -> Network | FactorModel | DecisionNetwork | StructurePosterior:
    """The model of a .credo file."""
    _check_seal(data, reading)
    members = _members(data, reading)
    try:
        text = members[MODEL].decode("ascii")
    except UnicodeDecodeError:
        raise reading.error(None, f"{MODEL} is not ASCII text.") from None
    model: Any = strict_loads(text, reading)
    if not isinstance(model, dict) or model.get("format") != "credo":
        raise reading.error(None, f"{MODEL} does not describe a credo model.")
    version = model.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise reading.error(None, f"{MODEL} has no version.")
    kind = model.get("kind")
    latest = UNDIRECTED if kind in KINDS else VERSION
    latest = decisions.VERSION if kind == decisions.KIND else latest
    if version > latest:
        raise reading.error(
            None,
            f"The file is of version {version}; this credo reads up to version {latest}.",
            "Install a later credo.",
        )
    try:
        if kind == decisions.KIND:
            return decisions.decision_network_of(model, members[ARRAYS], reading)
        if kind in KINDS:
            return factor_model_of(model, members[ARRAYS], reading)
        if kind == STRUCTURES:
            return structures_of(model, members[ARRAYS], reading)
        return network_of(model, members[ARRAYS], reading)
    except CredoError as error:
        if error.message.startswith(reading.source):
            raise
        own = InputError if isinstance(error, InputError) else type(error)
        raise own(f"{reading.source}: {error.message}", hint=error.hint) from None


def _check_seal(data: bytes, reading: Reading) -> None:
    if not data.startswith(b"PK\x03\x04"):
        raise reading.error(None, "This is not a .credo file: it does not start as a zip.")
    seal = data[-_SEALED:]
    wanted = _SEAL + hashlib.sha256(data[:-_SEALED]).hexdigest().encode("ascii")
    if seal != wanted:
        raise reading.error(
            None, "The file is damaged or cut short: its checksum is not that of its contents."
        )


def _members(data: bytes, reading: Reading) -> dict[str, bytes]:
    """The two members; sizes are read from the directory and checked before unpacking."""
    tail = data[-_SEALED - _END.size :][: _END.size]
    mark, disk, first, here, total, size, *_ = _END.unpack(tail)
    if mark != b"PK\x05\x06" or (disk, first, here, total) != (0, 0, 2, 2) or size > 1000:
        raise reading.error(None, f"The zip must hold {MODEL} and {ARRAYS} and nothing else.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = {i.filename: i for i in archive.infolist()}
            if set(infos) != {MODEL, ARRAYS}:
                raise reading.error(None, f"The zip must hold {MODEL} and {ARRAYS}.")
            for info in infos.values():
                _check_size(info, reading)
            return {name: archive.read(info) for name, info in infos.items()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise reading.error(None, f"The zip cannot be read: {error}.") from None
    except (ValueError, struct.error, OSError, OverflowError, AttributeError) as error:
        if isinstance(error, CredoError):
            raise
        raise reading.error(None, f"The zip cannot be read: {error}.") from None


def _check_size(info: zipfile.ZipInfo, reading: Reading) -> None:
    limits = reading.limits
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise reading.error(None, f"{info.filename} is packed in a way that is not read.")
    most = limits.decompressed_bytes
    if info.filename == MODEL:
        most = min(most, JSON_BYTES)
    if info.file_size > most:
        raise LimitError(
            f"{reading.source}: {info.filename} would have {info.file_size:,} bytes; "
            f"at most {most:,} are allowed.",
            hint=raise_limits("decompressed_bytes"),
        )
    if info.file_size > 2**20 and info.file_size > limits.ratio * max(info.compress_size, 1):
        raise LimitError(
            f"{reading.source}: {info.filename} grows more than {limits.ratio} times when unpacked."
        )
