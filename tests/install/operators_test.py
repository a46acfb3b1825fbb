"""packaging/operators and the headers that it reads from PyTorch's wheels, with a small index on this machine.

    operators_test.py PACKAGING [TestCase.test]
"""
import base64
import contextlib
import hashlib
import http.server
import io
import os
import random
import socketserver
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile

PACKAGING = sys.argv.pop(1)
sys.path.insert(0, PACKAGING)
import torch_headers  # noqa: E402

WHEEL = "torch-2.7.0-cp312-cp312-manylinux_2_28_x86_64.whl"
HEADERS = {
    "ATen/record_function.h": b"#pragma once\n" * 500,
    "ATen/core/Tensor.h": b"// a tensor\n",
    "ATen/ops/add_ops.h": b"// the type of add\n",
    "c10/core/Allocator.h": b"// an allocator\n",
    "torch/csrc/api/include/torch/version.h": b'#define TORCH_VERSION "2.7.0"\n',
}


def wheel():
    """Like PyTorch's: few headers among much else, which does not compress."""
    noise = random.Random(1)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("torch/lib/libtorch_cpu.so", noise.randbytes(5_000_000))
        archive.writestr("torch/include/ATen/Config.h", b"// differs between CPU architectures\n")
        archive.writestr("torch/include/ATen/ops/add.h", b"// not used\n")
        archive.writestr("torch/include/c10/cuda/CUDAStream.h", b"// not used\n")
        for name, data in HEADERS.items():
            archive.writestr("torch/include/" + name, data)
        archive.writestr("torch/lib/libc10.so", noise.randbytes(3_000_000))
    return packed.getvalue()


