#include "tests/trainer/started_again.h"

#include "trainer/config/protocol.h"
#include "trainer/session/searches.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

using namespace trainer;
using config::protocol::Notice;
using Outcome = BatchTrial::Outcome;

namespace {

// What the trainer of a trial does: this program is started for it.
TEST(BatchTrial, DISABLED_Trainer)
{
    const std::string line = std::string(std::getenv("TRIAL_SAYS")) + "\n";
    ASSERT_EQ(::write(trainer_test::progressDescriptor(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
    ::_exit(std::atoi(std::getenv("TRIAL_STATUS")));
}

BatchTrial trialOf(Notice::Severity severity, const char* id, int status)
{
    std::string line = config::protocol::toLine(Notice{severity, "What happened", {}, {}, 1, id, {}});
    while (line.ends_with('\n'))
        line.pop_back();
    ::setenv("GTEST_FILTER", "BatchTrial.DISABLED_Trainer", 1);
    ::setenv("GTEST_ALSO_RUN_DISABLED_TESTS", "1", 1);
    ::setenv("GTEST_BRIEF", "1", 1);
    ::setenv("TRIAL_SAYS", line.c_str(), 1);
    ::setenv("TRIAL_STATUS", std::to_string(status).c_str(), 1);
    const BatchTrial trial = tryBatch({}, 8, 0);
    for (const char* name :
         {"GTEST_FILTER", "GTEST_ALSO_RUN_DISABLED_TESTS", "GTEST_BRIEF", "TRIAL_SAYS", "TRIAL_STATUS"})
        ::unsetenv(name);
    return trial;
}

TEST(BatchTrial, OutOfMemoryIsRecognizedInTheTrainersMessages)
{
    EXPECT_EQ(trialOf(Notice::Severity::Error, "training.out_of_memory", 3).outcome, Outcome::OutOfMemory);
    // The step fits, its CUDA graph does not: a training that is to be compiled needs a smaller batch.
    EXPECT_EQ(trialOf(Notice::Severity::Warning, "compile.out_of_memory", 0).outcome, Outcome::OutOfMemory);
    EXPECT_EQ(trialOf(Notice::Severity::Warning, "compile.failed", 0).outcome, Outcome::Fits);
    const BatchTrial failed = trialOf(Notice::Severity::Error, "file.not_found", 3);
    EXPECT_EQ(failed.outcome, Outcome::Failed);
    EXPECT_EQ(failed.why.id, "file.not_found");
    EXPECT_THAT(failed.why.text, testing::HasSubstr("What happened"));
    EXPECT_EQ(trialOf(Notice::Severity::Info, "dataset.opened", 3).why.id, "batch_search.no_step");
}

} // namespace
