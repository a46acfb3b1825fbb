#include "tests/trainer/trace_view.h"
#include "tests/trainer/trainer_run.h"
#include "trainer/config/training_config.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Knobs that name files, start processes or end runs.
using namespace trainer_test;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

std::vector<protocol::Notice> notices(const Finished& run)
{
    std::vector<protocol::Notice> found;
    for (const protocol::Progress& record : run.records)
        if (const auto* notice = std::get_if<protocol::Notice>(&record))
            found.push_back(*notice);
    return found;
}

std::vector<std::string> lines(const fs::path& path)
{
    std::ifstream file(path);
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);)
        all.push_back(line);
    return all;
}

TEST(Knobs, ThatNeedAGpuAreRefusedWithoutOne)
{
    for (const config::Knob& knob : config::knobs()) {
        if (!knob.needsGpu)
            continue;
        config::TrainingConfig config;
        ASSERT_TRUE(config.set(knob.key, "true")) << knob.key;
        const auto problems = config.problems(false);
        ASSERT_EQ(problems.size(), 1u) << knob.key;
        EXPECT_EQ(problems[0].key, knob.key);
        EXPECT_TRUE(config.problems(true).empty()) << knob.key << " is allowed where there is one";
    }
}

TEST(Knobs, OnNanStopsWithTheStepAlsoWhenMetricsComeLater)
{
    const TestFolder folder;
    const auto run = train(folder.path(), {"optimizer.learning_rate=100", "optimizer.weight_decay=10",
                                           "model.norm=none", "run.steps=40", "host.async_work=true"});
    EXPECT_EQ(run.ended.status, static_cast<int>(protocol::Exit::Failed));
    ASSERT_FALSE(notices(run).empty());
    EXPECT_EQ(notices(run).back().id, "training.loss_lost");
}

TEST(Knobs, OnNanStopsWithTheStepOrContinues)
{
    const TestFolder folder;
    const std::vector<std::string> explode = {"optimizer.learning_rate=100", "optimizer.weight_decay=10",
                                              "model.norm=none", "run.steps=40"};
    auto stops = explode, goesOn = explode;
    goesOn.emplace_back("run.on_nan=continue");
    const auto stopped = train(folder.path(), stops);
    EXPECT_EQ(stopped.ended.status, static_cast<int>(protocol::Exit::Failed));
    ASSERT_FALSE(notices(stopped).empty());
    EXPECT_EQ(notices(stopped).back().id, "training.loss_lost");
    EXPECT_THAT(notices(stopped).back().hint, HasSubstr("run.on_nan"));
    EXPECT_FALSE(TraceView(stopped.trace).phases(profiler::phase::kForward).empty()) << "the trace stays";
    const auto finished = train(folder.path(), goesOn);
    EXPECT_EQ(finished.ended.status, 0);
    EXPECT_EQ(finished.one<protocol::Done>().steps, 40);
}

TEST(Knobs, LogFileHasALineForEveryStep)
{
    for (const char* apart : {"host.async_work=false", "host.async_work=true"}) {
        const TestFolder folder;
        const fs::path log = folder.path() / "log.csv";
        const auto run = train(folder.path(), {"run.log_file=" + log.string(), apart});
        ASSERT_EQ(run.ended.status, 0) << run.ended.output;
        const auto written = lines(log);
        ASSERT_EQ(written.size(), 6u) << "a heading and five steps";
        for (int step = 0; step < 5; ++step)
            EXPECT_THAT(written[static_cast<std::size_t>(step) + 1], testing::StartsWith(std::to_string(step) + ","));
        EXPECT_THAT(written.back(), HasSubstr(",80,")) << "samples so far";
        for (int step = 1; step <= 5; ++step)
            EXPECT_NE(written[static_cast<std::size_t>(step)].back(), ',') << "its loss";
    }
}

