#include "profiler/analysis/device/occupancy.h"

#include "tests/support/trace_text.h"

#include <gtest/gtest.h>
#include <iterator>

namespace analysis_test {

using namespace profiler;
using namespace profiler::analysis;

namespace {

constexpr int kCapabilities[] = {70, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};

/// Blocks per multiprocessor, and which limits they reach (OCC_LIMIT_… of the header; its limit of barriers left out).
struct Expected {
    int blocks, limits;
};
struct Row {
    int threads, registers, sharedMemory;
    Expected expected[std::size(kCapabilities)];
};

// Results of cudaOccMaxActiveBlocksPerMultiprocessor in NVIDIA's cuda_occupancy.h of CUDA 13.0, one for each compute
// capability above. 0: the kernel does not fit.
// clang-format off
constexpr Row kRows[] = {
    {128, 34, 24, {{12, 2}, {8, 1}, {12, 2}, {12, 3}, {12, 3}, {12, 3}, {12, 2}, {12, 2}, {12, 2}, {12, 3}, {12, 3}, {12, 3}}},
    {256, 32, 0, {{8, 3}, {4, 1}, {8, 3}, {6, 1}, {6, 1}, {6, 1}, {8, 3}, {8, 3}, {8, 3}, {6, 1}, {6, 1}, {6, 1}}},
    {256, 168, 0, {{1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}}},
    {384, 168, 205824, {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {1, 6}, {1, 6}, {1, 6}, {1, 6}, {0, 0}, {0, 0}}},
    {1024, 64, 0, {{1, 2}, {1, 3}, {1, 2}, {1, 3}, {1, 3}, {1, 3}, {1, 2}, {1, 2}, {1, 2}, {1, 3}, {1, 3}, {1, 3}}},
    {32, 16, 0, {{32, 8}, {16, 8}, {32, 8}, {16, 8}, {16, 8}, {24, 8}, {32, 8}, {32, 8}, {32, 8}, {24, 8}, {24, 8}, {24, 8}}},
    {96, 37, 12345, {{7, 4}, {5, 4}, {12, 4}, {7, 4}, {12, 4}, {7, 4}, {16, 2}, {16, 2}, {16, 2}, {16, 3}, {7, 4}, {7, 4}}},
    {512, 40, 32768, {{3, 6}, {2, 5}, {3, 2}, {3, 7}, {3, 3}, {3, 7}, {3, 2}, {3, 2}, {3, 2}, {3, 3}, {3, 7}, {3, 7}}},
    {160, 255, 49152, {{1, 2}, {1, 6}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 2}}},
};
// clang-format on

Device deviceOf(int capability)
{
    Device device;
    device.computeMajor = capability / 10;
    device.computeMinor = capability % 10;
    return device;
}

LaunchConfig launchOf(const Row& row)
{
    LaunchConfig launch;
    launch.grid = {1000, 1, 1};
    launch.block = {static_cast<std::uint32_t>(row.threads), 1, 1};
    launch.registers = static_cast<std::uint32_t>(row.registers);
    launch.sharedMemory = static_cast<std::uint32_t>(row.sharedMemory);
    return launch;
}

} // namespace

TEST(OccupancyTest, AgreesWithNvidiasCalculator)
{
    static_assert(occupancy_limit::kWarps == 1 && occupancy_limit::kRegisters == 2 &&
                  occupancy_limit::kSharedMemory == 4 && occupancy_limit::kBlocks == 8);
    for (const Row& row : kRows)
        for (std::size_t i = 0; i < std::size(kCapabilities); ++i) {
            SCOPED_TRACE(testing::Message() << "sm_" << kCapabilities[i] << ", " << row.threads << " threads, "
                                            << row.registers << " registers, " << row.sharedMemory << " bytes");
            const auto result = occupancy(launchOf(row), deviceOf(kCapabilities[i]));
            ASSERT_EQ(result.has_value(), row.expected[i].blocks > 0);
            if (!result)
                continue;
            EXPECT_EQ(result->blocks, row.expected[i].blocks);
            EXPECT_EQ(result->warps, row.expected[i].blocks * ((row.threads + 31) / 32));
            EXPECT_EQ(int{result->limits}, row.expected[i].limits);
            EXPECT_FALSE(result->waves) << "the number of multiprocessors is unknown";
        }
}

