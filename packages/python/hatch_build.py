"""Adds to the wheel the program, and clients that are generated from its API documents.

The variable MARKETPLACE_BIN names the program, so that no build compiles it a second time.
"""

from __future__ import annotations

import mmap
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Names of processor architectures in wheel tags, by their numbers in ELF headers.
ARCHITECTURES = {62: "x86_64", 183: "aarch64"}

# For the generator, a ZIP archive in a body is like any other file.
GENERATOR_SETTINGS = "content_type_overrides:\n  application/zip: application/octet-stream\n"


def platform_tag(program: Path) -> str:
    """Returns the platforms of the program: Linux with the newest version of glibc that it names."""
    with program.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content[:4] != b"\x7fELF":
            raise RuntimeError(f"{program} is no program for Linux.")
        architecture = ARCHITECTURES[int.from_bytes(content[18:20], "little")]
        versions = {int(found[1]) for found in re.finditer(rb"\0GLIBC_2\.(\d+)(?:\.\d+)?(?=\0)", content)}
    if versions:
        return f"manylinux_2_{max(versions)}_{architecture}"
    # A static program does not depend on the C library of the system.
    return f"manylinux_2_17_{architecture}.musllinux_1_1_{architecture}"


def printed_words(program: Path, *arguments: str) -> list[str]:
    """Runs the program, and returns the words that it prints."""
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout.split()


def generate_clients(program: Path, directory: Path) -> dict[str, str]:
    """Generates a client for each API, and returns the places in the wheel of their directories."""
    # The generator and what it starts are installed next to Python, which PATH need not contain.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    generator = shutil.which("openapi-python-client", path=path)
    if generator is None:
        raise RuntimeError("Install what pyproject.toml lists in build-system.requires.")
    settings = directory / "settings.yaml"
    settings.write_text(GENERATOR_SETTINGS)
    places = {}
    for api in printed_words(program, "openapi", "--list"):
        document = directory / f"{api}.json"
        with document.open("wb") as file:
            subprocess.run([program, "openapi", api], check=True, stdout=file)
        client = directory / api
        command = [generator, "generate", "--path", document, "--output-path", client, "--meta", "none"]
        command += ["--config", settings, "--fail-on-warning"]
        subprocess.run(command, check=True, env={**os.environ, "PATH": path})
        places[str(client)] = f"marketplace_sandbox/clients/{api}"
    return places


class ProgramHook(BuildHookInterface[Any]):
    """Adds the program and the clients to a wheel. An editable installation has neither."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        given = os.environ.get("MARKETPLACE_BIN")
        if not given:
            raise RuntimeError("Set MARKETPLACE_BIN to the program that the wheel is to contain.")
        program = Path(given).resolve()
        version_of_program = printed_words(program, "--version")[-1]
        if version_of_program != self.metadata.version:
            raise RuntimeError(
                f"{program} has version {version_of_program}, and this package {self.metadata.version}."
            )
        self.generated = tempfile.TemporaryDirectory()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(program)}"
        build_data["shared_scripts"][str(program)] = "marketplace"
        build_data["force_include"].update(generate_clients(program, Path(self.generated.name)))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self.generated.cleanup()
