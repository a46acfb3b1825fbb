#include "profiler/capture/allocation_ledger.h"

#include <gmock/gmock.h>
#include <thread>

namespace capture_test {

using profiler::capture::AllocationLedger;
using profiler::capture::AllocationOrigin;
using testing::ElementsAre;

namespace {
const void* at(std::uintptr_t address)
{
    return reinterpret_cast<const void*>(address);
}

constexpr AllocationOrigin by(std::uint32_t op)
{
    return {.op = op, .phase = 1, .step = 3};
}

auto is(const AllocationOrigin& origin, std::int64_t bytes, std::int64_t blocks)
{
    return testing::AllOf(testing::Field("by", &AllocationLedger::Alive::by, origin),
                          testing::Field("bytes", &AllocationLedger::Alive::bytes, bytes),
                          testing::Field("blocks", &AllocationLedger::Alive::blocks, blocks));
}
} // namespace

TEST(AllocationLedger, ThePeakListsTheAllocationsThatWereAlive)
{
    AllocationLedger ledger;
    ledger.allocated(at(1), 100, by(7));
    ledger.allocated(at(2), 300, by(8));
    ledger.freed(at(2));
    ledger.allocated(at(3), 250, by(7));
    ledger.allocated(at(4), 60, by(9));
    ledger.freed(at(3));
    EXPECT_EQ(ledger.bytes(), 160);
    const auto peak = ledger.peak();
    EXPECT_EQ(peak.bytes, 410);
    EXPECT_THAT(peak.alive, ElementsAre(is(by(7), 350, 2), is(by(9), 60, 1)));
    EXPECT_THAT(ledger.now().alive, ElementsAre(is(by(7), 100, 1), is(by(9), 60, 1)));
}

TEST(AllocationLedger, StepsAndPhasesAreSeparateOrigins)
{
    AllocationLedger ledger;
    ledger.allocated(at(1), 100, {.op = 7, .phase = 1, .step = 3});
    ledger.allocated(at(2), 100, {.op = 7, .phase = 2, .step = 3});
    ledger.allocated(at(3), 100, {.op = 7, .phase = 1, .step = 4});
    ledger.allocated(at(4), 5, {});
    EXPECT_THAT(ledger.peak().alive,
                ElementsAre(is({7, 1, 3}, 100, 1), is({7, 2, 3}, 100, 1), is({7, 1, 4}, 100, 1), is({}, 5, 1)));
}

TEST(AllocationLedger, OfStepsWithTheSamePeakTheLatestIsReported)
{
    AllocationLedger ledger;
    for (std::int64_t step = 0; step < 3; ++step) {
        ledger.allocated(at(1), 100, {.op = 7, .phase = 1, .step = step});
        ledger.freed(at(1));
    }
    EXPECT_THAT(ledger.peak().alive, ElementsAre(is({7, 1, 2}, 100, 1)));
}

TEST(AllocationLedger, APeakWithinOnePercentReportsTheSumOfItsList)
{
    AllocationLedger ledger;
    ledger.allocated(at(1), 1000, by(7));
    ledger.allocated(at(2), 9, by(8));
    const auto peak = ledger.peak();
    EXPECT_EQ(peak.bytes, 1009);
    EXPECT_THAT(peak.alive, ElementsAre(is(by(7), 1000, 1)));
}

TEST(AllocationLedger, MemoryAllocatedBeforeTheRecordingIsIgnored)
{
    AllocationLedger ledger;
    ledger.freed(at(5));
    EXPECT_EQ(ledger.bytes(), 0);
    EXPECT_TRUE(ledger.peak().alive.empty());
}

TEST(AllocationLedger, AReusedAddressCountsOnce)
{
    AllocationLedger ledger;
    ledger.allocated(at(1), 100, by(7));
    ledger.allocated(at(1), 40, by(8));
    EXPECT_EQ(ledger.bytes(), 40);
    EXPECT_THAT(ledger.now().alive, ElementsAre(is(by(8), 40, 1)));
}

TEST(AllocationLedger, ThreadsMayAllocateAndFreeConcurrently)
{
    AllocationLedger ledger;
    std::vector<std::thread> threads;
    for (std::uintptr_t thread = 0; thread < 4; ++thread)
        threads.emplace_back([&, thread] {
            for (std::uintptr_t i = 1; i <= 2000; ++i) {
                ledger.allocated(at(thread << 32 | i), 16, by(static_cast<std::uint32_t>(thread)));
                if (i % 2 == 0)
                    ledger.freed(at(thread << 32 | i));
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(ledger.bytes(), 4 * 1000 * 16);
}

} // namespace capture_test
