#include "advisor/runner/remote_bundle.h"

#include "advisor/runner/workspace.h"
#include "profiler/os/connections.h"
#include "profiler/os/files.h"
#include "profiler/os/libraries.h"
#include "profiler/os/process.h"

#define XXH_INLINE_ALL
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <system_error>
#include <xxhash.h>

namespace advisor::runner {

namespace fs = std::filesystem;
namespace os = profiler::os;
using profiler::Error;
using profiler::Result;

namespace {

// The C library belongs to the machine: that of another one would not fit its loader.
constexpr std::array<std::string_view, 9> kOfTheSystem = {"ld-linux", "libc.",      "libm.",   "libpthread.", "libdl.",
                                                          "librt.",   "libresolv.", "libnss_", "linux-vdso"};

/// Files by their names in the archive.
using Contents = std::map<std::string, fs::path>;

bool belongsToSystem(const fs::path& library)
{
    const std::string name = library.filename().string();
    return std::any_of(kOfTheSystem.begin(), kOfTheSystem.end(),
                       [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Result<Contents> contents()
{
    Contents files;
    std::error_code failed;
    const auto inject = findNearProgram({"../lib/libstepscope_inject.so", "../lib/stepscope/libstepscope_inject.so"},
                                        "the injection library");
    const auto hooks = findPythonHooks();
    if (!inject || !hooks)
        return tl::unexpected(!inject ? inject.error() : hooks.error());
    files["bin/stepscope-cli"] = fs::read_symlink("/proc/self/exe", failed);
    files["lib/stepscope/libstepscope_inject.so"] = *inject;
    if (!hooks->preload.empty())
        files["lib/stepscope/libstepscope_preload.so"] = hooks->preload;
    // The host's PyTorch is unknown, and each library is small.
    for (auto entry = fs::directory_iterator(inject->parent_path(), failed);
         !failed && entry != fs::directory_iterator(); entry.increment(failed))
        if (const std::string name = entry->path().filename();
            name.starts_with("stepscope_ops_torch_") && name.ends_with(".so"))
            files["lib/stepscope/" + name] = entry->path();
    for (const fs::path& library : os::loadedLibraries())
        if (!belongsToSystem(library))
            files["lib/stepscope/bundled/" + library.filename().string()] = library;
    const fs::path python = hooks->startup.parent_path();
    for (auto entry = fs::recursive_directory_iterator(python, failed);
         !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed))
        if (entry->path().extension() == ".py")
            files["share/stepscope/python/" + entry->path().lexically_relative(python).string()] = entry->path();
    return files;
}

/// The header of a file in the format ustar (POSIX.1-1988).
std::string tarHeader(const std::string& name, std::size_t bytes, bool isProgram)
{
    constexpr std::size_t kBytes = 512, kChecksumAt = 148, kChecksumBytes = 8;
    std::string header(kBytes, '\0');
    const auto put = [&](std::size_t at, const std::string& text) {
        std::memcpy(header.data() + at, text.data(), std::min(text.size(), kBytes - at));
    };
    put(0, name);
    put(100, isProgram ? "0000755" : "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, fmt::format("{:011o}", bytes));
    put(136, "00000000000"); // no time: equal contents have equal archives
    put(156, "0");
    put(257, std::string("ustar\0"
                         "00",
                         8));
    put(kChecksumAt, std::string(kChecksumBytes, ' '));
    unsigned sum = 0;
    for (const char c : header)
        sum += static_cast<unsigned char>(c);
    put(kChecksumAt, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
    return header;
}

constexpr std::size_t kHashBytes = 32;

tl::unexpected<Error> unreadable(const fs::path& part)
{
    return profiler::fail<"remote.bundle", "a part of this installation cannot be read">(
        Error::Code::NotFound, part.string(), "reinstall Stepscope");
}

/// The bundle of stepscope-cli, which is another program.
Result<RemoteBundle> bundleOf(const fs::path& program)
{
    auto output = os::makePipe();
    const auto child = output
                           ? os::startChild({.program = program.string(),
                                             .words = {program.string(), "remote", "--action", "bundle", "--job", "-"},
                                             .hasInput = false,
                                             .output = output->writing.get()})
                           : std::nullopt;
    if (!child)
        return unreadable(program);
    output->writing.reset();
    std::string text;
    while (os::readNext(output->reading.get(), text)) {
    }
    const auto end = os::waitForChild(*child);
    if (!end || !end->isSuccess() || text.size() <= kHashBytes)
        return unreadable(program);
    return RemoteBundle{text.substr(0, kHashBytes), text.substr(kHashBytes)};
}

} // namespace

int printRemoteBundle()
{
    constexpr int kStdout = 1;
    const auto bundle = makeRemoteBundle();
    return bundle && os::writeAll(kStdout, bundle->hash + bundle->tar).error == 0 ? 0 : 1;
}

Result<RemoteBundle> makeRemoteBundle()
{
    constexpr std::size_t kBlock = 512, kMostName = 100;
    std::error_code unknown;
    const fs::path self = fs::read_symlink("/proc/self/exe", unknown);
    if (const auto terminal = findNearProgram({"stepscope-cli"}, "the terminal program");
        terminal && self.filename() != terminal->filename())
        return bundleOf(*terminal);
    const auto files = contents();
    if (!files)
        return tl::unexpected(files.error());
    RemoteBundle bundle;
    for (const auto& [name, path] : *files) {
        const auto text = os::readFile(path);
        if (!text || name.size() >= kMostName)
            return unreadable(path);
        bundle.tar += tarHeader(name, text->size(), name.starts_with("bin/"));
        bundle.tar += *text;
        bundle.tar.resize((bundle.tar.size() + kBlock - 1) / kBlock * kBlock, '\0');
    }
    bundle.tar.append(2 * kBlock, '\0');
    const XXH128_hash_t hash = XXH3_128bits(bundle.tar.data(), bundle.tar.size());
    bundle.hash = fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
    return bundle;
}

} // namespace advisor::runner
