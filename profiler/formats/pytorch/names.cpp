#include "profiler/formats/pytorch/names.h"

#include "profiler/formats/pytorch/texts.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <xxhash.h>

namespace profiler::formats::json {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
constexpr std::string_view kStepMark = "ProfilerStep#";

NameUse useOf(std::string_view name)
{
    if (name.starts_with(kStepMark))
        return NameUse::Step;
    if (name == "[memory]")
        return NameUse::Memory;
    if (name == "Stream Wait Event")
        return NameUse::StreamWait;
    return name.starts_with("Iteration Start:") || name == "Record Window End" ? NameUse::WindowMark : NameUse::Plain;
}

} // namespace

Names::Names(SharedBuild& shared) : m_shared(shared), m_slots(1024) {}

const Name& Names::find(std::string_view raw, bool odd)
{
    const std::uint64_t hash = XXH3_64bits(raw.data(), raw.size());
    const std::size_t mask = m_slots.size() - 1;
    for (std::size_t i = hash & mask; m_slots[i] != 0; i = (i + 1) & mask) {
        const Name& name = m_names[m_slots[i] - 1];
        if (name.hash == hash && name.length == raw.size() && std::memcmp(name.text, raw.data(), raw.size()) == 0)
            return name;
    }
    return add(hash, raw, odd);
}

const char* Names::keep(std::string_view raw)
{
    if (m_blocks.empty() || m_room < raw.size()) {
        m_room = std::max(kBlockBytes, raw.size());
        m_blocks.push_back(std::make_unique_for_overwrite<char[]>(m_room));
        if (raw.size() > kBlockBytes) {
            std::memcpy(m_blocks.back().get(), raw.data(), raw.size());
            m_room = 0;
            return m_blocks.back().get();
        }
    }
    char* place = m_blocks.back().get() + (kBlockBytes - m_room);
    std::memcpy(place, raw.data(), raw.size());
    m_room -= raw.size();
    return place;
}

const Name& Names::add(std::uint64_t hash, std::string_view raw, bool odd)
{
    if (2 * (m_names.size() + 1) > m_slots.size())
        grow();
    const std::string text = odd ? unescaped(raw) : std::string(raw);
    Name name;
    name.hash = hash;
    name.text = keep(raw);
    name.length = static_cast<std::uint32_t>(raw.size());
    name.use = useOf(text);
    name.copy = copyFromName(text);
    if (name.use == NameUse::Step)
        std::from_chars(text.data() + kStepMark.size(), text.data() + text.size(), name.number);
    name.id = m_shared.internName(text);
    m_names.push_back(name);
    const std::size_t mask = m_slots.size() - 1;
    std::size_t i = hash & mask;
    while (m_slots[i] != 0)
        i = (i + 1) & mask;
    m_slots[i] = static_cast<std::uint32_t>(m_names.size());
    return m_names.back();
}

void Names::grow()
{
    m_slots.assign(m_slots.size() * 2, 0);
    const std::size_t mask = m_slots.size() - 1;
    for (std::size_t n = 0; n < m_names.size(); ++n) {
        std::size_t i = m_names[n].hash & mask;
        while (m_slots[i] != 0)
            i = (i + 1) & mask;
        m_slots[i] = static_cast<std::uint32_t>(n + 1);
    }
}

} // namespace profiler::formats::json
