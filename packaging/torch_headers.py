"""LibTorch's headers of any version of PyTorch, without installing it: they are 8 MB of a wheel of 500 to 900 MB.

The wheel is that of the index for which pip is configured. It is a zip file, so that the headers can be read with HTTP's range
requests; from a server that does not support them, the whole wheel is downloaded. The zip file's checksums, and the digest of all
headers in torch_versions.txt, are verified. The headers are kept in the user's cache.
"""
import ast
import hashlib
import html
import http.client
import io
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile

PINS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_versions.txt")
# What operator hooks can include: of the generated functions only the types of their methods, and nothing of CUDA. Without Config.h,
# these headers are the same for all Pythons, CUDA versions and CPU architectures.
HEADERS = re.compile(
    r"torch/include/((?!ATen/Config\.h)(?:ATen/[^/]+|ATen/core/.+|ATen/ops/[^/]+_ops|c10/(?:core|macros|util)/.+|torch/headeronly/.+|"
    r"torch/csrc/api/include/torch/version)\.h)")
LIBRARIES = ("torch/lib/libtorch_cpu.so", "torch/lib/libc10.so")
# A request takes as long as the transfer of about this many bytes, so that smaller gaps are read too.
SMALLEST_REQUEST = 1 << 20
ATTEMPTS = 3


class Unreachable(Exception):
    """The wheel cannot be read: no network, or the index does not have this version."""


class Mismatch(Exception):
    """The headers are not those of torch_versions.txt."""


def pins(path=PINS):
    """{version: digest of its headers}, in the file's order."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            words = re.fullmatch(r"(\d+\.\d+\.\d+) ([0-9a-f]{64})\n?", line)
            if not words:
                raise Mismatch(f"{path}:{number} is not a version and a SHA-256 digest: {line.strip()}")
            found[words[1]] = words[2]
    return found


def digest_of(files):
    """Of {name: bytes}: that of the output of sha256sum for the sorted names."""
    whole = hashlib.sha256()
    for name in sorted(files):
        whole.update(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n".encode())
    return whole.hexdigest()


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "stepscope", "torch-headers")


def _pip_settings():
    """{name: value} of pip's configuration: files and variables, which pip itself reads."""
    words = ("-m", "pip", "config", "list")
    said = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    if said.returncode != 0:  # Debian's Python has no pip
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            said = subprocess.run([os.path.join(folder, "bin", "python"), *words], capture_output=True, text=True, check=True)
    settings = {}
    for section in ("global", "install", ":env:"):  # later ones win
        settings.update((name, ast.literal_eval(value)) for name, value in re.findall(rf"^{section}\.([a-z-]+)=(.*)$", said.stdout, re.M))
    return settings


class Index:
    """The package index for which pip is configured, with its certificates, proxy and credentials in the address."""

    def __init__(self):
        settings = _pip_settings()
        self._addresses, passwords = [], urllib.request.HTTPPasswordMgrWithPriorAuth()
        # Without a setting, pip uses this index.
        for address in (settings.get("index-url", "https://pypi.org/simple") + " " + settings.get("extra-index-url", "")).split():
            parts = urllib.parse.urlsplit(address)
            host = parts.netloc.rpartition("@")[2]
            if parts.username:
                passwords.add_password(None, f"{parts.scheme}://{host}", urllib.parse.unquote(parts.username),
                                       urllib.parse.unquote(parts.password or ""), is_authenticated=True)
            self._addresses.append(parts._replace(netloc=host).geturl())
        handlers = [urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=settings.get("cert"))),
                    urllib.request.HTTPBasicAuthHandler(passwords)]
        if settings.get("proxy"):
            handlers.append(urllib.request.ProxyHandler(dict.fromkeys(("http", "https"), settings["proxy"])))
        self._opener = urllib.request.build_opener(*handlers)

    def open(self, url, headers=()):
        """Raises Unreachable."""
        request = urllib.request.Request(url, headers=dict(headers))
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._opener.open(request, timeout=60)
            except urllib.error.HTTPError as error:
                why = error
                if error.code < 500:
                    break
            except OSError as error:
                why = error
            if attempt < ATTEMPTS:
                time.sleep(attempt)
        raise Unreachable(f"{url}: {why}") from why

    def wheel_of(self, version, machine):
        """Address of a version's wheel. Any Python's will do."""
        wanted = re.compile(rf"torch-{re.escape(version)}-cp\d+-cp\d+-manylinux_\d+_\d+_{machine}\.whl")
        for address in self._addresses:
            try:
                with self.open(address.rstrip("/") + "/torch/", {"Accept": "text/html"}) as page:
                    base, text = page.geturl(), page.read().decode()
            except (OSError, http.client.HTTPException) as error:
                raise Unreachable(f"{address}: {error}") from error
            for link in re.findall(r"""<a\s[^>]*?href=["']([^"']+)""", text):
                url = urllib.parse.urldefrag(urllib.parse.urljoin(base, html.unescape(link))).url
                if wanted.fullmatch(urllib.parse.unquote(url).rpartition("/")[2]):
                    return url
        raise Unreachable(f"{' and '.join(self._addresses)} has no wheel of PyTorch {version} for Linux on {machine}")


