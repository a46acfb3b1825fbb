#include "profiler/analysis/memory/memory_over_time.h"

#include "profiler/analysis/memory/allocator_history.h"
#include "profiler/model/trace_builder.h"
#include "tests/support/allocator_trace.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

namespace analysis_test {

using namespace profiler;
using namespace profiler::analysis;
using testing::IsEmpty;

namespace {

using Category = MemoryCategory;
using Snapshot = test_support::AllocatorTrace;

// Call stacks of PyTorch programs, the innermost frame first.
const std::string kTorch = "/venv/lib/torch/", kModule = kTorch + "nn/modules/module.py";
const std::string kBuild = kTorch + "nn/modules/linear.py:106 __init__\n/me/model.py:5 __init__\n/me/train.py:9 main";
const std::string kMove = kModule + ":1 convert\n" + kModule + ":2 _apply\n" + kModule + ":3 to\n/me/train.py:10 main";
std::string forwardAt(int line)
{
    return "??:0 at::native::empty(c10::ArrayRef<long>)\n" + kTorch + "nn/functional.py:" + std::to_string(line) +
           " linear\n" + kTorch + "nn/modules/linear.py:3 forward\n" + kModule + ":7 _call_impl\n/me/train.py:41 main";
}
const std::string kBackward = "??:0 at::native::mm\n??:0 torch::autograd::Engine::evaluate_function(std::shared_ptr)";
const std::string kOptimizer =
    kTorch + "optim/adam.py:100 _init_group\n" + kTorch + "optim/optimizer.py:50 step\n/me/train.py:44 main";
const std::string kZeroGrad = kTorch + "optim/optimizer.py:9 zero_grad\n/me/train.py:40 main";
const std::string kBatch = "/me/train.py:39 main";

DeviceMemory memoryOf(Snapshot& snapshot)
{
    auto devices = memoryOverTime(*snapshot.trace());
    EXPECT_EQ(devices.size(), 1U);
    return devices.empty() ? DeviceMemory{} : std::move(devices.front());
}

/// The state after the n-th event, counted from 1.
const MemorySample& after(const DeviceMemory& memory, std::size_t event)
{
    return memory.samples.at(event); // the first one is the state before all events
}

const DeviceMemory* deviceNamed(const std::vector<DeviceMemory>& devices, std::string_view place)
{
    for (const DeviceMemory& device : devices)
        if (device.place == place)
            return &device;
    return nullptr;
}

} // namespace

TEST(AllocationStack, TheInnermostFrameThatNamesAPartDecides)
{
    using Origin = AllocationOrigin;
    EXPECT_EQ(readAllocationStack(kBuild).origin, Origin::Construction);
    EXPECT_EQ(readAllocationStack(kMove).origin, Origin::Construction);
    EXPECT_EQ(readAllocationStack(forwardAt(20)).origin, Origin::Forward);
    EXPECT_EQ(readAllocationStack(kBackward).origin, Origin::Backward);
    EXPECT_EQ(readAllocationStack(kOptimizer).origin, Origin::Optimizer);
    EXPECT_EQ(readAllocationStack(kZeroGrad).origin, Origin::Unknown);
    EXPECT_EQ(readAllocationStack(kBatch).origin, Origin::Unknown);
    EXPECT_EQ(readAllocationStack(forwardAt(20) + "\n" + kBackward).origin, Origin::Forward) << "recomputed";
    EXPECT_EQ(readAllocationStack(forwardAt(20) + "\n" + kOptimizer).origin, Origin::Forward) << "in a closure";
    EXPECT_EQ(readAllocationStack(kZeroGrad + "\n" + kOptimizer).origin, Origin::Unknown);
    EXPECT_FALSE(readAllocationStack("").hasFrames);
}

TEST(AllocationStack, PlaceIsTheInnermostLineOfTheProgram)
{
    EXPECT_EQ(readAllocationStack(forwardAt(20)).place, (SourceLine{"/me/train.py", 41, "main"}));
    EXPECT_EQ(readAllocationStack(forwardAt(20)).innermost, kTorch + "nn/functional.py:20");
    EXPECT_EQ(readAllocationStack(kModule + ":7 _call_impl").place, (SourceLine{kModule, 7, "_call_impl"}));
    EXPECT_TRUE(readAllocationStack(kBackward).place.empty());
    EXPECT_EQ(readAllocationStack("/a b:c/d.py:12 f g").place, (SourceLine{"/a b:c/d.py", 12, "f g"}));
    EXPECT_TRUE(readAllocationStack("nonsense").hasFrames);
}

TEST(AllocationStack, TheOutermostOperatorBelowPythonIsTheOneThatTheProgramCalled)
{
    const std::string engine = "\n??:0 torch::autograd::Engine::evaluate_function(std::shared_ptr)";
    const auto opOf = [](const std::string& text) { return readAllocationStack(text).op; };
    EXPECT_EQ(opOf("??:0 at::_ops::empty_strided::redispatch(c10::DispatchKeySet)\n"
                   "??:0 at::_ops::zeros_like::call(at::Tensor const&)\n/me/adam.py:82 step\n"
                   "??:0 at::_ops::mm::call(at::Tensor const&)"),
              "aten::zeros_like");
    EXPECT_EQ(opOf("??:0 at::_ops::add_Tensor::call(at::Tensor const&)"), "aten::add");
    EXPECT_EQ(opOf("??:0 at::_ops::sum_dim_IntList::call(at::Tensor const&)"), "aten::sum");
    EXPECT_EQ(opOf("??:0 at::_ops::to_dtype_layout::call(at::Tensor const&)"), "aten::to");
    EXPECT_EQ(opOf("??:0 at::_ops::arange_start_out::call(at::Tensor const&)"), "aten::arange");
    EXPECT_EQ(opOf("??:0 at::_ops::_foreach_mul__List::call(at::ArrayRef)"), "aten::_foreach_mul_");
    EXPECT_EQ(opOf("??:0 at::_ops::mm::call(at::Tensor const&)\n"
                   "??:0 torch::autograd::generated::MmBackward0::apply(std::vector)" +
                   engine),
              "MmBackward0");
    EXPECT_EQ(opOf("??:0 at::_ops::clone::call(at::Tensor const&)\n"
                   "??:0 torch::autograd::AccumulateGrad::apply(std::vector)" +
                   engine),
              "AccumulateGrad");
    EXPECT_EQ(opOf(forwardAt(20)), "");
}

TEST(MemoryOverTime, AStepHasItsCategories)
{
    const DeviceMemory memory = memoryOf(Snapshot()
                                             .alloc(1, 1000, kBuild)       // 1
                                             .alloc(2, 10, kBatch)         // 2
                                             .alloc(3, 200, forwardAt(20)) // 3
                                             .alloc(4, 30, forwardAt(21))  // 4: workspace
                                             .free(4, 30, forwardAt(21))   // 5
                                             .alloc(5, 100, forwardAt(22)) // 6
                                             .alloc(6, 1000, kBackward)    // 7: gradient
                                             .alloc(7, 50, kBackward)      // 8
                                             .free(5, 100, kBackward)      // 9
                                             .free(3, 200, kBackward)      // 10
                                             .free(7, 50, kBackward)       // 11
                                             .alloc(8, 2000, kOptimizer)   // 12
                                             .alloc(9, 70, kOptimizer)     // 13
                                             .free(9, 70, kOptimizer)      // 14
                                             .free(6, 1000, kZeroGrad)     // 15
                                             .free(2, 10, kBatch)          // 16
                                             .alloc(10, 10, kBatch));      // 17
    EXPECT_EQ(memory.source, MemorySource::AllocatorHistory);
    EXPECT_TRUE(memory.hasStacks);
    ASSERT_EQ(memory.samples.size(), 18U);
    EXPECT_EQ(memory.samples[0].total(), 0);
    EXPECT_EQ(after(memory, 2).of(Category::Parameters), 1000);
    EXPECT_EQ(after(memory, 2).of(Category::Uncategorised), 10) << "a batch is not a separate category";
    EXPECT_EQ(after(memory, 4).of(Category::Temporaries), 30);
    EXPECT_EQ(after(memory, 6).of(Category::Activations), 300);
    EXPECT_EQ(after(memory, 6).of(Category::Temporaries), 0);
    EXPECT_EQ(after(memory, 8).of(Category::Gradients), 1000);
    EXPECT_EQ(after(memory, 8).of(Category::Temporaries), 50);
    EXPECT_EQ(after(memory, 11).of(Category::Activations), 0);
    EXPECT_EQ(after(memory, 13).of(Category::OptimizerState), 2000);
    EXPECT_EQ(after(memory, 13).of(Category::Temporaries), 70);
    EXPECT_EQ(after(memory, 15).of(Category::Gradients), 0);
    const MemoryState* peak = memory.peak();
    ASSERT_TRUE(peak);
    EXPECT_EQ(peak->bytes, 1000 + 10 + 1000 + 2000 + 70);
    EXPECT_EQ(toNs(*peak->time), 13'000);
    ASSERT_EQ(peak->holders.size(), 5U);
    EXPECT_EQ(peak->holders[0].category, Category::OptimizerState);
    EXPECT_EQ(peak->holders[0].place, (SourceLine{"/me/train.py", 44, "main"}));
    EXPECT_TRUE(peak->holders[0].allocation);
    EXPECT_EQ(peak->holders[4].bytes, 10);
}

// An optimizer that allocates nothing, and zero_grad() before the next batch.
TEST(MemoryOverTime, AGradientIsKnownByWhatFreesIt)
{
    Snapshot snapshot;
    snapshot.alloc(1, 100, kBackward).free(1, 100, kZeroGrad).alloc(2, 5, kBatch);
    EXPECT_EQ(after(memoryOf(snapshot), 1).of(Category::Gradients), 100);
    Snapshot temporary;
    temporary.alloc(1, 100, kBackward).free(1, 100, kBackward).alloc(2, 5, kBatch);
    EXPECT_EQ(after(memoryOf(temporary), 1).of(Category::Temporaries), 100);
    Snapshot unknown; // deallocations without stacks, as context="alloc" records them
    unknown.alloc(1, 100, kBackward).free(1, 100).alloc(2, 5, kBatch);
    EXPECT_EQ(after(memoryOf(unknown), 1).of(Category::Uncategorised), 100);
    Snapshot outlived;
    outlived.alloc(1, 100, kBackward).alloc(2, 5, kBatch).free(1, 100);
    EXPECT_EQ(after(memoryOf(outlived), 1).of(Category::Gradients), 100);
}

TEST(MemoryOverTime, AHistoryThatEndsTooEarlyIsUncategorised)
{
    Snapshot snapshot;
    snapshot.alloc(1, 100, forwardAt(20)).alloc(2, 50, forwardAt(21));
    const DeviceMemory memory = memoryOf(snapshot);
    EXPECT_EQ(after(memory, 2).of(Category::Activations), 100) << "another line has allocated since";
    EXPECT_EQ(after(memory, 2).of(Category::Uncategorised), 50);
}

// The first step of an optimizer is often the last that a snapshot records.
TEST(MemoryOverTime, WhatTheLastPartKeepsIsKnownUnlessAFailureEndedIt)
{
    Snapshot first;
    first.alloc(1, 100, kOptimizer).alloc(2, 5, kOptimizer).free(2, 5, kOptimizer);
    const DeviceMemory kept = memoryOf(first);
    EXPECT_EQ(after(kept, 2).of(Category::OptimizerState), 100);
    EXPECT_EQ(after(kept, 2).of(Category::Temporaries), 5);
    Snapshot failed;
    failed.alloc(1, 100, kOptimizer).event("oom", 0, 999, kOptimizer);
    EXPECT_EQ(after(memoryOf(failed), 1).of(Category::Uncategorised), 100);
}

TEST(MemoryOverTime, AllocationsOfOtherThreadsDoNotEndAPart)
{
    Snapshot snapshot;
    snapshot.alloc(1, 100, kOptimizer).alloc(2, 5).free(1, 100, kOptimizer).alloc(3, 5, kBatch);
    EXPECT_EQ(after(memoryOf(snapshot), 1).of(Category::Temporaries), 100);
}

TEST(MemoryOverTime, BlocksFromBeforeTheHistoryCount)
{
    std::string build = kBuild, forward = forwardAt(20);
    std::replace(build.begin(), build.end(), '\n', '\x1f');
    std::replace(forward.begin(), forward.end(), '\n', '\x1f');
    const DeviceMemory memory =
        memoryOf(Snapshot()
                     .before(1160, 2000)
                     .segments("F\t3\t" + build + "\nF\t4\t" + forward +
                               "\nS\t4096\t2000\t1150\t7\tlarge\t0\n"
                               "B\t0\t1000\ta\t3\nB\t1000\t100\ta\t4\nB\t1100\t50\ta\t0\nB\t1150\t850\tf\t0\n")
                     .free(9999, 7));
    ASSERT_EQ(memory.samples.size(), 2U);
    EXPECT_EQ(memory.samples[0].of(Category::Parameters), 1000);
    // Never freed, without a stack, freed in the history, and counted by the allocator without a block.
    EXPECT_EQ(memory.samples[0].of(Category::Uncategorised), 100 + 50 + 7 + 3);
    EXPECT_EQ(memory.samples[0].allocated(), 1160);
    EXPECT_EQ(memory.samples[0].total(), 2000);
    EXPECT_EQ(after(memory, 1).allocated(), 1153);
    EXPECT_EQ(memory.peak()->bytes, 1160);
    const std::vector<LiveBlocks>& holders = memory.peak()->holders;
    const auto earlier =
        std::find_if(holders.begin(), holders.end(), [](const LiveBlocks& holder) { return holder.unrecorded; });
    ASSERT_NE(earlier, holders.end());
    EXPECT_EQ(earlier->bytes, 50 + 7) << "of the blocks without a stack";
    ASSERT_EQ(memory.segments.size(), 1U);
    EXPECT_EQ(memory.segments[0].stream, 7);
    EXPECT_EQ(memory.segments[0].type, "large");
    ASSERT_EQ(memory.segments[0].blocks.size(), 4U);
    EXPECT_EQ(memory.segments[0].blocks[0].category, Category::Parameters);
    EXPECT_EQ(memory.segments[0].blocks[0].place.file, "/me/model.py");
    EXPECT_EQ(memory.segments[0].blocks[3].state, SegmentBlock::State::Free);
}

TEST(MemoryOverTime, FreeMemoryIsFragmentedInSegmentsThatHoldBlocks)
{
    const DeviceMemory memory = memoryOf(Snapshot()
                                             .event("segment_alloc", 1000, 100)  // 1
                                             .alloc(1000, 60)                    // 2
                                             .event("segment_alloc", 5000, 300)  // 3
                                             .alloc(1060, 10)                    // 4
                                             .free(1000, 60)                     // 5
                                             .free(1060, 10)                     // 6
                                             .event("segment_free", 1000, 100)); // 7
    const auto freeAfter = [&](std::size_t event) {
        return std::pair(after(memory, event).of(Category::Fragmented), after(memory, event).of(Category::Cached));
    };
    EXPECT_EQ(freeAfter(1), std::pair(std::int64_t{0}, std::int64_t{100}));
    EXPECT_EQ(freeAfter(2), std::pair(std::int64_t{40}, std::int64_t{0}));
    EXPECT_EQ(freeAfter(3), std::pair(std::int64_t{40}, std::int64_t{300}));
    EXPECT_EQ(freeAfter(4), std::pair(std::int64_t{30}, std::int64_t{300}));
    EXPECT_EQ(freeAfter(5), std::pair(std::int64_t{90}, std::int64_t{300}));
    EXPECT_EQ(freeAfter(6), std::pair(std::int64_t{0}, std::int64_t{400}));
    EXPECT_EQ(freeAfter(7), std::pair(std::int64_t{0}, std::int64_t{300}));
}

TEST(MemoryOverTime, PartsOfAnExpandableSegmentJoin)
{
    const DeviceMemory memory = memoryOf(Snapshot()
                                             .event("segment_map", 1000, 100)     // 1
                                             .alloc(1000, 60)                     // 2
                                             .event("segment_map", 1100, 100)     // 3: one segment of 200
                                             .event("segment_unmap", 1100, 100)); // 4
    EXPECT_EQ(after(memory, 2).of(Category::Fragmented), 40);
    EXPECT_EQ(after(memory, 3).of(Category::Fragmented), 140);
    EXPECT_EQ(after(memory, 4).of(Category::Fragmented), 40);
}

TEST(MemoryOverTime, OutOfMemoryHasItsHolders)
{
    const DeviceMemory memory =
        memoryOf(Snapshot().alloc(1, 100, kBuild).alloc(2, 50, kBatch).free(2, 50, kBatch).event("oom", 0, 999));
    ASSERT_EQ(memory.moments.size(), 2U);
    EXPECT_TRUE(memory.moments[0].ranOut);
    EXPECT_EQ(memory.moments[0].asked, 999);
    EXPECT_EQ(memory.moments[0].bytes, 100);
    EXPECT_EQ(memory.moments[0].holders.size(), 1U);
    EXPECT_EQ(toNs(*memory.moments[0].time), 4000);
    EXPECT_EQ(memory.peak()->bytes, 150);
    EXPECT_EQ(memory.peak()->holders.size(), 2U);
}

// At each time, the categories are those of the live blocks, and their sums are the totals of the allocator.
TEST(MemoryOverTime, CategoriesSumToTheTotals)
{
    const std::string stacks[] = {"", kBuild, forwardAt(20), forwardAt(21), kBackward, kOptimizer, kZeroGrad, kBatch};
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::minstd_rand random(seed + 1);
        Snapshot snapshot;
        std::map<std::uint64_t, std::int64_t> blocks, segments; // sizes by address
        struct Totals {
            std::int64_t allocated = 0, reserved = 0, fragmented = 0;
        };
        std::vector<Totals> expected{{}};
        const std::size_t events = seed < 30 ? 80 : 3000;
        for (std::size_t i = 0; i < events; ++i) {
            const std::string& stack = stacks[random() % std::size(stacks)];
            const unsigned what = random() % 10;
            const std::uint64_t segment = 0x10000 * (1 + random() % 8);
            if (!segments.contains(segment)) {
                const std::int64_t bytes = 512 + static_cast<std::int64_t>(random() % 4096);
                snapshot.event("segment_alloc", segment, bytes, stack);
                segments[segment] = bytes;
            } else if (what < 5) {
                const std::uint64_t address = segment + 16 * (random() % 32);
                if (blocks.contains(address)) {
                    snapshot.free(address, blocks[address], stack);
                    blocks.erase(address);
                } else {
                    blocks[address] = 1 + static_cast<std::int64_t>(random() % 16);
                    snapshot.alloc(address, blocks[address], stack);
                }
            } else if (what < 8 && !blocks.empty()) {
                const auto block = std::next(blocks.begin(), static_cast<std::ptrdiff_t>(random() % blocks.size()));
                snapshot.free(block->first, block->second, stack);
                blocks.erase(block);
            } else if (blocks.lower_bound(segment) == blocks.end() ||
                       blocks.lower_bound(segment)->first >= segment + 0x10000) {
                snapshot.event("segment_free", segment, segments[segment], stack);
                segments.erase(segment);
            } else {
                snapshot.event("snapshot", 0, 0);
            }
            Totals now;
            for (const auto& [address, bytes] : blocks)
                now.allocated += bytes;
            for (const auto& [address, bytes] : segments) {
                now.reserved += bytes;
                std::int64_t used = 0;
                for (auto block = blocks.lower_bound(address);
                     block != blocks.end() && block->first < address + 0x10000; ++block)
                    used += block->second;
                if (used > 0)
                    now.fragmented += bytes - used;
            }
            expected.push_back(now);
        }
        const auto trace = snapshot.trace();
        const auto all = memoryOverTime(*trace, {}, events + 1);
        ASSERT_EQ(all.size(), 1U);
        ASSERT_EQ(all[0].samples.size(), expected.size());
        std::int64_t peak = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const MemorySample& sample = all[0].samples[i];
            std::int64_t sum = 0;
            for (const std::int64_t bytes : sample.bytes) {
                ASSERT_GE(bytes, 0);
                sum += bytes;
            }
            ASSERT_EQ(sample.allocated(), expected[i].allocated) << "seed " << seed << ", event " << i;
            ASSERT_EQ(sample.total(), expected[i].reserved);
            ASSERT_EQ(sum, sample.total());
            ASSERT_EQ(sample.of(Category::Fragmented), expected[i].fragmented);
            peak = std::max(peak, sample.allocated());
        }
        ASSERT_TRUE(all[0].peak());
        EXPECT_EQ(all[0].peak()->bytes, peak);
        std::int64_t held = 0;
        for (const LiveBlocks& holder : all[0].peak()->holders)
            held += holder.bytes;
        EXPECT_EQ(held, peak);

        const auto thinned = memoryOverTime(*trace, {}, 50);
        EXPECT_LE(thinned[0].samples.size(), 60U);
        EXPECT_EQ(thinned[0].peak()->bytes, peak);
        EXPECT_TRUE(std::any_of(thinned[0].samples.begin(), thinned[0].samples.end(),
                                [&](const MemorySample& sample) { return sample.allocated() == peak; }));
        EXPECT_TRUE(std::is_sorted(thinned[0].samples.begin(), thinned[0].samples.end(),
                                   [](const MemorySample& a, const MemorySample& b) { return a.time < b.time; }));
        EXPECT_EQ(thinned[0].samples.back().allocated(), expected.back().allocated);
    }
}

