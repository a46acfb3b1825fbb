#include "tests/trainer/trace_view.h"
#include "tests/trainer/trainer_run.h"

#include "profiler/formats/container/trace_reader.h"
#include "trainer/config/training_config.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace trainer_test;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

std::vector<std::string> endless(const TestFolder& folder, std::vector<std::string> settings = {})
{
    settings.emplace_back("run.steps=1000000");
    return smallTraining(folder.path(), settings);
}

std::vector<std::string> turns(const TestFolder& folder, const std::vector<std::string>& settings = {})
{
    auto arguments = smallTraining(folder.path(), settings);
    arguments.emplace_back("--turns");
    return arguments;
}

/// CPU time of all threads of a process in ns.
std::int64_t processorTime(pid_t process)
{
    std::int64_t sum = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
        std::int64_t nanoseconds = 0;
        std::ifstream(task.path() / "schedstat") >> nanoseconds;
        sum += nanoseconds;
    }
    return sum;
}

TEST(Run, ReportsHelloFirstThenStepsEpochsAndDone)
{
    const TestFolder folder;
    const auto run = train(folder.path(), {"run.epochs=2"});
    const auto hello = run.one<protocol::Hello>();
    EXPECT_EQ(hello.trainSamples, 80);
    EXPECT_EQ(hello.validationSamples, 20);
    EXPECT_EQ(hello.stepsPerEpoch, 5);
    EXPECT_EQ(hello.totalSteps, 10);
    EXPECT_GT(hello.parameters, 0);
    std::int64_t steps = 0;
    for (const auto& record : run.records)
        if (const auto* step = std::get_if<protocol::StepProgress>(&record)) {
            steps += step->steps;
            EXPECT_GT(step->samplesPerSecond, 0);
            EXPECT_TRUE(step->loss);
        }
    EXPECT_EQ(steps, 10);
    ASSERT_TRUE(std::holds_alternative<protocol::Done>(run.records.back()));
    const auto done = run.one<protocol::Done>();
    EXPECT_EQ(done.steps, 10);
    EXPECT_FALSE(done.stopped);
    EXPECT_GT(done.peakBytes, 1 << 20);
}

TEST(Run, StopsAtTheNumberOfStepsInTheMiddleOfAnEpoch)
{
    const TestFolder folder;
    const auto run = train(folder.path(), {"run.steps=7"});
    EXPECT_EQ(run.one<protocol::Done>().steps, 7);
    EXPECT_EQ(TraceView(run.trace).onMain(profiler::ActivityKind::Step).size(), 7u);
}

TEST(Run, StopCommandFinishesTheStepAndTheTrace)
{
    const TestFolder folder;
    const auto path = folder.path() / "run.sstrace";
    auto arguments = endless(folder, {"loader.workers=2"});
    arguments.insert(arguments.end(), {"--trace", path.string()});
    TrainerRun run(arguments);
    ASSERT_TRUE(run.await<protocol::StepProgress>());
    run.send(protocol::Stop{});
    const auto done = run.await<protocol::Done>();
    EXPECT_EQ(run.end().status, 0);
    ASSERT_TRUE(done);
    EXPECT_TRUE(done->stopped);
    const auto read = profiler::container::readTrace(path);
    ASSERT_TRUE(read);
    EXPECT_FALSE((*read)->captureStats().cut);
    EXPECT_EQ(TraceView(*read).onMain(profiler::ActivityKind::Step).size(), static_cast<std::size_t>(done->steps));
}

TEST(Run, TerminationSignalsStopItLikeTheCommand)
{
    for (const int number : {SIGTERM, SIGINT}) {
        const TestFolder folder;
        TrainerRun run(endless(folder));
        ASSERT_TRUE(run.await<protocol::StepProgress>());
        run.signal(number);
        const auto done = run.await<protocol::Done>();
        ASSERT_TRUE(done);
        EXPECT_TRUE(done->stopped);
        EXPECT_EQ(run.end().status, 0);
    }
}

TEST(Run, StopsDuringPreparation)
{
    const TestFolder folder;
    TrainerRun run(smallTraining(folder.path(), {"dataset.samples=100000", "dataset.source_size=256"}));
    ASSERT_TRUE(run.await<protocol::Preparing>());
    run.send(protocol::Stop{});
    EXPECT_EQ(run.end().status, 0);
    ASSERT_EQ(run.all<protocol::Done>().size(), 1u);
    EXPECT_TRUE(run.all<protocol::Done>()[0].stopped);
    EXPECT_TRUE(run.all<protocol::Hello>().empty());
}