TEST(OccupancyTest, RecordedLimitsTakePrecedence)
{
    Device device = deviceOf(90);
    device.limits = {.threads = 1024, .blocks = 3, .registers = 0, .sharedMemory = 0};
    const auto result = occupancy(launchOf({128, 16, 0, {}}), device);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->blocks, 3);
    EXPECT_EQ(result->mostWarps, 32);
    EXPECT_EQ(result->limits, occupancy_limit::kBlocks);
    EXPECT_DOUBLE_EQ(result->share(), 12.0 / 32);
}

TEST(OccupancyTest, WavesAreTheGridOverWhatTheDeviceHolds)
{
    Device device = deviceOf(90);
    device.multiprocessors = 125;
    LaunchConfig launch = launchOf({256, 32, 0, {}});
    EXPECT_DOUBLE_EQ(occupancy(launch, device)->waves.value(), 1.0);
    launch.grid = {500, 3, 1};
    EXPECT_DOUBLE_EQ(occupancy(launch, device)->waves.value(), 1.5);
    launch.grid = {};
    EXPECT_EQ(occupancy(launch, device)->waves, std::nullopt);
}

TEST(OccupancyTest, NothingIsSaidIfAFigureIsUnknownOrImpossible)
{
    const LaunchConfig known = launchOf({256, 32, 0, {}});
    EXPECT_TRUE(occupancy(known, deviceOf(80)));
    EXPECT_FALSE(occupancy(known, deviceOf(0)));
    EXPECT_FALSE(occupancy(known, deviceOf(99)));
    EXPECT_FALSE(occupancy(known, deviceOf(130)));
    LaunchConfig launch = known;
    launch.registers.reset();
    EXPECT_FALSE(occupancy(launch, deviceOf(80)));
    launch.registers = 256;
    EXPECT_FALSE(occupancy(launch, deviceOf(80)));
    launch = known;
    launch.sharedMemory.reset();
    EXPECT_FALSE(occupancy(launch, deviceOf(80)));
    launch.sharedMemory = 0xffffffff;
    EXPECT_FALSE(occupancy(launch, deviceOf(80)));
    constexpr std::uint32_t kSizes[][3] = {{0, 0, 0}, {1024, 2, 1}, {~0U, ~0U, ~0U}};
    for (const auto& [x, y, z] : kSizes) {
        launch = known;
        launch.block = {x, y, z};
        EXPECT_FALSE(occupancy(launch, deviceOf(80)));
    }
}

TEST(OccupancyTest, AKernelOfATraceIsThatOfItsDevice)
{
    const auto trace = test_support::traceFromText(R"(
        device 0 A sm=75
        device 1 B sm=90 sms=132
        stream 0 7
          kernel k 0 1 grid=4,1,1 block=32,1,1 registers=16 shared=0
          kernel unknown 2 1
        stream 1 7
          kernel k 0 1 grid=132,32,1 block=32,1,1 registers=16 shared=0
    )");
    const auto kernels = trace->ofKind(ActivityKind::Kernel);
    ASSERT_EQ(kernels.size(), 3U);
    for (const Slice& kernel : kernels) {
        const auto result = occupancyOf(*trace, kernel);
        if (trace->name(kernel) == "unknown") {
            EXPECT_FALSE(result);
        } else if (trace->track(kernel.id.track).device == DeviceId{0}) {
            EXPECT_EQ(result->blocks, 16);
            EXPECT_EQ(result->waves, std::nullopt);
        } else {
            EXPECT_EQ(result->blocks, 32);
            EXPECT_DOUBLE_EQ(result->waves.value(), 1.0);
        }
    }
}

} // namespace analysis_test
