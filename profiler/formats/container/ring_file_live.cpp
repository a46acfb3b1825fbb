#include "profiler/formats/container/ring_file_live.h"

#include "profiler/formats/container/file_error.h"
#include "profiler/os/files.h"
#include "profiler/os/process.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

namespace profiler::wire {

namespace {

// Strings arrive in small pieces; disk space for them is allocated 1 MiB at a time, with one system call.
constexpr std::uint64_t kStringStep = 1 << 20;

void fillHeader(RingHeader& header, const RingLayout& layout, std::uint64_t runId)
{
    std::memcpy(header.magic, kRingMagic, sizeof kRingMagic);
    header.version = kRingVersion;
    header.headerBytes = sizeof(RingHeader);
    header.pid = os::processId();
    header.runId = runId;
    header.maxLanes = layout.maxLanes;
    header.laneEvents = layout.laneEvents;
    header.maxTracks = layout.maxTracks;
    header.stringCapacity = layout.stringCapacity;
}

} // namespace

Result<std::unique_ptr<LiveRing>> LiveRing::create(const std::filesystem::path& path, const RingLayout& layout,
                                                   std::uint64_t runId)
{
    std::unique_ptr<LiveRing> ring(new LiveRing);
    ring->m_path = path;
    ring->m_layout = layout;
    auto temporary = path;
    temporary += "." + std::to_string(os::processId()) + "." + std::to_string(runId);
    if (!ring->m_file.create(temporary, os::OwnFile::Use::Map))
        return tl::unexpected(
            fileError<"ring.make", "cannot create the ring file of the recording: {why}">(errno, path));
    ring->m_temporary = temporary;
    const int file = ring->m_file.number(temporary);
    if (const int error = os::resize(file, layout.fileBytes()))
        return tl::unexpected(
            fileError<"ring.make", "cannot create the ring file of the recording: {why}">(error, path));
    // Also allocates the first thread buffer, because a recording without room for the main thread's events must not
    // start.
    if (auto taken = ring->takeSpace(0, layout.laneAt(1)); !taken)
        return tl::unexpected(taken.error());
    auto mapping = os::SharedMapping::map(file, layout.fileBytes());
    if (!mapping)
        return tl::unexpected(
            fileError<"ring.map", "cannot map the ring file of the recording into memory: {why}">(errno, path));
    ring->m_mapping.emplace(std::move(*mapping));
    ring->m_memory = ring->m_mapping->data();
    fillHeader(ring->header(), layout, runId);
    return ring;
}

LiveRing::~LiveRing()
{
    std::error_code ignored;
    if (!m_temporary.empty())
        std::filesystem::remove(m_temporary, ignored);
}

Result<void> LiveRing::publish()
{
    std::error_code failed;
    std::filesystem::rename(m_temporary, m_path, failed);
    if (failed)
        return tl::unexpected(
            fileError<"ring.name", "cannot rename the ring file of the recording: {why}">(failed.value(), m_path));
    m_temporary.clear();
    return {};
}

void LiveRing::remove()
{
    std::error_code ignored;
    std::filesystem::remove(m_path, ignored);
}

Result<void> LiveRing::takeSpace(std::uint64_t offset, std::uint64_t bytes)
{
    const int file = m_file.number(m_temporary.empty() ? m_path : m_temporary);
    if (file < 0)
        return tl::unexpected(
            fileError<"ring.no_room", "no room for the ring file of the recording: {why}">(errno, m_path));
    if (const int failed = os::reserve(file, offset, bytes))
        return tl::unexpected(
            fileError<"ring.no_room", "no room for the ring file of the recording: {why}">(failed, m_path));
    return {};
}

RingHeader& LiveRing::header() const
{
    return *reinterpret_cast<RingHeader*>(m_memory);
}

Result<LiveRing::Lane> LiveRing::addLane(std::uint32_t track)
{
    const std::lock_guard lock(m_growing);
    std::atomic_ref made(header().lanes);
    const std::uint32_t index = made.load(std::memory_order_relaxed);
    if (index >= m_layout.maxLanes)
        return fail<"ring.threads", "only {threads} threads can be recorded, but the program has more">(
            Error::Code::Unavailable, m_path.string(), "events of the other threads are counted as lost",
            {{"threads", index}});
    if (auto taken = takeSpace(m_layout.laneAt(index), m_layout.laneBytes()); !taken)
        return tl::unexpected(taken.error());
    std::byte* at = m_memory + m_layout.laneAt(index);
    Lane lane{reinterpret_cast<LaneHeader*>(at), reinterpret_cast<EventRecord*>(at + sizeof(LaneHeader))};
    lane.header->track = track;
    made.store(index + 1, std::memory_order_release);
    return lane;
}

void LiveRing::putTrack(const TrackEntry& entry)
{
    const std::lock_guard lock(m_growing);
    std::atomic_ref made(header().tracks);
    const std::uint32_t place = made.load(std::memory_order_relaxed);
    if (place >= m_layout.maxTracks)
        return;
    std::memcpy(m_memory + m_layout.tracksAt() + std::uint64_t{place} * sizeof(TrackEntry), &entry, sizeof entry);
    made.store(place + 1, std::memory_order_release);
}

std::optional<std::string_view> LiveRing::putString(std::uint32_t id, std::string_view text)
{
    const StringEntry entry{id, static_cast<std::uint32_t>(text.size())};
    std::atomic_ref used(header().stringBytes);
    const std::uint64_t at = used.load(std::memory_order_relaxed);
    const std::uint64_t end = at + sizeof entry + (text.size() + 3) / 4 * 4;
    if (end > m_layout.stringCapacity)
        return std::nullopt;
    if (end > m_stringsTaken) {
        const std::uint64_t more = std::min(m_layout.stringCapacity, end + kStringStep) - m_stringsTaken;
        const std::lock_guard lock(m_growing);
        if (!takeSpace(m_layout.stringsAt() + m_stringsTaken, more))
            return std::nullopt;
        m_stringsTaken += more;
    }
    std::byte* to = m_memory + m_layout.stringsAt() + at;
    std::memcpy(to, &entry, sizeof entry);
    if (!text.empty())
        std::memcpy(to + sizeof entry, text.data(), text.size());
    used.store(end, std::memory_order_release);
    return std::string_view(reinterpret_cast<const char*>(to + sizeof entry), text.size());
}

void LiveRing::countLoss(std::uint64_t dropped, std::uint64_t unmatched)
{
    std::atomic_ref(header().dropped).fetch_add(dropped, std::memory_order_relaxed);
    std::atomic_ref(header().unmatched).fetch_add(unmatched, std::memory_order_relaxed);
}

} // namespace profiler::wire
