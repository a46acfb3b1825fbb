#include "profiler/capture/nvml.h"

#include "profiler/capture/system_sampler.h"
#include "profiler/model/nvml_values.h"
#include "tests/capture/fake_nvml.h"
#include "tests/capture/parsed_trace.h"
#include "tests/support/temporary_folder.h"

#include <bit>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace capture_test {
namespace {

using namespace profiler;
using namespace profiler::capture;

TEST(NvmlLink, HasTheGenerationAndWidthThatTheDriverReports)
{
    setFakeGpus({{"GPU-a", 5, 16}, {"GPU-b", 3, 8}});
    const auto nvml = Nvml::open();
    ASSERT_TRUE(nvml) << nvml.error().message();
    ASSERT_THAT(nvml->uuids(), testing::ElementsAre("GPU-a", "GPU-b"));
    EXPECT_EQ(nvml->link(0), (PcieLink{5, 16}));
    EXPECT_EQ(nvml->link(1), (PcieLink{3, 8}));
}

TEST(NvmlLink, IsEmptyIfTheDriverReportsNoneOrNonsense)
{
    setFakeGpus({{"GPU-a", std::nullopt, 16}, {"GPU-b", 4, std::nullopt}, {"GPU-c", 0, 16}, {"GPU-d", 5, 99}});
    const auto nvml = Nvml::open();
    ASSERT_TRUE(nvml);
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_FALSE(nvml->link(i)) << i;
}

TEST(NvmlLink, IsInTheMetadataOfTheTrace)
{
    setFakeGpus({{"GPU-a", 4, 16}, {"GPU-b", std::nullopt, std::nullopt}});
    const test_support::TemporaryFolder folder;
    auto recorder = Recorder::start({.path = folder / "a.sstrace"});
    ASSERT_TRUE(recorder);
    SystemSampler::start(**recorder, {.every = std::chrono::milliseconds(10)}).reset();
    ASSERT_TRUE((*recorder)->finish());
    const auto metadata = parseTrace(folder / "a.sstrace").metadata;
    EXPECT_EQ(metadata.at("link.GPU-a"), "PCIe 4.0 x16");
    EXPECT_FALSE(metadata.contains("link.GPU-b"));
}

TEST(NvmlThrottling, ReasonsComeFromTheNewerFunctionOrElseTheOlderOne)
{
    setFakeGpus({{.uuid = "GPU-a", .eventReasons = throttle::kHardwareThermal, .throttleReasons = throttle::kIdle},
                 {.uuid = "GPU-b", .throttleReasons = throttle::kPowerCap},
                 {.uuid = "GPU-c", .eventReasons = 0},
                 {.uuid = "GPU-d"}});
    const auto nvml = Nvml::open();
    ASSERT_TRUE(nvml);
    EXPECT_EQ(nvml->state(0).throttling, throttle::kHardwareThermal);
    EXPECT_EQ(nvml->state(1).throttling, throttle::kPowerCap);
    EXPECT_EQ(nvml->state(2).throttling, 0U);
    EXPECT_EQ(nvml->state(3).throttling, std::nullopt);
}

TEST(NvmlThrottling, ReasonsAreACounterInTheTrace)
{
    setFakeGpus(
        {{.uuid = "GPU-a", .eventReasons = throttle::kSoftwareThermal | throttle::kPowerCap}, {.uuid = "GPU-b"}});
    const test_support::TemporaryFolder folder;
    auto recorder = Recorder::start({.path = folder / "a.sstrace"});
    ASSERT_TRUE(recorder);
    SystemSampler::start(**recorder, {.every = std::chrono::milliseconds(10)}).reset();
    ASSERT_TRUE((*recorder)->finish());
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    std::map<std::string, double> last;
    for (const auto& event : trace.events)
        if (event.record.type == container::EventType::Counter)
            last[trace.strings.at(trace.tracks.at(event.record.name).name)] = std::bit_cast<double>(event.record.link);
    EXPECT_EQ(last.at("GPU-a throttle reasons"), 0x24);
    EXPECT_EQ(last.at("GPU-a throttled"), 1);
    EXPECT_FALSE(last.contains("GPU-b throttle reasons"));
}

} // namespace
} // namespace capture_test
