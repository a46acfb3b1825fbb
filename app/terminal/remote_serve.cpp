#include "app/terminal/remote_serve.h"

#include "advisor/runner/remote_frames.h"
#include "app/terminal/commands.h"
#include "profiler/formats/container/trace_file.h"
#include "profiler/formats/format.h"
#include "profiler/job/job_digests.h"
#include "profiler/job/rank_merge.h"
#include "profiler/os/connections.h"
#include "profiler/os/files.h"

#define XXH_INLINE_ALL
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <iostream>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>
#include <xxhash.h>

namespace app::terminal {

namespace {

namespace fs = std::filesystem;
namespace os = profiler::os;
using advisor::runner::RemoteFrame;
using Clock = std::chrono::steady_clock;
using profiler::Error;
using profiler::Result;

constexpr int kStdin = 0, kStdout = 1;
constexpr std::chrono::hours kKept{31 * 24};
constexpr std::size_t kLongestRequest = 64;
constexpr std::chrono::milliseconds kBetweenProgress{100};
// Converting takes about half as long as reading.
constexpr double kReading = 0.7;
constexpr double kOpening = 0.5;                  ///< reading all ranks for their figures, before some are merged
constexpr std::uint64_t kMostFigures = 128 << 20; ///< bytes; remote_ranks.cpp accepts as many

bool send(RemoteFrame type, std::string_view payload)
{
    return os::writeAll(kStdout, advisor::runner::encodeFrame(type, payload)).error == 0;
}

std::string hashOf(std::string_view text)
{
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// Changes with the file: its path, size and time.
std::string nameOf(const fs::path& path, const os::FileState& state)
{
    const std::string text =
        fmt::format("{}\n{} {} {} {}", path.string(), state.bytes, state.modified.count(), state.device, state.inode);
    return hashOf(text);
}

/// A trace whose parts can be read on demand.
bool isSealed(const fs::path& path)
{
    const auto file = profiler::container::InputFile::open(path);
    const auto header = file ? profiler::container::readHeader(*file) : tl::unexpected(file.error());
    return header && header->isSealed && header->overviewOffset != 0;
}

void removeUnused(const fs::path& cache)
{
    std::error_code failed;
    const auto oldest = fs::file_time_type::clock::now() - kKept;
    for (auto entry = fs::directory_iterator(cache, failed); !failed && entry != fs::directory_iterator();
         entry.increment(failed)) {
        std::error_code ignored;
        if (entry->is_regular_file(ignored) && entry->last_write_time(ignored) < oldest)
            fs::remove(entry->path(), ignored);
    }
}

/// Reports progress, and notices that the other side has gone.
class Watch {
public:
    void show(double share)
    {
        std::array awaited{os::Awaited{kStdin}};
        os::waitForAny(awaited, std::chrono::milliseconds(0));
        const auto now = Clock::now();
        if (now - m_last < kBetweenProgress && !awaited[0].isReady)
            return;
        m_last = now;
        // No request comes before the trace is open: standard input is only readable when it has ended.
        if (awaited[0].isReady || !send(RemoteFrame::Progress, fmt::format("{:.3f}", share)))
            m_stop.request_stop();
    }
    [[nodiscard]] std::stop_token stop() const { return m_stop.get_token(); }

private:
    Clock::time_point m_last{};
    std::stop_source m_stop;
};

/// The sealed file of the trace.
Result<fs::path> sealedFileOf(const fs::path& path, const fs::path& cache)
{
    if (isSealed(path))
        return path;
    const os::Descriptor file = os::openToRead(path);
    const auto state = file ? os::stateOf(file.get()) : std::nullopt;
    const bool isFile = state && state->kind == os::FileState::Kind::Regular;
    const fs::path sealed = cache / (isFile ? nameOf(path, *state) + ".sstrace" : "none.sstrace");
    std::error_code failed;
    if (isFile && isSealed(sealed)) {
        fs::last_write_time(sealed, fs::file_time_type::clock::now(), failed); // it is used
        return sealed;
    }
    Watch watch;
    profiler::formats::ReadOptions read;
    read.progress = [&](double share) { watch.show(kReading * share); };
    read.stop = watch.stop();
    const auto trace = profiler::formats::openTrace(path, read); // also says what is wrong with a folder
    if (!trace)
        return tl::unexpected(trace.error());
    fs::create_directories(cache, failed);
    removeUnused(cache);
    profiler::formats::WriteOptions write;
    write.progress = [&](double share) { watch.show(kReading + (1 - kReading) * share); };
    write.stop = watch.stop();
    if (auto saved = profiler::formats::saveTrace(**trace, sealed, write); !saved)
        return tl::unexpected(saved.error());
    return sealed;
}

/// "OFFSET LENGTH"
std::optional<std::pair<std::uint64_t, std::size_t>> requestIn(std::string_view line)
{
    std::uint64_t offset = 0;
    std::size_t length = 0;
    const char* const end = line.data() + line.size();
    const auto [blank, wrong] = std::from_chars(line.data(), end, offset);
    if (wrong != std::errc() || blank == end || *blank != ' ')
        return std::nullopt;
    const auto [rest, alsoWrong] = std::from_chars(blank + 1, end, length);
    if (alsoWrong != std::errc() || rest != end || length == 0 || length > advisor::runner::kMostFrameBytes)
        return std::nullopt;
    return std::pair(offset, length);
}

/// @return false if the connection has ended
bool answer(int file, std::string_view line)
{
    const auto request = requestIn(line);
    if (!request) {
        send(RemoteFrame::Failed, "not a request");
        return false;
    }
    std::string bytes(request->second, '\0');
    const auto read = os::readAt(file, request->first, std::as_writable_bytes(std::span(bytes)));
    if (read.bytes < bytes.size()) {
        send(RemoteFrame::Failed,
             read.error != 0 ? std::generic_category().message(read.error) : "the file was truncated");
        return false;
    }
    return send(RemoteFrame::Data, bytes);
}

int failed(const Error& error)
{
    std::cerr << error.message() << '\n';
    return kBadInput;
}

void printShare(double share)
{
    std::cout << fmt::format("{:.3f}", share) << std::endl;
}

Result<profiler::job::JobFiles> filesOf(const fs::path& ranks)
{
    std::error_code unknown;
    const fs::path path = fs::weakly_canonical(ranks, unknown); // the near side opens single ranks by their paths
    return profiler::job::findJobFiles(std::array{unknown ? ranks : path});
}

/// Changes with the files of a job and with this program, whose path contains a hash of it: another version may
/// find other figures.
std::string nameOf(const profiler::job::JobFiles& files)
{
    std::error_code unknown;
    std::string text = fs::read_symlink("/proc/self/exe", unknown).string();
    for (const fs::path& path : files.files) {
        const os::Descriptor file = os::openToRead(path);
        const auto state = file ? os::stateOf(file.get()) : std::nullopt;
        text += '\n' + (state ? nameOf(path, *state) : path.string());
    }
    return hashOf(text);
}

/// The job in these files, from the cache if its figures are there.
/// @param progress  of reading the files
Result<profiler::job::Job> readJob(profiler::job::JobFiles files, const fs::path& cache,
                                   const std::function<void(double)>& progress)
{
    const fs::path known = cache / (nameOf(files) + ".job");
    std::error_code ignored;
    if (const auto bytes = os::readFile(known, kMostFigures))
        if (auto job = profiler::job::decodeJob(*bytes)) {
            fs::last_write_time(known, fs::file_time_type::clock::now(), ignored); // it is used
            job->analysis = profiler::analysis::analyseJob(job->ranks);
            return job;
        }
    profiler::job::JobOptions options;
    options.progress = progress;
    auto job = profiler::job::openJob(std::move(files), options);
    fs::create_directories(cache, ignored);
    removeUnused(cache);
    if (auto file = job ? os::ReplacementFile::create(known) : std::nullopt)
        if (file->write(profiler::job::encodeJob(*job)) == 0)
            static_cast<void>(file->commit()); // otherwise the ranks are read again
    return job;
}

/// Indices of ranks by their numbers.
Result<std::vector<std::size_t>> indicesOf(const profiler::job::Job& job, const std::vector<std::int64_t>& numbers)
{
    std::vector<std::size_t> indices;
    for (const std::int64_t number : numbers) {
        const auto rank = std::ranges::find(job.ranks, number, &profiler::analysis::RankDigest::rank);
        if (rank == job.ranks.end())
            return profiler::fail<"remote.no_rank", "the job no longer has a usable trace of rank {rank}">(
                Error::Code::NotFound, {}, "open the job again", {{"rank", number}});
        indices.push_back(static_cast<std::size_t>(rank - job.ranks.begin()));
    }
    return indices;
}

/// Merges ranks into a file.
/// @param progress  of merging and writing
Result<void> merge(const profiler::job::Job& job, const std::vector<std::size_t>& ranks,
                   profiler::job::MergeOptions options, const fs::path& file,
                   const std::function<void(double)>& progress)
{
    options.progress = [&](double share) { progress(kReading * share); };
    const auto trace = profiler::job::mergeRanks(job, ranks, options);
    if (!trace)
        return tl::unexpected(trace.error());
    std::error_code ignored;
    fs::create_directories(file.parent_path(), ignored);
    removeUnused(file.parent_path());
    profiler::formats::WriteOptions write;
    write.progress = [&](double share) { progress(kReading + (1 - kReading) * share); };
    return profiler::formats::saveTrace(**trace, file, write);
}

} // namespace

int serveRemoteTrace(const fs::path& trace, const fs::path& cache)
{
    if (os::writeAll(kStdout, advisor::runner::kRemoteBegin).error != 0)
        return 1;
    if (profiler::job::mayBeJob(std::array{trace}))
        return send(RemoteFrame::Ranks, {}) ? 0 : 1;
    std::error_code failed;
    const fs::path path = fs::weakly_canonical(trace, failed);
    const auto sealed = sealedFileOf(failed ? trace : path, fs::weakly_canonical(cache, failed));
    const os::Descriptor file = sealed ? os::openToRead(*sealed) : os::Descriptor();
    const auto state = file ? os::stateOf(file.get()) : std::nullopt;
    if (!state) {
        send(RemoteFrame::Failed, sealed ? "the file was deleted" : sealed.error().message());
        return 1;
    }
    // A name in the cache changes with the trace; the time of such a file is that of its last use.
    const bool isConverted = sealed->parent_path() == fs::weakly_canonical(cache, failed);
    const std::string name = isConverted ? sealed->filename().string() : nameOf(*sealed, *state);
    if (!send(RemoteFrame::Opened, fmt::format("{} {}", state->bytes, name)))
        return 1;
    std::string text;
    while (os::readNext(kStdin, text)) {
        std::size_t begin = 0;
        for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
            if (!answer(file.get(), std::string_view(text).substr(begin, end - begin)))
                return 1;
            begin = end + 1;
        }
        text.erase(0, begin);
        if (text.size() > kLongestRequest)
            return 1;
    }
    return 0;
}

int writeRemoteRanks(const fs::path& ranks, const fs::path& file, const fs::path& cache)
{
    auto files = filesOf(ranks);
    if (!files)
        return failed(files.error());
    const auto job = readJob(*std::move(files), cache, printShare);
    if (!job)
        return failed(job.error());
    auto written = os::ReplacementFile::create(file);
    int number = written ? written->write(profiler::job::encodeJob(*job)) : errno;
    if (written && number == 0)
        number = written->commit();
    if (number != 0)
        return failed(profiler::makeError<"remote.ranks_write", "the figures of the job cannot be written: {why}">(
            Error::Code::Io, file.string(), "make space on the disk of that machine",
            {{"why", std::generic_category().message(number)}}));
    return kDone;
}

int mergeRemoteRanks(const fs::path& ranks, const std::vector<std::int64_t>& numbers, std::optional<std::int64_t> step,
                     const fs::path& cache)
{
    auto files = filesOf(ranks);
    if (!files)
        return failed(files.error());
    std::string text = nameOf(*files);
    double begun = 0; // the share of the work before merging
    const auto job = readJob(*std::move(files), cache, [&](double share) {
        begun = kOpening;
        printShare(kOpening * share);
    });
    if (!job)
        return failed(job.error());
    const auto indices = indicesOf(*job, numbers);
    if (!indices)
        return failed(indices.error());
    profiler::job::MergeOptions options;
    const auto& steps = job->analysis.steps;
    if (const auto found = std::ranges::find(steps, step.value_or(0)); step && found != steps.end())
        options.step = static_cast<std::size_t>(found - steps.begin());
    std::uint64_t events = 0;
    for (const std::size_t index : *indices) {
        events += job->ranks[index].events;
        text += fmt::format(" {}", job->ranks[index].rank);
    }
    if (options.step && events > options.mostSlices) // only then it matters
        text += fmt::format(" around {}", *options.step);
    const std::string name = hashOf(text) + ".sstrace";
    std::error_code ignored;
    if (isSealed(cache / name))
        fs::last_write_time(cache / name, fs::file_time_type::clock::now(), ignored); // it is used
    else if (auto merged = merge(*job, *indices, options, cache / name,
                                 [begun](double share) { printShare(begun + (1 - begun) * share); });
             !merged)
        return failed(merged.error());
    std::cout << "trace " << name << std::endl;
    return kDone;
}

} // namespace app::terminal
