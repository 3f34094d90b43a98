"""The archives of a release: contents that depend only on the files, with one time for all of them."""

import gzip
import io
import mmap
import pathlib
import re
import shutil
import subprocess
import tarfile

# The user in the image.
IMAGE_USER = 65532

# Where distributions have the certificates that the system trusts, and where they are in the image.
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


def newest_glibc(program: pathlib.Path) -> tuple[int, int]:
    """Returns the newest version of glibc that a program names."""
    with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        found = re.finditer(rb"\0GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)", content)
        return max((int(version[1]), int(version[2])) for version in found)


def compress(source: pathlib.Path, archive: pathlib.Path, epoch: int) -> None:
    """Compresses a file with gzip."""
    with source.open("rb") as plain, archive.open("wb") as file:
        with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=9, mtime=epoch) as packed:
            shutil.copyfileobj(plain, packed, 1 << 20)


def write_tar_gz(archive: pathlib.Path, tree: pathlib.Path, name: str, epoch: int) -> None:
    """Writes a directory as an archive, below a directory of this name."""
    plain = archive.with_suffix("")
    with tarfile.open(plain, "w", format=tarfile.GNU_FORMAT) as tar:
        for path in [tree, *sorted(tree.rglob("*"))]:
            inside = pathlib.PurePosixPath(name) / path.relative_to(tree)
            tar.add(path, str(inside), recursive=False, filter=lambda entry: owned_by(entry, 0, epoch))
    compress(plain, archive, epoch)
    plain.unlink()


def owned_by(entry: tarfile.TarInfo, user: int, epoch: int) -> tarfile.TarInfo:
    """Gives a member of an archive this owner and time."""
    entry.uid = entry.gid = user
    entry.uname = entry.gname = ""
    entry.mtime = epoch
    return entry


def prepare_debian_tree(
    stage: pathlib.Path, packaging: pathlib.Path, version: str, glibc: tuple[int, int], epoch: int
) -> None:
    """Adds the other files of a Debian package to those below `usr`: units, compressed pages, and descriptions."""
    units = stage / "usr/lib/systemd/system"
    units.mkdir(parents=True)
    for unit in sorted((packaging / "systemd").glob("*.*")):
        if unit.suffix in {".service", ".socket", ".timer"}:
            shutil.copy(unit, units)
    documents = stage / "usr/share/doc/marketplace"
    for page in sorted((stage / "usr/share/man").rglob("*.1")):
        compress(page, page.with_name(page.name + ".gz"), epoch)
        page.unlink()
    compress(documents / "CHANGELOG.md", documents / "changelog.gz", epoch)
    (documents / "CHANGELOG.md").unlink()
    licenses = [(documents / name).read_text() for name in ("LICENSE-MIT", "LICENSE-APACHE")]
    components = "The licenses of the components are in LICENSES-OF-COMPONENTS.txt.\n"
    (documents / "copyright").write_text("\n\n".join(["License: MIT or Apache-2.0", *licenses, components]))
    # zsh and fish of Debian look in other directories than those that are built from source.
    (stage / "usr/share/zsh/vendor-completions").mkdir()
    zsh = stage / "usr/share/zsh/site-functions"
    shutil.move(zsh / "_marketplace", stage / "usr/share/zsh/vendor-completions/_marketplace")
    zsh.rmdir()
    size = sum(path.stat().st_size for path in stage.rglob("*") if path.is_file()) // 1024
    control = stage / "DEBIAN"
    control.mkdir()
    text = (packaging / "debian/control").read_text()
    values = {"VERSION": version, "SIZE": str(size), "GLIBC": ".".join(map(str, glibc))}
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    (control / "control").write_text(text)
    for script in ("postinst", "prerm", "postrm"):
        shutil.copy(packaging / "debian" / script, control)
    for path in stage.rglob("*"):
        is_executable = path.is_dir() or path.parent.name == "bin" or path.parent == control and path.name != "control"
        path.chmod(0o755 if is_executable else 0o644)


def libraries(program: pathlib.Path) -> list[pathlib.Path]:
    """Returns the libraries that a program loads, with the loader, under the names by which it finds them."""
    printed = subprocess.run(["ldd", program], capture_output=True, text=True)
    if "not a dynamic executable" in printed.stdout + printed.stderr or "statically linked" in printed.stdout:
        return []
    printed.check_returncode()
    paths = re.findall(r"(/\S+) \(0x", printed.stdout)
    return [pathlib.Path(path) for path in paths]


def write_image_root(archive: pathlib.Path, program: pathlib.Path, epoch: int) -> None:
    """Writes the files of the image: the program, its libraries, certificates, and directories that it may write to."""
    with tarfile.open(archive, "w", format=tarfile.GNU_FORMAT) as tar:

        def add(name: str, content: bytes | None, mode: int, user: int = 0) -> None:
            entry = owned_by(tarfile.TarInfo(name), user, epoch)
            entry.mode = mode
            if content is None:
                entry.type = tarfile.DIRTYPE
            else:
                entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content or b""))

        files = {"usr/bin/marketplace": program.read_bytes()}
        for library in libraries(program):
            files[str(library).lstrip("/")] = library.resolve().read_bytes()
        notice = pathlib.Path("/usr/share/doc/libc6/copyright")
        if len(files) > 1 and notice.is_file():
            files["usr/share/doc/libc6/copyright"] = notice.read_bytes()
        files[CERTIFICATES.lstrip("/")] = pathlib.Path(CERTIFICATES).read_bytes()
        files["etc/passwd"] = f"marketplace:x:{IMAGE_USER}:{IMAGE_USER}::/data:/usr/sbin/nologin\n".encode()
        files["etc/group"] = f"marketplace:x:{IMAGE_USER}:\n".encode()
        files["etc/nsswitch.conf"] = b"hosts: files dns\n"
        parents = {str(parent) for name in files for parent in pathlib.PurePosixPath(name).parents} - {"."}
        for directory in sorted(parents | {"etc/marketplace"}):
            add(directory, None, 0o755)
        add("tmp", None, 0o1777)
        add("data", None, 0o700, IMAGE_USER)
        for name, content in sorted(files.items()):
            is_program = name.startswith(("usr/bin/", "lib"))
            add(name, content, 0o755 if is_program else 0o644)
