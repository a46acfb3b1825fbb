#include "profiler/formats/container/ring_file_live.h"

#include "profiler/formats/container/file_error.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace profiler::wire {

namespace {

// Strings arrive in small pieces; disk space for them is allocated 1 MiB at a time, with one system call.
constexpr std::uint64_t kStringStep = 1 << 20;

void fillHeader(RingHeader& header, const RingLayout& layout, std::uint64_t runId)
{
    std::memcpy(header.magic, kRingMagic, sizeof kRingMagic);
    header.version = kRingVersion;
    header.headerBytes = sizeof(RingHeader);
    header.pid = getpid();
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
    temporary += "." + std::to_string(getpid()) + "." + std::to_string(runId);
    if (!ring->m_file.open(temporary, O_RDWR | O_CREAT | O_EXCL))
        return tl::unexpected(
            fileError<"ring.make", "cannot create the ring file of the recording: {why}">(errno, path));
    ring->m_temporary = temporary;
    const int file = ring->m_file.number(temporary);
    if (ftruncate(file, static_cast<off_t>(layout.fileBytes())) != 0)
        return tl::unexpected(
            fileError<"ring.make", "cannot create the ring file of the recording: {why}">(errno, path));
    // Also allocates the first thread buffer, because a recording without room for the main thread's events must not
    // start.
    if (auto taken = ring->takeSpace(0, layout.laneAt(1)); !taken)
        return tl::unexpected(taken.error());
    void* memory = mmap(nullptr, layout.fileBytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        return tl::unexpected(
            fileError<"ring.map", "cannot map the ring file of the recording into memory: {why}">(errno, path));
    ring->m_memory = static_cast<std::byte*>(memory);
    fillHeader(ring->header(), layout, runId);
    return ring;
}

LiveRing::~LiveRing()
{
    if (m_memory)
        munmap(m_memory, m_layout.fileBytes());
    if (!m_temporary.empty())
        unlink(m_temporary.c_str());
}

Result<void> LiveRing::publish()
{
    if (rename(m_temporary.c_str(), m_path.c_str()) != 0)
        return tl::unexpected(
            fileError<"ring.name", "cannot rename the ring file of the recording: {why}">(errno, m_path));
    m_temporary.clear();
    return {};
}

void LiveRing::remove()
{
    unlink(m_path.c_str());
}

Result<void> LiveRing::takeSpace(std::uint64_t offset, std::uint64_t bytes)
{
    const int file = m_file.number(m_temporary.empty() ? m_path : m_temporary);
    if (file < 0)
        return tl::unexpected(
            fileError<"ring.no_room", "no room for the ring file of the recording: {why}">(errno, m_path));
    int failed = 0;
    do
        failed = posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    while (failed == EINTR);
    if (failed)
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