TEST(Run, PausesAndResumes)
{
    const TestFolder folder;
    TrainerRun run(endless(folder, {"loader.workers=1"}));
    ASSERT_TRUE(run.await<protocol::StepProgress>());
    run.send(protocol::Pause{});
    ::usleep(300000);
    const std::int64_t before = processorTime(run.pid());
    ::usleep(300000);
    EXPECT_GT(before, 0) << "this kernel has no schedstat: the test shows nothing";
    // Its recorder and its sampler still wake up regularly; a running training would use all of the time.
    EXPECT_LT(processorTime(run.pid()) - before, 30000000) << "a paused training uses no processor";
    run.send(protocol::Resume{});
    for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(run.await<protocol::StepProgress>());
    run.send(protocol::Stop{});
    EXPECT_EQ(run.end().status, 0);
}

TEST(Run, EndOfInputDoesNotStopIt)
{
    const TestFolder folder;
    TrainerRun run(smallTraining(folder.path()));
    run.closeInput();
    const auto done = run.await<protocol::Done>();
    ASSERT_TRUE(done);
    EXPECT_FALSE(done->stopped);
    EXPECT_EQ(run.end().status, 0);
}

TEST(Run, InvalidCommandsAreReportedAndSkipped)
{
    const TestFolder folder;
    TrainerRun run(endless(folder));
    run.sendLine("hello?\n");
    const auto notice = run.await<protocol::Notice>();
    ASSERT_TRUE(notice);
    EXPECT_EQ(notice->id, "command.not_understood");
    EXPECT_THAT(notice->what, HasSubstr("hello?"));
    run.send(protocol::Stop{});
    EXPECT_EQ(run.end().status, 0);
}

TEST(Turns, TimeOnlyWhatIsRequested)
{
    const TestFolder folder;
    TrainerRun run(turns(folder, {"loader.workers=1"}));
    const auto hello = run.await<protocol::Hello>();
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->totalSteps, 0);
    run.send(protocol::Turn{"steps", 3, 4});
    const auto steps = run.await<protocol::TurnResult>();
    ASSERT_TRUE(steps);
    EXPECT_EQ(steps->what, "steps");
    EXPECT_THAT(steps->seconds, SizeIs(4));
    EXPECT_THAT(steps->losses, SizeIs(4));
    EXPECT_EQ(steps->samples, 4 * 16);
    EXPECT_GT(steps->peakBytes, 0);
    run.send(protocol::Turn{"epoch", 0, 1});
    const auto epoch = run.await<protocol::TurnResult>();
    ASSERT_TRUE(epoch);
    EXPECT_EQ(epoch->what, "epoch");
    EXPECT_THAT(epoch->seconds, SizeIs(1));
    EXPECT_EQ(epoch->samples, 80);
    EXPECT_TRUE(epoch->losses.empty());
    run.send(protocol::Turn{"validation", 1, 2});
    const auto validation = run.await<protocol::TurnResult>();
    ASSERT_TRUE(validation);
    EXPECT_THAT(validation->seconds, SizeIs(2));
    EXPECT_EQ(validation->samples, 2 * 20);
    ASSERT_THAT(validation->losses, SizeIs(2));
    EXPECT_GT(validation->losses[0], 0);
    EXPECT_DOUBLE_EQ(validation->losses[0], validation->losses[1]) << "no training happened between them";
    run.send(protocol::Stop{});
    EXPECT_EQ(run.end().status, 0);
}

TEST(Turns, ContinueWhereTheLastOneEnded)
{
    const TestFolder folder;
    const auto whole = losses(folder.path(), {}, 8);
    TrainerRun run(turns(folder));
    std::vector<double> parts;
    for (const auto& [drop, count] : {std::pair{0, 3}, {2, 1}, {0, 2}}) {
        run.send(protocol::Turn{"steps", drop, count});
        const auto result = run.await<protocol::TurnResult>();
        ASSERT_TRUE(result);
        parts.insert(parts.end(), result->losses.begin(), result->losses.end());
    }
    EXPECT_THAT(parts, testing::ElementsAre(whole[0], whole[1], whole[2], whole[5], whole[6], whole[7]));
    run.send(protocol::Stop{});
    run.end();
}

TEST(Turns, HaveLossesEvenIfStepsDoNotReadThemBack)
{
    const TestFolder folder;
    EXPECT_EQ(losses(folder.path(), {"sync.every_n_steps=0"}), losses(folder.path(), {"sync.every_n_steps=1"}));
}

TEST(Turns, NothingRunsInBetween)
{
    const TestFolder folder;
    TrainerRun run(turns(folder, {"loader.workers=2"}));
    run.send(protocol::Turn{"steps", 0, 2});
    ASSERT_TRUE(run.await<protocol::TurnResult>());
    ::usleep(200000);
    const std::int64_t before = processorTime(run.pid());
    ::usleep(300000);
    EXPECT_GT(before, 0) << "this kernel has no schedstat: the test shows nothing";
    EXPECT_LT(processorTime(run.pid()) - before, 3000000) << "parked workers use no processor";
    run.send(protocol::Stop{});
    run.end();
}

