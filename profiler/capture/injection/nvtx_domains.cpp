#include "profiler/capture/injection/nvtx_domains.h"

#include <algorithm>

namespace profiler::capture::injection {

std::uint32_t RegisteredString::newId(ThreadBuffer& buffer, std::uint64_t generation)
{
    const std::uint32_t id = buffer.intern(text);
    m_idOfGeneration.store(generation << 32 | id, std::memory_order_relaxed);
    return id;
}

NvtxDomain& NvtxRegistry::domain(std::string_view name)
{
    const std::lock_guard lock(m_mutex);
    const auto known =
        std::find_if(m_domains.begin(), m_domains.end(), [&](const NvtxDomain& domain) { return domain.name == name; });
    if (known != m_domains.end())
        return *known;
    m_domains.push_back({std::string(name), static_cast<std::uint32_t>(m_domains.size()) + 1});
    return m_domains.back();
}

RegisteredString& NvtxRegistry::string(std::string_view text)
{
    const std::lock_guard lock(m_mutex);
    if (const auto known = m_byText.find(text); known != m_byText.end())
        return *known->second;
    RegisteredString& made = m_strings.emplace_back(std::string(text));
    m_byText.emplace(text, &made);
    return made;
}

void NvtxRegistry::nameCategory(const NvtxDomain& domain, std::uint32_t category, std::string_view name)
{
    const std::lock_guard lock(m_mutex);
    m_categories[{domain.index, category}] = name;
}

std::string NvtxRegistry::category(const NvtxDomain& domain, std::uint32_t category)
{
    const std::lock_guard lock(m_mutex);
    const auto named = m_categories.find({domain.index, category});
    return named != m_categories.end() ? named->second : std::to_string(category);
}

nvtxRangeId_t NvtxRegistry::start(StartedRange range)
{
    const std::lock_guard lock(m_mutex);
    m_started.emplace(++m_lastId, std::move(range));
    return m_lastId;
}

std::optional<StartedRange> NvtxRegistry::end(nvtxRangeId_t id)
{
    const std::lock_guard lock(m_mutex);
    const auto started = m_started.find(id);
    if (started == m_started.end())
        return std::nullopt;
    StartedRange range = std::move(started->second);
    m_started.erase(started);
    return range;
}

NvtxRegistry& nvtxRegistry()
{
    static NvtxRegistry* s_registry = new NvtxRegistry; // never destroyed: outlives every thread
    return *s_registry;
}

} // namespace profiler::capture::injection
