#include "profiler/io/formats/json/order_check.h"

#include <algorithm>
#include <string>

namespace profiler::formats::json {

namespace {

/// A set of numbers: as bits where they lie close together, as Kineto's correlation ids do; else sorted.
class IdSet {
public:
    explicit IdSet(std::vector<std::uint32_t> ids) : m_ids(std::move(ids))
    {
        if (m_ids.empty())
            return;
        const auto [low, high] = std::minmax_element(m_ids.begin(), m_ids.end());
        m_first = *low;
        const std::uint64_t span = std::uint64_t{*high} - *low + 1;
        if (span > 64 * m_ids.size() + kFewBits) {
            std::sort(m_ids.begin(), m_ids.end());
            return;
        }
        m_bits.resize(span);
        for (const std::uint32_t id : m_ids)
            m_bits[id - m_first] = true;
    }

    [[nodiscard]] bool contains(std::uint32_t id) const
    {
        if (!m_bits.empty())
            return id >= m_first && id - m_first < m_bits.size() && m_bits[id - m_first];
        return std::binary_search(m_ids.begin(), m_ids.end(), id);
    }

private:
    static constexpr std::uint64_t kFewBits = 1 << 16;
    std::vector<std::uint32_t> m_ids;
    std::vector<bool> m_bits;
    std::uint32_t m_first = 0;
};

} // namespace

void OrderCheck::add(const SharedBuild& shared, const Harvest& part)
{
    for (const Harvest::Rows& rows : part.rows) {
        if (rows.lane >= m_rows.size())
            m_rows.resize(rows.lane + 1);
        const Lane lane = shared.laneKind(rows.lane);
        const bool nests = lane == Lane::Host || lane == Lane::Device;
        for (const RawSlice& slice : rows.slices) {
            addRow(m_rows[rows.lane], slice, nests);
            addLink(slice);
        }
    }
}

void OrderCheck::addRow(Row& row, const RawSlice& slice, bool nests)
{
    if (slice.begin < row.last) {
        ++m_outOfOrder;
        row.ends.clear(); // what is nested is told among slices that are in order
    }
    row.last = slice.begin;
    if (!nests)
        return;
    while (!row.ends.empty() && row.ends.back() <= slice.begin)
        row.ends.pop_back();
    if (!row.ends.empty() && slice.end() > row.ends.back())
        m_losses.add(Loss::Overlapping, slice.source());
    row.ends.push_back(slice.end());
}

void OrderCheck::addLink(const RawSlice& slice)
{
    if (slice.link <= 0)
        return;
    const auto id = static_cast<std::uint32_t>(slice.link);
    if (slice.kind == ActivityKind::CudaRuntime || slice.kind == ActivityKind::CudaDriver) {
        m_calls.push_back(id);
    } else if (isDeviceWork(slice.kind)) {
        m_work.ids.push_back(id);
        m_work.offsets.push_back(slice.source());
    }
}

void OrderCheck::report(SharedBuild& shared, Losses& losses) const
{
    const IdSet calls(m_calls);
    // A file without any runtime call was recorded without them.
    if (!m_calls.empty())
        for (std::size_t i = 0; i < m_work.ids.size(); ++i)
            if (!calls.contains(m_work.ids[i]))
                losses.add(Loss::NoLaunch, m_work.offsets[i]);
    losses.add(m_losses);
    shared.builder.setMetadata("source.out_of_order", std::to_string(m_outOfOrder));
}

} // namespace profiler::formats::json
