"""What a package of Stepscope contains that others wrote: the notices that their licences require, and a bill of materials.

Libraries come from Debian packages. Their copyright files are the source of the notices; a file that no package owns, or a
package without a copyright file, is an error, so nothing is shipped without its licence.
"""
import hashlib
import json
import os
import re
import subprocess
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Debian packages whose headers or static libraries are compiled into the programs.
COMPILED_IN = (
    "libcli11-dev", "libexpected-dev", "nlohmann-json3-dev", "libfmt-dev", "libsimdjson-dev", "libxxhash-dev", "libzstd-dev",
    "zlib1g-dev", "libstdc++-12-dev",
)
# Python packages of packaging/libtorch.txt whose headers are compiled in, with the files of their licences.
HEADERS = {"nvidia_nvtx": "NVTX", "torch": "PyTorch", "nvidia_cuda_cupti": "CUPTI"}


class Unlicensed(Exception):
    """Something would be shipped without its licence."""


class Package:
    """Somebody else's work: name, version, the text of its licence, and which files of ours contain it."""

    def __init__(self, name, version, text, kind):
        self.name, self.version, self.text, self.kind = name, version, text, kind
        self.files = []


def _run(*words):
    return subprocess.run(words, capture_output=True, text=True)


def source_date():
    """Seconds since 1970 for everything that a package dates: SOURCE_DATE_EPOCH, or the time of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    said = _run("git", "-C", SOURCE, "log", "-1", "--format=%ct")
    return int(said.stdout) if said.returncode == 0 and said.stdout.strip() else 315532800  # 1980, the first year of zip files


def _debian_package(name):
    said = _run("dpkg-query", "-W", "-f", "${Version}", name)
    if said.returncode != 0:
        raise Unlicensed(f"the Debian package {name} is not installed")
    path = f"/usr/share/doc/{name.split(':')[0]}/copyright"
    if not os.path.exists(path):
        raise Unlicensed(f"the Debian package {name} has no {path}")
    with open(path, encoding="utf-8", errors="replace") as file:
        return Package(name.split(":")[0], said.stdout, file.read(), "debian")


def debian_packages(names):
    """Packages by their names, for what is linked statically."""
    return [_debian_package(name) for name in names]


def owner_of(path):
    """Name of the Debian package that a library belongs to."""
    real = os.path.realpath(path)
    for name in (real, real[4:] if real.startswith("/usr/") else "/usr" + real):
        said = _run("dpkg-query", "-S", name)
        if said.returncode == 0:
            return said.stdout.split(": ")[0].split(",")[0]
    raise Unlicensed(f"no Debian package owns {path}")


def compiled_in(torch_root, installed):
    """The packages whose headers and static libraries are part of our programs in the folder `installed`."""
    packages = debian_packages(COMPILED_IN)
    for module, title in HEADERS.items():
        folders = [name for name in os.listdir(torch_root) if re.fullmatch(module + r"-[^-]+\.dist-info", name)] if torch_root else []
        for folder in folders:
            texts = []
            for place, _, files in sorted(os.walk(os.path.join(torch_root, folder))):
                for name in sorted(files):
                    if name.lower().startswith(("license", "notice")):
                        with open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
                            texts.append(file.read())
            if not texts:
                raise Unlicensed(f"{folder} has no licence file")
            version = folder[len(module) + 1 : -len(".dist-info")]
            if module == "torch":  # and of the versions whose operators are recorded, which have the same licence
                names = [name for _, _, files in os.walk(installed) for name in files]
                others = [found[1] for found in map(re.compile(r"stepscope_ops_torch_(.+)\.so").fullmatch, names) if found]
                version = ", ".join(sorted({version, *others}, key=_numbers))
            packages.append(Package(title, version, "\n".join(texts), "headers"))
    return packages


def _numbers(version):
    return [int(part) for part in re.findall(r"\d+", version)]


def owners(libraries):
    """Packages of the libraries {path in our package: path on this machine}."""
    found = {}
    for ours, path in sorted(libraries.items()):
        name = owner_of(path)
        if name not in found:
            found[name] = _debian_package(name)
        found[name].files.append(ours)
    return [found[name] for name in sorted(found)]


def notices(packages, replaceable):
    """The notice file. `replaceable`: where the shared libraries are, for those under the LGPL; None for a Debian package, which
    refers to the texts in /usr/share/common-licenses."""
    with open(os.path.join(SOURCE, "LICENSE"), encoding="utf-8") as file:
        ours = file.read() if replaceable else "Apache License 2.0, see /usr/share/common-licenses/Apache-2.0"
    parts = ["Copyright: the Stepscope contributors\n\nStepscope is licensed under the Apache License 2.0, see the end of this file. It contains "
             "the following works of others."]
    if replaceable:
        parts.append(
            f"Shared libraries are in {replaceable}. The programs load them from there by their usual names, so that you may\n"
            "replace each of them, among them Qt 6 (GNU LGPL version 3), by a version of your own. Their sources are Debian's source\n"
            "packages of the given names and versions: https://snapshot.debian.org"
        )
    referenced = set()
    for package in packages:
        head = f"{package.name} {package.version}"
        if package.files:
            head += "\nFiles: " + ", ".join(package.files)
        parts.append("=" * 100 + f"\n{head}\n" + "=" * 100 + f"\n{package.text.strip()}")
        if replaceable:
            referenced.update(re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.-]*[A-Za-z0-9])", package.text))
    for name in sorted(referenced):
        path = "/usr/share/common-licenses/" + name
        if os.path.islink(path):  # GPL is the newest version
            name = f"{name} ({os.readlink(path)})"
        if not os.path.exists(path):
            raise Unlicensed(f"{path} does not exist, and a notice refers to it")
        with open(path, encoding="utf-8", errors="replace") as file:
            parts.append("=" * 100 + f"\n{path}\n" + "=" * 100 + "\n" + file.read().strip())
    parts.append("=" * 100 + "\nStepscope\n" + "=" * 100 + "\n" + ours.strip())
    return "\n\n".join(parts) + "\n"


def _id(text):
    return re.sub(r"[^A-Za-z0-9.-]", "-", text)


def spdx(name, version, packages, files):
    """Bill of materials, SPDX 2.3 as JSON. `files`: {path in the package: bytes}."""
    digest = hashlib.sha256()
    rows = []
    for path in sorted(files):
        sha256 = hashlib.sha256(files[path]).hexdigest()
        digest.update(f"{path} {sha256}\n".encode())
        rows.append({
            "SPDXID": "SPDXRef-File-" + _id(path),
            "fileName": "./" + path,
            "checksums": [
                {"algorithm": "SHA1", "checksumValue": hashlib.sha1(files[path]).hexdigest()},
                {"algorithm": "SHA256", "checksumValue": sha256},
            ],
            "licenseConcluded": "NOASSERTION",
            "copyrightText": "NOASSERTION",
        })
    root = "SPDXRef-Package-" + _id(name)
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{name}-{version}",
        "documentNamespace": f"https://stepscope.invalid/spdx/{name}-{version}-{digest.hexdigest()}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(source_date())),
            "creators": ["Tool: stepscope-packaging"],
        },
        "packages": [{
            "SPDXID": root, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION",
        }],
        "files": rows,
        "hasExtractedLicensingInfos": [],
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": root}],
    }
    for package in packages:
        own, licence = "SPDXRef-Package-" + _id(package.name), "LicenseRef-" + _id(package.name)
        entry = {
            "SPDXID": own, "name": package.name, "versionInfo": package.version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION",
        }
        if package.kind == "debian":
            entry["externalRefs"] = [{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": f"pkg:deb/debian/{package.name}@{package.version}",
            }]
        document["packages"].append(entry)
        document["hasExtractedLicensingInfos"].append({"licenseId": licence, "extractedText": package.text, "name": package.name})
        document["relationships"].append({"spdxElementId": root, "relationshipType": "CONTAINS", "relatedSpdxElement": own})
        for path in package.files:
            document["relationships"].append(
                {"spdxElementId": own, "relationshipType": "CONTAINS", "relatedSpdxElement": "SPDXRef-File-" + _id(path)})
    for row in rows:
        document["relationships"].append({"spdxElementId": root, "relationshipType": "CONTAINS", "relatedSpdxElement": row["SPDXID"]})
    return json.dumps(document, indent=1) + "\n"
