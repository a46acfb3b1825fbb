#define XXH_INLINE_ALL // header-only, because the injection library must not have dependencies
#include "profiler/formats/container/frame.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <xxhash.h>

namespace profiler::container {

namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::size_t kStringAlignment = 4;

template <class T>
void appendRaw(Payload& out, const T* values, std::size_t count)
{
    const auto bytes = std::as_bytes(std::span{values, count});
    out.insert(out.end(), bytes.begin(), bytes.end());
}

} // namespace

std::uint64_t frameChecksum(const FrameHeader& header, std::span<const std::byte> payload)
{
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, &header, offsetof(FrameHeader, checksum));
    XXH3_64bits_update(&state, payload.data(), payload.size());
    return XXH3_64bits_digest(&state);
}

std::uint64_t checksumOf(std::span<const std::byte> bytes)
{
    return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t headerChecksum(const FileHeader& header)
{
    return checksumOf(std::as_bytes(std::span{&header, 1}).first(offsetof(FileHeader, checksum)));
}

FrameHeader makeFrameHeader(FrameType type, std::uint32_t sequence, std::span<const std::byte> payload)
{
    FrameHeader header{};
    header.magic = kFrameMagic;
    header.type = type;
    header.payloadBytes = static_cast<std::uint32_t>(payload.size());
    header.sequence = sequence;
    header.checksum = frameChecksum(header, payload);
    return header;
}

FileHeader makeFileHeader(std::int64_t pid, std::uint64_t runId)
{
    FileHeader header{};
    std::copy(std::begin(kFileMagic), std::end(kFileMagic), header.magic);
    header.version = kVersion;
    header.headerBytes = sizeof(FileHeader);
    header.pid = pid;
    header.runId = runId;
    return header;
}

void appendFrame(Payload& file, FrameType type, std::uint32_t sequence, std::span<const std::byte> payload)
{
    const FrameHeader header = makeFrameHeader(type, sequence, payload);
    appendRaw(file, &header, 1);
    file.insert(file.end(), payload.begin(), payload.end());
}

void appendClock(Payload& payload, const ClockTriple& clock)
{
    appendRaw(payload, &clock, 1);
}

void appendString(Payload& payload, std::uint32_t id, std::string_view text)
{
    const StringEntry entry{id, static_cast<std::uint32_t>(text.size())};
    appendRaw(payload, &entry, 1);
    appendRaw(payload, text.data(), text.size());
    payload.resize((payload.size() + kStringAlignment - 1) / kStringAlignment * kStringAlignment);
}

void appendTrack(Payload& payload, const TrackEntry& track)
{
    appendRaw(payload, &track, 1);
}

void appendEvents(Payload& payload, EventBatch batch, std::span<const EventRecord> records)
{
    batch.count = static_cast<std::uint32_t>(records.size());
    appendRaw(payload, &batch, 1);
    appendRaw(payload, records.data(), records.size());
}

void appendDevice(Payload& payload, const DeviceEntry& device, const DeviceFacts& facts, const DeviceLimits& limits)
{
    appendRaw(payload, &device, 1);
    appendRaw(payload, &facts, 1);
    appendRaw(payload, &limits, 1);
}

void appendMetadata(Payload& payload, std::uint32_t keyString, std::uint32_t valueString)
{
    const std::uint32_t pair[] = {keyString, valueString};
    appendRaw(payload, pair, std::size(pair));
}

void appendProcess(Payload& payload, const ProcessEntry& process)
{
    appendRaw(payload, &process, 1);
}

void appendLoss(Payload& payload, const LossEntry& loss)
{
    appendRaw(payload, &loss, 1);
}

namespace {

// First byte of a record: its type, and flags for the fields that follow. Omitted fields are zero or equal to the
// previous record.
constexpr unsigned kTypeBits = 7, kKind = 8, kFlags = 16, kLink = 32, kBytes = 64, kDetail = 128;
// First byte of an extra slot, after its type.
constexpr unsigned kCopy = 1, kCopyBytes = 2, kGrid = 4;
// Flag in the first byte of a launch: it equals the launch that its slot holds, and only the slot follows.
constexpr unsigned kKnownLaunch = 8;

std::uint64_t bitsOf(std::int64_t number)
{
    return static_cast<std::uint64_t>(number);
}

/// Maps small signed numbers to small unsigned ones: 0, −1, 1, −2 → 0, 1, 2, 3.
std::uint64_t zigzag(std::uint64_t number)
{
    return number << 1 ^ (number >> 63 ? ~std::uint64_t{0} : 0);
}

std::uint64_t unzigzag(std::uint64_t number)
{
    return number >> 1 ^ (number & 1 ? ~std::uint64_t{0} : 0);
}

/// The launches of a batch, each in the slot of its hash until another one takes it. A training step repeats the same
/// few launches. The hash is part of the format.
class LaunchSlots {
public:
    static constexpr std::size_t kCount = 64;

    static std::size_t slotOf(const LaunchRecord& launch)
    {
        std::uint32_t hash = 0;
        const auto add = [&](std::uint32_t value) { hash = (hash ^ hash >> 15 ^ value) * 0x9e3779b1U; };
        for (int i = 0; i < 3; ++i) {
            add(launch.grid[i]);
            add(launch.block[i]);
        }
        add(launch.registers);
        add(launch.staticSharedMemory);
        add(launch.dynamicSharedMemory);
        add(launch.localMemory);
        return hash >> 26; // 6 bits
    }
    LaunchRecord& operator[](std::size_t slot) { return m_slots[slot]; }

private:
    std::array<LaunchRecord, kCount> m_slots{};
};

/// The previous record, which differences are relative to.
struct Before {
    ActivityKind kind{};
    std::int64_t begin = 0, link = 0;
    LaunchSlots launches;
};

class Packer {
public:
    Packer(Payload& to, std::int64_t begin) : m_to(to) { m_before.begin = begin; }

    void add(const EventRecord& record)
    {
        std::byte bytes[64];
        m_at = bytes;
        if (record.type == EventType::Extra)
            addExtra(std::bit_cast<ExtraRecord>(record));
        else if (record.type == EventType::Launch)
            addLaunch(std::bit_cast<LaunchRecord>(record));
        else
            addEvent(record);
        m_to.insert(m_to.end(), bytes, m_at);
    }

private:
    void byte(unsigned value) { *m_at++ = static_cast<std::byte>(value); }
    void number(std::uint64_t value)
    {
        for (; value >= 128; value >>= 7)
            byte(static_cast<unsigned>(value & 127) | 128);
        byte(static_cast<unsigned>(value));
    }
    void addEvent(const EventRecord& record)
    {
        const bool counter = record.type == EventType::Counter;
        const bool newLink = !counter && record.link != m_before.link;
        byte(static_cast<unsigned>(record.type) | (record.kind != m_before.kind ? kKind : 0) |
             (record.flags ? kFlags : 0) | (newLink ? kLink : 0) | (record.bytes ? kBytes : 0) |
             (record.detail ? kDetail : 0));
        byte(record.depth);
        if (record.kind != m_before.kind)
            byte(static_cast<unsigned>(record.kind));
        if (record.flags)
            byte(record.flags);
        number(record.name);
        number(zigzag(bitsOf(record.begin) - bitsOf(m_before.begin)));
        if (counter) {
            std::memcpy(m_at, &record.link, sizeof record.link);
            m_at += sizeof record.link;
        } else if (record.type != EventType::Begin) {
            number(zigzag(bitsOf(record.end) - bitsOf(record.begin)));
        }
        if (newLink) {
            number(zigzag(bitsOf(record.link) - bitsOf(m_before.link)));
            m_before.link = record.link;
        }
        if (record.bytes)
            number(record.bytes);
        if (record.detail)
            number(record.detail);
        m_before.kind = record.kind;
        m_before.begin = record.begin;
    }
    void addExtra(const ExtraRecord& extra)
    {
        bool grid = false;
        for (int i = 0; i < 3; ++i)
            grid = grid || extra.grid[i] != 0 || extra.block[i] != 0;
        const bool copy = extra.copy != CopyKind{} || extra.src != MemoryKind{} || extra.dst != MemoryKind{};
        byte(static_cast<unsigned>(EventType::Extra));
        byte((copy ? kCopy : 0) | (extra.bytes ? kCopyBytes : 0) | (grid ? kGrid : 0));
        if (copy) {
            byte(static_cast<unsigned>(extra.copy));
            byte(static_cast<unsigned>(extra.src));
            byte(static_cast<unsigned>(extra.dst));
        }
        if (extra.bytes)
            number(extra.bytes);
        for (int i = 0; grid && i < 3; ++i) {
            number(extra.grid[i]);
            number(extra.block[i]);
        }
    }

    void addLaunch(const LaunchRecord& launch)
    {
        const std::size_t slot = LaunchSlots::slotOf(launch);
        LaunchRecord& last = m_before.launches[slot];
        const bool known = std::memcmp(&last, &launch, sizeof launch) == 0;
        byte(static_cast<unsigned>(EventType::Launch) | (known ? kKnownLaunch : 0));
        if (known) {
            byte(static_cast<unsigned>(slot));
            return;
        }
        last = launch;
        number(launch.registers);
        for (int i = 0; i < 3; ++i) {
            number(launch.grid[i]);
            number(launch.block[i]);
        }
        number(launch.staticSharedMemory);
        number(launch.dynamicSharedMemory);
        number(launch.localMemory);
    }

    Payload& m_to;
    std::byte* m_at = nullptr;
    Before m_before;
};

class Unpacker {
public:
    Unpacker(std::span<const std::byte> bytes, std::int64_t begin) : m_bytes(bytes) { m_before.begin = begin; }

    bool take(EventRecord& record)
    {
        unsigned head = 0;
        if (!byte(head))
            return false;
        record = {};
        record.type = static_cast<EventType>(head & kTypeBits);
        if (record.type == EventType::Launch)
            return takeLaunch(head, record);
        return record.type == EventType::Extra ? takeExtra(record) : takeEvent(head, record);
    }
    [[nodiscard]] bool atEnd() const { return m_bytes.empty(); }

private:
    bool byte(unsigned& value)
    {
        if (m_bytes.empty())
            return false;
        value = std::to_integer<unsigned>(m_bytes.front());
        m_bytes = m_bytes.subspan(1);
        return true;
    }
    bool number(std::uint64_t& value)
    {
        value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            unsigned part = 0;
            if (!byte(part))
                return false;
            value |= std::uint64_t{part & 127} << shift;
            if (part < 128)
                return true;
        }
        return false;
    }
    bool number(std::uint32_t& value)
    {
        std::uint64_t wide = 0;
        const bool read = number(wide) && wide <= 0xFFFFFFFF;
        value = static_cast<std::uint32_t>(wide);
        return read;
    }
    /// A signed difference from `from`.
    bool difference(std::int64_t from, std::int64_t& value)
    {
        std::uint64_t wide = 0;
        const bool read = number(wide);
        value = static_cast<std::int64_t>(bitsOf(from) + unzigzag(wide));
        return read;
    }
    template <class Small>
    bool small(Small& value)
    {
        unsigned raw = 0;
        const bool read = byte(raw);
        value = static_cast<Small>(raw);
        return read;
    }
    bool takeEvent(unsigned head, EventRecord& record)
    {
        record.kind = m_before.kind;
        record.link = m_before.link;
        bool whole = small(record.depth) && (!(head & kKind) || small(record.kind)) &&
                     (!(head & kFlags) || small(record.flags)) && number(record.name) &&
                     difference(m_before.begin, record.begin);
        if (record.type == EventType::Counter) {
            whole = whole && m_bytes.size() >= sizeof record.link;
            if (whole) {
                std::memcpy(&record.link, m_bytes.data(), sizeof record.link);
                m_bytes = m_bytes.subspan(sizeof record.link);
            }
        } else {
            if (record.type != EventType::Begin)
                whole = whole && difference(record.begin, record.end);
            if (head & kLink)
                whole = whole && difference(m_before.link, record.link);
            m_before.link = record.link;
        }
        whole = whole && (!(head & kBytes) || number(record.bytes)) && (!(head & kDetail) || number(record.detail));
        m_before.kind = record.kind;
        m_before.begin = record.begin;
        return whole;
    }
    bool takeExtra(EventRecord& record)
    {
        ExtraRecord extra{};
        extra.type = EventType::Extra;
        unsigned has = 0;
        bool whole = byte(has);
        if (has & kCopy)
            whole = whole && small(extra.copy) && small(extra.src) && small(extra.dst);
        if (has & kCopyBytes)
            whole = whole && number(extra.bytes);
        for (int i = 0; (has & kGrid) && i < 3; ++i)
            whole = whole && number(extra.grid[i]) && number(extra.block[i]);
        record = std::bit_cast<EventRecord>(extra);
        return whole;
    }

    bool takeLaunch(unsigned head, EventRecord& record)
    {
        if (head & kKnownLaunch) {
            unsigned slot = 0;
            if (!byte(slot) || slot >= LaunchSlots::kCount)
                return false;
            record = std::bit_cast<EventRecord>(m_before.launches[slot]);
            return record.type == EventType::Launch; // otherwise the slot is empty
        }
        LaunchRecord launch{};
        launch.type = EventType::Launch;
        std::uint32_t registers = 0;
        bool whole = number(registers) && registers <= 0xffff;
        launch.registers = static_cast<std::uint16_t>(registers);
        for (int i = 0; i < 3; ++i)
            whole = whole && number(launch.grid[i]) && number(launch.block[i]);
        whole = whole && number(launch.staticSharedMemory) && number(launch.dynamicSharedMemory) &&
                number(launch.localMemory);
        m_before.launches[LaunchSlots::slotOf(launch)] = launch;
        record = std::bit_cast<EventRecord>(launch);
        return whole;
    }

    std::span<const std::byte> m_bytes;
    Before m_before;
};

} // namespace

