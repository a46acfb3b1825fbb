#include "profiler/model/block_ref.h"

namespace profiler {

std::optional<std::vector<CounterSample>> BlockSource::samples(std::uint32_t) const
{
    return std::nullopt;
}

Unread BlockSource::unread() const
{
    const std::lock_guard lock{m_unreadMutex};
    Unread all;
    for (const auto& [number, missing] : m_unread) {
        all.slices += missing.slices;
        all.samples += missing.samples;
        all.why = missing.why;
    }
    return all;
}

void BlockSource::note(std::uint32_t number, std::optional<Unread> missing) const
{
    const std::lock_guard lock{m_unreadMutex};
    if (missing)
        m_unread.insert_or_assign(number, std::move(*missing));
    else
        m_unread.erase(number);
}

} // namespace profiler