TEST(Knobs, AsyncWorkComputesTheSameMetricsOffTheStepsPath)
{
    struct Numbers {
        std::vector<double> epochs, losses;
        int onMain = 0, apart = 0;
    };
    const auto with = [](const char* apart) {
        const TestFolder folder;
        const auto run = train(folder.path(), {apart, "run.epochs=2", "sync.every_n_steps=2"});
        EXPECT_EQ(run.ended.status, 0) << run.ended.output;
        Numbers numbers;
        for (const protocol::Progress& record : run.records)
            if (const auto* epoch = std::get_if<protocol::EpochProgress>(&record))
                numbers.epochs.insert(numbers.epochs.end(), {epoch->trainLoss, epoch->trainAccuracy});
        const TraceView trace(run.trace);
        for (const profiler::Track& track : trace.tracks(profiler::TrackKind::Counter))
            if (track.name == "loss")
                for (const auto& sample : trace.trace().counter(track.id))
                    numbers.losses.push_back(sample.value);
        numbers.onMain = static_cast<int>(trace.phases(profiler::phase::kMetrics).size());
        const auto everywhere = trace.trace().ofKind(profiler::ActivityKind::Phase);
        numbers.apart =
            static_cast<int>(std::ranges::count_if(
                everywhere,
                [&](const profiler::Slice& phase) { return trace.name(phase) == profiler::phase::kMetrics; })) -
            numbers.onMain;
        return numbers;
    };
    const Numbers here = with("host.async_work=false"), there = with("host.async_work=true");
    EXPECT_EQ(here.epochs, there.epochs);
    EXPECT_EQ(here.losses, there.losses) << "in their order";
    EXPECT_EQ(here.losses.size(), 5u);
    EXPECT_EQ(here.apart, 0);
    EXPECT_EQ(here.onMain, 10) << "one for each step";
    EXPECT_EQ(there.onMain, 0);
    EXPECT_EQ(there.apart, 10);
}

TEST(Knobs, AutogradProfilerTakesThePlaceOfRecordedAllocationsAndSaysSo)
{
    const TestFolder folder;
    const auto both = train(folder.path(), {"debug.autograd_profiler=true", "capture.level=full"});
    EXPECT_EQ(both.ended.status, 0) << both.ended.output;
    ASSERT_FALSE(notices(both).empty());
    EXPECT_EQ(notices(both)[0].id, "training.no_allocations");
    EXPECT_TRUE(notices(train(folder.path(), {"debug.autograd_profiler=true"})).empty());
    const auto recomputed = train(folder.path(), {"debug.autograd_profiler=true", "checkpointing=cheap"});
    EXPECT_EQ(recomputed.ended.status, 0) << "each counts allocations in its own way: " << recomputed.ended.output;
}

TEST(Knobs, LogFileThatCannotBeWrittenIsNamed)
{
    const TestFolder folder;
    const auto run = train(folder.path(), {"run.log_file=" + (folder.path() / "none" / "log.csv").string()});
    EXPECT_EQ(run.ended.status, static_cast<int>(protocol::Exit::Failed));
    EXPECT_EQ(notices(run).back().id, "log.not_written");
    EXPECT_THAT(notices(run).back().where, HasSubstr("log.csv"));
}

// Recipes whose state is more than weights: momentum, schedules, scalers, dropout's random numbers.
const std::vector<std::string> kResumed[] = {
    {"optimizer.kind=adamw", "optimizer.learning_rate=0.01", "schedule.kind=cosine", "schedule.warmup_steps=3"},
    {"augment.noise=0.1", "precision.amp=fp16", "loader.workers=1"},
    {"gradient.accumulation=2", "optimizer.kind=novograd", "host.async_work=true"},
    {"augment.noise=0.1", "parallel.kind=ddp", "parallel.local_ranks=2"},
};

