#include "tests/record/python_script.h"
#include "tests/record/recorded_run.h"

#include "profiler/analysis/steps/steps.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <map>

namespace record_test {

using namespace profiler;
using testing::ElementsAre;

namespace {

/// The work of operators.py, with shapes.
void expectOperators(const Trace& trace)
{
    const auto ops = names(trace, ActivityKind::CpuOp);
    EXPECT_THAT(ops, testing::IsSupersetOf({"aten::matmul", "aten::mm", "aten::relu", "aten::sum", "ReluBackward0"}));
    EXPECT_THAT(names(trace, ActivityKind::Nvtx), ElementsAre("mine"));
    bool backward = false, shaped = false;
    for (const Slice& op : trace.ofKind(ActivityKind::CpuOp)) {
        if (trace.name(op) == "aten::mm" && trace.string(op.args.shapes) == "[[4, 4], [4, 4]]")
            shaped = true;
        if (trace.name(op) == "ReluBackward0")
            backward = op.is(slice_flag::kBackward) && !trace.flowsOf(op.id).empty();
    }
    EXPECT_TRUE(backward) << "the backward node is linked to its forward operator";
    EXPECT_TRUE(shaped);
}

/// Number of occurrences of each name among the slices of a kind that begin within the range "counted".
std::map<std::string, int> counted(const Trace& trace, ActivityKind kind)
{
    TimeRange range{};
    for (const Slice& slice : trace.ofKind(ActivityKind::Nvtx))
        if (trace.name(slice) == "counted")
            range = {slice.begin, slice.begin + slice.duration};
    std::map<std::string, int> counts;
    for (const Slice& slice : trace.ofKind(kind))
        if (slice.begin >= range.begin && slice.begin < range.end)
            ++counts[std::string(trace.name(slice))];
    return counts;
}

/// Numbers of the steps that contain operators.
std::vector<std::int64_t> stepsWithOperators(const Trace& trace)
{
    std::vector<std::int64_t> found;
    for (const auto& step : analysis::findSteps(trace))
        if (step.opsRecorded)
            found.push_back(step.index);
    return found;
}

} // namespace

TEST(RecordOperators, AreThoseThatPyTorchsProfilerCounts)
{
    const Folder folder;
    const Ended ended = record(folder, python("counted_operators.py"), "--ops");
    ASSERT_EQ(ended.status, 0) << ended.err;
    const auto own = nlohmann::json::parse(ended.out, nullptr, false);
    const auto recorded = trace(folder);
    EXPECT_EQ(counted(*recorded, ActivityKind::CpuOp), (own["operators"].get<std::map<std::string, int>>()));
    EXPECT_EQ(counted(*recorded, ActivityKind::UserAnnotation), (own["annotations"].get<std::map<std::string, int>>()));
    EXPECT_EQ(recorded->metadata().at("ops.source"), "callback");
    EXPECT_FALSE(recorded->metadata().contains("ops.note"));
}

// Our library is called with LibTorch's own objects: it must not be loaded into a process with another LibTorch
// version.
TEST(RecordOperators, OfAnotherPyTorchComeFromItsProfilerAndTheTraceSaysSo)
{
    namespace fs = std::filesystem;
    const Folder folder;
    const fs::path built = fs::path(STEPSCOPE_CLI).parent_path().parent_path();
    fs::create_directories(folder / "other/bin");
    fs::create_directories(folder / "other/lib");
    fs::copy(STEPSCOPE_CLI, folder / "other/bin/stepscope-cli");
    fs::copy(built / "lib/libstepscope_inject.so", folder / "other/lib");
    fs::create_directory_symlink(built / "share", folder / "other/share");
    folder.write("other/lib/stepscope_ops_torch_1.13.1.so", "must not be loaded");
    const Ended ended =
        shell(folder, (folder / "other/bin/stepscope-cli").string() + " record -o '" + (folder / "t.sstrace").string() +
                          "' --ops --level full -- " + python("operators.py"));
    EXPECT_EQ(ended.status, 0) << ended.err;
    const auto recorded = trace(folder);
    EXPECT_EQ(recorded->metadata().at("ops.source"), "profiler");
    EXPECT_THAT(recorded->metadata().at("ops.note"), testing::HasSubstr("built for PyTorch 1.13.1"));
    expectOperators(*recorded);
}

TEST(RecordOperators, AreRecordedOnRequest)
{
    const Folder folder;
    EXPECT_EQ(record(folder, python("operators.py"), "--ops --level full").status, 0);
    expectOperators(*trace(folder));
}

TEST(RecordOperators, ComeWhereALibraryAsksForTorchBeforeItImportsIt)
{
    const Folder folder;
    const std::string ask = "import importlib.util, runpy; assert importlib.util.find_spec('torch'); "
                            "runpy.run_path('" SCRIPTS "/operators.py', run_name='__main__')";
    const Ended ended = record(folder, std::string(PYTHON_WITH_TORCH) + " -c \"" + ask + "\"", "--ops --level full");
    EXPECT_EQ(ended.status, 0) << ended.err;
    expectOperators(*trace(folder));
}

TEST(RecordOperators, AreOnlyInTheirWindowsAndTheTraceNamesTheseSteps)
{
    const Folder folder;
    const Ended ended = record(folder, python("windows.py"), "--ops --ops-every 5 --ops-window 1");
    EXPECT_EQ(ended.status, 0) << ended.err;
    const auto recorded = trace(folder);
    EXPECT_EQ(recorded->ofKind(ActivityKind::Step).size(), 12U);
    EXPECT_THAT(stepsWithOperators(*recorded), ElementsAre(3, 5, 10));
    EXPECT_EQ(recorded->metadata().at("ops.steps"), "3, 5, 10");
    EXPECT_EQ(recorded->metadata().at("ops.every"), "5");
    EXPECT_FALSE(recorded->metadata().contains("ops.note"));
    EXPECT_EQ(recorded->captureStats().unmatched, 0U);
}

TEST(RecordOperators, AWindowThatNoStepReachedIsReported)
{
    const Folder folder;
    EXPECT_EQ(record(folder, python("operators.py"), "--ops --ops-every 5").status, 0);
    const auto recorded = trace(folder);
    EXPECT_TRUE(recorded->ofKind(ActivityKind::CpuOp).empty());
    EXPECT_THAT(recorded->metadata().at("ops.note"), testing::HasSubstr("0 training steps were seen"));
}

// A collective call begins on the loop's thread and ends on the library's: 300 of them used to exhaust the nesting.
TEST(RecordOperators, ThatEndOnAnotherThreadLeaveTheOthersWhereTheyAre)
{
    const Folder folder;
    const Ended ended = record(folder, python("elsewhere.py"), "--ops");
    ASSERT_EQ(ended.status, 0) << ended.err;
    const auto recorded = trace(folder);
    int reductions = 0;
    for (const Slice& slice : recorded->ofKind(ActivityKind::UserAnnotation)) {
        if (recorded->name(slice) != "gloo:all_reduce")
            continue;
        ++reductions;
        EXPECT_EQ(recorded->track(slice.id.track).name, "asynchronous operators");
    }
    EXPECT_EQ(reductions, 300);
    EXPECT_THAT(names(*recorded, ActivityKind::UserAnnotation), testing::Contains("waits for a future"));
    for (const Slice& range : recorded->ofKind(ActivityKind::Nvtx))
        EXPECT_EQ(range.depth, 0) << recorded->name(range);
    EXPECT_THAT(names(*recorded, ActivityKind::CpuOp), testing::Contains("aten::relu"));
    EXPECT_EQ(recorded->captureStats().dropped, 0U);
    EXPECT_EQ(recorded->captureStats().unmatched, 0U);
}

} // namespace record_test
