"""The crates that are part of the program: as a CycloneDX document, and the texts of their licenses."""

import hashlib
import json
import pathlib
import subprocess
import tomllib
import urllib.parse

LICENSE_NAMES = ("license", "licence", "copying", "notice", "unlicense", "copyright")


def find_components(root: pathlib.Path, target: str) -> list[dict]:
    """Returns the crates that the program links, from Cargo's metadata: those of normal dependencies."""
    command = ["cargo", "metadata", "--locked", "--format-version=1", f"--filter-platform={target}"]
    printed = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout
    metadata = json.loads(printed)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found, pending = {}, [metadata["resolve"]["root"]]
    while pending:
        current = pending.pop()
        if current in found:
            continue
        below = [
            dependency["pkg"]
            for dependency in nodes[current]["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
            and not any("proc-macro" in made["kind"] for made in packages[dependency["pkg"]]["targets"])
        ]
        found[current] = packages[current] | {"below": sorted(below)}
        pending += below
    return sorted(found.values(), key=lambda package: (package["name"], package["version"]))


def purl(package: dict) -> str:
    """Returns the package URL of a crate."""
    name, version = package["name"], urllib.parse.quote(package["version"])
    # A crate of this workspace is in no registry.
    return f"pkg:cargo/{name}@{version}" if package["source"] else f"pkg:generic/{name}@{version}"


def cyclonedx(root: pathlib.Path, components: list[dict], about: dict, time: str) -> dict:
    """Returns the list of crates as a CycloneDX document. `about` is what the program says about its version."""
    locked = tomllib.loads((root / "Cargo.lock").read_text())["package"]
    checksums = {(package["name"], package["version"]): package.get("checksum") for package in locked}
    references = {package["id"]: purl(package) for package in components}

    def entry(package: dict) -> dict:
        made = {"type": "library", "bom-ref": purl(package), "name": package["name"]}
        made |= {"version": package["version"], "purl": purl(package)}
        if package["license"]:
            # The older form of two licenses is `MIT/Apache-2.0`.
            words = package["license"].replace("/", " OR ").split()
            made["licenses"] = [{"expression": " ".join(words)}]
        checksum = checksums.get((package["name"], package["version"]))
        if checksum:
            made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return made

    main = next(package for package in components if package["name"] == "marketplace")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "component": entry(main) | {"type": "application", "version": about["version"]},
        },
        "components": [entry(package) for package in components if package is not main],
        "dependencies": [
            {"ref": purl(package), "dependsOn": [references[below] for below in package["below"]]}
            for package in components
        ],
    }


def license_texts(components: list[dict]) -> str:
    """Returns the license texts that come with the crates, each with the crates that have it."""
    texts: dict[str, tuple[str, list[str]]] = {}
    for package in components:
        if not package["source"]:
            continue
        directory = pathlib.Path(package["manifest_path"]).parent
        for file in sorted(directory.iterdir()):
            if file.is_file() and file.name.lower().startswith(LICENSE_NAMES):
                text = file.read_text(errors="replace").replace("\r\n", "\n").strip()
                digest = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()
                texts.setdefault(digest, (text, []))[1].append(f"{package['name']} {package['version']}")
    parts = [", ".join(dict.fromkeys(names)) + "\n\n" + text for text, names in texts.values()]
    return ("\n\n" + "=" * 80 + "\n\n").join(parts) + "\n"
