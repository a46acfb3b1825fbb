#include "profiler/formats/container/block_file.h"
#include "profiler/formats/container/sealed_writer.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/model/trace_builder.h"
#include "tests/support/message_matchers.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

using namespace profiler;
using container::ReadOptions;
using container::writeTrace;
using profiler::test::hasId;
using testing::HasSubstr;
using testing::SizeIs;

class PackedSamples : public testing::Test {
protected:
    ~PackedSamples() override { std::filesystem::remove(path()); }

    [[nodiscard]] std::filesystem::path path() const
    {
        return std::filesystem::temp_directory_path() / ("samples." + std::to_string(getpid()) + ".sspack");
    }
    [[nodiscard]] std::vector<char> bytes() const
    {
        std::ifstream in{path(), std::ios::binary};
        return {std::istreambuf_iterator<char>{in}, {}};
    }
    void put(const std::vector<char>& bytes) const
    {
        std::ofstream{path(), std::ios::binary}.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    [[nodiscard]] std::shared_ptr<const Trace> read(const ReadOptions& options = {}) const
    {
        auto trace = container::readTrace(path(), options);
        EXPECT_TRUE(trace) << (trace ? "" : trace.error().message());
        return trace ? *trace : std::make_shared<const Trace>();
    }
};

constexpr int kManySamples = 200'000;

/// A counter with many samples between two counters with few.
std::shared_ptr<const Trace> withManySamples()
{
    TraceBuilder builder;
    for (const int count : {3, kManySamples, 5}) {
        Track track;
        track.kind = TrackKind::Counter;
        track.name = std::to_string(count);
        const TrackId id = builder.addTrack(std::move(track));
        for (int i = 0; i < count; ++i)
            builder.addSample(id, {traceTime(i * 1'000 + i % 7), i % 1'000 / 8.0});
    }
    return builder.finish();
}

void expectSamples(const Trace& trace, TrackId id, const std::vector<CounterSample>& wanted)
{
    const auto samples = trace.counter(id);
    EXPECT_TRUE(std::equal(samples.begin(), samples.end(), wanted.begin(), wanted.end(),
                           [](const auto& a, const auto& b) { return a.time == b.time && a.value == b.value; }))
        << trace.track(id).name;
}

TEST_F(PackedSamples, CountersWithManySamplesStayInTheFile)
{
    const auto trace = withManySamples();
    ASSERT_TRUE(writeTrace(*trace, path()));
    std::shared_ptr<const Trace> preview;
    ReadOptions options;
    options.preview = [&](auto shown) { preview = std::move(shown); };
    const auto opened = read(options);
    ASSERT_TRUE(preview);
    for (const Track& track : trace->tracks())
        for (const auto& shown : {opened, preview})
            expectSamples(*shown, track.id, trace->counter(track.id));
    EXPECT_LT(opened->memoryBytes() + kManySamples * sizeof(CounterSample), trace->memoryBytes() + 100'000);
    EXPECT_EQ(opened->unread().samples, 0U);
    // … and are copied from there.
    ASSERT_TRUE(writeTrace(*opened, path()));
    expectSamples(*read(), TrackId{1}, trace->counter(TrackId{1}));
}

TEST_F(PackedSamples, DamagedSamplesAreMissingAndReported)
{
    ASSERT_TRUE(writeTrace(*withManySamples(), path()));
    auto raw = bytes();
    container::FrameHeader meta{};
    std::memcpy(&meta, raw.data() + sizeof(container::FileHeader), sizeof meta);
    const std::size_t samples = sizeof(container::FileHeader) + sizeof meta + meta.payloadBytes;
    raw[samples + sizeof meta + 100] ^= 1;
    put(raw);
    const auto opened = read();
    EXPECT_THAT(opened->counter(TrackId{1}), SizeIs(kManySamples - 65'536));
    EXPECT_EQ(opened->unread().samples, 65'536U);
    EXPECT_THAT(opened->unread().why, HasSubstr("byte " + std::to_string(samples)));
    EXPECT_THAT(opened->counter(TrackId{2}), SizeIs(5));
}

TEST_F(PackedSamples, AreFoundIfTheNamesAreDamaged)
{
    ASSERT_TRUE(writeTrace(*withManySamples(), path()));
    auto raw = bytes();
    raw[sizeof(container::FileHeader) + 8] ^= 1; // the length of Meta in its header
    put(raw);
    const auto opened = read();
    EXPECT_THAT(opened->counter(TrackId{1}), SizeIs(kManySamples));
    EXPECT_EQ(opened->unread().samples, 0U);
    EXPECT_THAT(opened->captureStats().notes, testing::ElementsAre(hasId("trace.names_copy", {{"byte", 56}})));
}

TEST_F(PackedSamples, SamplesThatExceedTheMemoryAreLeftOut)
{
    ASSERT_TRUE(writeTrace(*withManySamples(), path()));
    ReadOptions options;
    options.memoryBudget = 2 * 65'536 * sizeof(CounterSample);
    const auto opened = read(options);
    EXPECT_THAT(opened->captureStats().notes, testing::Contains(hasId("trace.too_many_samples", {{"count", 68'928}})));
}

TEST_F(PackedSamples, OfVersion3AreInMeta)
{
    const auto trace = container::readTrace(STEPSCOPE_PACKED_VERSION_3);
    ASSERT_TRUE(trace) << trace.error().message();
    expectSamples(**trace, TrackId{1}, {{traceTime(0), 2.5}, {traceTime(10), 1.5}, {traceTime(20), 0.5}});
    expectSamples(**trace, TrackId{2}, {{traceTime(7), 8}});
    EXPECT_EQ((*trace)->sliceCount(), 1U);
}

} // namespace
