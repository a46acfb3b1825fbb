#include "tests/record/python_script.h"
#include "tests/record/recorded_run.h"

#include "profiler/analysis/steps/steps.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>

namespace record_test {

using namespace profiler;
using testing::Contains;
using testing::ElementsAre;

namespace {

/// In µs relative to the script's own timers in ns. The median, because a process may be preempted between two clock
/// readings.
double medianUs(std::vector<double> times)
{
    if (times.empty())
        return 0;
    std::sort(times.begin(), times.end());
    const std::size_t middle = times.size() / 2;
    return (times.size() % 2 ? times[middle] : (times[middle - 1] + times[middle]) / 2) / 1e3;
}

double medianUs(const nlohmann::json& times)
{
    return medianUs(times.get<std::vector<double>>());
}

struct Trained {
    nlohmann::json own, summary;
};

Trained trained(const Folder& folder, const std::string& arguments, const std::string& options = {})
{
    const Ended ended = record(folder, python("train.py", arguments), options);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return {nlohmann::json::parse(ended.out, nullptr, false), summary(folder)};
}

/// Within 1 %.
void expectClose(double a, double b, const char* what)
{
    EXPECT_NEAR(a, b, 0.01 * b) << what;
}

double medianUs(const Trace& trace, ActivityKind kind, std::string_view name)
{
    std::vector<double> times;
    for (const Slice& slice : trace.ofKind(kind))
        if (trace.name(slice) == name)
            times.push_back(static_cast<double>(slice.duration.count()));
    return medianUs(times);
}

} // namespace

TEST(RecordPython, ATrainingsWaitsStepsAndRangesAgreeWithItsOwnTimers)
{
    const Folder folder;
    const Trained run = trained(folder, "0");
    const auto recorded = trace(folder);
    EXPECT_EQ(run.summary["steps"]["count"], run.own["steps"].size());
    expectClose(run.summary["steps"]["median_us"], medianUs(run.own["steps"]), "steps");
    expectClose(medianUs(*recorded, ActivityKind::Nvtx, "compute"), medianUs(run.own["ranges"]), "ranges");
    std::vector<double> waited;
    for (const auto& step : analysis::findSteps(*recorded))
        waited.push_back(static_cast<double>(step.parts.dataWait.count()));
    expectClose(medianUs(waited), medianUs(run.own["waits"]), "loader waits");
    EXPECT_THAT(names(*recorded, ActivityKind::LoaderStage), Contains("read"));
    EXPECT_THAT(names(*recorded, ActivityKind::LoaderStage), Contains("collate"));
    EXPECT_THAT(names(*recorded, ActivityKind::Phase), testing::IsSupersetOf({"backward", "optimizer", "zero grad"}));
    EXPECT_EQ(recorded->metadata().at("loader.workers"), "0");
    EXPECT_EQ(recorded->metadata().at("loader.batch_size"), "8");
    EXPECT_LT(std::stod(recorded->metadata().at("loader.load_cpu_share")), 0.3) << "reading a sample sleeps";
    EXPECT_EQ(recorded->metadata().at("optimizer.class"), "torch.optim.SGD");
    EXPECT_EQ(recorded->metadata().at("optimizer.settings"), "lr=0.1");
    EXPECT_EQ(recorded->metadata().at("optimizer.count"), "1");
    EXPECT_EQ(recorded->metadata().at("host.threads"), "1") << "the program sets it";
    EXPECT_FALSE(recorded->metadata().at("versions.torch").empty());
}

TEST(RecordPython, OperatorsBesideDoNotCountTheWaitsTwice)
{
    const Folder folder;
    const Trained run = trained(folder, "0", "--ops");
    EXPECT_EQ(run.summary["steps"]["count"], run.own["steps"].size());
    expectClose(run.summary["steps"]["median_us"], medianUs(run.own["steps"]), "steps");
    // Two epochs: each ends with a request that gets no batch; a validation of two batches follows.
    EXPECT_EQ(run.summary["loader"]["waits"], run.own["waits"].size() + 2 + 2 * (2 + 1));
}

TEST(RecordPython, WorkersHaveTheirOwnTracks)
{
    const Folder folder;
    const Trained run = trained(folder, "2");
    const auto recorded = trace(folder);
    std::set<std::int64_t> workerProcesses;
    for (const Track& track : recorded->tracks())
        if (track.kind == TrackKind::LoaderWorker && recorded->sliceCount(track.id) > 0)
            workerProcesses.insert(track.pid);
    EXPECT_EQ(workerProcesses.size(), 4U) << "two workers, restarted for the second epoch";
    // 96 samples in batches of 8, twice in workers; the validation's batches of 48 twice in the loop.
    const auto stages = names(*recorded, ActivityKind::LoaderStage);
    EXPECT_EQ(std::count(stages.begin(), stages.end(), "collate"), 2 * 12 + 2 * 2);
    EXPECT_EQ(run.summary["steps"]["count"], run.own["steps"].size());
    expectClose(run.summary["steps"]["median_us"], medianUs(run.own["steps"]), "steps");
    EXPECT_EQ(run.summary["loader"]["workers"], 2) << "the training's loader, not the validation's";
}

TEST(RecordPython, AccumulatedBatchesAreOneStep)
{
    const Folder folder;
    const Trained run = trained(folder, "0 accumulate");
    EXPECT_EQ(run.own["steps"].size(), 12U);
    EXPECT_EQ(run.summary["steps"]["count"], 12);
    expectClose(run.summary["steps"]["median_us"], medianUs(run.own["steps"]), "steps");
}

TEST(RecordPython, AProgramMayMarkItsStepsAndKeepsItsOwnSitecustomize)
{
    const Folder folder;
    folder.write("sitecustomize.py", "MINE = True\n");
    const std::string path = "PYTHONPATH=" + (folder / "").string() + " ";
    Ended ended = shell(folder, path + "FORK=1 " + STEPSCOPE_CLI + " record -o '" + (folder / "t.sstrace").string() +
                                    "' -- " + python("marks.py"));
    EXPECT_EQ(ended.out, "the user's True\n") << ended.err;
    const auto recorded = trace(folder);
    EXPECT_THAT(names(*recorded, ActivityKind::Step), ElementsAre("step", "step", "step"));
    EXPECT_THAT(names(*recorded, ActivityKind::UserAnnotation), ElementsAre("work", "work", "work", "child"));
    EXPECT_EQ(recorded->metadata().at("note"), "marked");
    const auto counter = std::find_if(recorded->tracks().begin(), recorded->tracks().end(),
                                      [](const Track& track) { return track.kind == TrackKind::Counter; });
    ASSERT_NE(counter, recorded->tracks().end());
    EXPECT_EQ(recorded->counter(counter->id).at(0).value, 0.25);

    const std::string module =
        (std::filesystem::path(STEPSCOPE_CLI).parent_path() / "../share/stepscope/python").string();
    ended = shell(folder, "PYTHONPATH=" + (folder / "").string() + ":" + module + " " + python("marks.py"));
    EXPECT_EQ(ended.out, "the user's False\n") << "without a recording the marks have no effect";
    EXPECT_EQ(ended.err, "");
}

TEST(RecordPython, AWindowHasTheHooksOfItsTime)
{
    const Folder folder;
    const Ended ended = record(folder, python("slow_marks.py"), "--after 3 --for 0.8");
    EXPECT_EQ(ended.status, 0) << ended.err;
    const auto recorded = trace(folder);
    const auto steps = recorded->ofKind(ActivityKind::Step);
    EXPECT_GE(steps.size(), 1U);
    EXPECT_LT(steps.size(), 25U);
    EXPECT_TRUE(recorded->ofKind(ActivityKind::UserAnnotation).empty()) << "it began before";
    EXPECT_EQ(recorded->captureStats().unmatched, 0U);
    EXPECT_EQ(recorded->metadata().at("note"), "told before the window");
}

TEST(RecordPython, WithoutHooksOnlyNvtxIsRecorded)
{
    const Folder folder;
    EXPECT_EQ(record(folder, python("train.py", "0"), "--no-python").status, 0);
    const auto recorded = trace(folder);
    EXPECT_TRUE(recorded->ofKind(ActivityKind::Step).empty());
    EXPECT_THAT(names(*recorded, ActivityKind::Nvtx), Contains("compute"));
}

} // namespace record_test
