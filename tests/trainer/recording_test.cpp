#include "tests/trainer/trace_view.h"
#include "tests/trainer/trainer_run.h"

#include "profiler/formats/container/trace_reader.h"
#include "trainer/config/training_config.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace trainer_test;
using namespace profiler;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

namespace {

TEST(Recording, StepsHaveTheirPhasesInOrder)
{
    const TestFolder folder;
    const TraceView trace(train(folder.path(), {"capture.ops_every=0"}).trace);
    const auto steps = trace.onMain(ActivityKind::Step);
    ASSERT_EQ(steps.size(), 5u) << "80 samples in batches of 16";
    EXPECT_FALSE(trace.trace().captureStats().cut);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        EXPECT_EQ(steps[i].args.value, static_cast<std::int64_t>(i));
        EXPECT_EQ(steps[i].depth, 0);
        std::vector<std::string> names;
        for (const Slice& slice : trace.onMain(ActivityKind::Phase))
            if (steps[i].range().contains(slice.begin))
                names.push_back(trace.name(slice));
        EXPECT_THAT(names,
                    ElementsAre("data wait", "copy", "zero grad", "forward", "backward", "optimizer", "metrics"));
    }
}

TEST(Recording, ValidationFollowsEachEpoch)
{
    const TestFolder folder;
    const TraceView trace(train(folder.path(), {"run.epochs=2"}).trace);
    const auto passes = trace.phases(phase::kValidation);
    const auto steps = trace.onMain(ActivityKind::Step);
    ASSERT_EQ(passes.size(), 2u);
    ASSERT_EQ(steps.size(), 10u);
    EXPECT_GE(passes[0].begin, steps[4].end());
    EXPECT_LE(passes[0].end(), steps[5].begin);
    EXPECT_GE(passes[1].begin, steps[9].end());
}

TEST(Recording, SaysWhatWasRunAndWhere)
{
    const TestFolder folder;
    const auto run = train(folder.path(), {"loader.workers=1"});
    const TraceView trace(run.trace);
    const auto config = config::TrainingConfig::fromJson(trace.metadata("config"));
    ASSERT_TRUE(config) << config.error().message();
    EXPECT_EQ((*config)[config::key::workers], 1);
    EXPECT_EQ(trace.metadata("workload"), "convnet");
    EXPECT_EQ(trace.metadata("batch.size"), "16");
    EXPECT_EQ(trace.metadata("device"), "cpu");
    EXPECT_EQ(trace.metadata("versions.torch"), run.one<protocol::Hello>().torchVersion);
    EXPECT_GE(std::stoi(trace.metadata("host.cores")), 1);
    EXPECT_FALSE(trace.metadata("host.cpu").empty());
}

TEST(Recording, OperatorsAreOnlyInTheirWindows)
{
    const TestFolder folder;
    const TraceView trace(train(folder.path(), {"run.steps=25", "capture.ops_every=10", "capture.ops_window=2"}).trace);
    EXPECT_THAT(trace.stepsWithOps(), ElementsAre(3, 4, 10, 11, 20, 21));
    EXPECT_GT(trace.count("aten::cross_entropy_loss", phase::kForward), 0);
}

TEST(Recording, BackwardNodesLeadBackToTheirForwardOperators)
{
    const TestFolder folder;
    const TraceView trace(train(folder.path(), {"run.steps=5"}).trace);
    int convolutions = 0;
    for (const Slice& node : trace.opsIn(phase::kBackward)) {
        if (!node.is(slice_flag::kBackward) || trace.name(node).find("ConvolutionBackward") == std::string::npos)
            continue;
        for (const Flow& flow : trace.trace().flowsOf(node.id))
            if (flow.kind == FlowKind::ForwardBackward && flow.to == node.id) {
                const Slice from = trace.trace().slice(flow.from);
                EXPECT_THAT(trace.name(from), testing::HasSubstr("conv"));
                EXPECT_LT(from.begin, node.begin);
                ++convolutions;
            }
    }
    EXPECT_EQ(convolutions, 3 * 2) << "three convolutions in steps 3 and 4";
}

TEST(Recording, LossSpeedAndMemoryAreCounters)
{
    const TestFolder folder;
    const TraceView trace(train(folder.path()).trace);
    std::map<std::string, std::size_t> samples;
    for (const Track& track : trace.tracks(TrackKind::Counter))
        samples[track.name] = trace.trace().counter(track.id).size();
    EXPECT_EQ(samples["loss"], 5u) << "one for each step that reads it back";
    EXPECT_GT(samples["speed"], 0u);
    EXPECT_GT(samples["memory"], 0u);
    EXPECT_GT(samples["peak memory"], 0u);
}

