"""What the scripts have in common that try the packages in clean systems."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# The systems for trials, without a compiler.
SYSTEMS = ROOT / ".work/try"

# The headings of the packages in docs/install.md.
HEADINGS = {
    "tar": "Any Linux",
    "deb": "Debian and Ubuntu",
    "wheel": "Python",
    "npm": "Node.js",
    "image": "Container",
}


def run(*command: str | pathlib.Path, **options) -> subprocess.CompletedProcess:
    """Runs a command that must succeed."""
    return subprocess.run(command, check=True, **options)


def make_system(packages: list[str]) -> pathlib.Path:
    """Makes a minimal Debian with these packages, unless it is there. Returns its archive."""
    archive = SYSTEMS / ("-".join(["debian", *packages]) + ".tar")
    if archive.exists():
        return archive
    SYSTEMS.mkdir(parents=True, exist_ok=True)
    # Those of the distribution, and none of other vendors.
    names = ("sources.list", "sources.list.d/debian.sources", "sources.list.d/ubuntu.sources")
    sources = [source for name in names if (source := pathlib.Path("/etc/apt", name)).exists()]
    sources = [source for source in sources if re.search("^(deb |Types:)", source.read_text(), re.M)]
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text(), re.M))
    part = archive.with_suffix(".part.tar")
    include = f"--include={','.join(['curl', *packages])}"
    run("mmdebstrap", "--quiet", "--variant=minbase", include, release["VERSION_CODENAME"], part, *sources)
    part.rename(archive)
    return archive


def code_blocks(text: str, language: str = "sh") -> list[str]:
    """Returns the code blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def section(page: str, heading: str) -> str:
    """Returns a section of a page of the documentation."""
    return (ROOT / "docs" / page).read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]


def install_commands(package: str) -> str:
    """Returns the commands with which docs/install.md installs a package."""
    return code_blocks(section("install.md", HEADINGS[package]))[0]
