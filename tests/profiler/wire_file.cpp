#include "tests/profiler/wire_file.h"

#include "profiler/model/trace.h"

#include <bit>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace wire_test {

using namespace profiler;
using namespace profiler::container;

WireFile::WireFile(std::int64_t pid)
{
    const FileHeader header = makeFileHeader(pid, kRunId);
    const auto bytes = std::as_bytes(std::span{&header, 1});
    m_bytes.assign(bytes.begin(), bytes.end());
    m_boundaries.push_back(m_bytes.size());
}

WireFile& WireFile::frame(FrameType type, std::span<const std::byte> payload)
{
    appendFrame(m_bytes, type, m_sequence++, payload);
    m_boundaries.push_back(m_bytes.size());
    return *this;
}

WireFile& WireFile::strings(std::initializer_list<std::pair<std::uint32_t, std::string_view>> entries)
{
    Payload payload;
    for (const auto& [id, text] : entries)
        appendString(payload, id, text);
    return frame(FrameType::Strings, payload);
}

WireFile& WireFile::track(std::uint32_t number, TrackEntry entry)
{
    entry.track = number;
    Payload payload;
    appendTrack(payload, entry);
    return frame(FrameType::Tracks, payload);
}

WireFile& WireFile::events(std::uint32_t track, std::uint64_t firstIndex, std::span<const EventRecord> records)
{
    Payload payload;
    appendEvents(payload, {track, 0, firstIndex}, records);
    return frame(FrameType::Events, payload);
}

WireFile& WireFile::jumpTo(std::uint32_t sequence)
{
    m_sequence = sequence;
    return *this;
}

EventRecord record(EventType type, ActivityKind kind, std::uint32_t name, std::int64_t begin, std::int64_t end,
                   std::int64_t link)
{
    EventRecord made{};
    made.type = type;
    made.kind = kind;
    made.name = name;
    made.begin = begin;
    made.end = end;
    made.link = link;
    return made;
}

namespace {

EventRecord extra(CopyKind copy, MemoryKind src, MemoryKind dst, std::uint64_t bytes)
{
    ExtraRecord made{};
    made.type = EventType::Extra;
    made.copy = copy;
    made.src = src;
    made.dst = dst;
    made.bytes = bytes;
    return std::bit_cast<EventRecord>(made);
}

void addTracks(WireFile& file)
{
    const auto entry = [](TrackKind kind, std::uint32_t name, std::uint32_t unit = 0) {
        TrackEntry made{};
        made.kind = static_cast<std::uint32_t>(kind);
        made.name = name;
        made.unit = unit;
        return made;
    };
    file.track(0, entry(TrackKind::MainThread, 1));
    file.track(1, entry(TrackKind::LoaderWorker, 2));
    auto stream = entry(TrackKind::Stream, 3);
    stream.stream = 7;
    file.track(2, stream);
    file.track(3, entry(TrackKind::Counter, 4, 5));
}

} // namespace

WireFile everything(std::int64_t pid)
{
    WireFile file{pid};
    Payload payload;
    appendClock(payload, {1000, 5000, 1});
    file.frame(FrameType::Clock, payload);
    file.strings({{0, ""}, {1, "main thread"}, {2, "loader worker 0"}, {3, "stream 7"}, {4, "loss"}, {5, "nats"}});
    file.strings({{10, "step"}, {11, "forward"}, {12, "relu"}, {13, "relu_backward"}, {14, "read"}, {15, "data wait"}});
    file.strings(
        {{20, "Memcpy HtoD"}, {21, "gemm"}, {30, "NVIDIA H100"}, {31, "GPU-1"}, {32, "workload"}, {33, "convnet"}});
    addTracks(file);
    payload.clear();
    appendDevice(payload, {0, 30, 31, 0});
    file.frame(FrameType::Device, payload);
    payload.clear();
    appendMetadata(payload, 32, 33);
    file.frame(FrameType::Metadata, payload);

    EventRecord forward = record(EventType::Slice, ActivityKind::Phase, 11, 1100, 1500, 4);
    forward.depth = 1;
    EventRecord relu = record(EventType::Slice, ActivityKind::CpuOp, 12, 1200, 1300, 9);
    relu.depth = 2;
    EventRecord backward = record(EventType::Slice, ActivityKind::CpuOp, 13, 1600, 1700, 9);
    backward.flags = slice_flag::kBackward;
    backward.depth = 1;
    const EventRecord main[] = {
        record(EventType::Begin, ActivityKind::Step, 10, 1000, 0),
        relu,
        forward,
        backward,
        record(EventType::Counter, ActivityKind::Other, 3, 1800, 0, std::bit_cast<std::int64_t>(0.5)),
        record(EventType::Slice, ActivityKind::Step, 10, 1000, 2000, 4),
        record(EventType::Begin, ActivityKind::Phase, 15, 2000, 0, 5)};
    file.events(0, 0, std::span{main}.first(3));
    file.events(0, 3, std::span{main}.subspan(3));
    EventRecord read = record(EventType::Slice, ActivityKind::LoaderStage, 14, 1000, 2500, 4);
    read.bytes = 512;
    file.events(1, 0, {&read, 1});
    const EventRecord device[] = {record(EventType::Device, ActivityKind::GpuMemcpy, 20, 1300, 1400, 41),
                                  extra(CopyKind::HtoD, MemoryKind::Pageable, MemoryKind::Device, 5'000'000'000),
                                  record(EventType::Device, ActivityKind::Kernel, 21, 1400, 1450, 42),
                                  extra(CopyKind::Unknown, MemoryKind::Unknown, MemoryKind::Unknown, 0)};
    file.events(2, kNotFromRing, device);
    payload.clear();
    appendLoss(payload, {3, 1});
    return file.frame(FrameType::Loss, payload).end();
}

MemoryFile::MemoryFile() : m_descriptor(memfd_create("trace", MFD_CLOEXEC)) {}

MemoryFile::~MemoryFile()
{
    close(m_descriptor);
}

std::filesystem::path MemoryFile::write(std::span<const std::byte> bytes) const
{
    const auto size = static_cast<ssize_t>(bytes.size());
    if (ftruncate(m_descriptor, size) != 0 || pwrite(m_descriptor, bytes.data(), bytes.size(), 0) != size)
        std::abort();
    return "/proc/self/fd/" + std::to_string(m_descriptor);
}

std::filesystem::path TestFolder::write(std::string_view name, std::span<const std::byte> bytes) const
{
    std::ofstream out{path() / name, std::ios::binary | std::ios::trunc};
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path() / name;
}

} // namespace wire_test