TEST(Turns, EndWhenTheirStarterIsGone)
{
    const TestFolder folder;
    TrainerRun run(turns(folder));
    ASSERT_TRUE(run.await<protocol::Hello>());
    run.closeInput();
    EXPECT_EQ(run.end().status, 0);
}

TEST(Describe, NamesEveryChoiceOfTheKnobs)
{
    const TestFolder folder;
    TrainerRun run({"--describe"});
    const auto ended = run.end();
    ASSERT_EQ(ended.status, 0);
    const auto description = protocol::parseDescription(ended.output);
    ASSERT_TRUE(description) << description.error();
    EXPECT_EQ(description->gpuAvailable, description->gpuReason.empty());
    EXPECT_EQ(description->gpuAvailable, !description->gpuReasonId.starts_with("gpu."));
    EXPECT_GE(description->cores, 1);
    const auto ids = [](const std::vector<protocol::Choice>& choices) {
        std::vector<std::string> list;
        for (const protocol::Choice& choice : choices) {
            EXPECT_FALSE(choice.title.empty()) << choice.id;
            EXPECT_FALSE(choice.doc.empty()) << choice.id;
            list.push_back(choice.id);
        }
        return list;
    };
    const auto allowed = [](std::string_view key) {
        const auto& choices = config::findKnob(key)->choices;
        return std::vector<std::string>(choices.begin(), choices.end());
    };
    EXPECT_THAT(ids(description->workloads), testing::UnorderedElementsAreArray(allowed("workload")));
    EXPECT_THAT(ids(description->datasets), testing::UnorderedElementsAreArray(allowed("dataset.kind")));
    EXPECT_THAT(ids(description->optimizers), testing::UnorderedElementsAreArray(allowed("optimizer.kind")));
    EXPECT_THAT(ids(description->schedules), testing::UnorderedElementsAreArray(allowed("schedule.kind")));
}

/// What the trainer reports about its GPU if the driver is the library in `folder`.
protocol::Description describedWith(const std::string& folder, const std::string& variable = "FAKE_CUDA",
                                    const std::string& value = {})
{
    TrainerRun run({"--describe"}, [&] {
        ::setenv("LD_LIBRARY_PATH", folder.c_str(), 1);
        ::setenv(variable.c_str(), value.c_str(), 1);
    });
    const auto ended = run.end();
    const auto description = protocol::parseDescription(ended.output);
    EXPECT_TRUE(description) << ended.output;
    return description.value_or(protocol::Description{});
}

TEST(Describe, SaysWhichOfManyReasonsKeepsTheGpuFromUse)
{
    const struct {
        const char *variable, *value, *id;
    } cases[] = {{"FAKE_CUDA_VERSION", "12080", "gpu.driver_too_old"}, {"FAKE_CUDA_INIT", "100", "gpu.none"},
                 {"FAKE_CUDA_INIT", "802", "gpu.not_ready"},           {"FAKE_CUDA_INIT", "803", "gpu.driver_mismatch"},
                 {"FAKE_CUDA_INIT", "999", "gpu.driver_failed"},       {"FAKE_CUDA_COUNT", "0", "gpu.none"},
                 {"FAKE_CUDA_DEVICE", "101", "gpu.unknown"},           {"FAKE_CUDA_CAPABILITY", "70", "gpu.too_old"}};
    for (const auto& one : cases) {
        const auto description = describedWith(FAKE_DRIVER, one.variable, one.value);
        EXPECT_FALSE(description.gpuAvailable) << one.variable << one.value;
        EXPECT_EQ(description.gpuReasonId, one.id) << one.variable << one.value;
        EXPECT_FALSE(description.gpuReason.empty()) << one.variable << one.value;
    }
    const auto usable = describedWith(FAKE_DRIVER);
    EXPECT_TRUE(usable.gpuAvailable) << usable.gpuReason;
    EXPECT_EQ(usable.gpuReasonId, "");
    EXPECT_TRUE(describedWith(FAKE_DRIVER, "FAKE_CUDA_CAPABILITY", "75").gpuAvailable) << "the oldest supported one";
    EXPECT_TRUE(describedWith(FAKE_DRIVER, "FAKE_CUDA_VERSION", "13000").gpuAvailable) << "the oldest supported one";
}

TEST(Describe, ALibraryThatIsNotADriverIsNamed)
{
    const TestFolder folder;
    std::filesystem::copy_file(NO_DRIVER, folder.path() / "libcuda.so.1");
    EXPECT_EQ(describedWith(folder.path()).gpuReasonId, "gpu.not_a_driver");
}

} // namespace