TEST(Recording, TheMachinesLoadIsSampledAtEveryLevel)
{
    for (const char* level : {"always", "full"}) {
        const TestFolder folder;
        const TraceView trace(train(folder.path(), {std::string("capture.level=") + level}).trace);
        std::map<std::string, std::size_t> samples;
        for (const Track& track : trace.tracks(TrackKind::Counter))
            samples[track.name] = trace.trace().counter(track.id).size();
        EXPECT_GE(samples["memory resident"], 2u) << level << ": at the start and at the end";
        EXPECT_GE(samples["page faults"], 1u);
        EXPECT_GE(samples["voluntary context switches"], 1u);
        EXPECT_GE(samples["disk read"], 1u);
        EXPECT_GE(samples["core 0 load"] + samples["core 1 load"], 1u);
        EXPECT_GE(std::stoi(trace.trace().metadata().at("sampler.samples")), 2);
        EXPECT_LT(std::stod(trace.trace().metadata().at("sampler.cpu_share")), 0.5);
    }
}

TEST(Recording, EveryLoaderWorkerHasATrackHoweverManyThereAre)
{
    const TestFolder folder;
    const auto run = train(folder.path(), {"loader.workers=70", "batch.size=1", "loader.persistent_workers=true"});
    ASSERT_EQ(run.ended.status, 0) << run.ended.output;
    ASSERT_TRUE(run.trace);
    EXPECT_EQ(run.trace->captureStats().dropped, 0u);
    for (const protocol::Progress& record : run.records)
        EXPECT_FALSE(std::holds_alternative<protocol::Notice>(record)) << std::get<protocol::Notice>(record).what;
}

TEST(Recording, WithoutRecordingNothingIsSampled)
{
    const TestFolder folder;
    const TraceView trace(train(folder.path(), {"capture.enabled=false"}).trace);
    EXPECT_TRUE(trace.tracks(TrackKind::Counter).empty());
    EXPECT_FALSE(trace.trace().metadata().contains("sampler.samples"));
}

TEST(Recording, WorkersRecordTheirStagesOnTracksOfTheirOwn)
{
    const TestFolder folder;
    const TraceView trace(train(folder.path(), {"loader.workers=2", "dataset.validation_share=0"}).trace);
    EXPECT_EQ(trace.tracks(TrackKind::LoaderWorker).size(), 2u);
    for (const auto name : {stage::kRead, stage::kDecode, stage::kAugment, stage::kCollate}) {
        const auto stages = trace.stages(name);
        EXPECT_FALSE(stages.empty()) << name;
        for (const Slice& slice : stages)
            EXPECT_EQ(trace.trace().track(slice.id.track).kind, TrackKind::LoaderWorker) << name;
    }
}

TEST(Recording, KilledTrainerLeavesATraceThatOpensAndSaysThatItWasCut)
{
    const TestFolder folder;
    const auto path = folder.path() / "run.sstrace";
    auto arguments = smallTraining(folder.path(), {"run.steps=100000", "loader.workers=1"});
    arguments.insert(arguments.end(), {"--trace", path.string()});
    TrainerRun run(arguments);
    std::int64_t last = 0;
    while (const auto step = run.await<protocol::StepProgress>())
        if ((last = step->step) > 50)
            break;
    run.signal(SIGKILL);
    EXPECT_EQ(run.end().signal, SIGKILL);
    const auto read = container::readTrace(path);
    ASSERT_TRUE(read) << read.error().message();
    const TraceView trace(*read);
    EXPECT_TRUE(trace.trace().captureStats().cut);
    const auto steps = trace.onMain(ActivityKind::Step);
    ASSERT_FALSE(steps.empty());
    EXPECT_GE(steps.back().args.value, last) << "steps that were reported are in the trace";
}

TEST(Recording, RecordCommandRecordsTheNextSteps)
{
    const TestFolder folder;
    const auto path = folder.path() / "run.sstrace";
    auto arguments = smallTraining(folder.path(), {"capture.ops_every=0", "run.steps=100000"});
    arguments.insert(arguments.end(), {"--trace", path.string()});
    TrainerRun run(arguments);
    ASSERT_TRUE(run.await<protocol::StepProgress>());
    run.send(protocol::Record{3});
    for (int i = 0; i < 5; ++i)
        ASSERT_TRUE(run.await<protocol::StepProgress>());
    run.send(protocol::Stop{});
    EXPECT_EQ(run.end().status, 0);
    const auto read = container::readTrace(path);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(TraceView(*read).stepsWithOps().size(), 3u);
}

} // namespace
