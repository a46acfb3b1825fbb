#include "tests/trainer/trace_view.h"
#include "tests/trainer/trainer_run.h"

#include "profiler/formats/container/trace_reader.h"

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

using namespace trainer_test;
using protocol::Notice;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

constexpr int kBadInput = static_cast<int>(protocol::Exit::BadInput);
constexpr int kWrongUsage = static_cast<int>(protocol::Exit::WrongUsage);
constexpr int kFailed = static_cast<int>(protocol::Exit::Failed);

struct Refused {
    Ended ended;
    Notice notice;
};
Refused refused(const std::vector<std::string>& arguments, const std::function<void()>& beforeExec = {})
{
    TrainerRun run(arguments, beforeExec);
    const Ended ended = run.end();
    for (const Notice& notice : run.all<Notice>())
        if (notice.severity == Notice::Severity::Error)
            return {ended, notice};
    return {ended, {}};
}

TEST(WrongUsage, OfSetNamesTheKeyAndWhatIsAllowed)
{
    const auto unknown = refused({"--set", "loader.wrokers=2"});
    EXPECT_EQ(unknown.ended.status, kWrongUsage);
    EXPECT_EQ(unknown.notice.id, "config.unknown_key");
    EXPECT_THAT(unknown.notice.what, HasSubstr("loader.workers"));
    const auto range = refused({"--set", "loader.workers=1000"});
    EXPECT_EQ(range.ended.status, kWrongUsage);
    EXPECT_EQ(range.notice.id, "config.not_allowed");
    EXPECT_THAT(range.notice.parameters, testing::Contains(protocol::NoticeValue{"value", "1000", "1000"}));
    EXPECT_EQ(refused({"--set", "loader.workers"}).ended.status, kWrongUsage);
    EXPECT_EQ(refused({"--nonsense"}).ended.status, kWrongUsage);
}

TEST(WrongUsage, OfTheProgressDescriptorIsSaidOnStderr)
{
    const auto wrong = refused({}, [] { ::close(3); });
    EXPECT_EQ(wrong.ended.status, kWrongUsage);
    EXPECT_THAT(wrong.ended.output, HasSubstr("--progress-fd 3"));
}

TEST(BadInput, OfTheConfigurationFileNamesFileAndPlace)
{
    const TestFolder folder;
    const auto path = folder.path() / "run.json";
    EXPECT_EQ(refused({"--config", path.string()}).ended.status, kBadInput);
    std::ofstream(path) << R"({"loader": {"workers": )";
    const auto broken = refused({"--config", path.string()});
    EXPECT_EQ(broken.ended.status, kBadInput);
    EXPECT_EQ(broken.notice.id, "config.bad_json");
    EXPECT_THAT(broken.notice.what, HasSubstr(path.string()));
}

TEST(BadInput, MissingFolderIsNamed)
{
    const auto missing = refused({"--set", "dataset.kind=image_folder", "--set", "dataset.path=/no/such/folder"});
    EXPECT_EQ(missing.ended.status, kBadInput);
    EXPECT_FALSE(missing.notice.id.empty());
    EXPECT_THAT(missing.notice.what + missing.notice.where, HasSubstr("/no/such/folder"));
}

TEST(BadInput, TraceThatCannotBeWrittenIsNamedBeforeTheTraining)
{
    const TestFolder folder;
    auto arguments = smallTraining(folder.path());
    arguments.insert(arguments.end(), {"--trace", (folder.path() / "missing" / "run.sstrace").string()});
    const auto none = refused(arguments);
    EXPECT_EQ(none.ended.status, kBadInput);
    EXPECT_FALSE(none.notice.id.empty());
    EXPECT_THAT(none.notice.what + none.notice.where, HasSubstr("run.sstrace"));
}

TEST(BrokenImages, AreNamedCountedAndLeftOut)
{
    const TestFolder folder;
    ASSERT_EQ(train(folder.path()).ended.status, 0);
    std::vector<fs::path> images;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path() / "images"))
        if (entry.is_regular_file() && entry.path().extension().string().starts_with(".jp"))
            images.push_back(entry.path());
    ASSERT_EQ(images.size(), 100u);
    const fs::path classes = images[0].parent_path().parent_path();
    for (int i : {3, 40})
        fs::resize_file(images[static_cast<std::size_t>(i)], 0);
    std::ofstream(images[77]) << "this is not an image";
    for (const char* workers : {"loader.workers=0", "loader.workers=2"}) {
        const auto run = train(
            folder.path(), {"dataset.kind=image_folder", "dataset.path=" + classes.string(), "run.epochs=2", workers});
        EXPECT_EQ(run.ended.status, 0) << run.ended.output;
        std::string told;
        for (const auto& record : run.records)
            if (const auto* notice = std::get_if<Notice>(&record))
                told += notice->what + notice->where + "\n";
        for (int i : {3, 40, 77})
            EXPECT_THAT(told, HasSubstr(images[static_cast<std::size_t>(i)].filename().string())) << workers;
    }
}

