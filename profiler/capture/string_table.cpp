#include "profiler/capture/string_table.h"

namespace profiler::capture {

StringTable::StringTable(container::LiveRing& ring) : m_ring(ring)
{
    intern({});
}

StringTable::Interned StringTable::intern(std::string_view text)
{
    text = text.substr(0, container::kMaxStringBytes);
    const std::lock_guard lock(m_mutex);
    if (const auto known = m_ids.find(text); known != m_ids.end())
        return {known->second, known->first};
    const auto id = static_cast<std::uint32_t>(m_texts.size());
    const auto stored = m_ring.putString(id, text);
    const std::string_view kept = stored ? *stored : std::string_view(m_overflow.emplace_back(text));
    m_texts.push_back(kept);
    m_ids.emplace(kept, id);
    return {id, kept};
}

std::string StringTable::text(std::uint32_t id) const
{
    const std::lock_guard lock(m_mutex);
    return id < m_texts.size() ? std::string(m_texts[id]) : std::string();
}

std::vector<container::Payload> StringTable::takeNew()
{
    const std::lock_guard lock(m_mutex);
    std::vector<container::Payload> payloads;
    for (; m_taken < m_texts.size(); ++m_taken) {
        const std::string_view text = m_texts[m_taken];
        const std::size_t room = sizeof(container::StringEntry) + text.size() + sizeof(std::uint32_t);
        if (payloads.empty() || payloads.back().size() + room > container::kMaxPayloadBytes)
            payloads.emplace_back();
        container::appendString(payloads.back(), static_cast<std::uint32_t>(m_taken), text);
    }
    return payloads;
}

} // namespace profiler::capture
