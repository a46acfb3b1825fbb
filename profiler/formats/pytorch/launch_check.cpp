#include "profiler/formats/pytorch/launch_check.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace profiler::formats::json {

namespace {

/// Calls visit(id) for every id of the lists.
template <class Lists, class Visit>
void forEachId(const Lists& lists, Visit&& visit)
{
    for (const auto* list : lists)
        for (const std::int64_t id : list->ids)
            visit(id);
}

/// A set of numbers: a bitmap if they are dense, as Kineto's correlation ids are, otherwise a sorted list.
class IdSet {
public:
    /// @param repeated  keep only ids that occur more than once
    template <class Lists>
    IdSet(const Lists& lists, bool repeated)
    {
        std::size_t count = 0;
        std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 0;
        forEachId(lists, [&](std::int64_t id) {
            ++count;
            low = std::min(low, id);
            high = std::max(high, id);
        });
        if (count == 0)
            return;
        m_first = low;
        const std::uint64_t span = static_cast<std::uint64_t>(high - low) + 1; // ids are positive
        if (span > 64 * count + kFewBits) {
            keepSorted(lists, count, repeated);
            return;
        }
        m_bits.resize(span);
        std::vector<bool> seen(repeated ? span : 0);
        forEachId(lists, [&](std::int64_t id) {
            if (repeated && !seen[place(id)]) {
                seen[place(id)] = true;
                return;
            }
            m_bits[place(id)] = true;
            m_empty = false;
        });
    }

    [[nodiscard]] bool empty() const { return m_empty; }
    [[nodiscard]] bool contains(std::int64_t id) const
    {
        if (!m_bits.empty())
            return id >= m_first && place(id) < m_bits.size() && m_bits[place(id)];
        return std::binary_search(m_ids.begin(), m_ids.end(), id);
    }

private:
    template <class Lists>
    void keepSorted(const Lists& lists, std::size_t count, bool repeated)
    {
        m_ids.reserve(count);
        forEachId(lists, [&](std::int64_t id) { m_ids.push_back(id); });
        std::sort(m_ids.begin(), m_ids.end());
        if (repeated) {
            std::vector<std::int64_t> twice;
            for (std::size_t i = 1; i < m_ids.size(); ++i)
                if (m_ids[i] == m_ids[i - 1])
                    twice.push_back(m_ids[i]);
            m_ids = std::move(twice);
        }
        m_empty = m_ids.empty();
    }
    [[nodiscard]] std::size_t place(std::int64_t id) const { return static_cast<std::size_t>(id - m_first); }

    static constexpr std::uint64_t kFewBits = 1 << 16;
    std::vector<std::int64_t> m_ids;
    std::vector<bool> m_bits;
    std::int64_t m_first = 0;
    bool m_empty = true;
};

} // namespace

void LaunchCheck::add(const ScanResult& part)
{
    for (const ScanResult::Rows& rows : part.rows) {
        std::array<Numbered, kInterfaces>* calls = nullptr;
        for (const RawSlice& slice : rows.slices) {
            if (slice.link <= 0)
                continue;
            const bool runtime = slice.kind == ActivityKind::CudaRuntime;
            Numbered* numbered = nullptr;
            if (runtime || slice.kind == ActivityKind::CudaDriver) {
                calls = calls ? calls : &m_calls[rows.rowId];
                numbered = &(*calls)[runtime ? kRuntime : kDriver];
            } else if (isDeviceWork(slice.kind)) {
                numbered = &m_work;
            }
            if (numbered) {
                numbered->ids.push_back(slice.link);
                numbered->offsets.push_back(slice.source());
            }
        }
    }
}

void LaunchCheck::report(const std::vector<RowInfo>& rows, Losses& losses) const
{
    // If the file has no runtime call at all, calls were not recorded.
    if (m_calls.empty())
        return;
    reportMissing(losses);
    std::map<std::tuple<std::int64_t, bool, int>, std::vector<const Numbered*>> processes;
    for (const auto& [row, calls] : m_calls)
        for (int of = 0; of < kInterfaces; ++of) {
            const RowKey& key = rows[row].key;
            processes[{key.process, key.processIsText, of}].push_back(&calls[static_cast<std::size_t>(of)]);
        }
    for (const auto& [process, calls] : processes)
        reportShared(calls, losses);
}

void LaunchCheck::reportMissing(Losses& losses) const
{
    std::vector<const Numbered*> all;
    for (const auto& [row, calls] : m_calls)
        for (const Numbered& numbered : calls)
            all.push_back(&numbered);
    const IdSet calls(all, false);
    for (std::size_t i = 0; i < m_work.ids.size(); ++i)
        if (!calls.contains(m_work.ids[i]))
            losses.add(Loss::NoLaunch, m_work.offsets[i]);
}

void LaunchCheck::reportShared(const std::vector<const Numbered*>& calls, Losses& losses)
{
    const IdSet repeated(calls, true);
    if (repeated.empty())
        return;
    for (const Numbered* numbered : calls)
        for (std::size_t i = 0; i < numbered->ids.size(); ++i)
            if (repeated.contains(numbered->ids[i]))
                losses.add(Loss::SharedCorrelation, numbered->offsets[i]);
}

} // namespace profiler::formats::json
