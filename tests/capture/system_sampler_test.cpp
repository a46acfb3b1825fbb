#include "profiler/capture/system_sampler.h"

#include "profiler/capture/nvml.h"
#include "profiler/model/nvml_values.h"
#include "tests/capture/parsed_trace.h"
#include "tests/support/message_matchers.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <bit>
#include <gmock/gmock.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using profiler::test::hasId;
using testing::SizeIs;

TEST(SystemLoad, CoreTimesAreParsed)
{
    const auto cores = parseCoreTimes("cpu  30 2 30 400 9 0 1 0 0 0\n"
                                      "cpu0 10 1 20 300 5 0 1 0 0 0\n"
                                      "cpu11 20 1 10 100 4 0 0 7 50 0\n"
                                      "cpu2 torn\n"
                                      "intr 12345 0 0\nctxt 99\n");
    ASSERT_THAT(cores, SizeIs(2));
    EXPECT_EQ(cores[0].core, 0);
    EXPECT_EQ(cores[0].busy, 32U);
    EXPECT_EQ(cores[0].all, 337U);
    EXPECT_EQ(cores[1].core, 11);
    EXPECT_EQ(cores[1].busy, 38U) << "guest time is already included in user time";
    EXPECT_THAT(parseCoreTimes(""), SizeIs(0));
}

TEST(SystemLoad, LoadIsTheBusyShareBetweenTwoReadings)
{
    const CoreTimes before{0, 100, 1000};
    EXPECT_EQ(coreLoad(before, {0, 150, 1100}), 0.5);
    EXPECT_EQ(coreLoad(before, {0, 100, 1100}), 0.0);
    EXPECT_EQ(coreLoad(before, before), std::nullopt) << "no time has passed";
    EXPECT_EQ(coreLoad(before, {0, 90, 1100}), std::nullopt) << "the kernel's counters ran backwards";
}

TEST(SystemLoad, AProcessIsParsedWhateverItsName)
{
    const ProcessUse use = parseProcessUse("77 (a) b (c) S 1 2 3 4 5 6 1234 8 56 10 11 12 13 14",
                                           "Name:\ta\nVmRSS:\t  2048 kB\nvoluntary_ctxt_switches:\t7\n"
                                           "nonvoluntary_ctxt_switches:\t3\n",
                                           "rchar: 999\nread_bytes: 4096\n");
    EXPECT_EQ(use.minorFaults, 1234U);
    EXPECT_EQ(use.majorFaults, 56U);
    EXPECT_EQ(use.residentBytes, 2048U * 1024);
    EXPECT_EQ(use.switchesWaiting, 7U);
    EXPECT_EQ(use.switchesForced, 3U);
    EXPECT_EQ(use.diskReadBytes, 4096U);
    EXPECT_EQ(parseProcessUse("", "", "").residentBytes, 0U);
}

TEST(SystemLoad, ARunningProcessIsReadAndAnEndedOneIsNot)
{
    const auto self = readProcessUse(getpid());
    ASSERT_TRUE(self);
    EXPECT_GT(self->residentBytes, 100'000U);
    EXPECT_GT(self->minorFaults, 0U);
    EXPECT_FALSE(readProcessUse(999'999'999));
}

TEST(SystemSampler, CountersAndTheCostOfSamplingAreInTheTrace)
{
    const test_support::TemporaryFolder folder;
    auto recorder = Recorder::start({.path = folder / "a.sstrace"});
    ASSERT_TRUE(recorder);
    {
        const auto sampler = SystemSampler::start(**recorder, {.every = std::chrono::milliseconds(10)});
        std::vector<char> memory(32 << 20);
        for (int i = 0; i < 5; ++i) {
            std::fill(memory.begin(), memory.end(), static_cast<char>(i));
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
    ASSERT_TRUE((*recorder)->finish());
    const ParsedTrace trace = parseTrace(folder / "a.sstrace");
    std::map<std::string, std::vector<double>> counters;
    for (const auto& event : trace.events)
        if (event.record.type == container::EventType::Counter)
            counters[trace.strings.at(trace.tracks.at(event.record.name).name)].push_back(
                std::bit_cast<double>(event.record.link));
    ASSERT_FALSE(counters["memory resident"].empty());
    EXPECT_GT(*std::max_element(counters["memory resident"].begin(), counters["memory resident"].end()), 32 << 20);
    EXPECT_FALSE(counters["page faults"].empty());
    EXPECT_FALSE(counters["voluntary context switches"].empty());
    for (const double load : counters["core 0 load"]) {
        EXPECT_GE(load, 0);
        EXPECT_LE(load, 1);
    }
    EXPECT_GE(std::stoul(trace.metadata.at("sampler.samples")), 3U);
    EXPECT_LT(std::stod(trace.metadata.at("sampler.cpu_share")), 1);
    EXPECT_EQ(trace.loss.dropped, 0U);
}

TEST(Nvml, AMachineWithoutADriverSaysSo)
{
    const auto nvml = Nvml::open();
    if (nvml)
        GTEST_SKIP() << "this machine has a driver";
    EXPECT_THAT(nvml.error().what, testing::AnyOf(hasId("nvml.no_driver"), hasId("nvml.no_device")));
}

TEST(Nvml, ThrottleReasonsHaveNames)
{
    EXPECT_EQ(throttle::text(0), "");
    EXPECT_EQ(throttle::text(throttle::kIdle), "") << "an idle GPU is not slowed down";
    EXPECT_EQ(throttle::text(throttle::kPowerCap | throttle::kSoftwareThermal), "power cap, heat");
}

} // namespace capture_test
