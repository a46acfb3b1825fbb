#include "profiler/capture/run_tables.h"

#include "profiler/os/process.h"

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

std::uint32_t TrackTable::add(container::TrackEntry entry, TrackKind kind)
{
    entry.track = static_cast<std::uint32_t>(m_tracks.size());
    entry.kind = static_cast<std::uint32_t>(kind);
    entry.pid = os::processId();
    m_tracks.push_back(entry);
    m_hasBuffer.push_back(false);
    m_changed.push_back(entry.track);
    m_ring.putTrack(entry);
    return entry.track;
}

std::uint32_t TrackTable::bufferTrack(std::uint32_t name, TrackKind kind, std::int64_t tid)
{
    const std::lock_guard lock(m_mutex);
    const auto known = tid != 0 ? m_byThread.find(tid) : m_byThread.end();
    if (known != m_byThread.end() && !m_hasBuffer[known->second]) {
        container::TrackEntry& entry = m_tracks[known->second];
        entry.name = name;
        entry.kind = static_cast<std::uint32_t>(kind);
        m_hasBuffer[entry.track] = true;
        m_changed.push_back(entry.track);
        m_ring.putTrack(entry);
        return entry.track;
    }
    container::TrackEntry entry{};
    entry.name = name;
    entry.tid = tid;
    const std::uint32_t track = add(entry, kind);
    m_hasBuffer[track] = true;
    if (tid != 0)
        m_byThread[tid] = track;
    return track;
}

void TrackTable::joinThread(std::uint32_t track, std::int64_t tid)
{
    const std::lock_guard lock(m_mutex);
    m_byThread[tid] = track;
}

void TrackTable::rename(std::uint32_t track, std::uint32_t name, TrackKind kind)
{
    const std::lock_guard lock(m_mutex);
    container::TrackEntry& entry = m_tracks[track];
    entry.name = name;
    entry.kind = static_cast<std::uint32_t>(kind);
    m_changed.push_back(track);
    m_ring.putTrack(entry);
}

std::optional<std::uint32_t> TrackTable::findThread(std::int64_t tid)
{
    const std::lock_guard lock(m_mutex);
    const auto known = m_byThread.find(tid);
    return known != m_byThread.end() ? std::optional(known->second) : std::nullopt;
}

std::optional<std::uint32_t> TrackTable::findStream(DeviceId device, StreamId stream)
{
    const std::lock_guard lock(m_mutex);
    const auto known = m_byStream.find({device, stream});
    return known != m_byStream.end() ? std::optional(known->second) : std::nullopt;
}

std::uint32_t TrackTable::threadTrack(std::int64_t tid, std::uint32_t name)
{
    const std::lock_guard lock(m_mutex);
    const auto [at, isNew] = m_byThread.try_emplace(tid, 0);
    if (isNew) {
        container::TrackEntry entry{};
        entry.name = name;
        entry.tid = tid;
        at->second = add(entry, TrackKind::Thread);
    }
    return at->second;
}

std::uint32_t TrackTable::streamTrack(DeviceId device, StreamId stream, std::uint32_t name)
{
    const std::lock_guard lock(m_mutex);
    const auto [at, isNew] = m_byStream.try_emplace({device, stream}, 0);
    if (isNew) {
        container::TrackEntry entry{};
        entry.name = name;
        entry.device = device.value;
        entry.stream = stream.value;
        at->second = add(entry, TrackKind::Stream);
    }
    return at->second;
}

std::uint32_t TrackTable::counterTrack(std::uint32_t name, std::uint32_t unit)
{
    const std::lock_guard lock(m_mutex);
    const auto [at, isNew] = m_byCounter.try_emplace(name, 0);
    if (isNew) {
        container::TrackEntry entry{};
        entry.name = name;
        entry.unit = unit;
        at->second = add(entry, TrackKind::Counter);
    }
    return at->second;
}

std::uint32_t TrackTable::namedTrack(std::uint32_t name, TrackKind kind)
{
    const std::lock_guard lock(m_mutex);
    const auto [at, isNew] = m_byName.try_emplace({name, kind}, 0);
    if (isNew) {
        container::TrackEntry entry{};
        entry.name = name;
        at->second = add(entry, kind);
    }
    return at->second;
}

std::vector<container::Payload> TrackTable::takeNew()
{
    const std::lock_guard lock(m_mutex);
    std::vector<container::Payload> payloads;
    if (!m_changed.empty())
        payloads.emplace_back();
    for (const std::uint32_t track : m_changed)
        container::appendTrack(payloads.back(), m_tracks[track]);
    m_changed.clear();
    return payloads;
}

} // namespace profiler::capture
