#include "advisor/evidence/gpu_facts.h"
#include "profiler/model/trace.h"
#include "profiler/model/trace_builder.h"
#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"

#include "advisor_rules_registry.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace advisor_test {
namespace {

using namespace profiler;
using advisor::SavingKind;
using advisor::State;
using test_support::HasId;
using test_support::HasNumber;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Judged imported(std::string_view stem, const std::string& text)
{
    return {stem, text, {}, true};
}

std::string copyRun(std::string_view more, std::string_view host = "")
{
    return fmt::format(
        "device 0 gpu\nmain\nrepeat 10 every 1000\nstep 0 0 1000\n{}\nend\nstream 0 7\nrepeat 10 every 1000\n{}\nend",
        host, more);
}

TEST(LoaderPinMemory, FiresFromHalfAPercentOfTheTime)
{
    const auto text = [](double us) {
        return copyRun(fmt::format("copy HtoD 0 {} bytes=100000 src=pageable dst=device\nkernel a 100 800", us));
    };
    EXPECT_EQ(imported("loader_pin_memory", text(4.9)).advice().state, State::Silent);
    EXPECT_EQ(imported("loader_pin_memory", text(5.1)).advice().state, State::Fires);
}

TEST(LoaderPinMemory, SmallCopiesAreNotBatches)
{
    const auto text = [](int bytes) {
        return copyRun(fmt::format("copy HtoD 0 9 bytes={} src=pageable dst=device\nkernel a 100 800", bytes));
    };
    EXPECT_EQ(imported("loader_pin_memory", text(65535)).advice().state, State::Silent);
    EXPECT_EQ(imported("loader_pin_memory", text(65536)).advice().state, State::Fires);
}

TEST(LoaderPinMemory, SmallCopiesAlongsideBatchesGainNothing)
{
    std::string copies =
        "copy HtoD 0 100 bytes=100000 src=pageable dst=device\ncopy HtoD 700 50 bytes=100000 src=pinned dst=device";
    for (int i = 0; i < 50; ++i)
        copies += fmt::format("\ncopy HtoD {} 2 bytes=8 src=pageable dst=device", 200 + 5 * i);
    const auto judged = imported("loader_pin_memory", copyRun(copies));
    ASSERT_TRUE(judged.advice().saving);
    EXPECT_NEAR(judged.advice().saving->high, 100, 1e-9) << judged.advice().reason;
    EXPECT_THAT(judged.advice().reason, AllOf(HasNumber("copies", 510), HasNumber("large", 10)));
}

TEST(LoaderPinMemory, TheTypicalBandwidthOfPinnedCopiesCountsNotTheBest)
{
    // One in ten pinned copies has ten times the bandwidth of the others, which are as slow as pageable ones.
    const auto run = [](int pinnedUs) {
        return copyRun("copy HtoD 0 100 bytes=100000 src=pageable dst=device\nkernel a 100 500\n"
                       "copy HtoD 700 " +
                       std::to_string(pinnedUs) + " bytes=100000 src=pinned dst=device") +
               "\nstream 0 8\ncopy HtoD 5700 10 bytes=100000 src=pinned dst=device\n";
    };
    const auto same = imported("loader_pin_memory", run(100)).advice();
    EXPECT_EQ(same.state, State::Silent);
    EXPECT_THAT(same.reason, HasId("loader.pin_memory.no_faster"));
    EXPECT_EQ(imported("loader_pin_memory", run(99)).advice().state, State::Fires);
}

/// Steps whose host waits for a pageable copy of 100 µs, and whose device waits for the host; `pinned` of them copy as
/// many bytes in 50 µs from pinned memory.
std::string blockingCopies(int pinned)
{
    std::string text = "device 0 gpu\nmain\nrepeat 10 every 1000\nstep 0 0 1000\ncall cudaMemcpy 0 101 corr=5\n"
                       "call cudaLaunchKernel 890 5 corr=6\nend\n";
    for (int i = 0; i < pinned; ++i)
        text += fmt::format("call cudaMemcpyAsync {} 5 corr={}\n", 1300 + 1000 * i, 7 + i);
    text += "stream 0 7\nrepeat 10 every 1000\ncopy HtoD 0 100 bytes=1000000 src=pageable dst=device corr=5\n"
            "kernel sgemm 900 80 corr=6\nend\nstream 0 8\n";
    for (int i = 0; i < pinned; ++i)
        text += fmt::format("copy HtoD {} 50 bytes=1000000 src=pinned dst=device corr={}\n", 1310 + 1000 * i, 7 + i);
    return text;
}

TEST(LoaderPinMemory, AReplayWithTheBandwidthOfPinnedCopiesIsTheEstimate)
{
    const auto advice = imported("loader_pin_memory", blockingCopies(9)).advice();
    ASSERT_TRUE(advice.saving) << advice.whyNoPrediction;
    EXPECT_EQ(advice.saving->kind, SavingKind::Estimate);
    EXPECT_NEAR(advice.saving->low, 50, 1) << "the copy takes half as long";
    EXPECT_NEAR(advice.saving->high, 51, 1) << "and the call no time";
}

TEST(LoaderPinMemory, AFewPinnedCopiesDoNotShowWhatTheLinkReaches)
{
    const auto few = imported("loader_pin_memory", blockingCopies(4)).advice();
    ASSERT_TRUE(few.saving) << few.whyNoPrediction;
    EXPECT_EQ(few.saving->kind, SavingKind::UpperBound);
    EXPECT_NEAR(few.saving->high, 100, 1e-9) << "no copy takes negative time";
    EXPECT_EQ(imported("loader_pin_memory", blockingCopies(5)).advice().saving.value().kind, SavingKind::Estimate);
}

TEST(LoaderPinMemory, LoaderSettingsFromTheHooksCount)
{
    const std::string run = copyRun("copy HtoD 0 100 bytes=100000 src=pageable dst=device\nkernel a 100 500");
    EXPECT_EQ(imported("loader_pin_memory", "meta loader.pin_memory false\n" + run).advice().state, State::Fires);
    EXPECT_THAT(imported("loader_pin_memory", "meta loader.pin_memory true\n" + run).advice().reason,
                HasId("loader.pin_memory.on"));
}

TEST(LoaderPinMemory, ASlowPinnedCopyIsNotPageable)
{
    EXPECT_EQ(imported("loader_pin_memory", copyRun("copy HtoD 0 500 bytes=10 src=pinned dst=device")).advice().state,
              State::Silent);
}

TEST(LoaderPinMemory, HostPageTablesProveNothing)
{
    const auto judged =
        imported("loader_pin_memory", "meta device.pageable_uses_host_page_tables 1\n" +
                                          copyRun("copy HtoD 0 100 bytes=100000 src=pageable dst=device"));
    EXPECT_EQ(judged.advice().state, State::CannotTell);
}

TEST(TransferNonBlocking, PageableCopiesBlockDespiteNonBlocking)
{
    const auto judged = imported("transfer_non_blocking",
                                 copyRun("copy HtoD 0 100 bytes=100000 src=pageable dst=device\nkernel a 100 800"));
    EXPECT_EQ(judged.advice().state, State::Silent);
    EXPECT_THAT(judged.advice().reason, profiler::test::hasId("transfer.non_blocking.pageable"));
}

TEST(TransferNonBlocking, TheRangeIsTheSpreadInTheTrace)
{
    const auto judged = imported("transfer_non_blocking",
                                 copyRun("copy HtoD 0 100 bytes=100000 src=pinned dst=device corr=5\nkernel a 60 800",
                                         "call cudaMemcpy 0 101 corr=5"));
    ASSERT_TRUE(judged.advice().saving);
    EXPECT_NEAR(judged.advice().saving->mid, 60, 1e-9); // the kernel hides the rest
    EXPECT_NEAR(judged.advice().saving->high, 60, 1e-9);
}

TEST(PrecisionTf32, TheRecordedCapabilityDecidesAndNeverAName)
{
    const auto state = [](std::string_view device) {
        return imported("precision_tf32", fmt::format("device 0 {}\nstream 0 7\nkernel sgemm_128x64 0 100", device))
            .advice()
            .state;
    };
    EXPECT_EQ(state("\"NVIDIA RTX 6000 Ada Generation\" \"\" sm=89"), State::Fires);
    EXPECT_EQ(state("\"Quadro RTX 6000\" \"\" sm=75"), State::Silent);
    EXPECT_EQ(state("\"NVIDIA A100-SXM4-80GB\" \"\" sm=80"), State::Fires);
    EXPECT_EQ(state("\"NVIDIA A100-SXM4-80GB\""), State::CannotTell);
    EXPECT_EQ(state("\"NVIDIA RTX 6000 Ada Generation\""), State::CannotTell);
}

TEST(PrecisionTf32, KernelsTellWhatTheyWereBuiltFor)
{
    const auto judged = [](std::string_view kernel) {
        return imported("precision_tf32", fmt::format("stream 0 7\nkernel {} 0 100", kernel));
    };
    EXPECT_EQ(judged("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_ffma").advice().state, State::Fires);
    EXPECT_EQ(judged("volta_sgemm_128x64_nn").advice().state, State::CannotTell);
    EXPECT_EQ(imported("precision_tf32", "stream 0 7\nkernel volta_sgemm_128x64_nn 0 900\n"
                                         "kernel ampere_bf16_s16816gemm_bf16_128x64 900 100")
                  .advice()
                  .state,
              State::Fires)
        << "another kernel shows what the device can do";
}

TEST(PrecisionTf32, IsNvidias)
{
    EXPECT_EQ(imported("precision_tf32", "device 0 \"AMD Instinct MI250X\" \"\" sm=90\nstream 0 7\n"
                                         "kernel Cijk_Ailk_Bljk_SB_MT64x64x16 0 100")
                  .advice()
                  .state,
              State::Silent);
    EXPECT_EQ(imported("precision_tf32", "stream 0 7\nkernel Cijk_Ailk_Bljk_SB_MT64x64x16 0 100").advice().state,
              State::Silent);
}

TEST(PrecisionTf32, SaysNothingWhereTensorCoresWork)
{
    const auto judged =
        imported("precision_tf32", "device 0 H100\nstream 0 7\nkernel sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n 0 100");
    EXPECT_EQ(judged.advice().state, State::Silent);
}

TEST(PrecisionAmp, OldDevicesHaveNoTensorCores)
{
    const auto judged =
        imported("precision_amp", "device 0 \"Tesla P100\" \"\" sm=60\nmain\nrepeat 5 every 100\nstep 0 0 100\nend\n"
                                  "stream 0 7\nkernel maxwell_sgemm_128x64 0 400");
    EXPECT_EQ(judged.advice().state, State::Silent);
}

TEST(FusePointwise, FiresFromAQuarterOfKernelTime)
{
    const auto text = [](double us) {
        return fmt::format(
            "stream 0 7\nkernel elementwise_kernel_a 0 {0}\nkernel elementwise_kernel_b 500 {0}\nkernel sgemm 1000 {1}",
            us, 1000 - 2 * us);
    };
    EXPECT_EQ(imported("fuse_pointwise", text(124)).advice().state, State::Silent);
    EXPECT_EQ(imported("fuse_pointwise", text(126)).advice().state, State::Fires);
}

TEST(FusePointwise, IsolatedKernelsCannotBeFused)
{
    const auto judged =
        imported("fuse_pointwise", "stream 0 7\nkernel elementwise_kernel_a 0 100\nkernel sgemm 100 100\n"
                                   "kernel elementwise_kernel_b 200 100");
    EXPECT_EQ(judged.advice().state, State::Silent);
}

TEST(Attention, FlashKernelsAreNotUnfused)
{
    const auto judged =
        imported("attention", "stream 0 7\nkernel sgemm 0 100\nkernel flash_fwd_kernel 100 100\nkernel sgemm 200 100");
    EXPECT_EQ(judged.advice().state, State::Silent);
    EXPECT_THAT(judged.advice().reason, profiler::test::hasId("attention.fused"));
}

TEST(Attention, OperatorsShowItOnTheCpu)
{
    const auto text = [](std::string_view middle) {
        return fmt::format(
            "main\nrepeat 5 every 100\nstep 0 0 100\nop aten::matmul 0 30\nop aten::bmm 1 28\nop aten::div 31 4\n"
            "op {} 36 10\nop aten::matmul 50 30\nop aten::bmm 51 28\nend",
            middle);
    };
    EXPECT_EQ(imported("attention", text("aten::softmax")).advice().state, State::Fires);
    EXPECT_EQ(imported("attention", text("aten::relu")).advice().state, State::Silent);
}

TEST(Attention, AClassifiersSoftmaxIsNotAttention)
{
    const auto judged =
        imported("attention", "main\nop aten::linear 0 30\nop aten::softmax 31 10\nop aten::nll_loss 42 5");
    EXPECT_EQ(judged.advice().state, State::Silent);
}

TEST(Attention, ARoutersSoftmaxIsNotAttention)
{
    const auto routed = [](std::string_view choice) {
        return imported("attention", fmt::format("stream 0 7\nkernel nvjet_tst_64x8 0 100\nkernel {} 100 10\n"
                                                 "kernel softmax_warp_forward 110 5\nkernel nvjet_tst_512x8 120 100",
                                                 choice))
            .advice()
            .state;
    };
    EXPECT_EQ(routed("bitonicSortKVInPlace"), State::Silent);
    EXPECT_EQ(routed("elementwise_scale"), State::Fires);
    EXPECT_EQ(imported("attention", "stream 0 7\nkernel nvjet_tst_64x8 0 100\nkernel aiter::topksoftmax_4x128 100 5\n"
                                    "kernel nvjet_tst_512x8 120 100")
                  .advice()
                  .state,
              State::Silent);
}

TEST(Attention, ALossTakesTheSoftmaxesLogarithm)
{
    const auto judged =
        imported("attention", "stream 0 7\nkernel sgemm 0 100\nkernel cunn_SoftMaxForward<LogSoftMaxForwardEpilogue> "
                              "100 10\nkernel sgemm 120 100");
    EXPECT_EQ(judged.advice().state, State::Silent);
}

TEST(ModelConvBias, AnActivationInBetweenMakesTheBiasCount)
{
    const auto judged =
        imported("model_conv_bias", "main\nop aten::conv2d 0 100 shapes=\"[[32, 3, 8, 8], [64, 3, 7, 7], [64]]\"\n"
                                    "op aten::relu 101 10\nop aten::batch_norm 112 50");
    EXPECT_EQ(judged.advice().state, State::Silent);
}

TEST(ModelConvBias, RangesThatOldProfilersRecordAsOperatorsContainOperators)
{
    const auto state = [](std::string_view range) {
        return imported("model_conv_bias",
                        fmt::format("main\nop {} 0 300\nop \"ResNet\" 1 298\n"
                                    "op aten::conv2d 2 100 shapes=\"[[32, 3, 8, 8], [64, 3, 7, 7], [64]]\"\n"
                                    "op aten::_convolution 3 90 shapes=\"[[32, 3, 8, 8], [64, 3, 7, 7], [64]]\"\n"
                                    "op aten::batch_norm 112 50",
                                    range))
            .advice()
            .state;
    };
    EXPECT_EQ(state("DistributedDataParallel.forward"), State::Fires);
    EXPECT_EQ(state("MyFunctionBackward0"), State::Silent) << "a node of the backward pass is an operator";
    EXPECT_EQ(state("autograd::engine::evaluate_function"), State::Silent);
    EXPECT_EQ(state("\"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__\""), State::Silent);
}

TEST(HostBound, WaitingForDataIsNotLaunchBound)
{
    const auto judged = imported(
        "host_bound", "device 0 gpu\nmain\nrepeat 10 every 100\nstep 0 0 100\nphase \"data wait\" 0 60\n"
                      "call cudaLaunchKernel 60 10\nend\nstream 0 7\nrepeat 10 every 100\nkernel a 65 30\nend");
    EXPECT_EQ(judged.advice().state, State::Silent);
}

TEST(HostBound, UnrecordedTimeIsHostTimeOnlyBetweenLaunches)
{
    const auto text = [](std::string_view host, std::string_view device) {
        return fmt::format("device 0 gpu\nmain\nrepeat 10 every 100\nstep 0 0 100\n{}op aten::mm 60 2\n"
                           "call cudaLaunchKernel 60 1\nend\nstream 0 7\nrepeat 10 every 100\n{}kernel a 62 38\nend",
                           host, device);
    };
    // With a launch before and one after, the thread was neither asleep nor in a waiting call.
    const std::string between = text("op aten::mm 0 2\ncall cudaLaunchKernel 0 1\n", "kernel a 2 3\n");
    const auto bound = imported("host_bound", between);
    EXPECT_EQ(bound.advice().state, State::Fires) << bound.advice().reason;
    EXPECT_FALSE(bound.advice().evidence.empty());
    EXPECT_THAT(bound.advice().reason, HasNumber("share", testing::DoubleNear(0.59, 0.02)));
    const auto launches = imported("compile", between);
    EXPECT_EQ(launches.advice().state, State::Silent);
    EXPECT_THAT(launches.advice().reason, HasId("compile.rarely"));
    // Before its first launch, a step may wait for anything.
    const auto before = imported("host_bound", text("", ""));
    EXPECT_EQ(before.advice().state, State::CannotTell) << before.advice().reason;
    EXPECT_THAT(before.advice().reason, HasId("host.bound.unrecorded"));
}

TEST(HostBound, StartAndEndOfARecordingWithoutStepsAreNotGaps)
{
    const auto judged = imported("host_bound", "device 0 gpu\nmain\nop aten::mm 0 400\ncall cudaLaunchKernel 300 5\n"
                                               "stream 0 7\nkernel a 400 100\nkernel a 505 100");
    EXPECT_EQ(judged.advice().state, State::Silent) << judged.advice().reason;
}

TEST(MemoryPressure, CallsThatAllocateBetweenKernelsCountWithoutMemoryCounters)
{
    const auto churn = [](int gaps, int callsInEach, int from, std::string_view call = "hipFree") {
        std::string calls, kernels;
        for (int gap = 0; gap < gaps; ++gap) {
            for (int i = 0; i < callsInEach; ++i)
                calls += fmt::format("call {} {} 3\n", call, from + 60 * gap + 4 * i);
            kernels += fmt::format("kernel a {} 5\n", from + 60 * gap + 50);
        }
        return imported("memory_pressure", fmt::format("device 0 gpu\nmain\n{}stream 0 7\nkernel a 0 {}\n{}"
                                                       "kernel a 600 50",
                                                       calls, from, kernels))
            .advice();
    };
    for (const char* call : {"hipFree", "cudaMalloc", "cudaHostAlloc", "cudaFreeHost", "cuMemAlloc_v2"}) {
        const auto advice = churn(4, 5, 340, call);
        ASSERT_EQ(advice.state, State::Fires) << call << advice.reason;
        EXPECT_THAT(advice.reason, AllOf(HasId("memory.pressure.calls_without_steps"), HasNumber("time", 60)));
    }
    EXPECT_EQ(churn(3, 3, 340).state, State::Fires);
    EXPECT_NE(churn(2, 8, 340).state, State::Fires) << "a cache that is emptied and filled again";
    EXPECT_NE(churn(3, 1, 340).state, State::Fires) << "3 % of the time";
    EXPECT_NE(churn(4, 5, 20).state, State::Fires) << "at the start only";
    EXPECT_NE(churn(4, 5, 340, "cudaMallocAsync").state, State::Fires) << "does not block";
}

TEST(MemoryPressure, CallsThatAllocateInSteadyStepsCountPerStep)
{
    const auto steps = [](int us, std::string_view first = "") {
        return imported("memory_pressure",
                        fmt::format("device 0 gpu\nmain\nrepeat 10 every 1000\nstep 0 0 1000\ncall cudaMalloc 100 {}\n"
                                    "end\n{}\nstream 0 7\nrepeat 10 every 1000\nkernel a 0 90\nkernel a 300 700\nend\n",
                                    us, first))
            .advice();
    };
    const auto advice = steps(60);
    ASSERT_EQ(advice.state, State::Fires) << advice.reason;
    EXPECT_THAT(advice.reason,
                AllOf(HasId("memory.pressure.calls"), HasNumber("time", 60), HasNumber("allocations", 9)));
    EXPECT_NE(steps(40).state, State::Fires) << "4 % of the time";
    EXPECT_NE(steps(0, "call cudaMalloc 95 200").state, State::Fires) << "in the first step only: warm-up";
}

TEST(TensorsCreateOnDevice, WaitingForTheDeviceIsNotCopyTime)
{
    const auto share = [](int callUs) {
        return imported("tensors_create_on_device",
                        fmt::format("main\nop aten::randn 0 3\nop aten::to 10 {}\n"
                                    "call hipMemcpyWithStream 11 {} corr=7\nstream 0 7\nkernel a 0 900\n"
                                    "copy HtoD 900 1 bytes=100 corr=7",
                                    callUs + 2, callUs))
            .advice()
            .state;
    };
    EXPECT_EQ(share(880), State::Fires); // 6 of 901 µs: the fill, the copy and the operator around the call
    EXPECT_EQ(imported("tensors_create_on_device",
                       "main\nop aten::randn 0 1\nop aten::to 10 882\ncall hipMemcpyWithStream 11 880 corr=7\n"
                       "stream 0 7\nkernel a 0 900\ncopy HtoD 900 1 bytes=100 corr=7")
                  .advice()
                  .state,
              State::Silent); // 4 of 901 µs
}

TEST(StepVariance, NamesThePartThatVaries)
{
    const auto judged = imported("step_variance", R"(
        main
          step 0 0 1000
          phase forward 0 600
          step 1 3000 2500
          phase forward 3000 2000
          repeat 8 every 3000
            step 2 6000 1000
            phase forward 6000 600
          end
          step 10 30000 2500
          phase forward 30000 2000
    )");
    ASSERT_EQ(judged.advice().state, State::Fires);
    EXPECT_THAT(judged.advice().reason.text, HasSubstr("forward"));
}

/// Gives every slice the same details.
class OneDetail : public ArgSource {
public:
    explicit OneDetail(std::string inputs) : m_inputs(std::move(inputs)) {}
    Result<SliceDetails> read(std::uint64_t) const override { return SliceDetails{{"Concrete Inputs", m_inputs}}; }

private:
    std::string m_inputs;
};

State benchmarkVerdict(std::string inputs)
{
    TraceBuilder builder;
    Track main, stream;
    main.kind = TrackKind::MainThread;
    stream.kind = TrackKind::Stream;
    builder.setArgSource(std::make_shared<OneDetail>(std::move(inputs)));
    Slice op, kernel;
    op.duration = kernel.duration = Nanoseconds{1000};
    op.name = builder.intern("aten::_convolution");
    op.kind = ActivityKind::CpuOp;
    op.source = 1;
    kernel.name = builder.intern("volta_scudnn_128x64");
    kernel.kind = ActivityKind::Kernel;
    builder.add(builder.addTrack(main), op);
    builder.add(builder.addTrack(stream), kernel);
    const auto trace = builder.finish();
    const auto facts = analysis::analyse(*trace);
    for (const auto& rule : advisor::rules::all())
        if (rule.stem == "cudnn_benchmark")
            return rule.entry.check({*trace, facts, nullptr}).state;
    ADD_FAILURE();
    return State::CannotTell;
}

// Like cudnn_benchmark_fires, but from the operator's own flag: traces in text form have no details.
TEST(CudnnBenchmark, ReadsTheFlagThatTheOperatorWasCalledWith)
{
    constexpr std::string_view kInputs =
        "[\"\", \"\", \"\", \"[1, 1]\", \"[0, 0]\", \"[1, 1]\", \"False\", \"[0, 0]\", \"1\", \"{}\"]";
    EXPECT_EQ(benchmarkVerdict(fmt::format(fmt::runtime(kInputs), "False")), State::Fires);
    EXPECT_EQ(benchmarkVerdict(fmt::format(fmt::runtime(kInputs), "True")), State::Silent);
    EXPECT_EQ(benchmarkVerdict("[\"\"]"), State::CannotTell);
}

TEST(ListEntries, StopAtTheOutermostCommas)
{
    EXPECT_THAT(advisor::listEntries("[[32, 3], [], \"a, b\", 7]"), ElementsAre("[32, 3]", "[]", "a, b", "7"));
    EXPECT_THAT(advisor::listEntries("[]"), IsEmpty());
    EXPECT_THAT(advisor::listEntries("[\"\", \"\"]"), ElementsAre("", ""));
    EXPECT_THAT(advisor::listEntries("no list"), IsEmpty());
}

} // namespace
} // namespace advisor_test
