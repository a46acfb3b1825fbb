#include "profiler/capture/clock_alignment.h"

#include <cmath>
#include <ctime>
#include <gmock/gmock.h>

namespace capture_test {

using namespace profiler;
using namespace profiler::capture;
using wire::ClockTriple;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kEpoch = 1'750'000'000 * kSecond;

/// Clocks of a simulated machine: REALTIME drifts relative to MONOTONIC, the TSC ticks at 2.4 GHz.
struct Machine {
    double realtimeDrift = 0; ///< as a fraction of 1
    [[nodiscard]] std::int64_t realtime(std::int64_t monotonic) const
    {
        return kEpoch + monotonic + std::llround(static_cast<double>(monotonic) * realtimeDrift);
    }
    [[nodiscard]] static std::uint64_t tsc(std::int64_t monotonic)
    {
        return 5'000'000'000'000 + static_cast<std::uint64_t>(monotonic) / 5 * 12;
    }
    [[nodiscard]] ClockTriple at(std::int64_t monotonic) const
    {
        return {monotonic, realtime(monotonic), tsc(monotonic)};
    }
};

std::int64_t error(TraceTime got, std::int64_t wanted)
{
    return std::abs(toNs(got) - wanted);
}

} // namespace

TEST(ClockAlignment, FollowsADriftingRealtimeClock)
{
    const Machine machine{.realtimeDrift = 50e-6}; // 50 µs per second; NTP may slew ten times as fast
    ClockAlignment clocks;
    for (int second = 0; second <= 60; ++second)
        clocks.add(machine.at(second * kSecond));
    for (std::int64_t ns = 0; ns < 60 * kSecond; ns += 123'456'789) {
        EXPECT_LE(error(clocks.fromRealtime(machine.realtime(ns)), ns), 2);
        EXPECT_LE(std::abs(clocks.toRealtime(traceTime(ns)) - machine.realtime(ns)), 2);
    }
    EXPECT_LE(error(clocks.fromRealtime(machine.realtime(61 * kSecond)), 61 * kSecond), 60'000)
        << "one second of drift";
}

TEST(ClockAlignment, ConvertsTheTsc)
{
    const Machine machine;
    ClockAlignment clocks;
    for (const int second : {30, 10, 20}) // in arbitrary order
        clocks.add(machine.at(second * kSecond));
    for (const std::int64_t ns : {5 * kSecond, 10 * kSecond, 17 * kSecond + 3, 30 * kSecond, 45 * kSecond})
        EXPECT_LE(error(clocks.fromTsc(Machine::tsc(ns)), ns), 10) << ns;
}

TEST(ClockAlignment, AStepOfRealtimeOnlyAffectsItsGap)
{
    constexpr std::int64_t kStep = 3600 * kSecond; // an administrator set the clock
    ClockAlignment clocks;
    for (int second = 0; second < 10; ++second)
        clocks.add(
            {second * kSecond, kEpoch + second * kSecond + (second >= 5 ? kStep : 0), Machine::tsc(second * kSecond)});
    EXPECT_LE(error(clocks.fromRealtime(kEpoch + 3 * kSecond + 500), 3 * kSecond + 500), 1);
    EXPECT_LE(error(clocks.fromRealtime(kEpoch + kStep + 8 * kSecond + 500), 8 * kSecond + 500), 1);
}

TEST(ClockAlignment, AfterAStepBackTheFirstPairAroundATimeIsUsed)
{
    ClockAlignment clocks;
    for (int second = 0; second < 10; ++second)
        clocks.add({second * kSecond, kEpoch + second * kSecond - (second >= 5 ? 100 * kSecond : 0),
                    Machine::tsc(second * kSecond)});
    EXPECT_LE(error(clocks.fromRealtime(kEpoch + 7 * kSecond + 250 - 100 * kSecond), 7 * kSecond + 250), 1);
    EXPECT_LE(error(clocks.fromRealtime(kEpoch + 2 * kSecond + 250), 2 * kSecond + 250), 1);
}

TEST(ClockAlignment, IgnoresTriplesThatRunBackwards)
{
    const Machine machine;
    ClockAlignment clocks;
    clocks.add(machine.at(10 * kSecond));
    clocks.add(machine.at(20 * kSecond));
    ClockTriple damaged = machine.at(15 * kSecond);
    damaged.tsc = 1;
    clocks.add(damaged);
    EXPECT_LE(error(clocks.fromTsc(Machine::tsc(16 * kSecond)), 16 * kSecond), 10);
}

TEST(ClockAlignment, WithoutTriplesTimesAreUnchanged)
{
    const ClockAlignment clocks;
    EXPECT_TRUE(clocks.empty());
    EXPECT_EQ(toNs(clocks.fromRealtime(5)), 5);
    EXPECT_EQ(toNs(clocks.fromTsc(6)), 6);
    EXPECT_EQ(clocks.toRealtime(traceTime(7)), 7);
}

TEST(ReadClocks, AgreesWithTheSystem)
{
    const ClockTriple before = readClocks();
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    const ClockTriple after = readClocks();
    const std::int64_t realtime = std::int64_t{time.tv_sec} * kSecond + time.tv_nsec;
    EXPECT_LE(before.realtimeNs, realtime);
    EXPECT_GE(after.realtimeNs, realtime);
    EXPECT_GE(after.monotonicNs, before.monotonicNs);
    EXPECT_GE(after.tsc, before.tsc);
}

} // namespace capture_test
