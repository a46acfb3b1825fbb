#include "profiler/formats/pytorch/array_scan.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

namespace profiler::formats::json {

namespace {

constexpr std::uint64_t kSmallestPart = std::uint64_t{256} << 10, kUsualPart = std::uint64_t{4} << 20;
constexpr unsigned kMostThreads = 16;
constexpr auto kReport = std::chrono::milliseconds(25);
constexpr double kScanShare = 0.9; ///< share of the work spent on scanning; the rest is sealing
constexpr std::uint64_t kNoEvent = std::numeric_limits<std::uint64_t>::max();

class Scanning {
public:
    Scanning(ByteSource& source, SharedBuild& shared, std::uint64_t begin, const PassOptions& passOptions,
             const ReadOptions& options)
        : m_source(source), m_shared(shared), m_begin(begin), m_passOptions(passOptions), m_options(options)
    {
        m_threads =
            std::clamp(options.threads != 0 ? options.threads : std::thread::hardware_concurrency(), 1U, kMostThreads);
        const auto size = source.knownSize();
        m_partBytes = size
                          ? std::clamp<std::uint64_t>((*size - std::min(*size, begin)) / (std::uint64_t{8} * m_threads),
                                                      kSmallestPart, kUsualPart)
                          : kUsualPart;
    }

    ArrayEnd run(const std::function<void(ScanResult&&)>& commit);

private:
    [[nodiscard]] std::uint64_t partBegin(std::uint64_t part) const { return m_begin + part * m_partBytes; }
    void work();
    void scanParts();
    ScannedPart scanPart(ChunkScan& scan, std::uint64_t part);
    std::optional<ScannedPart> take(std::uint64_t part);
    void report(std::uint64_t offset);

    ByteSource& m_source;
    SharedBuild& m_shared;
    std::uint64_t m_begin;
    const PassOptions& m_passOptions;
    const ReadOptions& m_options;
    unsigned m_threads = 1;
    std::uint64_t m_partBytes = 0;
    std::stop_source m_stop;
    std::atomic<std::uint64_t> m_next{0};
    double m_reported = 0;

