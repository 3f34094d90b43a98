"""The signatures in the README are those of the clients."""

from __future__ import annotations

import inspect
import re
from importlib.metadata import metadata

from marketplace_sandbox import Client


def readme() -> str:
    """Returns the README, as the package contains it."""
    return str(metadata("marketplace-sandbox").json["description"])


def signature(name: str) -> str:
    """Returns a method as the README shows it: without types."""
    parameters = list(inspect.signature(getattr(Client, name)).parameters.values())[1:]
    shown = [str(parameter.replace(annotation=inspect.Parameter.empty)) for parameter in parameters]
    return f"{name}({', '.join(shown)})"


def test_signatures_in_the_readme_are_those_of_the_client() -> None:
    section = readme().split("## Clients\n")[1].split("\n## ")[0]
    shown = re.findall(r"^\| `(.+?)` \|", section, re.MULTILINE)
    methods = [name for name in vars(Client) if not name.startswith("_")]
    assert shown == [signature(name) for name in methods]
