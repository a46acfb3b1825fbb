#include "profiler/capture/cross_thread_ranges.h"

#include <algorithm>

namespace profiler::capture {

namespace {
// A thread collects its ends with its next operator; if more are pending, they belong to threads that have ended.
constexpr std::size_t kMaxWaiting = 256;
} // namespace

void CrossThreadRanges::begin(const void* owner, std::uint32_t track, const container::EventRecord& begin)
{
    const std::lock_guard lock(m_mutex);
    m_begun.insert_or_assign(owner, Whole{track, begin});
}

std::optional<CrossThreadRanges::Whole> CrossThreadRanges::end(const void* owner, std::int64_t time)
{
    const std::lock_guard lock(m_mutex);
    if (const auto begun = m_begun.find(owner); begun != m_begun.end()) {
        Whole whole = begun->second;
        m_begun.erase(begun);
        whole.record.type = container::EventType::Slice;
        whole.record.end = time;
        return whole;
    }
    if (m_ended.size() == kMaxWaiting)
        m_ended.erase(m_ended.begin());
    m_ended.push_back({owner, time});
    m_endCount.fetch_add(1, std::memory_order_release);
    return std::nullopt;
}

std::optional<std::int64_t> CrossThreadRanges::takeEnd(const void* owner, std::int64_t begin)
{
    const std::lock_guard lock(m_mutex);
    const auto ended = std::find_if(m_ended.begin(), m_ended.end(),
                                    [&](const End& end) { return end.owner == owner && end.time >= begin; });
    if (ended == m_ended.end())
        return std::nullopt;
    const std::int64_t time = ended->time;
    m_ended.erase(ended);
    return time;
}

} // namespace profiler::capture
