#include "profiler/io/formats/json/launch_check.h"

#include <algorithm>

namespace profiler::formats::json {

namespace {

/// A set of numbers: as bits where they lie close together, as Kineto's correlation ids do; else sorted.
class IdSet {
public:
    explicit IdSet(std::vector<std::int64_t> ids) : m_ids(std::move(ids))
    {
        if (m_ids.empty())
            return;
        const auto [low, high] = std::minmax_element(m_ids.begin(), m_ids.end());
        m_first = *low;
        const std::uint64_t span = static_cast<std::uint64_t>(*high - *low) + 1; // ids are positive
        if (span > 64 * m_ids.size() + kFewBits) {
            std::sort(m_ids.begin(), m_ids.end());
            return;
        }
        m_bits.resize(span);
        for (const std::int64_t id : m_ids)
            m_bits[place(id)] = true;
    }

    [[nodiscard]] bool contains(std::int64_t id) const
    {
        if (!m_bits.empty())
            return id >= m_first && place(id) < m_bits.size() && m_bits[place(id)];
        return std::binary_search(m_ids.begin(), m_ids.end(), id);
    }

private:
    [[nodiscard]] std::size_t place(std::int64_t id) const { return static_cast<std::size_t>(id - m_first); }

    static constexpr std::uint64_t kFewBits = 1 << 16;
    std::vector<std::int64_t> m_ids;
    std::vector<bool> m_bits;
    std::int64_t m_first = 0;
};

} // namespace

void LaunchCheck::add(const Harvest& part)
{
    for (const Harvest::Rows& rows : part.rows)
        for (const RawSlice& slice : rows.slices) {
            if (slice.link <= 0)
                continue;
            if (slice.kind == ActivityKind::CudaRuntime || slice.kind == ActivityKind::CudaDriver) {
                m_calls.push_back(slice.link);
            } else if (isDeviceWork(slice.kind)) {
                m_work.ids.push_back(slice.link);
                m_work.offsets.push_back(slice.source());
            }
        }
}

void LaunchCheck::report(Losses& losses) const
{
    // A file without any runtime call was recorded without them.
    if (m_calls.empty())
        return;
    const IdSet calls(m_calls);
    for (std::size_t i = 0; i < m_work.ids.size(); ++i)
        if (!calls.contains(m_work.ids[i]))
            losses.add(Loss::NoLaunch, m_work.offsets[i]);
}

} // namespace profiler::formats::json
