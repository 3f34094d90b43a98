"""Where the program is."""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path

from .errors import BinaryNotFoundError

#: Variable with the path of the program.
BINARY_VARIABLE = "MARKETPLACE_BIN"

PROGRAM = "marketplace"


def find_binary() -> Path:
    """Returns the program: that of the variable ``MARKETPLACE_BIN``, of this package, or in PATH.

    Raises a ``BinaryNotFoundError`` if there is none.
    """
    given = os.environ.get(BINARY_VARIABLE)
    if given:
        if not _is_executable(Path(given)):
            raise BinaryNotFoundError(f"{BINARY_VARIABLE} is {given}, which is no executable file.")
        return Path(given)
    schemes = [None, sysconfig.get_preferred_scheme("user")]
    directories = [
        sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        for scheme in schemes
    ]
    for directory in directories:
        if _is_executable(Path(directory) / PROGRAM):
            return Path(directory) / PROGRAM
    in_path = shutil.which(PROGRAM)
    if in_path:
        return Path(in_path)
    raise BinaryNotFoundError(
        f"The program `{PROGRAM}` is neither in {' nor in '.join(directories)} nor in PATH. "
        "This package has it for Linux on x86-64 with glibc. "
        f"On other systems, build it and set {BINARY_VARIABLE} to its path."
    )


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
