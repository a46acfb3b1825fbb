#include "profiler/capture/allocation_ledger.h"

#include <gmock/gmock.h>
#include <thread>

namespace capture_test {

using profiler::capture::AllocationLedger;
using testing::ElementsAre;
using testing::Pair;

namespace {
const void* at(std::uintptr_t address)
{
    return reinterpret_cast<const void*>(address);
}
} // namespace

TEST(AllocationLedger, ThePeakSaysWhatWasAliveThen)
{
    AllocationLedger ledger;
    ledger.taken(at(1), 100, 7);
    ledger.taken(at(2), 300, 8);
    ledger.given(at(2));
    ledger.taken(at(3), 250, 7);
    ledger.taken(at(4), 60, 9);
    ledger.given(at(3));
    EXPECT_EQ(ledger.bytes(), 160);
    const auto peak = ledger.peak();
    EXPECT_EQ(peak.bytes, 410);
    EXPECT_THAT(peak.alive, ElementsAre(Pair(7, 350), Pair(9, 60)));
    EXPECT_THAT(ledger.now().alive, ElementsAre(Pair(7, 100), Pair(9, 60)));
}

TEST(AllocationLedger, MemoryFromBeforeTheRecordingChangesNothing)
{
    AllocationLedger ledger;
    ledger.given(at(5));
    EXPECT_EQ(ledger.bytes(), 0);
    EXPECT_TRUE(ledger.peak().alive.empty());
}

TEST(AllocationLedger, AnAddressThatIsTakenAgainCountsOnce)
{
    AllocationLedger ledger;
    ledger.taken(at(1), 100, 7);
    ledger.taken(at(1), 40, 8);
    EXPECT_EQ(ledger.bytes(), 40);
    EXPECT_THAT(ledger.now().alive, ElementsAre(Pair(8, 40)));
}

TEST(AllocationLedger, ThreadsMayTakeAndGiveAtOnce)
{
    AllocationLedger ledger;
    std::vector<std::thread> threads;
    for (std::uintptr_t thread = 0; thread < 4; ++thread)
        threads.emplace_back([&, thread] {
            for (std::uintptr_t i = 1; i <= 2000; ++i) {
                ledger.taken(at(thread << 32 | i), 16, static_cast<std::uint32_t>(thread));
                if (i % 2 == 0)
                    ledger.given(at(thread << 32 | i));
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(ledger.bytes(), 4 * 1000 * 16);
}

} // namespace capture_test
