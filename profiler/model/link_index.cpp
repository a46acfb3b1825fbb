#include "profiler/model/link_index.h"

#include "profiler/model/radix_sort.h"
#include "profiler/model/trace.h"

#include <algorithm>

namespace profiler {

std::optional<LinkRole> linkRole(const RawSlice& slice)
{
    if (slice.kind == ActivityKind::CpuOp) {
        if (slice.link < 0)
            return std::nullopt;
        return (slice.flags & slice_flag::kBackward) != 0 ? LinkRole::BackwardOp : LinkRole::ForwardOp;
    }
    if (slice.link == 0)
        return std::nullopt;
    if (isDeviceWork(slice.kind))
        return LinkRole::LaunchedWork;
    if (slice.kind == ActivityKind::CudaRuntime || slice.kind == ActivityKind::CudaDriver)
        return LinkRole::LaunchCall;
    return std::nullopt;
}

LinkIndex::LinkIndex(std::span<const RawSlice> slices)
{
    std::array<std::vector<SortKey>, kLinkRoles> found;
    for (std::uint32_t i = 0; i < slices.size(); ++i) {
        if (const auto role = linkRole(slices[i]))
            found[static_cast<std::size_t>(*role)].push_back({slices[i].link, i});
    }
    for (std::size_t role = 0; role < found.size(); ++role) {
        auto& keys = found[role];
        if (keys.empty())
            continue;
        radixSort(keys);
        m_ranges[role] = {keys.front().key, keys.back().key};
        m_positions[role].reserve(keys.size());
        for (const SortKey& key : keys)
            m_positions[role].push_back(static_cast<std::uint16_t>(key.place));
    }
}

std::span<const std::uint16_t> LinkIndex::find(const SliceColumns& columns, LinkRole role, std::int64_t link) const
{
    if (!m_ranges[static_cast<std::size_t>(role)].contains(link))
        return {};
    const auto& positions = m_positions[static_cast<std::size_t>(role)];
    const auto first = std::lower_bound(positions.begin(), positions.end(), link,
                                        [&](std::uint16_t p, std::int64_t wanted) { return columns.link(p) < wanted; });
    const auto last = std::upper_bound(first, positions.end(), link,
                                       [&](std::int64_t wanted, std::uint16_t p) { return wanted < columns.link(p); });
    return {first, last};
}

std::size_t LinkIndex::bytes() const
{
    std::size_t bytes = 0;
    for (const auto& positions : m_positions)
        bytes += positions.capacity() * sizeof(std::uint16_t);
    return bytes;
}

} // namespace profiler
