#include "profiler/formats/container/trace_reader.h"
#include "tests/profiler/wire_file.h"
#include "tests/support/message_matchers.h"
#include "tests/support/trace_text.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

using namespace profiler;
using namespace profiler::container;
using namespace wire_test;
using profiler::test::hasId;
using testing::Contains;

TEST(WireDamage, AFileTruncatedAtAnyByteOpensWithItsCompleteFrames)
{
    const MemoryFile memory;
    const WireFile file = everything();
    const auto& boundaries = file.boundaries();
    std::vector<std::size_t> slices; ///< by number of complete frames
    for (std::size_t size = 0; size < file.bytes().size(); ++size) {
        const auto trace = readTrace(memory.write(std::span{file.bytes()}.first(size)));
        ASSERT_EQ(trace.has_value(), size >= sizeof(FileHeader)) << size;
        if (!trace)
            continue;
        const bool atBoundary = std::find(boundaries.begin(), boundaries.end(), size) != boundaries.end();
        if (atBoundary)
            slices.push_back((*trace)->sliceCount());
        ASSERT_EQ((*trace)->sliceCount(), slices.back()) << size;
        ASSERT_TRUE((*trace)->captureStats().cut);
        const auto partial = Contains(hasId("trace.cut_frame", {{"byte", boundaries[slices.size() - 1]}}));
        if (atBoundary) {
            ASSERT_THAT((*trace)->captureStats().notes, Not(partial)) << size;
        } else {
            ASSERT_THAT((*trace)->captureStats().notes, partial) << size;
        }
    }
    EXPECT_EQ(slices.size(), boundaries.size() - 1);
    EXPECT_EQ(slices.back(), kSlicesOfEverything) << "everything except the End frame";
}

TEST(WireDamage, AFlippedByteLosesOneFrame)
{
    const MemoryFile memory;
    const WireFile file = everything();
    const auto& boundaries = file.boundaries();
    const auto full = readTrace(memory.write(file.bytes()));
    ASSERT_TRUE(full);
    for (std::size_t i = sizeof(FileHeader); i < file.bytes().size(); ++i) {
        auto bytes = file.bytes();
        bytes[i] ^= std::byte{0x10};
        const auto trace = readTrace(memory.write(bytes));
        ASSERT_TRUE(trace) << i << trace.error().message();
        const auto frame = std::upper_bound(boundaries.begin(), boundaries.end(), i) - 1;
        const bool last = frame + 2 == boundaries.end();
        ASSERT_THAT((*trace)->captureStats().notes,
                    Contains(hasId(last ? "trace.cut_frame" : "trace.damaged", {{"byte", *frame}})))
            << i;
        ASSERT_EQ((*trace)->captureStats().cut, last) << i;
        ASSERT_GE((*trace)->sliceCount() + 4, (*full)->sliceCount()) << i << ": a frame has at most four slices";
    }
}

TEST(WireDamage, LostEventsAreCounted)
{
    const TestFolder folder;
    WireFile file;
    const std::vector<EventRecord> records(10, record(EventType::Slice, ActivityKind::CpuOp, 0, 5, 6, -1));
    file.events(0, 0, std::span{records}.first(2))
        .events(0, 2, std::span{records}.first(3))
        .events(0, 5, records)
        .end();
    auto bytes = file.bytes();
    bytes[file.boundaries()[1] + sizeof(FrameHeader) + 20] ^= std::byte{1};
    const auto trace = readTrace(folder.write("a.sstrace", bytes));
    ASSERT_TRUE(trace);
    EXPECT_EQ((*trace)->sliceCount(), 12U);
    EXPECT_EQ((*trace)->captureStats().dropped, 3U);
    EXPECT_THAT((*trace)->captureStats().notes, Contains(hasId("trace.missing_events", {{"count", 3}})));
}

TEST(WireDamage, MissingAndRepeatedFramesAreReported)
{
    const TestFolder folder;
    const EventRecord op = record(EventType::Slice, ActivityKind::CpuOp, 0, 5, 6, -1);
    WireFile file;
    file.events(0, kNotFromRing, {&op, 1}).jumpTo(4).events(0, kNotFromRing, {&op, 1});
    const auto gapAt = file.boundaries()[1];
    const auto againAt = file.boundaries()[2];
    file.jumpTo(4).events(0, kNotFromRing, {&op, 1}).end();
    const auto trace = readTrace(folder.write("a.sstrace", file.bytes()));
    ASSERT_TRUE(trace);
    EXPECT_EQ((*trace)->sliceCount(), 2U);
    EXPECT_THAT((*trace)->captureStats().notes,
                Contains(hasId("trace.frames_missing", {{"count", 3}, {"byte", gapAt}})));
    EXPECT_THAT((*trace)->captureStats().notes, Contains(hasId("trace.frame_twice", {{"byte", againAt}})));
}

TEST(WireDamage, AHugeLengthAllocatesNothingAndHidesNoFrame)
{
    const TestFolder folder;
    for (const std::uint32_t claimed : {0xffffffffU, kMaxPayloadBytes, kMaxPayloadBytes + 1}) {
        const EventRecord op = record(EventType::Slice, ActivityKind::CpuOp, 0, 5, 6, -1);
        WireFile file;
        file.events(0, 0, {&op, 1}).events(0, 1, {&op, 1});
        auto bytes = file.bytes();
        const auto raw = std::as_bytes(std::span{&claimed, 1});
        std::copy(raw.begin(), raw.end(), bytes.begin() + static_cast<std::ptrdiff_t>(file.boundaries()[0]) + 8);
        const auto path = folder.write("a.sstrace", bytes);
        auto reader = TailingReader::open(path);
        ASSERT_TRUE(reader);
        ASSERT_TRUE(*(*reader)->poll()) << "the following frame shows that the data is damaged and not incomplete";
        EXPECT_EQ((*reader)->snapshot()->sliceCount(), 1U);
    }
}

TEST(WireDamage, InvalidPayloadsAreReported)
{
    const TestFolder folder;
    for (const FrameType type : {FrameType::Clock, FrameType::Strings, FrameType::Tracks, FrameType::Events,
                                 FrameType::Device, FrameType::Metadata, FrameType::Loss, static_cast<FrameType>(99)}) {
        WireFile file;
        const std::vector<std::byte> odd(19, std::byte{0x7f});
        file.frame(type,
                   std::span{odd}.first(
                       type == FrameType::Loss || type == FrameType::Device || type == FrameType::Clock ? 7 : 19));
        const auto trace = readTrace(folder.write("a.sstrace", file.end().bytes()));
        ASSERT_TRUE(trace);
        EXPECT_THAT((*trace)->captureStats().notes, Contains(hasId("trace.frame_in_part"))) << static_cast<int>(type);
    }
}

TEST(WireDamage, NotesAreLimited)
{
    const TestFolder folder;
    WireFile file;
    for (std::uint32_t i = 0; i < 100; ++i)
        file.jumpTo(i * 2 + 1).frame(FrameType::Strings);
    const auto trace = readTrace(folder.write("a.sstrace", file.end().bytes()));
    ASSERT_TRUE(trace);
    EXPECT_LE((*trace)->captureStats().notes.size(), 25U);
    EXPECT_THAT((*trace)->captureStats().notes, Contains(hasId("trace.many_more_notes", {{"count", 80}})));
}

} // namespace
