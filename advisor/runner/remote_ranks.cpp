#include "advisor/runner/remote_ranks.h"

#include "advisor/runner/remote_answer.h"
#include "advisor/runner/remote_frames.h"
#include "advisor/runner/remote_setup.h"
#include "profiler/os/files.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
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

/// The name of a merged trace.
constexpr std::string_view kTrace = "trace ";
constexpr std::string_view kExtension = ".sstrace";
constexpr std::size_t kHashDigits = 32;

/// The folder of converted traces there.
std::string cacheOf(const RemoteProgram& program)
{
    return program.root + "/traces";
}

Result<RemoteProgram> setUp(const RemoteHost& host, const RemoteTrace::Opening& opening)
{
    return setUpRemoteProgram(
        host, {.folder = {}, .environment = {}, .command = {}},
        [&](std::uint64_t bytes) {
            if (opening.uploading)
                opening.uploading(bytes);
        },
        opening.goesOn);
}

/// What a command there printed.
struct Answer {
    int status = 0;
    std::string lines;  ///< complete ones that are not a share
    std::string errors; ///< without line breaks at the end
};

/// Runs a command there that prints the share of its work, a line each.
Result<Answer> runThere(const RemoteHost& host, const RemoteProgram& program, RemoteRequest request,
                        const RemoteTrace::Opening& opening)
{
    Answer answer;
    std::string text;
    request.mostText = kMostText;
    request.output = [&](std::string_view added) {
        text += added;
        for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
            double share = 0;
            if (std::from_chars(text.data(), text.data() + end, share).ec != std::errc())
                answer.lines += text.substr(0, end + 1);
            else if (opening.converting)
                opening.converting(std::clamp(share, 0.0, 1.0));
            text.erase(0, end + 1);
        }
    };
    request.errors = [&](std::string_view added) { answer.errors += added; };
    request.goesOn = opening.goesOn;
    const auto status = askRemote(host, program, request);
    if (!status)
        return tl::unexpected(status.error());
    answer.status = *status;
    while (!answer.errors.empty() && answer.errors.back() == '\n')
        answer.errors.pop_back();
    return answer;
}

} // namespace

Result<std::string> readRemoteRanks(const RemoteHost& host, const std::string& path,
                                    const RemoteTrace::Opening& opening)
{
    const auto program = setUp(host, opening);
    if (!program)
        return tl::unexpected(program.error());
    const fs::path prefix = os::temporaryPath("stepscope-ranks-");
    const os::TemporaryFolder folder(prefix);
    if (folder.path().empty())
        return fail<"remote.no_cache", "no temporary file can be created: {why}">(
            Error::Code::Io, prefix.parent_path().string(), "make space on the disk, or set TMPDIR",
            {{"why", std::generic_category().message(errno)}});
    const fs::path file = folder.path() / "job";
    RemoteRequest request;
    request.words = {"remote",  "--action",        "ranks", "--job", std::string(kRemoteResult),
                     "--cache", cacheOf(*program), "--",    path};
    request.result = file;
    request.resultWord = 4;
    request.mostResult = kMostBytes;
    const auto answer = runThere(host, *program, std::move(request), opening);
    if (!answer)
        return tl::unexpected(answer.error());
    auto bytes = os::readFile(file, kMostBytes);
    if (answer->status != 0 || !bytes)
        return fail<"remote.job", "the other machine cannot open the job: {why}">(Error::Code::NotFound, host.name(),
                                                                                  {}, {{"why", answer->errors}});
    return *std::move(bytes);
}

Result<std::string> mergeRemoteRanks(const RemoteHost& host, const std::string& path, const RanksToMerge& wanted,
                                     const RemoteTrace::Opening& opening)
{
    const auto program = setUp(host, opening);
    if (!program)
        return tl::unexpected(program.error());
    RemoteRequest request;
    request.words = {"remote",
                     "--action",
                     "merge",
                     "--cache",
                     cacheOf(*program),
                     "--ranks",
                     fmt::format("{}", fmt::join(wanted.ranks, ","))};
    if (wanted.step)
        request.words.push_back(fmt::format("--step={}", *wanted.step));
    request.words.insert(request.words.end(), {"--", path});
    const auto answer = runThere(host, *program, std::move(request), opening);
    if (!answer)
        return tl::unexpected(answer.error());
    if (answer->status != 0)
        return fail<"remote.merge", "the other machine cannot merge the ranks: {why}">(Error::Code::NotFound, host.name(),
                                                                                  {}, {{"why", answer->errors}});
    std::string_view name = answer->lines;
    // The name of a file in the cache, and nothing else.
    if (!name.starts_with(kTrace) || !name.ends_with('\n'))
        return noRemoteFrame();
    name = name.substr(kTrace.size(), name.size() - kTrace.size() - 1);
    if (name.size() != kHashDigits + kExtension.size() || !name.ends_with(kExtension) ||
        name.find_first_not_of("0123456789abcdef") != kHashDigits)
        return noRemoteFrame();
    return cacheOf(*program) + '/' + std::string(name);
}

} // namespace advisor::runner
