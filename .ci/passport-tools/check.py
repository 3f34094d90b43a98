"""Validates the descriptions of listings of a demo market, sells two of them, and verifies what is delivered."""

import base64
import hashlib
import io
import json
import logging
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile

import mlcroissant
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

MARKET, PROGRAM, WORK = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
BUYER = "57d9aaca-90f7-528c-aff6-0b974cabd171"
# What the README sells, and raw data with tables.
README_LISTING = "ec363ec8-bc2c-5fba-adf4-afed3dea02b0"
TABLES = "f860df29-59ea-5b33-9ed5-a24c05bd3eac"
KINDS = ["codebase", "raw_data", "task", "taskset", "bundle", "environment", "robotics_dataset", "other"]


def request(path, key=None, body=None):
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    data = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        data = json.dumps(body).encode()
    url = path if path.startswith("http") else MARKET + path
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=120) as response:
        return response.read()


def as_buyer(path):
    return json.loads(request(path, "mkt_demo_buyer"))


def as_operator_reads(path):
    return json.loads(request(f"/operator/v1/{path}", "mkt_demo_operator"))


def as_operator(path, body):
    return json.loads(request(f"/operator/v1/{path}", "mkt_demo_operator", body))


def validate(document, name):
    """Validates a description, which is a file in a directory."""
    dataset = mlcroissant.Dataset(document)
    issues = dataset.metadata.ctx.issues
    assert not issues.errors, f"{name}: {issues.report()}"
    return dataset


def validate_kinds():
    """Validates a listing of each kind of asset."""
    for kind in KINDS:
        found = as_buyer(f"/v2/listings/browse?asset_types={kind}&limit=100")["items"]
        assert found, f"the demo market has no listing with {kind}"
        path = WORK / f"{kind}.json"
        path.write_bytes(request(f"/v2/listings/browse/{found[0]['id']}/croissant", "mkt_demo_buyer"))
        validate(path, kind)
        print(f"{kind}: valid")


def publish_tables():
    """Publishes a listing of raw data with tables. Returns its ID."""
    asset = json.loads(request(f"/operator/v1/assets/{TABLES}", "mkt_demo_operator"))
    texts = {"title": "Gauge readings", "description": "Readings of gauges.", "price": "10.00", "currency": "USD"}
    listing = as_operator("listings", texts | {"team_id": asset["team_id"], "domain_tags": ["logistics"]})["id"]
    as_operator(f"listings/{listing}/attach", {"asset_ids": [TABLES]})
    for step in ["submit", "approve", "publish"]:
        as_operator(f"listings/{listing}/{step}", {})
    return listing


def buy(listing):
    body = {"team_id": BUYER, "listing_id": listing, "kind": "full", "pay_with": "invoice"}
    purchase = as_operator("purchases", body)
    if purchase["status"] == "pending":
        as_operator(f"purchases/{purchase['id']}/complete", {})
    link = as_buyer(f"/v2/listings/browse/{listing}")["bundle_download_url"]
    return wait_for(link), request(link.replace("?", "/attestation?"))


def wait_for(link):
    """Requests what is being prepared."""
    for _ in range(120):
        try:
            return request(link)
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            time.sleep(min(2, float(error.headers["Retry-After"])))
    raise TimeoutError("it was not prepared")


def run(*command, status=0, cwd=None):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == status, f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def verify(name, bundle, beside):
    """Verifies a bundle with each program. Returns the directory in which it is unpacked."""
    archive, unpacked, keys = WORK / f"{name}.zip", WORK / name, WORK / "keys.json"
    archive.write_bytes(bundle)
    keys.write_bytes(request("/.well-known/marketplace-keys.json"))
    with zipfile.ZipFile(io.BytesIO(bundle)) as files:
        files.extractall(unpacked)
    attestation = (unpacked / "attestation.json").read_bytes()
    assert attestation == beside, "the route beside the bundle has another attestation"
    report = json.loads(run(PROGRAM, "verify-bundle", str(archive), "--keys", str(keys), "--json"))
    assert report["signature"] == "valid" and report["mismatches"] == [], report
    url = MARKET + "/.well-known/marketplace-keys.json"
    print(run(PROGRAM, "verify-bundle", str(archive), "--keys", url))
    run(PROGRAM, "verify-bundle", str(archive), status=2)
    print(run(sys.executable, str(WORK / "verify.py"), str(archive), str(keys)))

    envelope = Envelope.from_dict(json.loads(attestation))
    for published in json.loads(keys.read_bytes())["keys"]:
        key = SSlibKey(published["keyid"], published["keytype"], published["scheme"], published["keyval"])
        envelope.verify([key], 1)
    statement = json.loads(envelope.payload)
    sums = "".join(f"{file['digest']['sha256']}  {file['name']}\n" for file in statement["subject"])
    (unpacked / "SHA256SUMS").write_text(sums)
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=unpacked)
    damage(archive, bundle, keys, envelope, key)
    return unpacked


