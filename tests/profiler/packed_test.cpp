#include "profiler/formats/container/block_file.h"
#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/sealed_writer.h"
#include "profiler/formats/container/slice_blocks.h"
#include "profiler/formats/container/trace_meta.h"
#include "profiler/formats/container/trace_reader.h"
#include "profiler/model/trace_builder.h"
#include "tests/profiler/packed_trace.h"
#include "tests/support/message_matchers.h"
#include "tests/support/trace_text.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace profiler;
using container::ReadOptions;
using container::readTrace;
using container::writeTrace;
using profiler::test::hasId;
using profiler::test::hasIdAndPart;
using test_support::traceFromText;
using test_support::traceToText;
using testing::HasSubstr;
using testing::SizeIs;

class Packed : public testing::Test {
protected:
    Packed() : m_folder(std::filesystem::temp_directory_path() / ("packed_test." + std::to_string(getpid())))
    {
        std::filesystem::create_directories(m_folder);
    }
    ~Packed() override { std::filesystem::remove_all(m_folder); }

    [[nodiscard]] std::filesystem::path path() const { return m_folder / "a.sspack"; }
    [[nodiscard]] std::vector<char> bytes() const
    {
        std::ifstream in{path(), std::ios::binary};
        return {std::istreambuf_iterator<char>{in}, {}};
    }
    void put(const std::vector<char>& bytes) const
    {
        std::ofstream{path(), std::ios::binary}.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    std::shared_ptr<const Trace> read(const ReadOptions& options = {}) const
    {
        auto trace = readTrace(path(), options);
        EXPECT_TRUE(trace) << (trace ? "" : trace.error().message());
        return trace ? *trace : std::make_shared<const Trace>();
    }
    std::filesystem::path m_folder;
};

TEST_F(Packed, KeepsEverythingOfATrace)
{
    const auto trace = traceFromText(R"(format pytorch-json
meta config {"a": 1}
device 0 "Tesla V100" GPU-1 sm=70 sms=80
lost dropped=3 unmatched=1 cut note="something was lost"
main pid=5 tid=6 process=python sort=-3 process_sort=70000
 step 3 0 100
 op aten::linear 1 20 seq=7 ext=12 shapes="[[2, 3]]" types="[float]"
 call launch 3 2 corr=9 dev=0 on=7
stream 0 7
 kernel gemm 10 5 corr=9 grid=8,2,1 block=128,1,1 registers=40 shared=17408 dynamic=16384 local=0
 kernel relu 16 1 grid=4294967295,1,1 registers=16
 kernel unknown 18 1
 copy HtoD 20 5 bytes=4096 src=pinned dst=device async
annotations 0 7
 gpu_annotation forward 10 15
domain mine
 nvtx range 5 5
counter memory unit=bytes
 sample 1 100
 sample 2 150
)");
    ASSERT_TRUE(writeTrace(*trace, path()));
    EXPECT_EQ(traceToText(*read()), traceToText(*trace));
    EXPECT_EQ(read()->flowsOf({TrackId{1}, 0}).size(), 1U);
}

TEST_F(Packed, KeepsTheLimitsOfADevice)
{
    TraceBuilder builder;
    Device device;
    device.name = "GPU";
    device.multiprocessors = 132;
    device.limits = {2048, 32, 65536, 233472};
    builder.addDevice(device);
    ASSERT_TRUE(writeTrace(*builder.finish(), path()));
    const auto trace = read();
    ASSERT_EQ(trace->devices().size(), 1U);
    EXPECT_EQ(trace->devices()[0].multiprocessors, 132);
    EXPECT_EQ(trace->devices()[0].limits, device.limits);
}

TEST_F(Packed, ABlockOfLaunchesThatIsNotThereIsRejected)
{
    const auto trace = traceFromText("stream 0 7\n kernel k 0 1 grid=8,2,1 registers=40");
    const container::Bytes whole = container::encodeMeta(*trace, {}, {}, {});
    const auto good = [](const container::Bytes& raw) {
        TraceBuilder builder;
        return container::decodeMeta(raw, container::kVersion, builder).good;
    };
    EXPECT_TRUE(good(whole));
    // The count of launches follows the strings; the launch id is the last field of the arguments.
    const std::uint32_t one = 1, grid = 8;
    container::Bytes launch(2 * sizeof one);
    std::memcpy(launch.data(), &one, sizeof one);
    std::memcpy(launch.data() + sizeof one, &grid, sizeof grid);
    const auto at = std::search(whole.begin(), whole.end(), launch.begin(), launch.end());
    ASSERT_NE(at, whole.end());
    for (const std::uint32_t count : {0U, 2U, 0xffffffffU}) {
        container::Bytes damaged = whole;
        std::memcpy(damaged.data() + (at - whole.begin()), &count, sizeof count);
        EXPECT_FALSE(good(damaged)) << count;
    }
}

TEST_F(Packed, FilesOfVersion5HaveNoLaunches)
{
    const auto trace = container::readTrace(STEPSCOPE_PACKED_VERSION_5);
    ASSERT_TRUE(trace) << trace.error().message();
    const auto kernels = (*trace)->ofKind(ActivityKind::Kernel);
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_EQ(kernels[0].args, SliceArgs{});
    EXPECT_EQ((*trace)->launchCount(), 0U);
    ASSERT_EQ((*trace)->devices().size(), 1U);
    EXPECT_EQ((*trace)->devices()[0].computeMajor, 9);
    EXPECT_EQ((*trace)->devices()[0].multiprocessors, 0);
}

TEST_F(Packed, BlocksOfALiveTraceAreSorted)
{
    TraceBuilder builder;
    const auto track = builder.addTrack({});
    for (int i = 0; i < 5000; ++i) {
        Slice slice;
        slice.begin = traceTime(i * 37 % 5000 * 10);
        slice.duration = Nanoseconds{8};
        slice.args.value = i;
        builder.add(track, slice);
        if (i % 100 == 0)
            static_cast<void>(builder.snapshot());
    }
    const auto live = builder.snapshot();
    ASSERT_TRUE(writeTrace(*live, path()));
    const auto trace = read();
    EXPECT_EQ(traceToText(*trace), traceToText(*live));
    EXPECT_EQ(trace->slice({track, 4999}).begin, traceTime(49'990));
}

TEST_F(Packed, HasAPreviewBeforeDecodingAndIsSmall)
{
    const auto trace = packed_test::training(400'000, 2);
    ASSERT_TRUE(writeTrace(*trace, path()));
    EXPECT_LE(std::filesystem::file_size(path()), 400'000U * 32);
    std::shared_ptr<const Trace> preview;
    ReadOptions options;
    options.preview = [&](auto early) { preview = early; };
    const auto whole = read(options);
    ASSERT_TRUE(preview);
    for (const auto& other : {preview, whole}) {
        EXPECT_EQ(other->range(), trace->range());
        EXPECT_EQ(other->sliceCount(), trace->sliceCount());
    }
    // Zoomed out, the preview shows the same as the whole trace, from its summaries; a bucket contains two thousand
    // slices.
    std::vector<LodBucket> before(50), after(50);
    for (const Track& track : trace->tracks()) {
        for (int depth = 0; depth < trace->depthCount(track.id); ++depth) {
            preview->summarize(track.id, depth, trace->range(), before);
            trace->summarize(track.id, depth, trace->range(), after);
            for (std::size_t i = 0; i < before.size(); ++i) {
                EXPECT_NEAR(before[i].busy, after[i].busy, 0.1 * after[i].busy + 0.001);
                EXPECT_NEAR(before[i].count, after[i].count, 0.1 * after[i].count + 2);
                EXPECT_EQ(before[i].kind, after[i].kind);
            }
        }
    }
    EXPECT_LT(preview->memoryBytes(), trace->memoryBytes() / 4) << "no block was decoded";
    packed_test::expectSame(*preview, *trace);
    packed_test::expectSame(*whole, *trace);
}

TEST_F(Packed, BlocksThatExceedTheMemoryStayInTheFile)
{
    const auto trace = packed_test::training(300'000, 3);
    ASSERT_TRUE(writeTrace(*trace, path()));
    ReadOptions options;
    options.memoryBudget = 3'000'000; // one and a half blocks
    const auto opened = read(options);
    EXPECT_LT(opened->memoryBytes(), options.memoryBudget);
    packed_test::expectSame(*opened, *trace);
}

TEST_F(Packed, LossesWhileTheFileIsOpenAreCounted)
{
    ASSERT_TRUE(writeTrace(*packed_test::training(300'000, 3), path()));
    ReadOptions options;
    options.memoryBudget = 3'000'000; // one and a half blocks
    const auto opened = read(options);
    const auto whole = bytes();
    std::filesystem::resize_file(path(), 100'000);
    std::size_t seen = 0;
    for (const Track& track : opened->tracks())
        seen += opened->sorted(track.id).size();
    ASSERT_LT(seen, 200'000U);
    EXPECT_EQ(opened->unread().slices, 300'000U - seen);
    EXPECT_THAT(opened->losses().notes, testing::Contains(hasIdAndPart("trace.unread_slices", "why", path().string())));
    const auto written = writeTrace(*opened, m_folder / "copy.sspack");
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().what, hasId("save.unread_part"));
    put(whole); // the disk is available again
    for (const Track& track : opened->tracks())
        static_cast<void>(opened->sorted(track.id));
    EXPECT_EQ(opened->unread().slices, 0U);
}

TEST_F(Packed, ExplicitFlowsAreKept)
{
    TraceBuilder builder;
    const auto track = builder.addTrack({});
    std::vector<RawSlice> slices(3);
    for (std::size_t i = 0; i < slices.size(); ++i) {
        slices[i].begin = static_cast<std::int64_t>(i) * 10;
        slices[i].duration = 5;
    }
    builder.addMany(track, std::move(slices), Depth::Inferred);
    builder.addFlow(FlowKind::Async, {track, traceTime(1)}, {track, traceTime(21)});
    ASSERT_TRUE(writeTrace(*builder.finish(), path()));
    const auto flows = read()->flowsOf({track, 0});
    ASSERT_THAT(flows, SizeIs(1));
    EXPECT_EQ(flows[0].to, (SliceId{track, 2}));
}

TEST_F(Packed, ADamagedBlockLosesOnlyItsSlices)
{
    const auto trace = packed_test::training(200'000, 1);
    ASSERT_TRUE(writeTrace(*trace, path()));
    auto raw = bytes();
    container::FileHeader header{};
    std::memcpy(&header, raw.data(), sizeof header);
    container::FrameHeader meta{};
    std::memcpy(&meta, raw.data() + sizeof header, sizeof meta);
    const std::size_t block = sizeof header + sizeof meta + meta.payloadBytes;
    raw[block + 500] ^= 1;
    put(raw);
    for (const std::uint64_t budget : {std::uint64_t{0}, std::uint64_t{1'000'000}}) {
        ReadOptions options;
        options.memoryBudget = budget;
        const auto opened = read(options);
        EXPECT_EQ(opened->sliceCount(), 200'000U - 65'536);
        ASSERT_THAT(opened->captureStats().notes, SizeIs(1));
        EXPECT_THAT(opened->captureStats().notes[0],
                    hasId("trace.missing_slices", {{"count", 65'536}, {"track", "thread 0"}}));
        EXPECT_THAT(opened->captureStats().notes[0],
                    hasIdAndPart("trace.missing_slices", "why", "byte " + std::to_string(block)));
        const Slice first = opened->slice({TrackId{0}, 0});
        const Slice same = trace->slice({TrackId{0}, 65'536});
        EXPECT_EQ(first.begin, same.begin);
        EXPECT_EQ(first.sequence, same.sequence);
    }
}

TEST_F(Packed, DamagedNamesAreReadFromTheirCopy)
{
    const auto trace = packed_test::training(200'000, 2);
    ASSERT_TRUE(writeTrace(*trace, path()));
    const auto good = bytes();
    container::FrameHeader meta{};
    std::memcpy(&meta, good.data() + sizeof(container::FileHeader), sizeof meta);
    const std::size_t end = sizeof(container::FileHeader) + sizeof meta + meta.payloadBytes;
    // Magic, type, size, sequence and checksum of its header, and bytes after the header.
    for (const std::size_t at : {std::size_t{56}, std::size_t{60}, std::size_t{64}, std::size_t{68}, std::size_t{72},
                                 std::size_t{80}, std::size_t{300}, end - 1}) {
        auto raw = good;
        raw[at] ^= 4;
        put(raw);
        const auto opened = readTrace(path());
        ASSERT_TRUE(opened) << at << ": " << opened.error().message();
        packed_test::expectSame(**opened, *trace);
        EXPECT_EQ((*opened)->tracks()[1].name, "thread 1");
        ASSERT_THAT((*opened)->captureStats().notes, SizeIs(1)) << at;
        EXPECT_THAT((*opened)->captureStats().notes[0], hasId("trace.names_copy", {{"byte", 56}}));
    }
}

TEST_F(Packed, ATruncatedFileShowsItsFirstBlocks)
{
    const auto trace = packed_test::training(200'000, 1);
    ASSERT_TRUE(writeTrace(*trace, path()));
    auto raw = bytes();
    raw.resize(raw.size() / 2);
    put(raw);
    const auto opened = read();
    EXPECT_EQ(opened->sliceCount() % 65'536, 0U);
    EXPECT_GE(opened->sliceCount(), 65'536U);
    EXPECT_TRUE(opened->captureStats().cut);
    EXPECT_THAT(opened->captureStats().notes.back(), hasId("trace.cut_block"));
}

TEST_F(Packed, RejectsOtherFilesWithAReason)
{
    ASSERT_TRUE(writeTrace(*traceFromText("main\n op a 0 1"), path()));
    const auto good = bytes();
    auto newer = good;
    newer[8] = static_cast<char>(container::kVersion + 1);
    put(newer);
    ASSERT_FALSE(readTrace(path()));
    EXPECT_EQ(readTrace(path()).error().code, Error::Code::Unsupported);
    EXPECT_THAT(readTrace(path()).error().what, hasId("trace.newer"));
    auto other = good;
    other[0] = 'X';
    put(other);
    EXPECT_THAT(readTrace(path()).error().what, hasId("trace.no_trace"));
    auto damagedMeta = good;
    damagedMeta[80] ^= 1;
    damagedMeta.resize(damagedMeta.size() / 2); // the copy is damaged too
    put(damagedMeta);
    EXPECT_THAT(readTrace(path()).error().where, HasSubstr("byte 56"));
    EXPECT_THAT(readTrace(path()).error().hint, HasSubstr("convert the trace"));
    put({});
    EXPECT_THAT(readTrace(path()).error().what, hasId("trace.empty"));
    EXPECT_EQ(readTrace(m_folder / "none").error().code, Error::Code::NotFound);
    EXPECT_EQ(readTrace(m_folder).error().code, Error::Code::Invalid);
}

TEST_F(Packed, OlderVersionsOpen)
{
    std::ifstream in{STEPSCOPE_PACKED_VERSION_2, std::ios::binary};
    std::vector<char> raw{std::istreambuf_iterator<char>{in}, {}};
    constexpr std::size_t kVersionAt = 8, kChecksumAt = 32; // in the header of these versions
    ASSERT_GT(raw.size(), kChecksumAt);
    ASSERT_EQ(raw[kVersionAt], 2);
    for (const char version : {2, 1}) { // equal for a trace without devices
        raw[kVersionAt] = version;
        const std::uint64_t checksum = container::checksumOf(std::as_bytes(std::span{raw}).first(kChecksumAt));
        std::memcpy(&raw[kChecksumAt], &checksum, sizeof checksum);
        put(raw);
        const auto trace = read();
        EXPECT_EQ(trace->sliceCount(), 3U);
        EXPECT_THAT(trace->devices(), testing::IsEmpty());
        // The notes come from a file that had no ids yet: reading must not add any.
        EXPECT_THAT(trace->captureStats().notes, testing::Each(hasId("")));
        for (const Track& track : trace->tracks())
            EXPECT_EQ(track.processSortIndex, 0);
    }
}

TEST_F(Packed, AFailedOrStoppedWriteKeepsTheExistingFile)
{
    put({'o', 'l', 'd'});
    container::WriteOptions options;
    std::stop_source stop;
    stop.request_stop();
    options.stop = stop.get_token();
    const auto trace = packed_test::training(1000, 1);
    EXPECT_EQ(writeTrace(*trace, path(), options).error().code, Error::Code::Cancelled);
    EXPECT_EQ(bytes().size(), 3U);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator{m_folder}, {}), 1) << "no partial file is left";
    EXPECT_EQ(writeTrace(*trace, m_folder / "none" / "a").error().code, Error::Code::NotFound);
    ASSERT_TRUE(writeTrace(*trace, path()));
    ReadOptions stopped;
    stopped.stop = stop.get_token();
    EXPECT_EQ(readTrace(path(), stopped).error().code, Error::Code::Cancelled);
}

TEST_F(Packed, AnEmptyTraceRoundTrips)
{
    ASSERT_TRUE(writeTrace(*TraceBuilder{}.finish(), path()));
    EXPECT_EQ(read()->sliceCount(), 0U);
}

TEST_F(Packed, ASectionThatReadersRejectIsNotWritten)
{
    const container::Bytes tooLarge((std::size_t{8} << 20) + 1);
    const auto block = container::packBlock(container::FrameType::Slices, tooLarge);
    ASSERT_FALSE(block);
    EXPECT_THAT(block.error().what, hasId("save.too_large", {{"bytes", 8'388'609}}));
    EXPECT_TRUE(container::packBlock(container::FrameType::Details, tooLarge));
}

TEST_F(Packed, BlocksAfterDamageThatResemblesBlocksAreFound)
{
    const auto trace = packed_test::training(200'000, 1);
    ASSERT_TRUE(writeTrace(*trace, path()));
    auto raw = bytes();
    container::FrameHeader meta{};
    std::memcpy(&meta, raw.data() + sizeof(container::FileHeader), sizeof meta);
    const auto block = static_cast<std::ptrdiff_t>(sizeof(container::FileHeader) + sizeof meta + meta.payloadBytes);
    std::string noise(3'000'001, 'S'); // the magic is "SSFM"
    for (std::size_t i = 1000; i < 2000; i += 7)
        noise.replace(i, 4, "SSFM");
    raw.insert(raw.begin() + block, noise.begin(), noise.end());
    put(raw);
    const auto opened = read();
    EXPECT_EQ(opened->sliceCount(), 200'000U);
    EXPECT_TRUE(opened->captureStats().cut);
    EXPECT_THAT(opened->captureStats().notes,
                testing::Contains(hasId("trace.damaged", {{"bytes", 3'000'001}, {"byte", block}})));
}

TEST_F(Packed, AnUnreadableBlockIsRequestedAgain)
{
    const container::BlockCache cache(1 << 20);
    RawSlice slice;
    const auto block = TrackBlock::make(std::span{&slice, 1});
    EXPECT_EQ(cache.get(0, [](std::uint32_t) { return nullptr; }), nullptr);
    EXPECT_EQ(cache.get(0, [&](std::uint32_t) { return block; }), block);
    EXPECT_EQ(cache.get(0, [](std::uint32_t) { return nullptr; }), block);
}

} // namespace
