#include "profiler/analysis/memory/memory_over_time.h"
#include "profiler/formats/format.h"
#include "profiler/formats/pytorch/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>

/// Memory snapshots of PyTorch, from pickles that Python writes.
namespace {

using namespace profiler;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kMib = 1 << 20;

class MemorySnapshot : public testing::Test {
protected:
    static void SetUpTestSuite()
    {
        s_folder =
            std::filesystem::temp_directory_path() / ("stepscope-snapshots-" + std::to_string(std::random_device{}()));
        std::filesystem::create_directories(s_folder);
        const std::string command = std::string(PYTHON) + " " + SCRIPT + " " + s_folder.string();
        ASSERT_EQ(std::system(command.c_str()), 0);
    }
    static void TearDownTestSuite() { std::filesystem::remove_all(s_folder); }

    static std::string bytesOf(const std::string& name)
    {
        std::ifstream file(s_folder / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static std::string errorOf(const std::string& name)
    {
        const auto trace = formats::openTrace(s_folder / name);
        EXPECT_FALSE(trace) << name;
        return trace ? std::string() : trace.error().what.id;
    }

    static inline std::filesystem::path s_folder;
};

const Track* trackNamed(const Trace& trace, std::string_view name)
{
    for (const Track& track : trace.tracks())
        if (track.name == name)
            return &track;
    return nullptr;
}

std::vector<std::int64_t> valuesOf(const Trace& trace, std::string_view counter)
{
    const Track* track = trackNamed(trace, counter);
    std::vector<std::int64_t> values;
    if (track)
        for (const CounterSample& sample : trace.counter(track->id))
            values.push_back(static_cast<std::int64_t>(sample.value) / kMib);
    return values;
}

TEST_F(MemorySnapshot, OfEachProtocolHasItsEventsAndCounters)
{
    for (int protocol = 2; protocol <= 5; ++protocol) {
        const auto opened = formats::openTrace(s_folder / ("snapshot_" + std::to_string(protocol) + ".pickle"));
        ASSERT_TRUE(opened) << opened.error().message();
        const Trace& trace = **opened;
        EXPECT_EQ(trace.format(), "pytorch-memory");
        const Track* track = trackNamed(trace, "allocator");
        ASSERT_TRUE(track);
        EXPECT_EQ(track->device, DeviceId{0});
        const auto slices = trace.sorted(track->id);
        ASSERT_EQ(slices.size(), 7U);
        EXPECT_EQ(trace.name(slices[1]), "alloc train.py:41");
        EXPECT_EQ(slices[1].args.bytes, 4 * kMib);
        EXPECT_EQ(toNs(slices[1].begin), 1'000'010'000);
        EXPECT_EQ(trace.name(slices[2]), "alloc train.py:52");
        const auto details = trace.details(slices[1].id);
        ASSERT_TRUE(details);
        EXPECT_EQ(details->front().first, "Call stack");
        EXPECT_THAT(details->front().second, HasSubstr("/home/me/train.py:41 main\n/home/me/train.py:7 main"));
        // One MiB was allocated before the history.
        EXPECT_THAT(valuesOf(trace, "GPU 0 memory allocated"), ElementsAre(1, 5, 13, 9, 11));
        EXPECT_THAT(valuesOf(trace, "GPU 0 memory reserved"), ElementsAre(0, 20));
    }
}

TEST_F(MemorySnapshot, HasTheHoldersOfThePeakByLine)
{
    const auto opened = formats::openTrace(s_folder / "snapshot_4.pickle");
    ASSERT_TRUE(opened);
    const auto moments = analysis::memoryMoments(**opened);
    ASSERT_EQ(moments.size(), 2U);
    EXPECT_TRUE(moments[0].ranOut);
    EXPECT_EQ(moments[0].bytes, 9 * kMib);
    EXPECT_EQ(moments[0].asked, 999 * kMib);
    EXPECT_EQ(moments[1].place, "GPU 0");
    EXPECT_EQ(moments[1].bytes, 13 * kMib);
    ASSERT_EQ(moments[1].alive.size(), 3U);
    EXPECT_EQ(moments[1].alive[0].op, "/home/me/train.py:52");
    EXPECT_EQ(moments[1].alive[0].bytes, 8 * kMib);
    EXPECT_EQ(moments[1].alive[1].op, "/home/me/train.py:41");
    EXPECT_EQ(moments[1].alive[2].op, "/home/me/train.py:3");
}

std::vector<analysis::DeviceMemory> memoryOf(const std::filesystem::path& path)
{
    const auto trace = formats::openTrace(path);
    EXPECT_TRUE(trace);
    return trace ? analysis::memoryOverTime(**trace) : std::vector<analysis::DeviceMemory>();
}

TEST_F(MemorySnapshot, HasTheMemoryOverTimeOfEachProtocol)
{
    for (int protocol = 2; protocol <= 5; ++protocol) {
        const auto devices = memoryOf(s_folder / ("snapshot_" + std::to_string(protocol) + ".pickle"));
        ASSERT_EQ(devices.size(), 1U);
        const analysis::DeviceMemory& gpu = devices[0];
        EXPECT_EQ(gpu.place, "GPU 0");
        EXPECT_EQ(gpu.source, analysis::MemorySource::AllocatorHistory);
        std::vector<std::int64_t> allocated, reserved;
        for (const analysis::MemorySample& sample : gpu.samples) {
            allocated.push_back(sample.allocated() / kMib);
            reserved.push_back(sample.total() / kMib);
        }
        EXPECT_THAT(allocated, ElementsAre(1, 1, 5, 13, 9, 9, 9, 11));
        EXPECT_THAT(reserved, ElementsAre(1, 20, 20, 20, 20, 20, 20, 20));
        ASSERT_EQ(gpu.moments.size(), 2U);
        EXPECT_TRUE(gpu.moments[0].ranOut);
        EXPECT_EQ(toNs(*gpu.moments[0].time), 1'000'040'000);
        EXPECT_EQ(gpu.peak()->bytes, 13 * kMib);
        EXPECT_EQ(gpu.peak()->sample.of(analysis::MemoryCategory::Fragmented), 7 * kMib);
        ASSERT_EQ(gpu.peak()->holders.size(), 3U);
        EXPECT_EQ(gpu.peak()->holders[0].place, (analysis::SourceLine{"/home/me/train.py", 52, "main"}));
        EXPECT_EQ(gpu.peak()->holders[2].place.line, 3) << "allocated before the history";
        ASSERT_EQ(gpu.segments.size(), 1U);
        EXPECT_EQ(gpu.segments[0].free(), 9 * kMib);
        EXPECT_FALSE(gpu.segments[0].expandable);
        ASSERT_EQ(gpu.segments[0].blocks.size(), 5U);
        EXPECT_EQ(gpu.segments[0].blocks[2].place.line, 52);
        EXPECT_TRUE(gpu.segments[0].blocks[2].allocation);
        EXPECT_EQ(gpu.segments[0].blocks[4].state, analysis::SegmentBlock::State::Free);
    }
}

TEST_F(MemorySnapshot, KeepsItsMemoryInACopy)
{
    const auto trace = formats::openTrace(s_folder / "step.pickle");
    ASSERT_TRUE(trace);
    ASSERT_TRUE(formats::saveTrace(**trace, s_folder / "copy.sspack"));
    const auto first = analysis::memoryOverTime(**trace), copy = memoryOf(s_folder / "copy.sspack");
    ASSERT_EQ(first.size(), 1U);
    ASSERT_EQ(copy.size(), 1U);
    ASSERT_EQ(copy[0].samples.size(), first[0].samples.size());
    for (std::size_t i = 0; i < first[0].samples.size(); ++i)
        EXPECT_EQ(copy[0].samples[i].bytes, first[0].samples[i].bytes);
    EXPECT_EQ(copy[0].peak()->holders.size(), first[0].peak()->holders.size());
    EXPECT_EQ(copy[0].peak()->holders[0].place, first[0].peak()->holders[0].place);
}

TEST_F(MemorySnapshot, OfATrainingStepHasItsCategories)
{
    using analysis::MemoryCategory;
    const auto devices = memoryOf(s_folder / "step.pickle");
    ASSERT_EQ(devices.size(), 1U);
    std::map<MemoryCategory, std::int64_t> most;
    for (const analysis::MemorySample& sample : devices[0].samples)
        for (std::size_t i = 0; i < sample.bytes.size(); ++i) {
            std::int64_t& of = most[static_cast<MemoryCategory>(i)];
            of = std::max(of, sample.bytes[i] / kMib);
        }
    EXPECT_EQ(most[MemoryCategory::Parameters], 4);
    EXPECT_EQ(most[MemoryCategory::Activations], 6);
    EXPECT_EQ(most[MemoryCategory::Temporaries], 1);
    EXPECT_EQ(most[MemoryCategory::Gradients], 4);
    EXPECT_EQ(most[MemoryCategory::OptimizerState], 8);
    EXPECT_EQ(most[MemoryCategory::Uncategorised], 2);
    EXPECT_TRUE(devices[0].segments.at(0).expandable);
}

TEST_F(MemorySnapshot, WithoutHistoryHasItsSegments)
{
    const auto devices = memoryOf(s_folder / "segments.pickle");
    ASSERT_EQ(devices.size(), 1U);
    EXPECT_TRUE(devices[0].samples.empty());
    EXPECT_EQ(devices[0].segments.size(), 1U);
}

TEST_F(MemorySnapshot, WithoutTimesSaysSo)
{
    const auto opened = formats::openTrace(s_folder / "no_times.pickle");
    ASSERT_TRUE(opened);
    ASSERT_EQ((*opened)->captureStats().notes.size(), 1U);
    EXPECT_EQ((*opened)->captureStats().notes[0].id, "snapshot.no_times");
    EXPECT_EQ((*opened)->sliceCount(), 7U);
}

TEST_F(MemorySnapshot, RunsNoCode)
{
    for (int protocol = 2; protocol <= 5; ++protocol)
        EXPECT_EQ(errorOf("evil_" + std::to_string(protocol) + ".pickle"), "pickle.code");
    EXPECT_FALSE(std::filesystem::exists(s_folder / "ran"));
    const auto evil = formats::openTrace(s_folder / "evil_4.pickle");
    EXPECT_EQ(evil.error().what.find("what")->text, "posix.system");
    EXPECT_THAT(evil.error().where, HasSubstr("byte "));
    EXPECT_EQ(errorOf("set.pickle"), "pickle.code");
}

TEST_F(MemorySnapshot, OtherPicklesAreNotSnapshots)
{
    EXPECT_EQ(errorOf("other.pickle"), "snapshot.none");
    EXPECT_TRUE(
        formats::openTrace(s_folder / "loop.pickle")); // a segment that contains everything is one without memory
}

TEST_F(MemorySnapshot, CutAnywhereIsAnError)
{
    const std::string whole = bytesOf("snapshot_4.pickle");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto document = formats::pickle::read(std::string_view(whole).substr(0, size), "cut");
        ASSERT_FALSE(document) << size;
        EXPECT_EQ(document.error().what.id, "pickle.damaged");
    }
    EXPECT_TRUE(formats::pickle::read(whole, "whole"));
}

TEST_F(MemorySnapshot, DamagedAnywhereIsAnErrorOrATrace)
{
    std::minstd_rand random(20);
    const auto path = s_folder / "damaged.pickle";
    int read = 0;
    for (int round = 0; round < 1500; ++round) {
        std::string bytes = bytesOf("snapshot_" + std::to_string(2 + round % 4) + ".pickle");
        for (unsigned change = 0; change <= random() % 4; ++change)
            bytes[random() % bytes.size()] = static_cast<char>(random());
        std::ofstream(path, std::ios::binary) << bytes;
        const auto trace = formats::openTrace(path);
        if (trace) {
            ++read;
            for (const Track& track : (*trace)->tracks())
                for (const Slice& slice : (*trace)->sorted(track.id))
                    EXPECT_TRUE((*trace)->details(slice.id));
            analysis::memoryMoments(**trace);
            for (const analysis::DeviceMemory& device : analysis::memoryOverTime(**trace))
                for (const analysis::MemorySample& sample : device.samples)
                    for (const std::int64_t size : sample.bytes)
                        ASSERT_GE(size, 0);
        } else {
            EXPECT_FALSE(trace.error().what.id.empty());
        }
    }
    EXPECT_GT(read, 100);
}

TEST(Pickle, HostileCountsDoNotAllocate)
{
    using namespace std::string_literals;
    for (const std::string& bytes : {"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f."s, "\x80\x02X\xff\xff\xff\xff."s,
                                     "\x80\x02\x8b\xff\xff\xff\xff."s, "\x80\x02\x8b\xff\xff\xff\x7f."s,
                                     "\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xff]."s, "\x80\x02j\xff\xff\xff\xff."s,
                                     "\x80\x02(."s, "\x80\x02t."s, "\x80\x02(]u."s, "\x80\x02}(Nu."s, "\x80\x02N0N00."s,
                                     "\x80\x02]Na(a."s, "\x80\x09N."s, "\x80\x02\xff."s, "\x80\x02\x85."s}) {
        const auto document = formats::pickle::read(bytes, "hostile");
        ASSERT_FALSE(document) << testing::PrintToString(bytes);
        EXPECT_EQ(document.error().what.id, "pickle.damaged");
    }
}

} // namespace