TEST(MemoryOverTime, ASnapshotWithoutHistoryHasItsSegments)
{
    TraceBuilder builder;
    builder.setMetadata("memory.segments.gpu2", "S\t4096\t100\t40\t0\tsmall\t1\nB\t0\t40\ta\t0\nB\t40\t60\tp\t0\n");
    const auto devices = memoryOverTime(*builder.finish());
    ASSERT_EQ(devices.size(), 1U);
    EXPECT_EQ(devices[0].place, "GPU 2");
    EXPECT_THAT(devices[0].samples, IsEmpty());
    EXPECT_THAT(devices[0].moments, IsEmpty());
    ASSERT_EQ(devices[0].segments.size(), 1U);
    EXPECT_TRUE(devices[0].segments[0].expandable);
    EXPECT_EQ(devices[0].segments[0].free(), 60);
    EXPECT_EQ(devices[0].segments[0].blocks[1].state, SegmentBlock::State::PendingFree);
}

// The metadata of a file may contain anything.
TEST(MemoryOverTime, DamagedSegmentsAreRead)
{
    std::minstd_rand random(7);
    const std::string whole =
        "F\t3\t/me/a.py:1 f\nS\t4096\t2000\t1150\t7\tlarge\t0\nB\t0\t1000\ta\t3\nB\t1000\t1000\tf\t0\n";
    for (int round = 0; round < 2000; ++round) {
        std::string text = whole;
        for (unsigned change = 0; change <= random() % 5; ++change)
            text[random() % text.size()] = static_cast<char>("0919\t\nFSB-"[random() % 10]);
        Snapshot snapshot;
        snapshot.segments(text)
            .before(100, 200)
            .alloc(4096, 50, kBatch)
            .free(8000, 5)
            .event("segment_unmap", 4000, 500);
        for (const MemorySample& sample : memoryOf(snapshot).samples)
            for (const std::int64_t bytes : sample.bytes)
                ASSERT_GE(bytes, 0);
    }
}

