#include "profiler/formats/container/frame.h"

#include <bit>
#include <cstring>
#include <gmock/gmock.h>
#include <limits>
#include <random>

namespace capture_test {

using namespace profiler;
using namespace profiler::container;

namespace {

bool same(const EventRecord& a, const EventRecord& b)
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

EventRecord op(std::int64_t begin, std::int64_t duration, std::int64_t sequence)
{
    return {EventType::Slice, ActivityKind::CpuOp, 2, 0, 17, begin, begin + duration, sequence, 0, 0};
}

std::vector<EventRecord> kernel(std::int64_t begin, std::int64_t correlation)
{
    EventRecord event{EventType::Device, ActivityKind::Kernel, 0, 0, 300, begin, begin + 8'213, correlation, 0, 0};
    const LaunchRecord launch{EventType::Launch, 0, 40, {1024, 16, 1}, {256, 1, 1}, 1024, 16384, 0};
    return {event, std::bit_cast<EventRecord>(launch)};
}

EventRecord anyRecord(std::mt19937_64& random)
{
    const auto wide = [&] { return static_cast<std::int64_t>(random() >> (random() % 64)); };
    EventRecord record{};
    record.type = static_cast<EventType>(random() % 4);
    record.kind = static_cast<ActivityKind>(random() % kActivityKinds);
    record.depth = static_cast<std::uint8_t>(random());
    record.flags = random() % 2 ? 0 : static_cast<std::uint8_t>(random());
    record.name = static_cast<std::uint32_t>(wide());
    record.begin = random() % 2 ? wide() : -wide();
    const bool hasEnd = record.type == EventType::Slice || record.type == EventType::Device;
    record.end = hasEnd ? (random() % 2 ? wide() : std::numeric_limits<std::int64_t>::min()) : 0;
    record.link = random() % 2 ? wide() : -wide();
    record.bytes = static_cast<std::uint32_t>(wide());
    record.detail = random() % 2 ? 0 : static_cast<std::uint32_t>(wide());
    return record;
}

} // namespace

TEST(PackedEvents, EveryFieldIsRestored)
{
    std::mt19937_64 random(7);
    std::vector<EventRecord> records;
    for (int i = 0; i < 2'000; ++i) {
        records.push_back(anyRecord(random));
        if (records.back().type != EventType::Device)
            continue;
        if (random() % 2) {
            const auto number = [&] { return static_cast<std::uint32_t>(random() % 3); }; // some launches repeat
            const LaunchRecord launch{EventType::Launch,
                                      0,
                                      static_cast<std::uint16_t>(number()),
                                      {number(), 1, static_cast<std::uint32_t>(random() % 8 ? 1 : random())},
                                      {256, number(), 1},
                                      number(),
                                      16384,
                                      number()};
            records.push_back(std::bit_cast<EventRecord>(launch));
            continue;
        }
        ExtraRecord extra{
            EventType::Extra, CopyKind::PtoP, MemoryKind::Pinned, MemoryKind::Device, 0, random(), {}, {}};
        extra.grid[1] = static_cast<std::uint32_t>(random());
        records.push_back(std::bit_cast<EventRecord>(extra));
    }
    Payload payload;
    const std::span all(records);
    appendPackedEvents(payload, {3, 0, 99}, all.first(600), all.subspan(600));
    appendPackedEvents(payload, {4, 0, kNotFromRing}, all.first(1));
    std::span<const std::byte> bytes(payload);
    EventBatch batch{};
    std::vector<EventRecord> back;
    ASSERT_TRUE(takePackedEvents(bytes, batch, back));
    EXPECT_EQ(batch.track, 3U);
    EXPECT_EQ(batch.firstIndex, 99U);
    ASSERT_EQ(back.size(), records.size());
    for (std::size_t i = 0; i < back.size(); ++i)
        EXPECT_TRUE(same(back[i], records[i])) << i;
    ASSERT_TRUE(takePackedEvents(bytes, batch, back));
    EXPECT_EQ(batch.track, 4U);
    EXPECT_EQ(back.size(), 1U);
    EXPECT_TRUE(bytes.empty());
}

TEST(PackedEvents, ARepeatedLaunchTakesTwoBytes)
{
    const LaunchRecord launch{EventType::Launch, 0, 255, {1 << 30, 65535, 65535}, {1024, 1, 1}, 49152, 180000, 512};
    const auto packed = [&](std::size_t count) {
        Payload payload;
        appendPackedEvents(payload, {}, std::vector<EventRecord>(count, std::bit_cast<EventRecord>(launch)));
        return payload.size();
    };
    EXPECT_GT(packed(1) - sizeof(PackedBatch), 20U);
    EXPECT_EQ(packed(9), packed(1) + 8 * 2);
}

TEST(PackedEvents, ARepeatedLaunchThatIsNotThereIsRejected)
{
    PackedBatch head{};
    head.count = 1;
    head.bytes = 2;
    for (const std::uint8_t slot : {0, 63, 64, 255}) {
        Payload payload(sizeof head);
        std::memcpy(payload.data(), &head, sizeof head);
        payload.push_back(static_cast<std::byte>(static_cast<unsigned>(EventType::Launch) | 8));
        payload.push_back(static_cast<std::byte>(slot));
        std::span<const std::byte> bytes(payload);
        EventBatch batch{};
        std::vector<EventRecord> back;
        EXPECT_FALSE(takePackedEvents(bytes, batch, back)) << int{slot};
    }
}

TEST(PackedEvents, AnEventTakesLessThan32Bytes)
{
    std::vector<EventRecord> ops, kernels;
    for (int i = 0; i < 1'000; ++i) {
        ops.push_back(op(1'000'000'000'000 + i * 21'500, 20'300, 40'000 + i));
        for (const EventRecord& half : kernel(1'000'000'000'000 + i * 9'000, 77'000 + 2 * i))
            kernels.push_back(half);
    }
    Payload packed;
    appendPackedEvents(packed, {}, ops);
    EXPECT_LT(packed.size(), 1'000U * 16);
    packed.clear();
    appendPackedEvents(packed, {}, kernels);
    EXPECT_LT(packed.size(), 1'000U * 32);
}

TEST(PackedEvents, TruncatedOrDamagedBytesAreRejected)
{
    std::mt19937_64 random(8);
    std::vector<EventRecord> records;
    for (int i = 0; i < 20; ++i)
        for (const EventRecord& half : kernel(1'000 * i, i))
            records.push_back(half);
    Payload payload;
    appendPackedEvents(payload, {}, records);
    EventBatch batch{};
    std::vector<EventRecord> back;
    for (std::size_t length = 0; length < payload.size(); ++length) {
        std::span<const std::byte> bytes(payload.data(), length);
        EXPECT_FALSE(takePackedEvents(bytes, batch, back)) << length;
    }
    for (int i = 0; i < 20'000; ++i) {
        Payload damaged = payload;
        damaged[random() % damaged.size()] = static_cast<std::byte>(random());
        std::span<const std::byte> bytes(damaged);
        takePackedEvents(bytes, batch, back); // it must not crash; the result does not matter
        EXPECT_LE(back.size(), damaged.size());
    }
}

TEST(PackedEvents, ACountBeyondTheBytesAllocatesNoMemory)
{
    PackedBatch head{};
    head.count = std::numeric_limits<std::uint32_t>::max();
    head.bytes = 100;
    Payload payload(sizeof head + 100);
    std::memcpy(payload.data(), &head, sizeof head);
    std::span<const std::byte> bytes(payload);
    EventBatch batch{};
    std::vector<EventRecord> back;
    EXPECT_FALSE(takePackedEvents(bytes, batch, back));
    EXPECT_EQ(back.capacity(), 0U);
}

} // namespace capture_test