def changed_bytes(bundle, name):
    """Returns a bundle with another byte in a file, and the checksum of the file as it was."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as files:
        member = files.getinfo(name)
    # The files are stored without compression, after a header with the name.
    begin = member.header_offset + 30 + len(name.encode())
    changed = bytearray(bundle)
    assert bundle[begin - len(name) : begin] == name.encode()
    changed[begin + member.file_size // 2] ^= 1
    return bytes(changed)


def with_other_file(bundle, name, content, before=False):
    """Returns an archive with the files of a bundle and one more, which is the last one or the first one."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(bundle)) as files, zipfile.ZipFile(changed, "w") as copy:
        if before:
            copy.writestr(name, content)
        for member in files.namelist():
            copy.writestr(member, files.read(member))
        if not before:
            copy.writestr(name, content)
    return changed.getvalue()


def with_other_content(bundle, name):
    """Returns an archive with another byte in a file, and its checksum."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(bundle)) as files, zipfile.ZipFile(changed, "w") as copy:
        for member in files.namelist():
            content = bytearray(files.read(member))
            if member == name:
                content[len(content) // 2] ^= 1
            copy.writestr(member, bytes(content))
    return changed.getvalue()


def damage(archive, bundle, keys, envelope, key):
    """Changes a byte of an entry, of the manifest, and of the statement, and adds files. All programs must notice."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as files:
        entry = next(name for name in files.namelist() if "/" in name)
        content = files.read(entry)
    damaged = []
    for name in [entry, "manifest.json", "attestation.json"]:
        damaged += [(changed_bytes(bundle, name), name), (with_other_content(bundle, name), name)]
    # With the right content, so that only the number of the files tells.
    damaged += [(with_other_file(bundle, entry, content), "twice"), (with_other_file(bundle, entry, b"x", True), "twice")]
    damaged += [(with_other_file(bundle, "extra.txt", b"x"), "extra.txt")]
    for changed, named in damaged:
        archive.write_bytes(changed)
        run(PROGRAM, "verify-bundle", str(archive), "--keys", str(keys), status=1)
        output = run(sys.executable, str(WORK / "verify.py"), str(archive), str(keys), status=1)
        assert named in output and "Traceback" not in output, f"{named} is not named: {output}"
    archive.write_bytes(bundle)
    envelope.payload = envelope.payload.replace(b"sha256", b"sha255", 1)
    try:
        envelope.verify([key], 1)
    except VerificationError:
        return
    raise AssertionError("a changed statement was verified")


def count_rows(unpacked, file):
    """Returns the number of lines with values in the file of a table, whose first line has names if it is CSV."""
    with zipfile.ZipFile(unpacked / file["containedIn"]["@id"]) as archive:
        lines = archive.read(file["contentUrl"]).splitlines()
    return len(lines) - (1 if file["encodingFormat"] == "text/csv" else 0)


def load_tables(unpacked):
    """Loads the records of the tables of an unpacked bundle, and compares their number with that of the lines."""
    path = unpacked / "croissant.json"
    dataset = validate(path, "bundle")
    document = json.loads(path.read_text())
    parts = {part["@id"]: part for part in document["distribution"]}
    # The library reads columns of several files from Git repositories only, and not from archives.
    loaded = [table for table in document["recordSet"] if parts[f"{table['@id']}/files"]["@type"] == "cr:FileObject"]
    assert len(loaded) >= 2, "the bundle has too few tables"
    for table in loaded:
        records = list(dataset.records(table["@id"]))
        print(f"{table['name']}: {len(records)} records, the first one {records[0]}")
        assert len(records) == count_rows(unpacked, parts[f"{table['@id']}/files"]), table["name"]
        assert set(records[0]) == {field["@id"] for field in table["field"]}
    for entry in document["distribution"]:
        if "sha256" in entry:
            content = (unpacked / entry["contentUrl"]).read_bytes()
            assert hashlib.sha256(content).hexdigest() == entry["sha256"], entry


