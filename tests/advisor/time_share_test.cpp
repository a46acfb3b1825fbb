// The time share of a finding without a prediction, which ranks it.
#include "tests/advisor/rules_fixtures.h"

#include <gtest/gtest.h>

namespace advisor_test {
namespace {

using advisor::Advice;
using advisor::State;

void expectTimeShare(const Advice& advice, double share)
{
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_NEAR(advice.timeShare, share, 1e-6);
}

TEST(TimeShare, OfReadbacksIsTheIdleTimeAfterThem)
{
    expectTimeShare(Judged("sync_every_n_steps", gpuRun(30, 20)).advice(), 0.3);
}

TEST(TimeShare, OfALargerBatchIsTheWorkOnWeights)
{
    const std::string run =
        "main\nrepeat 5 every 100\nstep 0 0 100\nphase \"zero grad\" 0 5\nphase optimizer 80 15\nend\n"
        "counter memory\nsample 0 1000\nsample 300 20000000\n";
    expectTimeShare(Judged("batch_find_max", run, {"batch.memory_limit=100"}).advice(), 0.2);
}

TEST(TimeShare, OfABiasIsItsPartOfTheConvolutions)
{
    const std::string run = "main\nrepeat 5 every 1000\nstep 0 0 1000\n"
                            "op aten::conv2d 0 200 shapes=\"[[32, 3, 8, 8], [64, 3, 7, 7], [64]]\"\n"
                            "op aten::batch_norm 200 50\n"
                            "op aten::conv2d 250 200 shapes=\"[[32, 3, 8, 8], [64, 3, 7, 7], []]\"\n"
                            "op aten::relu 450 350\nend\n";
    expectTimeShare(judge("model_conv_bias", run), 0.25); // half of them, which are half of the operators
}

TEST(TimeShare, OfDataParallelIsItsCopies)
{
    expectTimeShare(judge("parallel_kind",
                          "main\nrepeat 5 every 100\nstep 0 0 100\nannotation DataParallel.forward 0 50\n"
                          "op Broadcast 1 10\nop Gather 40 5\nend\n"),
                    0.15);
    expectTimeShare(judge("parallel_kind", "main\nrepeat 5 every 100\nannotation DataParallel.forward 0 100\n"
                                           "op Broadcast 1 10\nend\n"),
                    0.1);
}

TEST(TimeShare, OfAHotDeviceIsZeroBecauseTheLossIsUnknown)
{
    expectTimeShare(judge("thermal_throttling", "device 0 gpu\nmain\nstep 0 0 1000\nstream 0 7\nkernel a 0 500\n"
                                                "counter \"GPU 0 throttle reasons\"\nsample 0 0\nsample 600 32\n"),
                    0);
}

} // namespace
} // namespace advisor_test
