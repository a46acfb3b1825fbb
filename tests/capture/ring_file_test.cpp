#include "profiler/formats/container/ring_file.h"

#include "profiler/capture/recorder.h"
#include "tests/capture/parsed_trace.h"
#include "tests/support/temporary_folder.h"

#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <random>
#include <sys/resource.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using namespace std::chrono_literals;
using container::recoverRing;

namespace {

constexpr std::size_t kRing = 64;

/// A recording that is never drained automatically, so that its ring file can be examined as after a kill.
class RingFile : public testing::Test {
protected:
    void SetUp() override
    {
        auto started = Recorder::start({.path = path, .ringEvents = kRing, .maxThreads = 2, .drainEvery = 1h});
        ASSERT_TRUE(started) << started.error().message();
        recorder = std::move(*started);
        buffer = &recorder->addBuffer("main thread", TrackKind::MainThread);
        runId = parseTrace(path).runId;
    }
    void record(int from, int to)
    {
        for (int i = from; i < to; ++i)
            buffer->complete(ActivityKind::CpuOp, buffer->intern("op " + std::to_string(i)), traceTime(i),
                             traceTime(i + 1), i);
    }
    /// The part of the file that is in use; the rest is room for more strings.
    [[nodiscard]] std::string ringBytes() const
    {
        std::string bytes(1 << 20, '\0');
        std::ifstream(container::ringPath(path), std::ios::binary).read(bytes.data(), std::ssize(bytes));
        return bytes;
    }
    /// Recovers a modified copy of the ring file, next to its own trace.
    Result<container::RecoveredEvents> recovered(const std::string& bytes) const
    {
        std::ofstream(container::ringPath(copy), std::ios::binary | std::ios::trunc) << bytes;
        return recoverRing(copy, runId);
    }

    test_support::TemporaryFolder folder;
    std::filesystem::path path = folder / "a.sstrace", copy = folder / "copy.sstrace";
    std::unique_ptr<Recorder> recorder;
    ThreadBuffer* buffer = nullptr;
    std::uint64_t runId = 0;
};

container::RingHeader headerOf(const std::string& bytes)
{
    container::RingHeader header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    return header;
}

container::RingLayout layoutOf(const container::RingHeader& header)
{
    return {header.maxLanes, header.laneEvents, header.maxTracks, header.stringCapacity};
}

template <class T>
std::string with(std::string bytes, std::size_t at, const T& value)
{
    std::memcpy(bytes.data() + at, &value, sizeof value);
    return bytes;
}

} // namespace

TEST_F(RingFile, ContainsEventsThatAreNotYetInTheTrace)
{
    record(0, 3);
    ASSERT_TRUE(recorder->flush());
    record(3, 8);
    recorder->countLoss(4, 5);
    const auto left = recoverRing(path, runId);
    ASSERT_TRUE(left) << left.error().message();
    EXPECT_EQ(left->damaged, 0U);
    EXPECT_EQ(left->dropped, 4U);
    EXPECT_EQ(left->unmatched, 5U);
    ASSERT_EQ(left->lanes.size(), 1U);
    EXPECT_EQ(left->lanes[0].firstIndex, 3U);
    ASSERT_EQ(left->lanes[0].events.size(), 5U);
    ParsedTrace trace = parseTrace(path);
    trace.add(*left);
    ASSERT_EQ(trace.events.size(), 8U);
    EXPECT_EQ(trace.name(trace.events.back()), "op 7");
    EXPECT_EQ(trace.of("main thread").size(), 8U);
}

TEST_F(RingFile, ReadsARingThatHasWrappedAround)
{
    record(0, 50);
    ASSERT_TRUE(recorder->flush());
    record(50, 50 + kRing + 9);
    const auto left = recoverRing(path, runId);
    ASSERT_TRUE(left);
    EXPECT_EQ(left->dropped, 9U);
    ASSERT_EQ(left->lanes.at(0).events.size(), kRing);
    for (std::size_t i = 0; i < kRing; ++i)
        EXPECT_EQ(left->lanes[0].events[i].link, static_cast<std::int64_t>(50 + i));
}

// After a kill between writing the frame and advancing the ring's index, each record is in both places, but counts
// once.
TEST_F(RingFile, EventsThatAreAlsoInTheTraceCountOnce)
{
    record(0, 6);
    const std::string before = ringBytes();
    ASSERT_TRUE(recorder->flush());
    ParsedTrace trace = parseTrace(path);
    const auto left = recovered(before);
    ASSERT_TRUE(left);
    EXPECT_EQ(left->lanes.at(0).events.size(), 6U);
    trace.add(*left);
    EXPECT_EQ(trace.events.size(), 6U);
}

TEST_F(RingFile, TheRingOfAnotherRunIsRejected)
{
    const auto left = recoverRing(path, runId + 1);
    ASSERT_FALSE(left);
    EXPECT_EQ(left.error().code, Error::Code::NotFound);
    EXPECT_EQ(recoverRing(folder / "none.sstrace", 1).error().code, Error::Code::NotFound);
}

// A header may claim thread buffers of gigabytes, but memory is allocated only for records that the file contains.
TEST_F(RingFile, ClaimedSizesAllocateNoMemory)
{
    record(0, 3);
    const std::string bytes = ringBytes();
    container::RingHeader header = headerOf(bytes);
    header.laneEvents = 1U << 26;
    container::LaneHeader claim{};
    std::memcpy(&claim, bytes.data() + layoutOf(header).laneAt(0), sizeof claim);
    claim.written = header.laneEvents;
    claim.read = 0;
    std::string changed = with(bytes, 0, header);
    changed = with(std::move(changed), layoutOf(header).laneAt(0), claim);
    const auto peakKiB = [] {
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        return used.ru_maxrss;
    };
    const long before = peakKiB();
    const auto left = recovered(changed);
    ASSERT_TRUE(left) << left.error().message();
    EXPECT_GE(left->damaged, 1U);
    EXPECT_LT(peakKiB() - before, 100 << 10) << "the claimed size is 2.5 GiB";
}

TEST_F(RingFile, ImpossibleSizesAreRejected)
{
    record(0, 4);
    const std::string good = ringBytes();
    using Header = container::RingHeader;
    EXPECT_EQ(recovered(good.substr(0, 40)).error().code, Error::Code::Malformed);
    EXPECT_EQ(recovered("").error().code, Error::Code::Malformed);
    EXPECT_FALSE(recovered(with(good, 0, 'X')));
    EXPECT_FALSE(recovered(with(good, offsetof(Header, version), std::uint32_t{99})));
    EXPECT_FALSE(recovered(with(good, offsetof(Header, laneEvents), std::uint32_t{63})));
    EXPECT_FALSE(recovered(with(good, offsetof(Header, laneEvents), ~0U)));
    EXPECT_FALSE(recovered(with(good, offsetof(Header, maxLanes), ~0U)));
    EXPECT_FALSE(recovered(with(good, offsetof(Header, stringCapacity), ~std::uint64_t{0})));
    const auto lanes = recovered(with(good, offsetof(Header, lanes), ~0U));
    ASSERT_TRUE(lanes);
    EXPECT_GT(lanes->damaged, 0U);
    EXPECT_EQ(lanes->lanes.size(), 1U);
}

TEST_F(RingFile, ADamagedPartDoesNotAffectTheRest)
{
    record(0, 4);
    const std::string good = ringBytes();
    const container::RingLayout layout = layoutOf(headerOf(good));

    const auto index =
        recovered(with(good, layout.laneAt(0) + offsetof(container::LaneHeader, read), std::uint64_t{5}));
    ASSERT_TRUE(index);
    EXPECT_EQ(index->damaged, 1U);
    EXPECT_TRUE(index->lanes.empty());
    EXPECT_FALSE(index->strings.empty());

    const std::size_t third = layout.laneAt(0) + sizeof(container::LaneHeader) + 2 * sizeof(container::EventRecord);
    const auto event = recovered(with(good, third, std::uint8_t{200}));
    ASSERT_TRUE(event);
    EXPECT_EQ(event->damaged, 1U);
    EXPECT_EQ(event->lanes.at(0).events.size(), 2U);

    const auto string = recovered(with(good, layout.stringsAt() + 4, ~0U));
    ASSERT_TRUE(string);
    EXPECT_EQ(string->damaged, 1U);
    EXPECT_EQ(string->lanes.at(0).events.size(), 4U);
}

TEST_F(RingFile, ATruncatedFileYieldsWhatItContains)
{
    record(0, 4);
    const std::string good = ringBytes();
    const container::RingLayout layout = layoutOf(headerOf(good));
    const auto left = recovered(good.substr(0, layout.laneAt(0) + sizeof(container::LaneHeader) + 8));
    ASSERT_TRUE(left);
    EXPECT_GT(left->damaged, 0U);
    EXPECT_TRUE(left->lanes.empty());
}

// For arbitrary bytes, the result is an error or records within bounds; the sanitizers check this.
TEST_F(RingFile, RandomDamageIsSurvived)
{
    record(0, 40);
    const std::string good = ringBytes();
    std::mt19937 random(7);
    const std::size_t places[] = {0, 4096, layoutOf(headerOf(good)).laneAt(0), layoutOf(headerOf(good)).stringsAt()};
    for (int round = 0; round < 300; ++round) {
        std::string bytes = good;
        for (int i = 0; i < 4; ++i)
            bytes[places[random() % 4] + random() % 400] = static_cast<char>(random());
        const auto left = recovered(bytes);
        if (!left)
            continue;
        for (const auto& found : left->lanes)
            EXPECT_LE(found.events.size(), headerOf(bytes).laneEvents);
    }
}

} // namespace capture_test
