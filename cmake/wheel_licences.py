"""wheel_licences.py WHEEL: puts the licences of the libraries that it carries into it.

auditwheel left them in lscm.libs. Whose they are Debian knows: the file that a library was copied from belongs to a
package, and /usr/share/doc/PACKAGE/copyright has its terms, which may refer to texts in /usr/share/common-licenses. All
of these go to licenses/ of the wheel's dist-info, with a list of which library is under which; METADATA and RECORD say
so. A library that no package owns ends it: nobody may hand on what they do not know the terms of.
"""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

DOCUMENTS = Path("/usr/share/doc")
COMMON = Path("/usr/share/common-licenses")
COMPILED_IN = ["liblapacke-dev", "librandom123-dev"]  # what is called of a static library, and headers
FOLDER = "libraries"  # below licenses/


def installed() -> dict[str, Path]:
    """Shared libraries of this machine by the names that auditwheel may have taken."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True).stdout
    paths = [Path(line.rsplit("=> ", 1)[1]) for line in listed.splitlines() if "=> " in line]
    return {name: path.resolve() for path in paths for name in (path.resolve().name, path.name)}


def plain(name: str) -> str:
    """libldap-2-062bb940.5.so.0 was libldap-2.5.so.0: before the first dot stands what auditwheel added."""
    return re.sub(r"-[0-9a-f]{8}(?=\.)", "", name, count=1)


def owner(library: Path) -> str:
    """The package that a file belongs to; it may be listed as it was before /lib moved to /usr/lib."""
    for name in (str(library), str(library).removeprefix("/usr")):
        asked = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True, check=False)
        if asked.returncode == 0:
            return asked.stdout.split(":", 1)[0]
    sys.exit(f"{library}: no Debian package owns it, so its licence is not known and cannot go into the wheel")


def terms(package: str) -> dict[str, bytes]:
    """The package's copyright file and the texts that it refers to, by their names below licenses/."""
    path = DOCUMENTS / package / "copyright"
    if not path.exists():
        sys.exit(f"{path}: is not there, so the licence of {package} cannot go into the wheel")
    text = path.read_bytes()
    named = set(re.findall(rb"/usr/share/common-licenses/([A-Za-z0-9.+-]*[A-Za-z0-9])", text))
    shared = {name.decode(): COMMON / name.decode() for name in named}
    files = {f"{FOLDER}/{package}.txt": text}
    files.update(
        {f"{FOLDER}/common/{name}.txt": file.read_bytes() for name, file in shared.items() if file.exists()}
    )
    return files


def licences(carried: list[str]) -> dict[str, bytes]:
    """All files for licenses/, by their names there."""
    here = installed()
    lines = ["Libraries in this wheel, and the file beside this one that has their terms:", ""]
    files: dict[str, bytes] = {}
    for name in carried:
        if plain(name) not in here:
            sys.exit(f"{name}: is not a library of this machine, so its licence cannot go into the wheel")
        package = owner(here[plain(name)])
        files.update(terms(package))
        lines.append(f"{name}: {package}.txt")
    for package in COMPILED_IN:
        files.update(terms(package))
        lines.append(f"compiled in: {package}.txt")
    files[f"{FOLDER}/README.txt"] = ("\n".join(lines) + "\n").encode()
    return files


def recorded(name: str, content: bytes) -> str:
    """A line of RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def with_licences(metadata: bytes, names: list[str]) -> bytes:
    """METADATA with a line for each, before its description."""
    head, blank, body = metadata.partition(b"\n\n")
    return head + b"".join(f"\nLicense-File: {name}".encode() for name in names) + blank + body


def rewrite(wheel: Path) -> None:
    """The same wheel, with them."""
    with zipfile.ZipFile(wheel) as file:
        entries = {info.filename: (info, file.read(info)) for info in file.infolist()}
    record = next(name for name in entries if name.endswith(".dist-info/RECORD"))
    information = PurePosixPath(record).parent
    carried = sorted(PurePosixPath(name).name for name in entries if name.startswith("lscm.libs/lib"))
    added = licences(carried)
    metadata = f"{information}/METADATA"
    entries[metadata] = entries[metadata][0], with_licences(entries[metadata][1], sorted(added))
    for name, content in sorted(added.items()):
        path = f"{information}/licenses/{name}"
        info = zipfile.ZipInfo(path, entries[metadata][0].date_time)
        info.external_attr = entries[metadata][0].external_attr
        entries[path] = info, content
    old, _ = entries.pop(record)
    lines = [recorded(name, content) for name, (_, content) in entries.items() if not name.endswith("/")]
    entries[record] = old, ("".join(lines) + f"{record},,\n").encode()
    made = wheel.with_suffix(".new")
    with zipfile.ZipFile(made, "w") as file:
        for info, content in entries.values():
            file.writestr(info, content, zipfile.ZIP_DEFLATED, 9)
    made.replace(wheel)


if __name__ == "__main__":
    rewrite(Path(sys.argv[1]))