class Index(socketserver.ThreadingTCPServer):  # HTTPServer would look up this machine's name
    """A package index with one wheel."""

    def __init__(self, has_ranges):
        super().__init__(("127.0.0.1", 0), Answers)
        self.has_ranges, self.wheel, self.sent, self.status, self.credentials = has_ranges, wheel(), 0, 200, None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def address(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        index = self.server
        if index.credentials and self.headers["Authorization"] != "Basic " + base64.b64encode(index.credentials).decode():
            self.answer(401, b"")
        elif self.path == "/simple/torch/":
            digest = hashlib.sha256(index.wheel).hexdigest()
            others = "".join(f'<a href="../../files/{name}">{name}</a>' for name in ("torch-2.7.0.tar.gz", WHEEL.replace("x86_64", "aarch64")))
            self.answer(200, f'<!DOCTYPE html>{others}<a class="file" href="../../files/{WHEEL}#sha256={digest}">{WHEEL}</a>'.encode(), "text/html")
        elif self.path != f"/files/{WHEEL}":
            self.answer(404, b"")
        elif index.status != 200:
            self.answer(index.status, b"")
        elif index.has_ranges and "Range" in self.headers:
            begin, _, end = self.headers["Range"].removeprefix("bytes=").partition("-")
            part = index.wheel[int(begin) : int(end) + 1]
            index.sent += len(part)
            self.answer(206, part, **{"Content-Range": f"bytes {begin}-{int(begin) + len(part) - 1}/{len(index.wheel)}"})
        else:
            index.sent += len(index.wheel)
            self.answer(200, index.wheel)

    def answer(self, status, data, kind="application/octet-stream", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the reader may close the connection early
            self.wfile.write(data)

    def log_message(self, *_):
        pass


def environment(folder, index):
    """Of pip: this index and no other place, and a cache of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    return {**kept, "PIP_INDEX_URL": index, "PIP_CONFIG_FILE": os.devnull, "XDG_CACHE_HOME": folder}


class Headers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        self.cache = os.path.join(folder.name, "stepscope", "torch-headers")
        self.folder, self.said = folder.name, []

    def serve(self, has_ranges=True):
        index = Index(has_ranges)
        self.addCleanup(index.server_close)
        self.addCleanup(index.shutdown)
        changed = environment(self.folder, index.address("simple"))
        os.environ.clear()
        os.environ.update(changed)
        return index

    def fetch(self):
        return torch_headers.fetch("2.7.0", "x86_64", torch_headers.Index(), self.said.append)

    def headers(self, digest, index=torch_headers.Index):
        return torch_headers.headers("2.7.0", digest, "x86_64", index, self.said.append)

    def test_only_the_headers_are_read(self):
        index = self.serve()
        self.assertEqual(self.fetch(), HEADERS)
        self.assertLess(index.sent, len(index.wheel) / 2)

    def test_a_server_without_ranges_sends_the_whole_wheel(self):
        index = self.serve(has_ranges=False)
        self.assertEqual(self.fetch(), HEADERS)
        self.assertGreaterEqual(index.sent, len(index.wheel))
        self.assertTrue(any("does not support ranges: downloading all 8 MB" in line for line in self.said), self.said)

    def test_a_damaged_wheel_is_noticed(self):
        for has_ranges in (True, False):
            index = self.serve(has_ranges)
            place = index.wheel.index(b"torch/include/ATen/record_function.h") + len("torch/include/ATen/record_function.h") + 8
            index.wheel = index.wheel[:place] + bytes([index.wheel[place] ^ 255]) + index.wheel[place + 1 :]
            with self.assertRaisesRegex(torch_headers.Mismatch, f"{WHEEL} is damaged"):
                self.fetch()

    def test_other_headers_than_the_pinned_ones_are_refused(self):
        self.serve()
        with self.assertRaisesRegex(torch_headers.Mismatch, "the 5 headers of PyTorch 2.7.0 have the SHA-256 digest .* torch_versions.txt says 0000"):
            self.headers("0" * 64)
        self.assertFalse(os.path.exists(self.cache), "nothing is kept")

    def test_the_second_time_they_come_from_the_cache(self):
        self.serve()
        digest = torch_headers.digest_of(HEADERS)
        folder = self.headers(digest)
        self.assertEqual(os.listdir(self.cache), [os.path.basename(folder)])
        with open(os.path.join(folder, "ATen/core/Tensor.h"), "rb") as file:
            self.assertEqual(file.read(), HEADERS["ATen/core/Tensor.h"])
        self.assertEqual(self.headers(digest, index=lambda: self.fail("the index is not needed")), folder)

    def test_a_server_that_fails_is_named(self):
        index = self.serve()
        index.status = 403
        with self.assertRaisesRegex(torch_headers.Unreachable, f"{WHEEL}: HTTP Error 403"):
            self.fetch()

    def test_credentials_in_the_address_of_the_index_are_sent(self):
        index = self.serve()
        index.credentials = b"me:se/cret"
        os.environ["PIP_INDEX_URL"] = index.address("simple").replace("//", "//me:se%2Fcret@")
        self.assertEqual(self.fetch(), HEADERS)

    def test_a_version_that_the_index_does_not_have(self):
        self.serve()
        with self.assertRaisesRegex(torch_headers.Unreachable, "has no wheel of PyTorch 2.8.0 for Linux on x86_64"):
            torch_headers.fetch("2.8.0", "x86_64", torch_headers.Index(), self.said.append)

    def test_the_digest_is_that_of_sha256sum(self):
        self.assertEqual(torch_headers.digest_of({"b": b"2", "a": b"1"}), hashlib.sha256(
            f"{hashlib.sha256(b'1').hexdigest()}  a\n{hashlib.sha256(b'2').hexdigest()}  b\n".encode()).hexdigest())

    def test_a_wrong_line_in_the_list_is_named(self):
        path = os.path.join(self.folder, "versions.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("# releases\n2.7.0 " + "a" * 64 + "\n2.7 abc\n")
        with self.assertRaisesRegex(torch_headers.Mismatch, "versions.txt:3 is not a version and a SHA-256 digest: 2.7 abc"):
            torch_headers.pins(path)


class Script(unittest.TestCase):
    def run_script(self, folder, *options):
        return subprocess.run([sys.executable, os.path.join(PACKAGING, "operators"), "--output", os.path.join(folder, "lib"), *options],
                              env=environment(folder, "http://127.0.0.1:9/simple"), capture_output=True, text=True)

    def test_without_a_network_the_missing_versions_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "lib"))
            old = os.path.join(folder, "lib", "stepscope_ops_torch_2.7.0.so")
            with open(old, "w", encoding="utf-8") as file:
                file.write("of other sources")
            said = self.run_script(folder, "--if-reachable")
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertRegex(said.stderr, r"without a library for PyTorch 2\.7\.0, 2\.7\.1, .*: http://127\.0\.0\.1:9/simple/torch/: .*refused")
            self.assertIn("`record --ops` uses PyTorch's profiler", said.stderr)
            self.assertFalse(os.path.exists(old), "a package does not include it")
            self.assertEqual(self.run_script(folder).returncode, 1, "a release needs all of them")

    def test_a_folder_without_torch(self):
        with tempfile.TemporaryDirectory() as folder:
            said = self.run_script(folder, folder)
            self.assertEqual((said.returncode, said.stderr), (1, f"operators: {folder} has no torch\n"))


unittest.main()