TEST(MemoryOverTime, TotalsAreUncategorisedAndCached)
{
    const auto trace = test_support::traceFromText(R"(
        counter "GPU 1 memory allocated" unit=bytes
          sample 1 100
          sample 5 700
          sample 9 300
        counter "GPU 1 memory reserved" unit=bytes
          sample 1 1000
          sample 7 200
        counter "CPU memory allocated since the recording began" unit=bytes
          sample 2 50
          sample 3 -20
        counter "GPU 0 memory taken" unit=bytes
          sample 4 900
        counter "GPU 1 memory taken" unit=bytes
          sample 4 999
        counter "memory" unit=bytes
          sample 1 1
    )");
    const auto devices = memoryOverTime(*trace);
    ASSERT_EQ(devices.size(), 3U);
    EXPECT_EQ(devices[0].place, "CPU");
    EXPECT_TRUE(devices[0].sinceBegin);
    EXPECT_EQ(devices[0].peak()->bytes, 50);
    EXPECT_EQ(devices[0].samples[1].allocated(), 0);
    EXPECT_EQ(devices[1].place, "GPU 0");
    EXPECT_EQ(devices[1].source, MemorySource::DriverTotals);
    const DeviceMemory& gpu = devices[2];
    EXPECT_EQ(gpu.source, MemorySource::AllocatorTotals);
    EXPECT_FALSE(gpu.sinceBegin);
    ASSERT_EQ(gpu.samples.size(), 4U);
    EXPECT_EQ(gpu.samples[0].of(Category::Uncategorised), 100);
    EXPECT_EQ(gpu.samples[0].of(Category::Cached), 900);
    EXPECT_EQ(gpu.samples[2].total(), 700) << "more is allocated than the last recorded reserved total";
    EXPECT_EQ(gpu.peak()->bytes, 700);
    EXPECT_EQ(toNs(*gpu.peak()->time), 5000);
    EXPECT_EQ(gpu.peak()->sample.of(Category::Cached), 300);
    EXPECT_THAT(gpu.peak()->holders, IsEmpty());
}

