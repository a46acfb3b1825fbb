// A trainer leaves no processes, files or descriptors behind.
#include "tests/experiment/script.h"

#include <csignal>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace experiment_test {
namespace {

namespace fs = std::filesystem;
using namespace config::protocol;

std::vector<std::string> descriptorsOf(std::int64_t pid)
{
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd"))
        result.push_back(entry.path().filename());
    std::sort(result.begin(), result.end());
    return result;
}

TEST(ProcessHygiene, NoDescriptorIsLeftOpen)
{
    const Script script;
    startScripted().reset();
    const auto before = descriptorsOf(getpid());
    for (int i = 0; i < 10; ++i)
        ASSERT_TRUE(waitFor<Hello>(*startScripted()));
    EXPECT_FALSE(advisor::TrainerProcess::start({}, {.program = "/nowhere", .trace = {}}));
    EXPECT_EQ(descriptorsOf(getpid()), before);
}

TEST(ProcessHygiene, ATrainerInheritsOnlyItsOwnPipes)
{
    const Script script;
    const int careless = ::open("/dev/null", O_RDONLY); // without O_CLOEXEC, as in other libraries
    const auto first = startScripted();
    const auto second = startScripted();
    ASSERT_TRUE(waitFor<Hello>(*first));
    ASSERT_TRUE(waitFor<Hello>(*second));
    // Standard streams, the configuration and the progress.
    EXPECT_EQ(descriptorsOf(first->pid()).size(), 5U);
    EXPECT_EQ(descriptorsOf(second->pid()).size(), 5U);
    EXPECT_THAT(descriptorsOf(second->pid()), testing::Not(testing::Contains(std::to_string(careless))));
    ::close(careless);
}

TEST(ProcessHygiene, DestructionEndsItAndLeavesNoZombie)
{
    const Script script{{"SCRIPT_IGNORE_STOP", "1"}};
    auto trainer = startScripted();
    ASSERT_TRUE(waitFor<Hello>(*trainer));
    const auto pid = static_cast<pid_t>(trainer->pid());
    ASSERT_EQ(::kill(pid, 0), 0);
    trainer.reset();
    EXPECT_EQ(::kill(pid, 0), -1);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
}

TEST(ProcessHygiene, ACrashOfTheStarterLeavesNoTrainer)
{
    const Script script{{"SCRIPT_IGNORE_STOP", "1"}};
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t starter = ::fork();
    if (starter == 0) {
        const auto trainer = startScripted();
        waitFor<Hello>(*trainer);
        const std::int64_t pid = trainer->pid();
        [[maybe_unused]] const auto written = ::write(ends[1], &pid, sizeof(pid));
        ::raise(SIGKILL);
    }
    std::int64_t pid = 0;
    ASSERT_EQ(::read(ends[0], &pid, sizeof(pid)), static_cast<ssize_t>(sizeof(pid)));
    ::close(ends[0]);
    ::close(ends[1]);
    ASSERT_EQ(::waitpid(starter, nullptr, 0), starter);
    const auto isThere = [&] { return ::kill(static_cast<pid_t>(pid), 0) == 0; };
    for (int i = 0; i < 1000 && isThere(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(isThere());
    if (isThere())
        ::kill(static_cast<pid_t>(pid), SIGKILL);
}

TEST(ProcessHygiene, EndingOneTrainerDoesNotAffectTheOther)
{
    const Script script;
    auto first = startScripted();
    const auto second = startScripted();
    ASSERT_TRUE(waitFor<Hello>(*second));
    first.reset();
    ASSERT_TRUE(second->send(Turn{}));
    EXPECT_TRUE(waitFor<TurnResult>(*second));
}

TEST(ProcessHygiene, NothingOfTheConfigurationStaysOnDisk)
{
    const Script script;
    // A separate folder, because other tests create and remove files in the shared one at the same time.
    std::string own = (fs::temp_directory_path() / "stepscope-hygiene-XXXXXX").string();
    ASSERT_NE(mkdtemp(own.data()), nullptr);
    setenv("TMPDIR", own.c_str(), 1);
    {
        const auto trainer = startScripted();
        ASSERT_TRUE(waitFor<Hello>(*trainer));
        EXPECT_TRUE(fs::is_empty(own));
    }
    unsetenv("TMPDIR");
    fs::remove_all(own);
}

} // namespace
} // namespace experiment_test