class RemoteFile(io.RawIOBase):
    """A file on an HTTP server, for reading in any order. Parts that were requested once are kept in memory."""

    def __init__(self, index, url):
        super().__init__()
        self._index, self._url, self._place = index, url, 0
        self._parts = []  # (first byte, bytes)
        self.size = None
        with self._answer(0, 1) as answer:
            self.has_ranges = answer.status == 206
            if self.has_ranges:
                self.size = int(answer.headers["Content-Range"].rpartition("/")[2])
            else:
                self.size = int(answer.headers.get("Content-Length") or 0)

    def _answer(self, begin, end):
        return self._index.open(self._url, {"Range": f"bytes={begin}-{end - 1}", "Accept-Encoding": "identity"})

    def request(self, begin, end):
        """Reads a part into memory."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self._answer(begin, end) as answer:
                    data = answer.read()
                    status = answer.status
            except (OSError, http.client.HTTPException) as error:
                status, data, why = 0, b"", error
            if status == 206 and len(data) == end - begin:
                self._parts.append((begin, data))
                return
            if status:
                why = f"the server answers bytes {begin} to {end} with status {status} and {len(data)} bytes"
        raise Unreachable(f"{self._url}: {why}")

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        return self._place

    def seek(self, offset, whence=io.SEEK_SET):
        self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self.size}[whence]
        return self._place

    def readinto(self, buffer):
        if self._place >= self.size or not buffer:
            return 0
        here = next(((begin, data) for begin, data in self._parts if begin <= self._place < begin + len(data)), None)
        if here is None:
            # At the end of a file, more before it: a zip file's directory is there.
            begin = min(self._place, max(0, self.size - SMALLEST_REQUEST))
            self.request(begin, min(self.size, max(begin + SMALLEST_REQUEST, self._place + len(buffer))))
            here = (begin, self._parts[-1][1])
        begin, data = here
        part = data[self._place - begin : self._place - begin + len(buffer)]
        buffer[: len(part)] = part
        self._place += len(part)
        return len(part)

    def download(self, path, progress):
        """The whole file. @param progress  called with the bytes so far"""
        try:
            with self._index.open(self._url) as answer, open(path, "wb") as file:
                while block := answer.read(1 << 22):
                    file.write(block)
                    progress(file.tell())
                if self.size and file.tell() != self.size:
                    raise Unreachable(f"{self._url}: {file.tell()} of {self.size} bytes arrived")
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{self._url}: {error}") from error


def _merged(spans):
    """Spans of bytes, with small gaps between them filled."""
    merged = []
    for begin, end in sorted(spans):
        if merged and begin - merged[-1][1] < SMALLEST_REQUEST:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([begin, end])
    return merged


def read_members(index, url, is_wanted, say):
    """{name: bytes} of the members of a zip file on a server, their checksums verified.

    is_wanted: function of a member's name
    say: function of a sentence about what is downloaded
    """
    remote = RemoteFile(index, url)
    with tempfile.TemporaryDirectory() as folder:
        if remote.has_ranges:
            source = io.BufferedReader(remote)
        else:
            name = url.rpartition("/")[2]
            say(f"the server of {name} does not support ranges: downloading all {remote.size / 1e6:.0f} MB")
            source, tenths = os.path.join(folder, "wheel"), 0

            def progress(size):
                nonlocal tenths
                if remote.size and 10 * size // remote.size > tenths:
                    tenths = 10 * size // remote.size
                    say(f"{name}: {tenths}0 %")

            remote.download(source, progress)
        try:
            with zipfile.ZipFile(source) as archive:
                wanted = [entry for entry in archive.infolist() if is_wanted(entry.filename)]
                if remote.has_ranges:
                    begins = sorted(entry.header_offset for entry in archive.infolist()) + [archive.start_dir]
                    following = dict(zip(begins, begins[1:]))
                    for begin, end in _merged((entry.header_offset, following[entry.header_offset]) for entry in wanted):
                        remote.request(begin, end)
                return {entry.filename: archive.read(entry) for entry in wanted}
        except (zipfile.BadZipFile, zipfile.zlib.error, EOFError) as error:
            raise Mismatch(f"{url} is damaged: {error}") from error


def fetch(version, machine, index, say):
    """{name below include: bytes} of a version's headers."""
    url = index.wheel_of(version, machine)
    say(f"reading the headers of PyTorch {version}")
    members = read_members(index, url, HEADERS.fullmatch, say)
    if not members:
        raise Mismatch(f"{url} contains no headers")
    files = {HEADERS.fullmatch(name)[1]: data for name, data in members.items()}
    for name in files:
        if ".." in name.split("/"):
            raise Mismatch(f"{url} contains {name}")
    return files


def _folder_of(version, digest):
    return os.path.join(cache_folder(), f"{version}-{digest[:12]}")


def is_cached(version, digest):
    return os.path.isdir(_folder_of(version, digest))


def headers(version, digest, machine, index, say):
    """The include folder of a version, from the cache or the index. `index` is a function that returns an Index.

    Raises Unreachable and Mismatch.
    """
    if is_cached(version, digest):
        return _folder_of(version, digest)
    files = fetch(version, machine, index(), say)
    found = digest_of(files)
    if found != digest:
        raise Mismatch(
            f"the {len(files)} headers of PyTorch {version} have the SHA-256 digest {found}, and torch_versions.txt says {digest}; "
            "the index does not have the official wheel, or the file is wrong")
    return keep(version, digest, files)


def keep(version, digest, files):
    """Writes headers to the cache. Returns their folder."""
    folder = _folder_of(version, digest)
    os.makedirs(cache_folder(), exist_ok=True)
    # Renamed when it is complete: an interrupted run leaves nothing behind that looks complete.
    part = tempfile.mkdtemp(prefix=os.path.basename(folder) + ".", dir=cache_folder())
    try:
        os.chmod(part, 0o755)
        for name, data in files.items():
            path = os.path.join(part, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
        try:
            os.rename(part, folder)
        except OSError:
            if not os.path.isdir(folder):  # else another run was faster
                raise
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder
