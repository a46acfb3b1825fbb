#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

namespace {

using namespace profiler;
using test_support::traceFromText;
using test_support::traceToText;

constexpr const char* kEverything = R"(format stepscope
meta config {"a": 1}
meta host.cores 2
device 0 "NVIDIA H100" GPU-1
lost dropped=3 unmatched=2 cut
lost note="the file ends in a frame"
main tid=17
  step 4 0 100
    phase "data wait" 0 11 value=3 depth=1
    op aten::linear 20 5.5 seq=7 depth=1
      call cudaLaunchKernel 21 1 corr=5 depth=2
    op AddmmBackward0 60 5 seq=7 depth=1 backward
thread "thread 18" pid=2 tid=18
  annotation mine 3 open
    sync "wait for it" 8 1 depth=1
worker 0
  stage decode 0 8 value=3 bytes=1000
  wait "wait for room" 8 2
stream 0 7
  copy HtoD 30 4 bytes=4096 src=pageable dst=device corr=6 async
  kernel "gemm<1, 2>" 35 0.25 corr=5
  memset zero 40 1 bytes=4 name=zero
counter loss unit=nats
  sample 10 0.5
  sample 20 0.25
)";

TEST(TraceText, RoundTrips)
{
    std::string expected = kEverything;
    expected.replace(expected.find(" name=zero"), 10, ""); // a default name is not written
    EXPECT_EQ(traceToText(*traceFromText(kEverything)), expected);
    EXPECT_EQ(traceToText(*traceFromText(expected)), expected);
}

TEST(TraceText, EveryKindHasAVerb)
{
    const auto trace = traceFromText(R"(thread all
        other a 0 1
        step 1 1 1
        phase a 2 1
        stage a 3 1
        wait a 4 1
        op a 5 1
        annotation a 6 1
        call a 7 1
        driver a 8 1
        kernel a 9 1
        copy DtoH 10 1
        memset a 11 1
        gpu_annotation a 12 1
        sync a 13 1
        overhead a 14 1
        nvtx a 15 1)");
    const auto slices = trace->sorted(TrackId{0});
    ASSERT_EQ(slices.size(), static_cast<std::size_t>(kActivityKinds));
    for (int kind = 0; kind < kActivityKinds; ++kind)
        EXPECT_EQ(slices[static_cast<std::size_t>(kind)].kind, static_cast<ActivityKind>(kind));
}

TEST(TraceText, RepeatShiftsTimesAndNumbers)
{
    const auto trace = traceFromText(R"(
        repeat 3 every 1ms
          main
            step 10 0 900us
            op relu 100 5 seq=1
          stream 0 7
            kernel k 200 5 corr=2
        end
        main
          phase after 3000 1)");
    EXPECT_EQ(traceToText(*trace), R"(main
  step 10 0 900
    op relu 100 5 seq=1 depth=1
  step 11 1000 900
    op relu 1100 5 seq=1001 depth=1
  step 12 2000 900
    op relu 2100 5 seq=2001 depth=1
  phase after 3000 1
stream 0 7
  kernel k 200 5 corr=2
  kernel k 1200 5 corr=1002
  kernel k 2200 5 corr=2002
)");
}

TEST(TraceTextDeathTest, NamesTheWrongLine)
{
    EXPECT_DEATH(traceFromText("main\n  kernle a 0 1"), "line 2: unknown verb 'kernle'");
    EXPECT_DEATH(traceFromText("op a 0 1"), "line 1: there is no track yet");
    EXPECT_DEATH(traceFromText("main\n\nop a 0 x"), "line 3: 'x' is not a time");
    EXPECT_DEATH(traceFromText("main\nop a 0 1 sequence=2"), "'sequence=' is not a valid option here");
    EXPECT_DEATH(traceFromText("main\nop a 0 1 2"), "'2' is an extra word");
    EXPECT_DEATH(traceFromText("main\nop \"a 0 1"), "a quote is not closed");
    EXPECT_DEATH(traceFromText("repeat 2 every 5\nmain"), "'repeat' without 'end'");
}

} // namespace