TEST(Knobs, ResumeIsBitIdentical)
{
    for (const auto& recipe : kResumed) {
        SCOPED_TRACE(recipe[0]);
        const TestFolder folder;
        auto whole = recipe;
        whole.insert(whole.end(), {"run.steps=9", "run.checkpoint_every=4",
                                   "run.checkpoint_path=" + (folder.path() / "states").string()});
        const auto first = train(folder.path(), whole);
        ASSERT_EQ(first.ended.status, 0) << first.ended.output;
        ASSERT_TRUE(fs::exists(folder.path() / "states" / "step8.checkpoint"));
        auto rest = recipe;
        rest.insert(rest.end(),
                    {"run.steps=9", "run.resume=" + (folder.path() / "states" / "step4.checkpoint").string()});
        const auto second = train(folder.path(), rest);
        ASSERT_EQ(second.ended.status, 0) << second.ended.output;
        EXPECT_EQ(second.one<protocol::Done>().steps, 9);
        EXPECT_EQ(second.one<protocol::Done>().finalLoss, first.one<protocol::Done>().finalLoss);
        EXPECT_EQ(second.one<protocol::Done>().samples, first.one<protocol::Done>().samples);
    }
}

std::vector<protocol::EpochProgress> epochs(const Finished& run)
{
    std::vector<protocol::EpochProgress> found;
    for (const protocol::Progress& record : run.records)
        if (const auto* epoch = std::get_if<protocol::EpochProgress>(&record))
            found.push_back(*epoch);
    return found;
}

std::vector<std::string> linesOf(const fs::path& path)
{
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    return lines;
}

TEST(Knobs, ResumeAtTheEndOfAnEpochValidatesAndContinuesTheLog)
{
    const TestFolder folder;
    const fs::path log = folder.path() / "log.csv", states = folder.path() / "states";
    const std::vector<std::string> whole = {"run.epochs=2", "run.log_file=" + log.string(), "run.checkpoint_every=5",
                                            "run.checkpoint_path=" + states.string()};
    const auto first = train(folder.path(), whole);
    ASSERT_EQ(first.one<protocol::Hello>().stepsPerEpoch, 5);
    const auto logged = linesOf(log);
    ASSERT_EQ(logged.size(), 11u);
    std::ofstream(log, std::ios::app) << "10,0.5"; // as a kill leaves it
    auto rest = whole;
    rest.push_back("run.resume=" + (states / "step5.checkpoint").string());
    const auto second = train(folder.path(), rest);
    ASSERT_EQ(second.ended.status, 0) << second.ended.output;
    const auto uninterrupted = epochs(first), resumed = epochs(second);
    ASSERT_EQ(uninterrupted.size(), 2u);
    ASSERT_EQ(resumed.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(resumed[i].epoch, uninterrupted[i].epoch);
        EXPECT_EQ(resumed[i].trainLoss, uninterrupted[i].trainLoss) << i;
        EXPECT_EQ(resumed[i].trainAccuracy, uninterrupted[i].trainAccuracy) << i;
        EXPECT_EQ(resumed[i].validationLoss, uninterrupted[i].validationLoss) << i;
    }
    const auto goneOn = linesOf(log);
    ASSERT_EQ(goneOn.size(), logged.size());
    for (std::size_t i = 0; i < goneOn.size(); ++i) {
        EXPECT_EQ(goneOn[i].substr(0, goneOn[i].find(',')), logged[i].substr(0, logged[i].find(',')));
        if (i <= 5) {
            EXPECT_EQ(goneOn[i], logged[i]) << "earlier lines stay";
        }
    }
}

TEST(Knobs, ResumeWithAnotherBatchSizeCountsTheNewEpochAlone)
{
    const TestFolder folder;
    const fs::path log = folder.path() / "log.csv", states = folder.path() / "states";
    ASSERT_EQ(train(folder.path(), {"run.checkpoint_every=3", "run.checkpoint_path=" + states.string()}).ended.status,
              0);
    const auto run =
        train(folder.path(), {"batch.size=8", "run.steps=13", "sync.every_n_steps=1", "run.log_file=" + log.string(),
                              "run.resume=" + (states / "step3.checkpoint").string()});
    ASSERT_EQ(run.ended.status, 0) << run.ended.output;
    double sum = 0;
    const auto lines = linesOf(log);
    ASSERT_EQ(lines.size(), 11u);
    for (std::size_t i = 1; i < lines.size(); ++i)
        sum += std::stod(lines[i].substr(lines[i].rfind(',') + 1));
    ASSERT_FALSE(epochs(run).empty());
    EXPECT_NEAR(epochs(run)[0].trainLoss, sum / 10, 1e-5);
}

