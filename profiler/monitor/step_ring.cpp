#include "profiler/monitor/step_ring.h"

#include "profiler/os/files.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

namespace profiler::monitor {

namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "SSSTEPS1";
constexpr std::size_t kHeaderBytes = 4096, kTextAt = 64;
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kNone = 0xFFFFFFFF;
constexpr std::uint32_t kCaptured = 1;
// The year 2096: differences of times up to here cannot overflow.
constexpr std::int64_t kLatest = 4'000'000'000'000'000'000;

#pragma pack(push, 1)
struct Header {
    char magic[8];
    std::uint32_t version, headerBytes, stepBytes, stepSlots, minuteBytes, minuteSlots;
    std::uint64_t steps, minutes, ended;
    std::uint32_t textBytes;
};
struct StepRecord {
    std::uint64_t number;
    std::int64_t end;
    std::uint32_t index, flags, duration;
    std::uint32_t parts[kStepParts.size()];
    std::uint32_t outside, arrival, samples;
};
struct MinuteRecord {
    std::uint64_t number;
    std::int64_t begin;
    std::uint32_t steps, captured;
    float mean, p50, p90, p99, max;
    float parts[kStepParts.size()];
    float outside;
    std::uint64_t samples;
};
#pragma pack(pop)
static_assert(sizeof(StepRecord) == 64 && sizeof(MinuteRecord) == 80 && sizeof(Header) == 60);

Nanoseconds us(std::uint32_t value)
{
    return std::chrono::microseconds(value);
}

/// The newest records of a ring, oldest first. The slot that is written next may be half overwritten: it is left out,
/// as are records whose number is not the expected one.
/// @param at  position of the ring in the file
template <class Record>
std::vector<Record> newest(int file, std::uint64_t at, std::uint32_t slots, std::uint64_t count, std::size_t most)
{
    const std::uint64_t wanted = std::min<std::uint64_t>({count, most, slots - 1});
    std::vector<Record> records;
    // Two pieces if the records wrap around the end of the ring.
    for (std::uint64_t number = count - wanted; number < count;) {
        const std::uint64_t slot = number % slots;
        std::vector<Record> piece(std::min(count - number, slots - slot));
        const auto read = os::readAt(file, at + slot * sizeof(Record), std::as_writable_bytes(std::span(piece)));
        const std::size_t whole = read.bytes / sizeof(Record);
        for (std::size_t i = 0; i < whole; ++i)
            if (piece[i].number == number + i + 1)
                records.push_back(piece[i]);
        number += piece.size();
    }
    return records;
}

RingStep stepOf(const StepRecord& record)
{
    RingStep step{.index = record.index,
                  .end = Nanoseconds(record.end),
                  .duration = us(record.duration),
                  .parts = {},
                  .outside = us(record.outside),
                  .arrival = {},
                  .samples = record.samples,
                  .captured = (record.flags & kCaptured) != 0};
    std::transform(std::begin(record.parts), std::end(record.parts), step.parts.begin(), us);
    if (record.arrival != kNone)
        step.arrival = us(record.arrival);
    return step;
}

RingMinute minuteOf(const MinuteRecord& record)
{
    RingMinute minute{.begin = Nanoseconds(record.begin),
                      .steps = record.steps,
                      .captured = record.captured,
                      .samples = static_cast<std::int64_t>(std::min<std::uint64_t>(record.samples, INT64_MAX)),
                      .meanUs = record.mean,
                      .p50Us = record.p50,
                      .p90Us = record.p90,
                      .p99Us = record.p99,
                      .maxUs = record.max,
                      .partUs = {},
                      .outsideUs = record.outside};
    std::copy(std::begin(record.parts), std::end(record.parts), minute.partUs.begin());
    return minute;
}

std::int64_t numberIn(const nlohmann::json& about, const char* key, std::int64_t otherwise)
{
    const auto found = about.find(key);
    return found != about.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

std::string textIn(const nlohmann::json& about, const char* key)
{
    const auto found = about.find(key);
    return found != about.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The description may be half written at this moment: then it is empty.
RingOwner ownerOf(std::string_view text)
{
    const auto about = nlohmann::json::parse(text, nullptr, false);
    if (!about.is_object())
        return {};
    return {.rank = std::max<std::int64_t>(0, numberIn(about, "rank", 0)),
            .worldSize = std::max<std::int64_t>(1, numberIn(about, "world_size", 1)),
            .pid = numberIn(about, "pid", 0),
            .host = textIn(about, "host"),
            .command = textIn(about, "command"),
            .job = textIn(about, "job"),
            .started = Nanoseconds(numberIn(about, "started_ns", 0))};
}

bool isPossible(std::int64_t time)
{
    return time >= 0 && time < kLatest;
}

bool isPossible(const Header& header, std::size_t bytes)
{
    return bytes == sizeof header && std::string_view(header.magic, sizeof header.magic) == kMagic &&
           header.version == kVersion && header.headerBytes == kHeaderBytes && header.stepBytes == sizeof(StepRecord) &&
           header.minuteBytes == sizeof(MinuteRecord) && header.stepSlots > 1 && header.minuteSlots > 1 &&
           header.textBytes <= kHeaderBytes - kTextAt;
}

os::Transfer readHeader(int file, Header& header)
{
    return os::readAt(file, 0, std::as_writable_bytes(std::span(&header, 1)));
}

} // namespace

bool isStepRing(const std::filesystem::path& path)
{
    const os::Descriptor file = os::openToRead(path);
    Header header{};
    return file && readHeader(file.get(), header).bytes >= kMagic.size() &&
           std::string_view(header.magic, sizeof header.magic) == kMagic;
}

Result<StepRing> readStepRing(const std::filesystem::path& path, std::size_t mostSteps, std::size_t mostMinutes)
{
    const os::Descriptor file = os::openToRead(path);
    if (!file)
        return fail<"monitor.ring.unreadable", "the recorded steps cannot be read: {why}">(
            Error::Code::NotFound, path.string(), "check the name and its permissions",
            {{"why", std::generic_category().message(errno)}});
    Header header{};
    if (const auto read = readHeader(file.get(), header); !isPossible(header, read.bytes))
        return fail<"monitor.ring.malformed", "the file does not contain steps that this version can read">(
            Error::Code::Malformed, path.string(), "record again, or use the version that wrote it");
    StepRing ring;
    std::string text(header.textBytes, '\0');
    os::readAt(file.get(), kTextAt, std::as_writable_bytes(std::span(text)));
    ring.owner = ownerOf(text);
    ring.ended = header.ended != 0;
    ring.holder = os::lockHolder(file.get());
    ring.steps = header.steps;
    ring.minutes = header.minutes;
    const std::uint64_t stepsAt = kHeaderBytes + std::uint64_t{header.minuteSlots} * sizeof(MinuteRecord);
    for (const auto& record : newest<StepRecord>(file.get(), stepsAt, header.stepSlots, header.steps, mostSteps))
        if (isPossible(record.end))
            ring.newestSteps.push_back(stepOf(record));
    for (const auto& record :
         newest<MinuteRecord>(file.get(), kHeaderBytes, header.minuteSlots, header.minutes, mostMinutes))
        if (isPossible(record.begin))
            ring.newestMinutes.push_back(minuteOf(record));
    return ring;
}

} // namespace profiler::monitor