TEST(MemoryOverTime, ProcessesWithTheSameDeviceNumberAreSeparate)
{
    TraceBuilder builder;
    for (const auto& [pid, name] : {std::pair(7, "python 7"), std::pair(8, "")}) {
        Track track;
        track.kind = TrackKind::Counter;
        track.name = "GPU 0 memory allocated";
        track.pid = pid;
        track.processName = name;
        builder.addSample(builder.addTrack(track), {traceTime(1), pid * 25.0});
    }
    const auto devices = memoryOverTime(*builder.finish());
    ASSERT_EQ(devices.size(), 2U);
    EXPECT_EQ(devices[0].place, "GPU 0 · python 7");
    EXPECT_EQ(devices[1].place, "GPU 0 · process 8");
    EXPECT_EQ(devices[1].peak()->bytes, 200);
}

TEST(MemoryOverTime, OurRecorderTellsCategoriesByPhaseAndStepAtThePeak)
{
    const auto peakOf = [](const std::string& alive, std::int64_t bytes) {
        TraceBuilder builder;
        builder.setMetadata("memory.peak.gpu0", std::to_string(bytes));
        builder.setMetadata("memory.peak.gpu0.alive", alive);
        auto devices = memoryOverTime(*builder.finish());
        return devices.empty() || !devices[0].peak() ? MemoryState{} : *devices[0].peak();
    };
    const std::string forward = "100\t1\t5\tforward\taten::mm\n", backward = "30\t1\t5\tbackward\taten::mm\n";
    EXPECT_EQ(peakOf(forward, 100).sample.of(Category::Uncategorised), 100) << "may be a workspace";
    const MemoryState peak = peakOf(forward + backward +
                                        "7\t1\t4\toptimizer\t-\n9\t1\t4\tbackward\t-\n"
                                        "50\t2\t-\t-\t-\n4\t9\trest\trest\trest\n",
                                    210);
    EXPECT_EQ(peak.sample.of(Category::Activations), 100);
    EXPECT_EQ(peak.sample.of(Category::Gradients), 9);
    EXPECT_EQ(peak.sample.of(Category::OptimizerState), 7);
    EXPECT_EQ(peak.sample.of(Category::Uncategorised), 30 + 50 + 4 + 10) << "10 bytes have no known allocation";
    EXPECT_EQ(peak.sample.allocated(), 210);
    EXPECT_FALSE(peak.time);
    ASSERT_EQ(peak.holders.size(), 6U);
    EXPECT_EQ(peak.holders[0].op, "aten::mm");
    EXPECT_EQ(peak.holders[0].step, 5);
    EXPECT_TRUE(peak.holders.back().rest);
    const MemoryState later = peakOf(backward + "8\t1\t5\toptimizer\t-\n" + "6\t1\t4\tforward\t-\n", 44);
    EXPECT_EQ(later.sample.of(Category::Gradients), 30) << "the optimizer of its step has started";
    EXPECT_EQ(later.sample.of(Category::Uncategorised), 14);
}

