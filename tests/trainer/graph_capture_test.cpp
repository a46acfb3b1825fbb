#include "trainer/cuda/graph_capture.h"

#include <gmock/gmock.h>
#include <stdexcept>
#include <string>
#include <vector>

using namespace trainer;
using testing::ElementsAre;

namespace {

/// Notes each call, and fails where a test says so.
class NotedCalls final : public CaptureCalls {
public:
    void synchronize() override { call("synchronize"); }
    void emptyDeviceCache() override { call("empty device cache"); }
    void emptyPinnedCache() override { call("empty pinned cache"); }
    void begin(CaptureMode wanted) override
    {
        mode = wanted;
        call("begin");
    }
    void end() override { call("end"); }
    void abandon() noexcept override { calls.emplace_back("abandon"); }
    void call(const std::string& name)
    {
        calls.push_back(name);
        if (name == failing)
            throw std::runtime_error(name);
    }
    [[nodiscard]] std::function<void()> work()
    {
        return [this] { call(isCapturing() ? "captured work" : "work"); };
    }
    [[nodiscard]] bool isCapturing() const { return testing::Matches(testing::Contains("begin"))(calls); }

    std::string failing;
    std::vector<std::string> calls;
    CaptureMode mode = CaptureMode::Global;
};

} // namespace

TEST(GraphCapture, OtherThreadsMayCallCudaDuringACapture)
{
    NotedCalls calls;
    captureGraph(calls, calls.work());
    EXPECT_EQ(calls.mode, CaptureMode::ThreadLocal);
}

TEST(GraphCapture, TheCachesAreEmptyBeforeItBegins)
{
    NotedCalls calls;
    captureGraph(calls, calls.work());
    EXPECT_THAT(calls.calls, ElementsAre("work", "work", "work", "synchronize", "empty device cache",
                                         "empty pinned cache", "begin", "captured work", "end", "synchronize"));
}

TEST(GraphCapture, AFailureWhileItCapturesIsCleanedUpAndThrown)
{
    for (const char* failing : {"begin", "captured work", "end"}) {
        NotedCalls calls;
        calls.failing = failing;
        EXPECT_THROW(captureGraph(calls, calls.work()), std::runtime_error) << failing;
        EXPECT_EQ(calls.calls.back(), "abandon") << failing;
    }
}

TEST(GraphCapture, AFailureBeforeItBeginsLeavesNothingToCleanUp)
{
    for (const char* failing : {"work", "synchronize", "empty pinned cache"}) {
        NotedCalls calls;
        calls.failing = failing;
        EXPECT_THROW(captureGraph(calls, calls.work()), std::runtime_error) << failing;
        EXPECT_THAT(calls.calls, testing::Not(testing::Contains("abandon"))) << failing;
    }
}
