#include "profiler/model/bulk_counter.h"

#include <algorithm>
#include <span>
#include <utility>

namespace profiler {
namespace {

bool earlier(const CounterSample& a, const CounterSample& b)
{
    return a.time < b.time;
}

} // namespace

void BulkCounter::add(std::vector<CounterSample>&& samples, SampleMeaning meaning)
{
    m_meaning = meaning;
    for (const CounterSample& sample : samples) {
        m_inOrder = m_inOrder && sample.time >= m_last;
        m_last = std::max(m_last, sample.time);
    }
    if (!samples.empty())
        m_pieces.push_back(std::move(samples));
}

/// The samples in memory, sorted by time.
std::vector<CounterSample> BulkCounter::takeMemory()
{
    std::size_t count = 0;
    for (const auto& piece : m_pieces)
        count += piece.size();
    std::vector<CounterSample> all;
    all.reserve(count);
    for (auto& piece : m_pieces) {
        all.insert(all.end(), piece.begin(), piece.end());
        piece = {};
    }
    m_pieces = {};
    if (!m_inOrder)
        std::stable_sort(all.begin(), all.end(), earlier);
    return all;
}

void BulkCounter::spill(SliceSpill& spill)
{
    if (m_pieces.empty())
        return;
    const std::vector<CounterSample> all = takeMemory();
    Run run;
    for (std::span<const CounterSample> left = all; !left.empty();) {
        const auto some = left.first(std::min(left.size(), kPieceSamples));
        auto kept = spill.keepSamples(some);
        if (!kept) {
            m_pieces.emplace_back(left.begin(), left.end());
            break;
        }
        run.push_back(std::move(*kept));
        left = left.subspan(some.size());
    }
    if (!run.empty())
        m_runs.push_back(std::move(run));
}

/// Iterates over a run in the spill, or over the samples still in memory.
class BulkCounter::Cursor {
public:
    Cursor(SliceSpill& spill, Run run) : m_spill(spill), m_run(std::move(run)) { fill(); }
    Cursor(SliceSpill& spill, std::vector<CounterSample> memory) : m_spill(spill), m_samples(std::move(memory)) {}

    /// The next sample; null at the end.
    [[nodiscard]] const CounterSample* front() const { return m_at < m_samples.size() ? &m_samples[m_at] : nullptr; }
    void pop()
    {
        if (++m_at == m_samples.size())
            fill();
    }
    /// Number of samples that could not be read.
    [[nodiscard]] std::uint64_t lost() const { return m_lost; }

private:
    void fill()
    {
        m_at = 0;
        m_samples = {};
        while (m_samples.empty() && m_next < m_run.size()) {
            const SampleRef& part = m_run[m_next++];
            if (auto samples = m_spill.readSamples(part.number))
                m_samples = std::move(*samples);
            else
                m_lost += part.count;
        }
    }

    SliceSpill& m_spill;
    Run m_run;
    std::vector<CounterSample> m_samples;
    std::size_t m_next = 0, m_at = 0;
    std::uint64_t m_lost = 0;
};

BulkCounter::Sealed BulkCounter::merge(SliceSpill& spill, const std::function<void(const CounterSample&)>& keep)
{
    std::vector<Cursor> cursors;
    for (Run& run : m_runs)
        cursors.emplace_back(spill, std::move(run));
    cursors.emplace_back(spill, takeMemory());
    Sealed sealed;
    std::vector<CounterSample> some;
    bool takes = true; // the spill still accepts samples
    const auto put = [&] {
        auto kept = takes && !some.empty() ? spill.keepSamples(some) : std::nullopt;
        takes = kept.has_value();
        if (kept)
            sealed.spilled.push_back(std::move(*kept));
        else
            std::for_each(some.begin(), some.end(), keep);
        some.clear();
    };
    double sum = 0;
    for (;;) {
        Cursor* next = nullptr; // there are few runs; on equal times, the earlier run wins
        for (Cursor& cursor : cursors) {
            if (cursor.front() && (!next || earlier(*cursor.front(), *next->front())))
                next = &cursor;
        }
        if (!next)
            break;
        CounterSample sample = *next->front();
        next->pop();
        sum = m_meaning == SampleMeaning::Change ? sum + sample.value : sample.value;
        some.push_back({sample.time, sum});
        if (some.size() == kPieceSamples)
            put();
    }
    put();
    for (const Cursor& cursor : cursors)
        sealed.lost += cursor.lost();
    return sealed;
}

BulkCounter::Sealed BulkCounter::seal(SliceSpill* spill, const std::function<void(const CounterSample&)>& keep)
{
    Sealed sealed;
    if (spill && !m_runs.empty() && !(m_inOrder && m_meaning == SampleMeaning::Value)) {
        sealed = merge(*spill, keep);
    } else {
        for (Run& run : m_runs)
            std::move(run.begin(), run.end(), std::back_inserter(sealed.spilled));
        double sum = 0;
        for (const CounterSample& sample : takeMemory()) {
            sum = m_meaning == SampleMeaning::Change ? sum + sample.value : sample.value;
            keep({sample.time, sum});
        }
    }
    m_runs = {};
    return sealed;
}

} // namespace profiler