TEST(OutOfMemory, IsANoticeWithAdviceAndTheTraceGetsItsEnd)
{
    const TestFolder folder;
    const auto path = folder.path() / "run.sstrace";
    auto arguments = smallTraining(
        folder.path(), {"batch.size=64", "model.width=512", "dataset.image_size=256", "capture.ops_every=1"});
    arguments.insert(arguments.end(), {"--trace", path.string()});
    // Room to start and to load a batch, none for the activations of such a model.
    const auto none = refused(arguments, [] {
        const rlimit limit{3ull << 30, 3ull << 30};
        ::setrlimit(RLIMIT_AS, &limit);
    });
    EXPECT_EQ(none.ended.status, kFailed) << none.ended.output;
    EXPECT_EQ(none.notice.id, "training.out_of_memory");
    EXPECT_THAT(none.notice.parameters, testing::Contains(protocol::NoticeValue{"step", std::int64_t{0}, "0"}));
    EXPECT_THAT(none.notice.where, HasSubstr("MB more were requested"));
    EXPECT_THAT(none.notice.hint, testing::AllOf(HasSubstr("batch.size"), HasSubstr("checkpointing")));
    const auto read = profiler::container::readTrace(path);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_FALSE((*read)->captureStats().cut);
}

TEST(OutOfMemory, TheTraceSaysWhatWasAliveThen)
{
    const TestFolder folder;
    const auto path = folder.path() / "run.sstrace";
    auto arguments = smallTraining(folder.path(), {"batch.size=64", "model.width=512", "dataset.image_size=256",
                                                   "capture.ops_every=1", "capture.level=full"});
    arguments.insert(arguments.end(), {"--trace", path.string()});
    const auto none = refused(arguments, [] {
        const rlimit limit{3ull << 30, 3ull << 30};
        ::setrlimit(RLIMIT_AS, &limit);
    });
    EXPECT_EQ(none.ended.status, kFailed) << none.ended.output;
    const auto read = profiler::container::readTrace(path);
    ASSERT_TRUE(read) << read.error().message();
    const auto& facts = (*read)->metadata();
    ASSERT_TRUE(facts.contains("memory.out.cpu"));
    EXPECT_GT(std::stoll(facts.at("memory.out.cpu.asked")), 0);
    std::istringstream lines(facts.at("memory.out.cpu.alive"));
    std::int64_t sum = 0;
    for (std::string line; std::getline(lines, line);)
        sum += std::stoll(line);
    EXPECT_EQ(sum, std::stoll(facts.at("memory.out.cpu"))) << "every block is in a line";
    EXPECT_THAT(facts.at("memory.out.cpu.alive"), HasSubstr("forward"));
}

TEST(FullDisk, IsToldAndTheTrainingGoesOn)
{
    const TestFolder folder;
    auto arguments = smallTraining(folder.path(), {"run.steps=300", "capture.ops_every=1"});
    arguments.insert(arguments.end(), {"--trace", (folder.path() / "full.sstrace").string()});
    TrainerRun run(arguments, [] { std::signal(SIGXFSZ, SIG_IGN); });
    ASSERT_TRUE(run.await<protocol::Hello>());
    // No file may grow from now on: writes fail as on a disk that has just become full.
    const rlimit limit{1, 1};
    ASSERT_EQ(::prlimit(run.pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
    EXPECT_EQ(run.end().status, 0);
    ASSERT_FALSE(run.all<protocol::Done>().empty());
    EXPECT_EQ(run.all<protocol::Done>()[0].steps, 300);
    const auto notices = run.all<Notice>();
    ASSERT_EQ(notices.size(), 1u) << "reported once";
    EXPECT_EQ(notices[0].severity, Notice::Severity::Warning);
    EXPECT_EQ(notices[0].id, "training.trace_ended");
    EXPECT_THAT(notices[0].where, HasSubstr("full.sstrace"));
}

TEST(NotANumber, IsFoundByAnomalyDetection)
{
    const TestFolder folder;
    auto arguments = smallTraining(folder.path(), {"debug.anomaly=true", "optimizer.learning_rate=100", "run.steps=500",
                                                   "optimizer.weight_decay=10", "optimizer.momentum=0.9999"});
    const auto found = refused(arguments);
    EXPECT_EQ(found.ended.status, kFailed);
    EXPECT_EQ(found.notice.id, "training.bad_gradient");
    EXPECT_THAT(found.notice.hint, HasSubstr("learning_rate"));
}

} // namespace
