"""The fields of a form that was sent as ``multipart/form-data`` (RFC 7578)."""

from __future__ import annotations

import hashlib
from email.parser import BytesHeaderParser
from email.policy import HTTP
from typing import Any

from turnspan.runtime.type_guards import is_list


def form_fields(body: bytes, content_type: str) -> dict[str, Any]:
    """The fields of a form; of a file its name, type, size and hash."""
    boundary = content_type.partition("boundary=")[2].partition(";")[0].strip().strip('"')
    fields: dict[str, Any] = {}
    for part in body.split(b"--" + boundary.encode())[1:-1] if boundary else ():
        head, _, data = part.strip(b"\r\n").partition(b"\r\n\r\n")
        headers = BytesHeaderParser(policy=HTTP).parsebytes(head + b"\r\n\r\n")
        name = headers.get_param("name", "", "content-disposition")
        file = headers.get_filename()
        value: Any = file_facts(data, file, headers.get_content_type()) if file else _text(data)
        if isinstance(name, str) and name:
            known = fields.get(name)
            if name in fields:
                value = [*known, value] if is_list(known) else [known, value]
            fields[name] = value
    return fields


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def file_facts(data: bytes, name: str | None, media_type: str) -> dict[str, Any]:
    """What is kept of a file: never its bytes."""
    digest = hashlib.sha256(data).hexdigest()
    return {"file": name, "media_type": media_type, "size": len(data), "sha256": digest}
