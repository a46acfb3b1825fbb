#include "advisor/runner/remote_ranks.h"

#include "advisor/runner/remote_answer.h"
#include "advisor/runner/remote_setup.h"
#include "profiler/os/files.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace advisor::runner {

namespace fs = std::filesystem;
namespace os = profiler::os;
using profiler::Error;
using profiler::fail;
using profiler::Result;

namespace {

/// Enough for a thousand ranks with 4,000 collectives each.
constexpr std::uint64_t kMostBytes = 128 << 20;
constexpr std::uint64_t kMostText = 1 << 20; ///< a line per file, and an error

/// The number in the last complete line.
std::optional<double> lastShare(std::string_view lines)
{
    const std::size_t end = lines.rfind('\n');
    if (end == std::string_view::npos || end == 0)
        return std::nullopt;
    const std::size_t before = lines.rfind('\n', end - 1);
    const std::string_view line = lines.substr(before == std::string_view::npos ? 0 : before + 1);
    double share = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), share).ec != std::errc())
        return std::nullopt;
    return std::clamp(share, 0.0, 1.0);
}

} // namespace

Result<std::string> readRemoteRanks(const RemoteHost& host, const std::string& path,
                                    const RemoteTrace::Opening& opening)
{
    const auto program = setUpRemoteProgram(
        host, {.folder = {}, .environment = {}, .command = {}},
        [&](std::uint64_t bytes) {
            if (opening.uploading)
                opening.uploading(bytes);
        },
        opening.goesOn);
    if (!program)
        return tl::unexpected(program.error());
    const fs::path prefix = os::temporaryPath("stepscope-ranks-");
    const os::TemporaryFolder folder(prefix);
    if (folder.path().empty())
        return fail<"remote.no_cache", "no temporary file can be created: {why}">(
            Error::Code::Io, prefix.parent_path().string(), "make space on the disk, or set TMPDIR",
            {{"why", std::generic_category().message(errno)}});
    const fs::path file = folder.path() / "job";
    std::string lines, errors;
    RemoteRequest request;
    request.words = {"remote", "--action", "ranks", "--job", std::string(kRemoteResult), "--", path};
    request.result = file;
    request.resultWord = 4;
    request.mostText = kMostText;
    request.mostResult = kMostBytes;
    request.output = [&](std::string_view text) {
        lines += text;
        if (const auto share = lastShare(lines); share && opening.converting)
            opening.converting(*share);
        lines.erase(0, lines.rfind('\n') + 1); // npos + 1 is 0
    };
    request.errors = [&](std::string_view text) { errors += text; };
    request.goesOn = opening.goesOn;
    const auto status = askRemote(host, *program, request);
    if (!status)
        return tl::unexpected(status.error());
    auto bytes = os::readFile(file, kMostBytes);
    if (*status != 0 || !bytes) {
        while (!errors.empty() && errors.back() == '\n')
            errors.pop_back();
        return fail<"remote.job", "the job cannot be opened there: {why}">(Error::Code::NotFound, host.name(), {},
                                                                           {{"why", errors}});
    }
    return *std::move(bytes);
}

} // namespace advisor::runner
