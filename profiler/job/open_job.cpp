#include "profiler/job/open_job.h"

#include "profiler/analysis/steps/ranks.h"
#include "profiler/analysis/steps/step_repetition.h"
#include "profiler/formats/format.h"
#include "profiler/model/parallel.h"
#include "profiler/os/memory.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

namespace profiler::job {

namespace {

namespace fs = std::filesystem;
using analysis::RankDigest;
using analysis::RankIdentity;

/// Lets threads read files as long as their estimated memory stays below a limit. One file is always admitted.
class MemoryGate {
public:
    explicit MemoryGate(std::uint64_t limit) : m_limit(limit) {}

    void enter(std::uint64_t bytes)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_held == 0 || m_held + bytes <= m_limit; });
        m_held += bytes;
    }
    void leave(std::uint64_t bytes)
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_held -= bytes;
        }
        m_changed.notify_all();
    }

private:
    const std::uint64_t m_limit;
    std::mutex m_mutex; ///< guards m_held
    std::condition_variable m_changed;
    std::uint64_t m_held = 0;
};

/// The result of reading a file.
struct ReadFile {
    std::optional<RankIdentity> identity;
    std::vector<RankDigest> digests; ///< several if the file contains several ranks, as an export of a whole host does
    std::vector<std::int64_t> numbers; ///< of the ranks of a file with several
    Message excluded;                  ///< why there are no digests
    bool cut = false;                  ///< incomplete, but usable
};

/// A rank that may become part of the job.
struct Candidate {
    std::size_t file = 0;
    std::optional<std::int64_t> rank;
    RankDigest digest;
    bool used = true;
};

/// Memory that a trace takes while it is read and analysed. Measured with files of PyTorch's profiler: 0.3 bytes per
/// byte, and with compressed ones 3; the rest is for the analyses.
std::uint64_t memoryFor(const fs::path& path)
{
    std::error_code none;
    const std::uintmax_t bytes = fs::file_size(path, none);
    if (none)
        return 0;
    const bool compressed = path.extension() == ".gz" || path.extension() == ".zst" || path.extension() == ".sstrace";
    return bytes / 2 * (compressed ? 10 : 1) + (std::uint64_t{8} << 20);
}

/// Damage that makes a rank misleading. A file of PyTorch's profiler that ends early lacks the device work, which comes
/// last. Our own recordings are in the order of time: they are only shorter.
bool isUnusable(const Trace& trace)
{
    return trace.sliceCount() == 0 || (trace.captureStats().cut && trace.format() != "stepscope");
}

class Opening {
public:
    Opening(JobFiles files, const JobOptions& options) : m_options(options)
    {
        m_job.files = std::move(files);
        m_job.notes = m_job.files.notes;
        m_read.resize(m_job.files.files.size());
    }

    Result<Job> open()
    {
        readAll();
        if (m_options.stop.stop_requested())
            return fail<"job.cancelled", "opening the job was cancelled">(Error::Code::Cancelled);
        return assemble();
    }

private:
    /// Moves what was read into the job, and analyses it.
    Result<Job> assemble()
    {
        excludeUnreadable();
        excludeOtherJobs();
        listCandidates();
        numberUnnamed();
        excludeDuplicates();
        if (m_candidates.empty())
            return nothingUsable();
        takeRanks();
        findMissing();
        m_job.analysis = analysis::analyseJob(m_job.ranks);
        if (m_job.files.others > 0)
            m_job.notes.push_back(
                message<"job.other_files", "{files} {files|file is not a trace and was|files are not "
                                           "traces and were} left out.">({{"files", m_job.files.others}}));
        return std::move(m_job);
    }

    /// The job of some of the files.
    [[nodiscard]] Result<Job> partOf(const std::vector<std::size_t>& files) const
    {
        JobFiles some;
        some.format = m_job.files.format;
        for (const std::size_t file : files)
            some.files.push_back(m_job.files.files[file]);
        Opening part(std::move(some), m_options);
        for (std::size_t i = 0; i < files.size(); ++i)
            part.m_read[i] = m_read[files[i]];
        return part.assemble();
    }

