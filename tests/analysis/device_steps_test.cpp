// A CPU that launches steps long before the GPU runs them.
#include "profiler/analysis/steps/device_steps.h"

#include "tests/support/trace_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

namespace analysis_test {
namespace {

using namespace profiler;
using namespace profiler::analysis;

/// Five steps of 100 µs; each launches one kernel. The kernels take `kernelUs` each and run back to back from 50 µs.
std::string steps(int kernelUs, std::string_view more = "")
{
    std::string host, device;
    for (int i = 0; i < 5; ++i) {
        host += fmt::format("step {0} {1} 100\nphase forward {2} 40\ncall cudaLaunchKernel {3} 5 corr={4}\n", i,
                            i * 100, i * 100 + 1, i * 100 + 10, i + 1);
        device += fmt::format("kernel gemm {} {} corr={}\n", 50 + i * std::max(kernelUs, 100), kernelUs, i + 1);
    }
    return "device 0 gpu\nmain\n" + host + "stream 0 7\n" + device + std::string(more);
}

TEST(DeviceSteps, EndWithTheirWorkIfTheDeviceIsFarBehind)
{
    const auto trace = test_support::traceFromText(steps(1000));
    const std::vector<Step> found = findSteps(*trace);
    ASSERT_EQ(found.size(), 5U);
    EXPECT_TRUE(areMeasuredOnDevice(found));
    EXPECT_EQ(toUs(found[0].range.begin - trace->range().begin), 0);
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(toUs(found[i].range.end - trace->range().begin), 1050 + 1000.0 * static_cast<double>(i));
        EXPECT_EQ(toUs(found[i].parts.forward), 40);
        EXPECT_EQ(found[i].parts.forward + found[i].parts.other, found[i].range.duration());
    }
    EXPECT_EQ(stepStatistics(found).medianUs, 1000);
}

TEST(DeviceSteps, ThatTheDeviceFinishesSoonerThanTheCpuHaveNoParts)
{
    // The device needs long for the first step and hardly any time for the second.
    const auto trace =
        test_support::traceFromText("device 0 gpu\nmain\nstep 0 0 100\ncall cudaLaunchKernel 10 5 corr=1\n"
                                    "step 1 100 100\nphase forward 101 90\ncall cudaLaunchKernel 120 5 corr=2\n"
                                    "stream 0 7\nkernel a 50 1000 corr=1\nkernel b 1050 10 corr=2");
    const std::vector<Step> found = findSteps(*trace);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(toUs(found[1].range.duration()), 10);
    EXPECT_EQ(found[1].parts.other, found[1].range.duration());
}

TEST(DeviceSteps, KeepTheirMarksOtherwise)
{
    const auto isChanged = [](const std::string& text) {
        const auto trace = test_support::traceFromText(text);
        return areMeasuredOnDevice(findSteps(*trace));
    };
    EXPECT_TRUE(isChanged(steps(1000)));
    EXPECT_FALSE(isChanged(steps(100))) << "the device ends 50 µs after the last step";
    EXPECT_FALSE(isChanged(steps(1000, "lost live"))) << "more work of the steps may follow";
    EXPECT_FALSE(
        isChanged(steps(100, "main\ncall cudaLaunchKernel 510 5 corr=9\nstream 0 7\nkernel a 600 9000 corr=9")))
        << "launched after the steps";
    EXPECT_FALSE(isChanged(steps(100, "kernel a 600 9000"))) << "its launch is not recorded";
    EXPECT_FALSE(isChanged("main pid=1\nstep 0 0 100\nthread other pid=2\ncall cudaLaunchKernel 10 5 corr=1\n"
                           "stream 0 7\nkernel a 50 9000 corr=1"))
        << "another process";
}

} // namespace
} // namespace analysis_test
