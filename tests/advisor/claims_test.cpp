#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// Claims that a rule must not make about a trace that does not show them.
namespace advisor_test {
namespace {

using advisor::State;
using test_support::HasId;
using test_support::HasNumber;
using testing::DoubleNear;
using testing::HasSubstr;

/// Ten steps of 1,000 µs on a GPU.
std::string gpuSteps(std::string_view host, std::string_view device)
{
    return fmt::format(
        "device 0 \"Tesla V100\" \"\" sm=70\nmain\nrepeat 10 every 1000\nstep 0 0 1000\n{}\nend\nstream 0 7\n"
        "repeat 10 every 1000\n{}\nend\n",
        host, device);
}

/// A classifier: its last layer, this softmax, the following operators and the last layer's backward pass.
advisor::Advice classifier(std::string_view softmax, std::string_view behind = "")
{
    return judge("attention", gpuSteps("op aten::_log_softmax 0 9",
                                       fmt::format("kernel volta_sgemm_tn 0 300\nkernel \"{}\" 300 100\n{}\n"
                                                   "kernel volta_sgemm_nt 600 300",
                                                   softmax, behind)));
}

TEST(AttentionClaims, TheSoftmaxOfALossIsNotAttention)
{
    EXPECT_EQ(classifier("void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true>(float*, int)")
                  .state,
              State::Silent);
    EXPECT_EQ(classifier("softmax_warp_backward<float, float, float, 10, true, false>(float*, bool)").state,
              State::Silent);
    EXPECT_EQ(classifier("softmax_warp_forward").state, State::Silent) << "the operators show whose it is";
    EXPECT_EQ(classifier("softmax_warp_forward<float, float, float, 10, false, true>(float*, int)").state,
              State::Silent);
    EXPECT_EQ(judge("attention",
                    gpuSteps("op aten::_softmax 0 9",
                             "kernel volta_sgemm_tn 0 300\n"
                             "kernel \"softmax_warp_forward<float, float, float, 10, false, true>(float*)\" 300 100\n"
                             "kernel volta_sgemm_nt 600 300"))
                  .state,
              State::Fires)
        << "masked, and no logarithm";
}

TEST(AttentionClaims, ALossAndTheEndOfAStepSeparate)
{
    const auto kernels = [](std::string_view text) { return judge("attention", std::string(text)).state; };
    EXPECT_EQ(kernels("stream 0 7\nkernel sgemm 0 100\nkernel softmax_warp_forward 100 50\nkernel sgemm 200 100"),
              State::Fires);
    EXPECT_EQ(kernels("stream 0 7\nkernel sgemm 0 100\nkernel softmax_warp_forward 100 50\n"
                      "kernel nll_loss_forward_reduce_cuda_kernel_2d 150 10\nkernel sgemm 200 100"),
              State::Silent);
    EXPECT_EQ(
        kernels(
            "main\nstep 0 0 190\nstep 1 190 110\nstream 0 7\nkernel sgemm 0 100\nkernel softmax_warp_forward 100 50\n"
            "kernel sgemm 200 100"),
        State::Silent);
}

/// Steps whose optimizer keeps the host busy for 600 of 1,000 µs with 60 operators, and the device for `kernelUs`; the
/// device idles for `idleUs` of that.
std::string optimizing(int kernelUs, int idleUs, std::string_view corr = "corr=7")
{
    std::string ops;
    for (int i = 0; i < 60; ++i)
        ops += fmt::format("op aten::add_ {} 9\n", 400 + 10 * i);
    return gpuSteps(fmt::format("phase optimizer 400 600\n{}call cudaLaunchKernel {} 5 {}", ops, 994 - kernelUs, corr),
                    fmt::format("kernel sgemm 0 {}\nkernel add {} {} {}", 1000 - kernelUs - idleUs, 1000 - kernelUs,
                                kernelUs, corr)) +
           "counter \"GPU 0 memory allocated\"\nsample 0 10\n";
}

TEST(WorkOnWeights, AHostBlockedByAFullQueueCostsNothing)
{
    const auto judged = [](std::string_view stem, const std::string& text) {
        std::string sized = text;
        return judge(stem, sized.replace(0, sized.find('\n'), "device 0 \"Tesla V100\" \"\" sm=70 memory=100"));
    };
    for (const char* stem : {"batch_size", "optimizer_fused"}) {
        EXPECT_EQ(judged(stem, optimizing(15, 0)).state, State::Silent) << stem;
        EXPECT_EQ(judged(stem, optimizing(300, 0)).state, State::Fires) << stem;
        EXPECT_EQ(judged(stem, optimizing(15, 300)).state, State::Fires) << stem << ": the device waits for it";
        EXPECT_EQ(judged(stem, optimizing(15, 0, "")).state, State::CannotTell) << stem;
    }
    EXPECT_THAT(judged("optimizer_fused", optimizing(300, 150)).reason, HasNumber("share", DoubleNear(0.45, 1e-6)));
}

TEST(WorkOnWeights, WithoutLaunchesIdleTimeShowsTheCostOfTheOptimizer)
{
    const advisor::Advice waits = judge("optimizer_fused", optimizing(15, 300, ""));
    ASSERT_EQ(waits.state, State::Fires) << waits.reason;
    EXPECT_THAT(waits.reason, HasId("optimizer.fused.loops_while_idle"));
    EXPECT_THAT(waits.reason, HasNumber("ops", 60));
    EXPECT_THAT(waits.reason, HasNumber("share", DoubleNear(0.3, 1e-6)));
    EXPECT_THAT(judge("optimizer_fused", optimizing(15, 0, "")).reason, HasId("optimizer.fused.launches_not_recorded"));
}

/// Two optimizer passes without step marks (too few to infer steps), with `ops` operators each; the device works for
/// 300 of 1,000 µs on what each of them launched.
std::string optimizingWithoutSteps(int ops, std::string_view op)
{
    std::string pass = "annotation Optimizer.step#SGD.step 400 600\ncall cudaLaunchKernel 694 5 corr=7\n";
    for (int i = 0; i < ops; ++i)
        pass += fmt::format("op {} {} 5\n", op, 400 + 5 * i);
    return fmt::format("device 0 gpu\nmain\nrepeat 2 every 1000\n{}\nend\nstream 0 7\n"
                       "repeat 2 every 1000\nkernel sgemm 0 700\nkernel add 700 300 corr=7\nend\n",
                       pass);
}

TEST(WorkOnWeights, WithoutStepsTheOptimizersRangesAreUsed)
{
    const advisor::Advice loops = judge("optimizer_fused", optimizingWithoutSteps(50, "aten::add_"));
    ASSERT_EQ(loops.state, State::Fires) << loops.reason;
    EXPECT_THAT(loops.reason, HasId("optimizer.fused.loops_without_steps"));
    EXPECT_THAT(loops.reason, HasNumber("ops", 50));
    EXPECT_THAT(loops.reason, HasNumber("share", DoubleNear(0.3, 1e-6)));
    EXPECT_FALSE(loops.evidence.empty());
    EXPECT_THAT(judge("optimizer_fused", optimizingWithoutSteps(49, "aten::add_")).reason,
                HasId("optimizer.fused.few_ops"));
    EXPECT_THAT(judge("optimizer_fused", optimizingWithoutSteps(2, "aten::_foreach_add_")).reason,
                HasId("optimizer.fused.operators"));
}

TEST(WorkOnWeights, WithoutStepsAndRangesTheOptimizerIsUnknown)
{
    EXPECT_THAT(judge("optimizer_fused", "device 0 gpu\nmain\nop aten::add_ 0 5\nstream 0 7\nkernel add 0 10\n").reason,
                HasId("optimizer.fused.phase_not_recorded"));
}

TEST(WorkOnWeights, CallsThatLaunchNothingAreNoEvidence)
{
    std::string waits = optimizing(300, 0);
    const std::string launch = "call cudaLaunchKernel 694 5 corr=7";
    waits.replace(waits.find(launch), launch.size(),
                  "call cudaStreamSynchronize 402 5 corr=8\ncall cudaLaunchKernel 1 5 corr=7");
    for (const char* stem : {"batch_size", "optimizer_fused"})
        EXPECT_EQ(judge(stem, waits).state, State::CannotTell) << stem;
}

TEST(WorkOnWeights, ConcurrentWorkOfAnotherRankDoesNotCount)
{
    std::string alone = optimizing(15, 300);
    alone.replace(alone.find("main"), 4, "main pid=1");
    const std::string other = "thread \"rank 1\" pid=2\nrepeat 9 every 1000\nstep 0 500 1000\nphase optimizer 500 600\n"
                              "call cudaLaunchKernel 502 5 corr=900007\nend\n"
                              "stream 1 7\nrepeat 10 every 1000\nkernel add 0 990 corr=900007\nend\n";
    const advisor::Advice advice = judge("optimizer_fused", alone + other);
    EXPECT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_EQ(advice.reason, judge("optimizer_fused", alone).reason);
}

std::string memory(int allocated, int reserved, std::string_view device = "0")
{
    return fmt::format(
        "device 1 gpu \"\" memory=50\ndevice {0} gpu \"\" memory=100\nstream {0} 7\nkernel a 0 100\n"
        "counter \"GPU {0} memory allocated\"\nsample 0 {1}\ncounter \"GPU {0} memory reserved\"\nsample 0 {2}\n"
        "counter \"GPU {0} memory clock\" unit=MHz\nsample 0 9000\n",
        device, allocated, reserved);
}

TEST(MemoryClaims, CachedMemoryIsNotInUse)
{
    for (const char* stem : {"checkpointing", "gradient_accumulation", "memory_pressure"}) {
        EXPECT_EQ(judge(stem, memory(12, 95)).state, State::Silent) << stem;
        const profiler::Message cached = judge(stem, memory(12, 95)).reason,
                                notFull = judge(stem, memory(60, 95)).reason;
        EXPECT_THAT(cached, HasId("memory.cached")) << stem;
        EXPECT_THAT(cached, HasNumber("reserved", DoubleNear(0.95, 1e-6))) << stem;
        EXPECT_THAT(notFull, HasId("memory.not_full")) << stem;
        EXPECT_THAT(notFull, HasNumber("share", DoubleNear(0.6, 1e-6))) << stem;
        EXPECT_EQ(judge(stem, memory(92, 95)).state, State::Fires) << stem;
    }
}

TEST(MemoryClaims, DeviceNumbersMayHaveSeveralDigits)
{
    EXPECT_THAT(judge("memory_pressure", memory(40, 40, "12")).reason, HasNumber("share", DoubleNear(0.4, 1e-6)));
}

TEST(MemoryClaims, ChangesSinceTheStartDoNotShowHowFullMemoryIs)
{
    EXPECT_EQ(judge("memory_pressure", "device 0 gpu \"\" memory=100\nstream 0 7\nkernel a 0 100\n"
                                       "counter \"GPU 0 memory allocated since the recording began\"\nsample 0 8")
                  .state,
              State::CannotTell);
}

TEST(UnrecordedGpu, GpuOperatorsOrGpuMemoryAreNotACpuRun)
{
    const std::string steps = "main\nrepeat 10 every 100\nstep 0 0 100\nop aten::mm 0 50\n";
    for (const char* stem : {"cudnn_benchmark", "memory_format", "precision_amp", "host_bound", "sync_every_n_steps"}) {
        for (const std::string& more :
             {steps + "op aten::cudnn_convolution 50 40\nend", "device 0 gpu\n" + steps + "end",
              steps + "end\ncounter \"GPU 0 memory allocated\"\nsample 0 8"}) {
            EXPECT_EQ(judge(stem, more).state, State::CannotTell) << stem << '\n' << more;
            EXPECT_THAT(judge(stem, more).reason, HasId("device.not_recorded")) << stem;
        }
        EXPECT_THAT(judge(stem, steps + "op aten::cudnn_is_acceptable 50 4\nend").reason,
                    testing::Not(HasId("device.not_recorded")))
            << stem;
    }
}

/// Steps with `count` exchanges of this kind of 4 µs each, starting at `begin`.
std::string exchanging(int count, int begin, std::string_view kernel, std::string_view host = "phase backward 100 300")
{
    std::string device = "kernel sgemm 0 90\n";
    for (int i = 0; i < count; ++i)
        device += fmt::format("kernel {} {} 4\n", kernel, begin + 5 * i);
    return gpuSteps(host, device);
}

TEST(CommBucketsClaims, OnlyAllReducesAfterABackwardPassAreGradients)
{
    const std::string_view sum = "ncclDevKernel_AllReduce_Sum_f32";
    EXPECT_EQ(judge("comm_buckets", exchanging(60, 500, sum)).state, State::Fires);
    EXPECT_THAT(judge("comm_buckets", exchanging(60, 500, sum)).reason, HasNumber("overlap", 0));
    EXPECT_EQ(judge("comm_buckets", exchanging(60, 500, sum, "op aten::mm 0 90")).state, State::Silent) << "inference";
    EXPECT_EQ(judge("comm_buckets", exchanging(60, 500, sum, "")).state, State::CannotTell) << "no events of the host";
    EXPECT_EQ(judge("comm_buckets", exchanging(60, 500, "ncclDevKernel_AllGather_RING_LL")).state, State::Silent)
        << "FSDP";
    EXPECT_EQ(judge("comm_buckets", exchanging(60, 500, sum, "phase backward 900 90")).state, State::Silent)
        << "before the backward pass: tensors' parts";
}

TEST(CommBucketsClaims, ShortExchangesAreSilent)
{
    std::string device = "kernel sgemm 0 90\n";
    for (int i = 0; i < 50; ++i)
        device += fmt::format("kernel ncclDevKernel_AllReduce_Sum_f32 {} 0.3\n", 500 + 5 * i);
    EXPECT_EQ(judge("comm_buckets", gpuSteps("phase backward 100 300", device)).state, State::Silent);
}

/// Twenty short kernels per step, 40 µs apart, with one launch for all or one launch each.
std::string shortKernels(std::string_view call, bool one, std::string_view kernel = "vectorized_elementwise_kernel",
                         std::string_view more = "")
{
    std::string host(more), device;
    for (int i = 0; i < 20; ++i) {
        host += fmt::format("op aten::add {} 38\n", i * 40);
        if (!one || i == 0)
            host += fmt::format("call {} {} 6 corr={}\n", call, i * 40 + 20, 10 + (one ? 0 : i));
        device += fmt::format("kernel {} {} 4 corr={}\n", kernel, i * 40 + 30, 10 + (one ? 0 : i));
    }
    return gpuSteps(host, device);
}

TEST(CompileClaims, AProgramThatRunsInACudaGraphIsNotAdvisedToCaptureOne)
{
    EXPECT_EQ(judge("compile", shortKernels("cudaLaunchKernel", false)).state, State::Fires);
    EXPECT_EQ(judge("compile", shortKernels("cudaGraphLaunch", true)).state, State::Silent);
    EXPECT_THAT(judge("compile", shortKernels("cudaGraphLaunch", true)).reason, test_support::HasId("compile.graphs"));
    EXPECT_EQ(judge("compile", shortKernels("cudaLaunchKernel", false, "triton_poi_fused_add_0",
                                            "op \"Torch-Compiled Region: 0/0\" 0 800\n"))
                  .state,
              State::CannotTell);
}

TEST(CompileClaims, WithoutHostEventsLaunchesAreUnknown)
{
    const std::string text = gpuSteps("", "kernel a 0 4\nkernel a 500 4");
    EXPECT_EQ(judge("compile", text).state, State::CannotTell);
    EXPECT_EQ(judge("host_bound", text).state, State::CannotTell);
    const std::string busy = gpuSteps("", "kernel a 0 999");
    EXPECT_EQ(judge("compile", busy).state, State::CannotTell);
    EXPECT_EQ(judge("host_bound", busy).state, State::CannotTell);
}

TEST(FuseClaims, FusedKernelsAreNotAdvisedAgain)
{
    const auto text = [](std::string_view kernel) {
        return gpuSteps("", fmt::format("kernel {0}_0 0 300\nkernel {0}_1 300 300\nkernel sgemm 600 300", kernel));
    };
    EXPECT_EQ(judge("fuse_pointwise", text("vectorized_elementwise_kernel")).state, State::Fires);
    EXPECT_EQ(judge("fuse_pointwise", text("triton_poi_fused_add_relu")).state, State::Silent);
    EXPECT_THAT(judge("fuse_pointwise", text("triton_poi_fused_add_relu")).reason,
                test_support::HasId("fuse.pointwise.fused"));
}

TEST(CompileClaims, PredictsAtMostTheGapsOfLaunches)
{
    // Twenty launches, 15 µs apart, followed by 700 µs of host time that no event records.
    std::string host, device;
    for (int i = 0; i < 20; ++i) {
        host += fmt::format("op aten::add {} 15\ncall cudaLaunchKernel {} 5 corr={}\n", 15 * i, 15 * i + 5, i + 1);
        device += fmt::format("kernel elementwise {} 5 corr={}\n", 15 * i + 10, i + 1);
    }
    const auto advice = judge("compile", gpuSteps(host, device));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    ASSERT_TRUE(advice.saving);
    EXPECT_GT(advice.saving->low, 100);
    EXPECT_LE(advice.saving->mid, 200);
    EXPECT_LE(advice.saving->high, 200);
}

/// Training steps whose device idles from 500 to 900 µs, with these host and device events before.
std::string stalled(std::string_view host, std::string_view device, std::string_view more = "phase backward 100 200")
{
    return gpuSteps(fmt::format("{}\n{}", more, host),
                    fmt::format("kernel sgemm 0 480\n{}\nkernel sgemm 900 100", device));
}

TEST(WaitingForTheDevice, ASynchronizingCallThatLeavesTheDeviceIdleIsFound)
{
    const auto advice =
        judge("sync_every_n_steps",
              stalled("op mine::timing 390 120\ncall cudaDeviceSynchronize 400 100", "kernel relu 480 20"));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_EQ(advice.title, "Each step waits until the device is done");
    EXPECT_THAT(advice.reason, test_support::HasNumber("idle", testing::DoubleNear(400, 1e-6)));
    EXPECT_THAT(advice.reason, test_support::HasText("ways", "1 call that waits for the GPU (mine::timing)"));
    EXPECT_EQ(judge("sync_every_n_steps", stalled("call cudaDeviceSynchronize 600 100", "kernel relu 480 20")).state,
              State::Silent)
        << "the device idles already";
}

TEST(WaitingForTheDevice, WaitingForABatchCopyIsNotAReadback)
{
    EXPECT_EQ(judge("sync_every_n_steps", stalled("call cudaStreamSynchronize 400 100",
                                                  "copy HtoD 480 20 bytes=8000000 src=pageable dst=device"))
                  .state,
              State::Silent);
}

TEST(WaitingForTheDevice, LargeCopiesToTheHostAndBackAreFound)
{
    const auto home = "copy DtoH 480 20 bytes=8000000 src=device dst=pageable";
    const auto advice = judge("sync_every_n_steps",
                              stalled("call cudaStreamSynchronize 400 100",
                                      fmt::format("{}\ncopy HtoD 890 10 bytes=8000000 src=pageable dst=device", home)));
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_EQ(advice.title, "Each step copies data to the host and back");
    EXPECT_THAT(advice.reason, test_support::HasText("ways", HasSubstr("1 copy to the host and back")));
    EXPECT_EQ(judge("sync_every_n_steps", stalled("", home)).state, State::Silent) << "results that are wanted";
}

TEST(WaitingForTheDevice, OnlyTrainingReadsMetrics)
{
    const auto title = [](std::string_view more) {
        return judge("sync_every_n_steps",
                     stalled("op aten::is_nonzero 390 115\nother \"torch/nn/module.py(5): call\" 380 130\n"
                             "other \"model.py(12): forward\" 370 150\ncall cudaMemcpyAsync 395 100 corr=9",
                             "copy DtoH 480 20 bytes=1 src=device dst=pageable corr=9", more));
    };
    EXPECT_EQ(title("phase backward 100 200").title, "") << "as the rule reports it";
    EXPECT_EQ(title("phase forward 100 200").title, "Each step waits to read a value back");
    EXPECT_THAT(title("phase forward 100 200").reason,
                profiler::test::hasPart("ways", "(aten::is_nonzero in model.py(12): forward)"));
    EXPECT_THAT(title("phase forward 100 200").caveats,
                testing::Not(testing::Contains(profiler::test::hasId("sync.every_n_steps.detach"))));
    EXPECT_EQ(title("phase backward 100 200\nop aten::_amp_foreach_non_finite_check_and_unscale_ 350 5").title,
              "Each step waits to read a value back");
}

/// Steps that copy a pinned batch for 100 µs, with a call of this duration, and optionally with a synchronizing call
/// after it.
std::string copying(int callUs, std::string_view behind = "")
{
    return gpuSteps(fmt::format("call cudaMemcpyAsync 0 {} corr=5\n{}", callUs, behind),
                    "copy HtoD 4 100 bytes=1000000 src=pinned dst=device corr=5\nkernel sgemm 200 700");
}

TEST(TransferClaims, CopiesWithoutAWaitAreAlreadyAsynchronous)
{
    const auto hidden =
        gpuSteps("call cudaMemcpyAsync 0 8 corr=5", "copy HtoD 4 40 bytes=1000000 src=pinned dst=device "
                                                    "corr=5\nkernel sgemm 200 700");
    EXPECT_EQ(judge("transfer_non_blocking", hidden).state, State::Silent);
    EXPECT_THAT(judge("transfer_non_blocking", hidden).reason, test_support::HasId("transfer.non_blocking.no_wait"));
    const auto exposed = judge("transfer_non_blocking", copying(8));
    EXPECT_EQ(exposed.state, State::Fires) << exposed.reason;
    EXPECT_EQ(exposed.title, "Copies to the GPU are not overlapped");
    EXPECT_FALSE(exposed.toggle);
    EXPECT_FALSE(exposed.evidence.empty());
    EXPECT_EQ(
        judge("transfer_non_blocking", copying(8, "call cudaLaunchKernel 9 5\ncall cudaStreamSynchronize 20 90")).state,
        State::Fires);
    EXPECT_EQ(judge("transfer_non_blocking", copying(106)).state, State::Fires);
    EXPECT_FALSE(judge("transfer_non_blocking", copying(8, "call cudaStreamSynchronize 300 600")).title.empty())
        << "a wait long after the copy is not a wait for it";
    EXPECT_EQ(judge("transfer_non_blocking", copying(106)).title, "") << "as the rule reports it";
    EXPECT_EQ(judge("transfer_non_blocking",
                    gpuSteps("", "copy HtoD 4 100 bytes=1000000 src=pinned dst=device\nkernel sgemm 200 700"))
                  .state,
              State::CannotTell);
}

TEST(TransferClaims, CopiesFromUnknownMemoryMayBlockDespiteNonBlocking)
{
    const auto copies = [](int us, std::string_view source) {
        return judge("transfer_non_blocking",
                     gpuSteps(fmt::format("call hipMemcpyAsync 0 {} corr=5\ncall hipMemcpyAsync 420 60 corr=6", us),
                              fmt::format("copy HtoD 4 {} name=CopyHostToDevice bytes=1000000 dst=device corr=5\n"
                                          "kernel sgemm 110 300\ncopy HtoD 424 50 bytes=1000000 {} dst=device corr=6",
                                          us - 5, source)));
    };
    EXPECT_EQ(copies(100, "").state, State::CannotTell);
    EXPECT_THAT(copies(100, "").reason, test_support::HasId("transfer.non_blocking.memory_unknown"));
    EXPECT_EQ(copies(100, "src=pageable").state, State::CannotTell);
    const advisor::Advice advice = copies(100, "src=pinned");
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_NEAR(advice.timeShare, 0.05, 1e-9) << "those whose memory is known";
    EXPECT_EQ(copies(6, "src=pageable").state, State::Silent) << "it is too short to matter";
    EXPECT_EQ(copies(100, "src=managed").state, State::Fires);
}

TEST(NextSteps, AreThoseThatThereAre)
{
    const std::string run = cpuRun(1000, 100);
    EXPECT_THAT(judge("batch_find_max", run).reason, HasId("memory.machine_unknown"))
        << "a program that was recorded has no such setting";
    EXPECT_THAT(Judged("batch_find_max", run).advice().reason, HasId("memory.no_limit"));
    EXPECT_THAT(judge("model_conv_bias", "main\nop aten::conv2d 0 100").reason,
                HasId("model.conv_bias.shapes_not_recorded"));
    std::string losses = run + "counter loss\n";
    for (int i = 0; i < 375; ++i)
        losses += fmt::format("sample {} 1\n", i);
    const profiler::Message few = Judged("schedule_kind", losses).advice().reason;
    EXPECT_THAT(few, HasId("schedule.kind.few_values"));
    EXPECT_THAT(few, HasNumber("values", 375));
    EXPECT_THAT(few, HasNumber("needed", 400));
}

} // namespace
} // namespace advisor_test