    std::mutex m_mutex; ///< guards the members below; held only briefly
    std::condition_variable m_changed;
    std::map<std::uint64_t, ScannedPart> m_done;
    std::uint64_t m_taken = 0; ///< parts that have been committed
    unsigned m_working = 0;    ///< threads that may still deliver parts
    bool m_outOfMemory = false;
};

/// If a worker runs out of memory, the scan ends; the program continues.
void Scanning::work()
{
    bool outOfMemory = false;
    try {
        scanParts();
    } catch (const std::bad_alloc&) {
        outOfMemory = true;
        m_stop.request_stop();
    }
    const std::scoped_lock lock(m_mutex);
    m_outOfMemory = m_outOfMemory || outOfMemory;
    --m_working;
    m_changed.notify_all();
}

void Scanning::scanParts()
{
    ChunkScan scan(m_source, m_shared, m_passOptions);
    const std::stop_token stop = m_stop.get_token();
    while (!stop.stop_requested()) {
        const std::uint64_t part = m_next++;
        {
            // Limits the number of parts that wait to be committed.
            std::unique_lock lock(m_mutex);
            m_changed.wait(lock, [&] { return part < m_taken + 2 * m_threads + 2 || stop.stop_requested(); });
        }
        if (stop.stop_requested() || !m_source.reaches(partBegin(part)))
            break;
        ScannedPart scanned = scanPart(scan, part);
        const std::scoped_lock lock(m_mutex);
        m_done.emplace(part, std::move(scanned));
        m_changed.notify_all();
    }
}

ScannedPart Scanning::scanPart(ChunkScan& scan, std::uint64_t part)
{
    const std::stop_token stop = m_stop.get_token();
    const std::uint64_t limit = partBegin(part + 1);
    const auto begin = part == 0 ? std::optional(m_begin) : scan.guessEvent(partBegin(part), limit, true, stop);
    if (begin)
        return scan.scan(*begin, limit, stop);
    ScannedPart none;
    none.begin = kNoEvent;
    return none;
}

std::optional<ScannedPart> Scanning::take(std::uint64_t part)
{
    std::unique_lock lock(m_mutex);
    for (;;) {
        m_changed.wait_for(lock, kReport, [&] { return m_done.contains(part) || m_working == 0; });
        if (const auto found = m_done.find(part); found != m_done.end()) {
            ScannedPart scanned = std::move(found->second);
            m_done.erase(found);
            m_taken = part + 1;
            m_changed.notify_all();
            return scanned;
        }
        if (m_outOfMemory)
            throw std::bad_alloc();
        if (m_working == 0 || m_options.stop.stop_requested())
            return std::nullopt;
        lock.unlock();
        report(partBegin(part));
        lock.lock();
    }
}

void Scanning::report(std::uint64_t offset)
{
    if (!m_options.progress)
        return;
    const auto size = m_source.knownSize();
    const double share = size ? static_cast<double>(offset) / static_cast<double>(std::max<std::uint64_t>(*size, 1))
                              : m_source.inflatedShare();
    m_reported = std::max(m_reported, std::min(share, 1.0) * kScanShare);
    m_options.progress(m_reported);
}

ArrayEnd Scanning::run(const std::function<void(ScanResult&&)>& commit)
{
    const std::stop_callback chain(m_options.stop, [this] { m_stop.request_stop(); });
    std::vector<std::jthread> workers;
    // Whichever way this function exits, the workers must be stopped before they are joined.
    const struct Ending {
        Scanning& scanning;
        ~Ending()
        {
            scanning.m_stop.request_stop();
            const std::scoped_lock lock(scanning.m_mutex);
            scanning.m_changed.notify_all();
        }
    } ending{*this};
    // If one part contains the rest of the file, this thread scans it: starting another one would take longer.
    const auto size = m_source.knownSize();
    const unsigned threads = size && *size <= partBegin(1) ? 0 : m_threads;
    try {
        for (unsigned i = 0; i < threads; ++i) {
            {
                const std::scoped_lock lock(m_mutex);
                ++m_working;
            }
            workers.emplace_back([this] { work(); });
        }
    } catch (const std::system_error&) { // no more threads: the running ones do the work, or else this thread does
        const std::scoped_lock lock(m_mutex);
        --m_working;
    }
    std::optional<ChunkScan> own; // scans what no thread has taken, and parts whose first event was guessed wrong
    std::uint64_t expected = m_begin;
    ArrayEnd end;
    for (std::uint64_t part = 0;; ++part) {
        const std::uint64_t limit = partBegin(part + 1);
        auto scanned = take(part);
        if (m_options.stop.stop_requested()) {
            end.how = ScannedPart::End::Stopped;
            break;
        }
        if (scanned && expected >= limit)
            continue; // an event of an earlier part extends past the end of this part
        if (!scanned || scanned->begin != expected) {
            if (!own)
                own.emplace(m_source, m_shared, m_passOptions);
            scanned = own->scan(expected, scanned ? limit : kNoEvent, m_stop.get_token());
        }
        commit(std::move(scanned->result));
        report(scanned->end);
        expected = scanned->end;
        if (scanned->how != ScannedPart::End::AtLimit) {
            end = {scanned->how, scanned->end, scanned->cutAt, scanned->brokenAt};
            break;
        }
    }
    return end;
}

} // namespace

ArrayEnd scanArray(ByteSource& source, SharedBuild& shared, std::uint64_t begin, const PassOptions& passOptions,
                   const ReadOptions& options, const std::function<void(ScanResult&&)>& commit)
{
    return Scanning(source, shared, begin, passOptions, options).run(commit);
}

} // namespace profiler::formats::json