TEST(MemoryOverTime, HoldersNeverExceedThePeak)
{
    TraceBuilder builder;
    builder.setMetadata("memory.peak.cpu", "10");
    builder.setMetadata("memory.peak.cpu.alive", "8\t1\t-\t-\t-\n8\t1\t-\t-\t-\n");
    builder.setMetadata("memory.out.gpu0", "5");
    builder.setMetadata("memory.out.gpu0.asked", "3");
    const auto devices = memoryOverTime(*builder.finish());
    ASSERT_EQ(devices.size(), 2U);
    EXPECT_EQ(deviceNamed(devices, "CPU")->peak()->sample.allocated(), 10);
    ASSERT_EQ(deviceNamed(devices, "GPU 0")->moments.size(), 1U);
    EXPECT_TRUE(deviceNamed(devices, "GPU 0")->moments[0].ranOut);
    EXPECT_EQ(deviceNamed(devices, "GPU 0")->moments[0].asked, 3);
}

TEST(MemoryOverTime, ATraceWithoutMemoryHasNone)
{
    EXPECT_THAT(memoryOverTime(*test_support::traceFromText("main\nop aten::mm 0 10")), IsEmpty());
}

TEST(MemoryOverTime, StopsOnRequest)
{
    Snapshot snapshot;
    for (std::uint64_t i = 0; i < 10'000; ++i)
        snapshot.alloc(i, 10, kBatch);
    std::stop_source stop;
    stop.request_stop();
    const auto devices = memoryOverTime(*snapshot.trace(), stop.get_token());
    EXPECT_TRUE(devices.empty() || devices[0].samples.empty());
}

} // namespace analysis_test