    void readAll()
    {
        const std::size_t count = m_read.size();
        unsigned threads = m_options.threads != 0 ? m_options.threads : std::thread::hardware_concurrency();
        threads = std::max(threads, 1U);
        const auto together = static_cast<unsigned>(std::min<std::size_t>(threads, count));
        const std::uint64_t machine = os::physicalMemory();
        const std::uint64_t limit = m_options.memory != 0 ? m_options.memory
                                    : machine != 0        ? machine / 4
                                                          : std::uint64_t{1} << 30;
        MemoryGate gate(limit);
        std::vector<std::size_t> done; // files
        std::mutex reporting;          // held while the caller's functions run
        const auto begin = std::chrono::steady_clock::now();
        auto previewAt = begin + m_options.previewAfter;
        parallelFor(count, together, [&](std::size_t i) {
            if (m_options.stop.stop_requested())
                return;
            const std::uint64_t memory = memoryFor(m_job.files.files[i]);
            gate.enter(memory);
            readOne(i, threads / together, limit / together);
            gate.leave(memory);
            const std::scoped_lock lock(reporting);
            done.push_back(i);
            if (m_options.progress)
                m_options.progress(static_cast<double>(done.size()) / static_cast<double>(count));
            if (m_options.preview && done.size() < count && std::chrono::steady_clock::now() >= previewAt) {
                std::ranges::sort(done);
                if (auto part = partOf(done))
                    m_options.preview(std::move(*part));
                previewAt = begin + 4 * (std::chrono::steady_clock::now() - begin);
            }
        });
    }

    void readOne(std::size_t i, unsigned threads, std::uint64_t memory)
    {
        const fs::path& path = m_job.files.files[i];
        ReadFile& read = m_read[i];
        formats::ReadOptions options;
        options.threads = threads;
        options.memoryBudget = memory;
        options.stop = m_options.stop;
        const auto trace = formats::openTrace(path, options);
        if (!trace) {
            read.excluded = trace.error().asMessage();
            return;
        }
        read.identity = analysis::identityOf(**trace, path.filename().string());
        if (isUnusable(**trace)) {
            read.excluded = (*trace)->sliceCount() == 0
                                ? message<"job.rank.empty", "The trace contains no events.">()
                                : message<"job.rank.cut", "The trace is incomplete: the end of the file is missing.">();
            return;
        }
        auto steps = m_options.findSteps ? m_options.findSteps(**trace, path)
                                         : Result<std::vector<analysis::Step>>(analysis::detectSteps(**trace).steps);
        if (!steps) {
            read.excluded = steps.error().asMessage();
            return;
        }
        read.cut = (*trace)->captureStats().cut;
        const analysis::ActivityScan scan = analysis::scanActivity(**trace, threads);
        for (const analysis::Rank& rank : analysis::ranksOf(**trace, *steps)) {
            read.digests.push_back(
                analysis::rankDigest(*rank.trace, analysis::scanActivity(*rank.trace, threads), rank.steps));
            read.numbers.push_back(rank.number);
        }
        if (read.digests.empty())
            read.digests.push_back(analysis::rankDigest(**trace, scan, *steps));
        if (m_options.visit)
            m_options.visit({i, *trace, scan, *steps});
    }

    void exclude(std::size_t file, std::optional<std::int64_t> rank, Message why)
    {
        m_job.excluded.push_back({m_job.files.files[file], rank, std::move(why)});
    }

    void excludeUnreadable()
    {
        for (std::size_t i = 0; i < m_read.size(); ++i)
            if (m_read[i].digests.empty())
                exclude(i, m_read[i].identity ? m_read[i].identity->rank : std::nullopt, m_read[i].excluded);
            else if (m_read[i].cut)
                m_job.notes.push_back(
                    message<"job.rank.ended_early", "{file} ends early: its process was killed, or its disk was "
                                                    "full.">({{"file", m_job.files.files[i].string()}}));
    }