def prove(name, unpacked, listing):
    """Verifies that the log has what is attested about a bundle, with each program. Heads are made every hour, or by an operator."""
    [job] = as_operator_reads("jobs?kind=seal_log")["items"]
    as_operator(f"jobs/{job['id']}/retry", {})
    link = as_buyer(f"/v2/listings/browse/{listing}")["bundle_download_url"].replace("?", "/proof?")
    archive, keys, proof = WORK / f"{name}.zip", WORK / "keys.json", WORK / f"{name}-proof.json"
    proof.write_bytes(wait_for(link))
    log = MARKET + "/.well-known/marketplace-log.json"
    arguments = [str(archive), "--keys", str(keys), "--proof", str(proof)]
    report = json.loads(run(PROGRAM, "verify-bundle", *arguments, "--log", log, "--json"))
    assert report["proof"]["valid"] and report["proof"]["published"] == "same head", report
    attestation = unpacked / "attestation.json"
    print(run(sys.executable, str(WORK / "proof.py"), str(attestation), str(proof)))
    content = proof.read_bytes()
    hashes = json.loads(content)["verificationMaterial"]["tlogEntries"][0]["inclusionProof"]["hashes"]
    proof.write_bytes(content.replace(hashes[0].encode(), hashes[1].encode()))
    output = run(PROGRAM, "verify-bundle", *arguments, status=1)
    assert 'MISMATCH      "proof"' in output, output
    run(sys.executable, str(WORK / "proof.py"), str(attestation), str(proof), status=1)
    proof.write_bytes(content)
    attestation.write_bytes(attestation.read_bytes() + b"\n")
    run(sys.executable, str(WORK / "proof.py"), str(attestation), str(proof), status=1)


def save_log(name):
    """Saves the published logs. Returns the path, and the number of leaves of the newest head."""
    path = WORK / f"{name}-log.json"
    path.write_bytes(request("/.well-known/marketplace-log.json"))
    return path, json.loads(path.read_bytes())["logs"][0]["heads"][0].split("\n")[1]


def continue_log(earlier):
    """Verifies that the log continues an earlier head, by the script."""
    later, proof = save_log("later"), WORK / "consistency.json"
    proof.write_bytes(request(f"/.well-known/marketplace-log/consistency?from={earlier[1]}&to={later[1]}"))
    arguments = [sys.executable, str(WORK / "consistency.py"), str(earlier[0]), str(later[0]), str(proof)]
    print(run(*arguments))
    changed = json.loads(proof.read_bytes())
    changed["hashes"][-1] = base64.b64encode(bytes(32)).decode()
    proof.write_text(json.dumps(changed))
    run(*arguments, status=1)


def rotate(archive):
    """Replaces the key of the market. What the old one has signed stays valid, and the log goes on."""
    earlier = save_log("earlier")
    before = json.loads(request("/.well-known/marketplace-keys.json"))["keys"]
    run(PROGRAM, "signing-key", "rotate", "--data", str(WORK / "market"))
    listed = json.loads(run(PROGRAM, "signing-key", "list", "--data", str(WORK / "market"), "--json"))["keys"]
    assert [key["keyid"] for key in listed[1:]] == [key["keyid"] for key in before], listed
    assert listed[0]["valid_until"] is None and listed[1]["valid_until"], listed
    (WORK / "keys.json").write_text(json.dumps({"keys": listed}))
    run(PROGRAM, "verify-bundle", str(archive), "--keys", str(WORK / "keys.json"))
    (WORK / "keys.json").write_text(json.dumps({"keys": listed[:1]}))
    run(PROGRAM, "verify-bundle", str(archive), "--keys", str(WORK / "keys.json"), status=1)
    continue_log(earlier)


def main():
    logging.disable(logging.WARNING)
    validate_kinds()
    for step in ["approve", "publish"]:
        as_operator(f"listings/{README_LISTING}/{step}", {})
    prove("readme", verify("readme", *buy(README_LISTING)), README_LISTING)
    load_tables(verify("tables", *buy(publish_tables())))
    rotate(WORK / "tables.zip")


main()
