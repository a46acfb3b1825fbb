#include "profiler/model/pools.h"

#include <algorithm>

namespace profiler {
namespace {

constexpr std::size_t kArenaBytes = 16 << 10;
/// Byte counts from any file are clamped to this (8 PiB).
constexpr std::int64_t kMostBytes = std::int64_t{1} << 53;

} // namespace

StringPool::StringPool()
{
    intern({});
}

StringId StringPool::intern(std::string_view text)
{
    if (const auto found = m_ids.find(text); found != m_ids.end())
        return found->second;
    if (!m_arena || m_arenaSize - m_arenaUsed < text.size()) {
        m_arenaSize = std::max(kArenaBytes, text.size());
        m_arena = std::make_shared<char[]>(m_arenaSize);
        m_arenaUsed = 0;
        m_textBytes += m_arenaSize;
    }
    char* const copy = m_arena.get() + m_arenaUsed;
    std::copy(text.begin(), text.end(), copy);
    m_arenaUsed += text.size();
    const StringId id{static_cast<std::uint32_t>(m_strings.size())};
    const std::string_view kept{copy, text.size()};
    m_strings.push_back({kept, m_arena});
    m_ids.emplace(kept, id);
    return id;
}

ArgsPool::ArgsPool()
{
    m_args.push_back({});
}

std::uint32_t ArgsPool::intern(const SliceArgs& args)
{
    if (args.bytes < 0 || args.bytes > kMostBytes) {
        SliceArgs sound = args;
        sound.bytes = std::clamp<std::int64_t>(args.bytes, 0, kMostBytes);
        return intern(sound);
    }
    SliceArgs rest = args;
    rest.value = 0;
    if (rest == SliceArgs{}) {
        if (args.value == 0)
            return 0;
        if (args.value > 0 && args.value < std::int64_t{kInline})
            return kInline | static_cast<std::uint32_t>(args.value);
    }
    if (args.launch.value != 0) {
        // Nearly all arguments of kernels have nothing but their launch, so no hash is needed to find them.
        if (args.launch.value >= m_firstOfLaunch.size())
            m_firstOfLaunch.resize(args.launch.value + std::size_t{1});
        std::uint32_t& first = m_firstOfLaunch[args.launch.value];
        if (first == 0)
            return first = added(args);
        if (m_args[first] == args)
            return first;
    }
    const auto [found, isNew] = m_ids.try_emplace(args, static_cast<std::uint32_t>(m_args.size()));
    return isNew ? added(args) : found->second;
}

std::uint32_t ArgsPool::added(const SliceArgs& args)
{
    m_args.push_back(args);
    return static_cast<std::uint32_t>(m_args.size() - 1);
}

SliceArgs ArgsPool::resolve(const ArgsLog::View& view, std::uint32_t id)
{
    if ((id & kInline) == 0)
        return view[id];
    SliceArgs args;
    args.value = id & ~kInline;
    return args;
}

std::size_t ArgsPool::Hash::operator()(const SliceArgs& args) const noexcept
{
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15; // 2^64 / golden ratio
    std::uint64_t hash = static_cast<std::uint64_t>(args.bytes) * kMix;
    hash = (hash ^ hash >> 32 ^ static_cast<std::uint64_t>(args.value)) * kMix;
    hash ^= static_cast<std::uint64_t>(args.copy) | static_cast<std::uint64_t>(args.src) << 8 |
            static_cast<std::uint64_t>(args.dst) << 16;
    hash = (hash ^ hash >> 32) * kMix;
    hash ^= std::uint64_t{args.shapes.value} << 32 | args.types.value;
    hash = (hash ^ hash >> 32) * kMix;
    hash ^= std::uint64_t{args.device ? args.device->value + 1 : 0} << 32 | (args.stream ? args.stream->value + 1 : 0);
    hash = (hash ^ hash >> 32 ^ args.launch.value) * kMix;
    return static_cast<std::size_t>(hash ^ hash >> 32);
}

LaunchId LaunchPool::intern(const LaunchConfig& launch)
{
    if (launch == LaunchConfig{})
        return {};
    if (m_launches.size() * 2 >= m_slots.size())
        grow();
    const std::uint32_t hash = hashOf(launch);
    Slot& slot = m_slots[place(hash, launch)];
    if (slot.id == 0) {
        m_launches.push_back(launch);
        slot = {hash, static_cast<std::uint32_t>(m_launches.size())};
    }
    return {slot.id};
}

std::size_t LaunchPool::place(std::uint32_t hash, const LaunchConfig& launch) const
{
    const std::size_t mask = m_slots.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
        const Slot& slot = m_slots[i];
        if (slot.id == 0 || (slot.hash == hash && m_launches[slot.id - 1] == launch))
            return i;
    }
}

void LaunchPool::grow()
{
    std::vector<Slot> slots(std::max<std::size_t>(16, m_slots.size() * 2));
    const std::size_t mask = slots.size() - 1;
    for (const Slot& slot : m_slots) {
        if (slot.id == 0)
            continue;
        std::size_t i = slot.hash & mask;
        while (slots[i].id != 0)
            i = (i + 1) & mask;
        slots[i] = slot;
    }
    m_slots = std::move(slots);
}

LaunchConfig LaunchPool::resolve(const LaunchLog::View& view, LaunchId id)
{
    return id.value > 0 && id.value <= view.size() ? view[id.value - 1] : LaunchConfig{};
}

std::uint32_t LaunchPool::hashOf(const LaunchConfig& launch)
{
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15; // 2^64 / golden ratio
    std::uint64_t hash = 0;
    const auto add = [&](std::uint64_t value) { hash = (hash ^ hash >> 32 ^ value) * kMix; };
    for (std::size_t i = 0; i < launch.grid.size(); ++i)
        add(std::uint64_t{launch.grid[i]} << 32 | launch.block[i]);
    for (const auto& figure : {launch.registers, launch.sharedMemory, launch.dynamicSharedMemory, launch.localMemory})
        add(figure ? std::uint64_t{*figure} + 1 : 0);
    return static_cast<std::uint32_t>(hash >> 32);
}

PoolRemap mergePools(const LocalPools& pools, StringPool& strings, LaunchPool& launches, ArgsPool& args)
{
    PoolRemap remap;
    remap.names.reserve(pools.strings.size());
    for (std::uint32_t i = 0; i < pools.strings.size(); ++i)
        remap.names.push_back(strings.intern(pools.strings.text(StringId{i})).value);
    const auto renamed = [&](StringId id) {
        return StringId{id.value < remap.names.size() ? remap.names[id.value] : 0};
    };
    remap.args.reserve(pools.args.size());
    for (std::size_t i = 0; i < pools.args.size(); ++i) {
        SliceArgs entry = pools.args[i];
        entry.shapes = renamed(entry.shapes);
        entry.types = renamed(entry.types);
        const std::uint32_t launch = entry.launch.value;
        entry.launch =
            launch > 0 && launch <= pools.launches.size() ? launches.intern(pools.launches[launch - 1]) : LaunchId{};
        remap.args.push_back(args.intern(entry));
    }
    return remap;
}

} // namespace profiler