    /// Keeps the ranks of the job that most files belong to, by the id of the launch and the number of ranks.
    void excludeOtherJobs()
    {
        using Key = std::tuple<std::string, std::int64_t>;
        const auto keyOf = [](const ReadFile& read) { return Key{read.identity->job, read.identity->worldSize}; };
        const auto isKnown = [](const ReadFile& read) {
            return !read.digests.empty() && (read.identity->worldSize > 0 || !read.identity->job.empty());
        };
        std::map<Key, std::size_t> counts;
        for (const ReadFile& read : m_read)
            if (isKnown(read))
                ++counts[keyOf(read)];
        if (counts.size() < 2)
            return;
        const Key own = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; })->first;
        for (std::size_t i = 0; i < m_read.size(); ++i) {
            ReadFile& read = m_read[i];
            if (!isKnown(read) || keyOf(read) == own)
                continue;
            exclude(
                i, read.identity->rank,
                message<"job.other_job", "The trace belongs to another job: its job has {ranks} ranks, that of most "
                                         "files {usual}.">(
                    {{"ranks", read.identity->worldSize}, {"usual", std::get<1>(own)}}));
            read.digests.clear();
        }
    }

    /// The ranks of a file with several are numbered only within the file, so that their numbers count only if it is
    /// the only file.
    void listCandidates()
    {
        for (std::size_t i = 0; i < m_read.size(); ++i) {
            ReadFile& read = m_read[i];
            for (std::size_t k = 0; k < read.digests.size(); ++k) {
                Candidate& candidate = m_candidates.emplace_back();
                candidate.file = i;
                if (read.numbers.empty())
                    candidate.rank = read.identity->rank;
                else if (m_read.size() == 1)
                    candidate.rank = read.numbers[k];
                candidate.digest = std::move(read.digests[k]);
            }
        }
    }

    /// Numbers the ranks that neither the content nor the name identifies, in the order of their names.
    void numberUnnamed()
    {
        std::set<std::int64_t> used;
        for (const Candidate& candidate : m_candidates)
            if (candidate.rank)
                used.insert(*candidate.rank);
        std::int64_t next = 0;
        std::size_t unnamed = 0;
        for (Candidate& candidate : m_candidates) {
            if (candidate.rank)
                continue;
            while (used.contains(next))
                ++next;
            candidate.rank = next++;
            ++unnamed;
        }
        if (unnamed > 0)
            m_job.notes.push_back(
                message<"job.rank.assumed", "{ranks} {ranks|rank is|ranks are} named neither in the trace nor by its "
                                            "file: ranks are numbered in the order of the files.">(
                    {{"ranks", unnamed}}));
    }

    /// Of several traces of a rank, the one that was recorded last counts.
    void excludeDuplicates()
    {
        std::map<std::int64_t, Candidate*> chosen;
        const auto startOf = [](const Candidate& one) { return one.digest.range.begin + one.digest.toRealtime; };
        for (Candidate& candidate : m_candidates) {
            const auto [entry, isNew] = chosen.try_emplace(*candidate.rank, &candidate);
            if (isNew)
                continue;
            Candidate* other = &candidate;
            if (startOf(candidate) > startOf(*entry->second))
                std::swap(other, entry->second);
            other->used = false;
            exclude(other->file, other->rank,
                    message<"job.rank.duplicate", "Rank {rank} has another trace, which was recorded last: {file}.">(
                        {{"rank", *other->rank}, {"file", m_job.files.files[entry->second->file].string()}}));
        }
    }

    void takeRanks()
    {
        std::erase_if(m_candidates, [](const Candidate& candidate) { return !candidate.used; });
        std::ranges::sort(m_candidates, {}, [](const Candidate& candidate) { return *candidate.rank; });
        for (Candidate& candidate : m_candidates) {
            const RankIdentity& identity = *m_read[candidate.file].identity;
            RankDigest& digest = candidate.digest;
            digest.rank = *candidate.rank;
            digest.worldSize = identity.worldSize;
            digest.host = identity.host;
            digest.file = m_job.files.files[candidate.file].string();
            m_job.ranks.push_back(std::move(digest));
            m_job.fileOf.push_back(candidate.file);
        }
    }

    void findMissing()
    {
        constexpr std::int64_t kMost = 1'000'000; // a damaged file may claim any number
        for (const RankDigest& rank : m_job.ranks)
            m_job.worldSize = std::max({m_job.worldSize, rank.worldSize, std::min(rank.rank, kMost) + 1});
        m_job.worldSize = std::min(m_job.worldSize, kMost);
        std::set<std::int64_t> known;
        for (const RankDigest& rank : m_job.ranks)
            known.insert(rank.rank);
        for (std::int64_t rank = 0; rank < m_job.worldSize; ++rank)
            if (!known.contains(rank))
                m_job.missing.push_back(rank);
        const std::string& chosen = m_read[m_job.fileOf.front()].identity->chosen;
        if (!chosen.empty() && !m_job.missing.empty())
            m_job.notes.push_back(message<"job.ranks_chosen", "Only some ranks were to be recorded: {list} (--ranks).">(
                {{"list", chosen}}));
    }

    [[nodiscard]] Result<Job> nothingUsable() const
    {
        const ExcludedFile& first = m_job.excluded.front();
        return tl::unexpected(
            Error{.code = Error::Code::Malformed,
                  .what = message<"job.nothing_usable", "none of {files} files is a usable trace; the "
                                                        "first one: {why}">(
                      {{"files", m_read.size()}, {"why", first.why.text}, {"error", first.why.id}}),
                  .where = first.file.string(),
                  .hint = "record the job again, or choose other files"});
    }

    const JobOptions& m_options;
    Job m_job;
    std::vector<ReadFile> m_read;        ///< by file
    std::vector<Candidate> m_candidates; ///< in the order of the files
};

} // namespace

Result<Job> openJob(JobFiles files, const JobOptions& options)
{
    return Opening(std::move(files), options).open();
}

} // namespace profiler::job