TEST(Knobs, AFileThatIsNotALogIsNotContinued)
{
    const TestFolder folder;
    const fs::path log = folder.path() / "notes.txt", states = folder.path() / "states";
    ASSERT_EQ(train(folder.path(), {"run.steps=2", "run.checkpoint_every=2", "run.checkpoint_path=" + states.string()})
                  .ended.status,
              0);
    std::ofstream(log) << "my notes\n";
    const auto run =
        train(folder.path(), {"run.log_file=" + log.string(), "run.resume=" + (states / "step2.checkpoint").string()});
    EXPECT_EQ(run.ended.status, static_cast<int>(protocol::Exit::Failed));
    EXPECT_EQ(notices(run).back().id, "log.not_a_log");
    EXPECT_THAT(notices(run).back().where, HasSubstr("notes.txt"));
    EXPECT_THAT(notices(run).back().hint, HasSubstr("run.log_file"));
    EXPECT_EQ(linesOf(log), std::vector<std::string>{"my notes"});
}

TEST(Knobs, ResumeRejectsFilesThatAreNoCheckpointOfThisTraining)
{
    const TestFolder folder;
    const fs::path states = folder.path() / "states";
    ASSERT_EQ(train(folder.path(), {"run.steps=2", "run.checkpoint_every=2", "run.checkpoint_path=" + states.string()})
                  .ended.status,
              0);
    const fs::path good = states / "step2.checkpoint", cut = states / "cut.checkpoint";
    std::ifstream whole(good, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(whole)), {});
    std::ofstream(cut, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
    const auto refused = [&](const std::vector<std::string>& settings) {
        const auto run = train(folder.path(), settings);
        EXPECT_EQ(run.ended.status, static_cast<int>(protocol::Exit::Failed));
        return notices(run).empty() ? protocol::Notice{} : notices(run).back();
    };
    const auto damaged = refused({"run.resume=" + cut.string()});
    EXPECT_EQ(damaged.id, "checkpoint.damaged");
    EXPECT_EQ(damaged.where, cut.string());
    const auto missing = refused({"run.resume=" + (states / "none").string()});
    EXPECT_EQ(missing.id, "checkpoint.not_read");
    EXPECT_EQ(missing.where, states / "none");
    const auto other = refused({"run.resume=" + good.string(), "optimizer.kind=adam"});
    EXPECT_EQ(other.id, "checkpoint.other_configuration");
    EXPECT_EQ(other.where, good.string());
    EXPECT_THAT(other.parameters,
                testing::IsSupersetOf({protocol::NoticeValue{"key", "optimizer.kind", "optimizer.kind"},
                                       protocol::NoticeValue{"saved", "sgd", "sgd"},
                                       protocol::NoticeValue{"value", "adam", "adam"}}));
    const auto wider = refused({"run.resume=" + good.string(), "model.width=8"});
    EXPECT_EQ(wider.id, "checkpoint.tensor_shape");
    EXPECT_EQ(wider.where, good.string()) << "the hooks found it without the file";
    EXPECT_FALSE(wider.hint.empty());
}

TEST(Knobs, CheckpointPathMustBeGiven)
{
    config::TrainingConfig config;
    ASSERT_TRUE(config.set("run.checkpoint_every", "5"));
    ASSERT_EQ(config.problems(false).size(), 1u);
    EXPECT_EQ(config.problems(false)[0].key, "run.checkpoint_path");
}

