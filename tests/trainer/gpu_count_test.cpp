#include "trainer/session/machine.h"

#include "tests/support/message_matchers.h"

#include <gmock/gmock.h>

using namespace trainer;
using profiler::test::hasId;
using testing::HasSubstr;

namespace {

config::TrainingConfig with(std::initializer_list<std::string_view> assignments)
{
    config::TrainingConfig config;
    for (const std::string_view assignment : assignments)
        EXPECT_TRUE(config.setAssignment(assignment));
    return config;
}

GpuState gpus(int count)
{
    GpuState state;
    state.available = count > 0;
    state.count = count;
    return state;
}

TEST(GpuCount, EachCopyAndEachRankNeedsOne)
{
    for (const std::string kind : {"ddp", "dp"}) {
        const auto config = with({"parallel.kind=" + kind, "parallel.local_ranks=2"});
        EXPECT_TRUE(enoughGpus(config, gpus(2), std::nullopt)) << kind;
        const auto refused = enoughGpus(config, gpus(1), std::nullopt);
        ASSERT_FALSE(refused) << kind;
        EXPECT_THAT(refused.error().what,
                    hasId("device.few_gpus", {{"asked", "parallel.local_ranks = 2"}, {"needed", 2}, {"count", 1}}));
        EXPECT_THAT(refused.error().hint, HasSubstr("parallel.local_ranks to at most 1"));
    }
}

TEST(GpuCount, OnTheProcessorAndForOneModelNoneIsCounted)
{
    EXPECT_TRUE(enoughGpus(with({"parallel.kind=ddp", "device=cpu", "parallel.local_ranks=8"}), gpus(1), std::nullopt));
    EXPECT_TRUE(enoughGpus(with({"parallel.kind=ddp", "parallel.local_ranks=8"}), gpus(0), std::nullopt));
    EXPECT_TRUE(enoughGpus(with({"parallel.local_ranks=8"}), gpus(1), std::nullopt));
}

TEST(GpuCount, ARankOfTorchrunNeedsTheOneOfItsNumber)
{
    const auto config = with({"parallel.kind=ddp", "parallel.local_ranks=8"});
    EXPECT_TRUE(enoughGpus(config, gpus(4), 3)) << "torchrun decides how many others there are";
    const auto refused = enoughGpus(config, gpus(4), 4);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, hasId("device.few_gpus", {{"asked", "LOCAL_RANK = 4"}}));
}

} // namespace