void appendPackedEvents(Payload& payload, EventBatch batch, std::span<const EventRecord> first,
                        std::span<const EventRecord> second)
{
    PackedBatch head{};
    head.track = batch.track;
    head.count = static_cast<std::uint32_t>(first.size() + second.size());
    head.firstIndex = batch.firstIndex;
    head.begin = first.empty() ? 0 : first.front().begin;
    const std::size_t at = payload.size();
    payload.resize(at + sizeof head);
    Packer packer(payload, head.begin);
    for (const EventRecord& record : first)
        packer.add(record);
    for (const EventRecord& record : second)
        packer.add(record);
    head.bytes = static_cast<std::uint32_t>(payload.size() - at - sizeof head);
    std::memcpy(payload.data() + at, &head, sizeof head);
}

bool takePackedEvents(std::span<const std::byte>& payload, EventBatch& batch, std::vector<EventRecord>& records)
{
    records.clear();
    PackedBatch head{};
    if (payload.size() < sizeof head)
        return false;
    std::memcpy(&head, payload.data(), sizeof head);
    payload = payload.subspan(sizeof head);
    // A record has at least two bytes. A larger count is damage and must not allocate memory.
    if (head.bytes > payload.size() || head.count > head.bytes / 2)
        return false;
    Unpacker unpacker(payload.first(head.bytes), head.begin);
    payload = payload.subspan(head.bytes);
    batch = {head.track, head.count, head.firstIndex};
    records.reserve(head.count);
    for (std::uint32_t i = 0; i < head.count; ++i) {
        EventRecord record{};
        if (!unpacker.take(record))
            return false;
        records.push_back(record);
    }
    return unpacker.atEnd();
}

} // namespace profiler::container