TEST(Knobs, AnUnwritableCheckpointIsReportedAndTheTrainingContinues)
{
    const TestFolder folder;
    std::ofstream(folder.path() / "file") << "no folder";
    const auto run = train(folder.path(), {"run.checkpoint_every=2", "host.async_work=true",
                                           "run.checkpoint_path=" + (folder.path() / "file" / "states").string()});
    EXPECT_EQ(run.ended.status, 0);
    EXPECT_EQ(run.one<protocol::Done>().steps, 5);
    ASSERT_FALSE(notices(run).empty());
    EXPECT_EQ(notices(run)[0].id, "checkpoint.not_written");
    EXPECT_EQ(notices(run)[0].severity, protocol::Notice::Severity::Warning);
    EXPECT_EQ(notices(run)[0].where, folder.path() / "file" / "states" / "step2.checkpoint");
}

TEST(Knobs, FindMaxTakesTheLargestBatchThatFits)
{
    const TestFolder folder;
    const auto search = [&](const char* limit) {
        return train(folder.path(), {"batch.find_max=true", limit, "batch.size=4", "model.width=32",
                                     "dataset.image_size=64", "dataset.validation_share=0", "run.steps=1"});
    };
    const auto wide = search("batch.memory_limit=20000");
    ASSERT_EQ(wide.ended.status, 0) << wide.ended.output;
    EXPECT_EQ(wide.one<protocol::Done>().samples, 100) << "all samples fit into one batch";
    const auto tight = search("batch.memory_limit=330");
    ASSERT_EQ(tight.ended.status, 0) << tight.ended.output;
    EXPECT_GE(tight.one<protocol::Done>().samples, 4);
    EXPECT_LT(tight.one<protocol::Done>().samples, 100) << "running out of memory was survived";
    const auto none = search("batch.memory_limit=1");
    EXPECT_EQ(none.ended.status, static_cast<int>(protocol::Exit::Failed));
    EXPECT_THAT(notices(none).back().id, testing::StartsWith("batch_search."));
}

TEST(RangeTest, ReportsWhereTheLossFellFastestAndKeepsItsCurve)
{
    const TestFolder folder;
    const auto run = train(folder.path(), {"schedule.kind=range_test", "schedule.range_lowest=0.0001",
                                           "optimizer.learning_rate=1", "run.steps=40"});
    ASSERT_EQ(run.ended.status, 0) << run.ended.output;
    const TraceView trace(run.trace);
    EXPECT_THAT(trace.metadata("range_test.curve"), testing::StartsWith("[[0.0001,"));
    const double steepest = std::strtod(trace.metadata("range_test.steepest").c_str(), nullptr);
    EXPECT_GT(steepest, 0.0001);
    EXPECT_LT(steepest, 1);
}

TEST(MixedPrecision, InFp16CountsTheStepsThatOverflowed)
{
    const TestFolder folder;
    const auto run = train(folder.path(), {"precision.amp=fp16", "run.steps=10", "optimizer.learning_rate=0.01"});
    ASSERT_EQ(run.ended.status, 0) << run.ended.output;
    const auto done = run.one<protocol::Done>();
    EXPECT_EQ(done.steps, 10);
    EXPECT_LT(done.skipped, 10);
    EXPECT_TRUE(std::isfinite(done.finalLoss));
}

TEST(Progress, LossCanBeJudgedBySamplesAndByTime)
{
    const TestFolder folder;
    const auto run = train(folder.path(), {"run.epochs=2"});
    double seconds = 0;
    std::int64_t samples = 0;
    int epochs = 0;
    for (const protocol::Progress& record : run.records)
        if (const auto* epoch = std::get_if<protocol::EpochProgress>(&record)) {
            EXPECT_EQ(epoch->samples, samples += 80);
            EXPECT_GT(epoch->seconds, seconds + epoch->epochSeconds) << "epochs and validations";
            seconds = epoch->seconds;
            ++epochs;
        }
    EXPECT_EQ(epochs, 2);
    EXPECT_EQ(run.one<protocol::Done>().samples, 160);
}

} // namespace
