#include "advisor/experiment/machine_noise.h"
#include "tests/support/message_matchers.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace advisor {
namespace {

namespace fs = std::filesystem;
using profiler::test::hasId;
using testing::ElementsAre;

/// A folder with proc and sys of a machine with two cores.
class FabricatedMachine {
public:
    FabricatedMachine()
        : m_root(fs::path(testing::TempDir()) / ("stepscope_fabricated_machine." + std::to_string(getpid())))
    {
        fs::remove_all(m_root);
        times(0, 0);
        write("proc/vmstat", "nr_free_pages 1\npswpin 10\npswpout 20\n");
        write("proc/cpuinfo", "processor : 0\ncpu MHz\t\t: 2000.000\nprocessor : 1\ncpu MHz\t\t: 3000.000\n");
        process(100, 1, "stepscope-train", 0);
        process(101, 100, "loader worker", 0);
        process(200, 1, "cc1plus", 0);
        process(201, 1, "cc1plus", 0);
        process(300, 1, "a (b) c", 0);
        write("proc/100/io", "rchar: 1\nread_bytes: 4096\nwrite_bytes: 5\n");
    }
    ~FabricatedMachine() { fs::remove_all(m_root); }

    void write(const std::string& path, const std::string& text) const
    {
        fs::create_directories((m_root / path).parent_path());
        std::ofstream(m_root / path) << text;
    }
    /// @param busy, idle  ticks of all cores together
    void times(int busy, int idle, int stolen = 0) const
    {
        write("proc/stat", "cpu  " + std::to_string(1000 + busy) + " 0 0 " + std::to_string(5000 + idle) + " 0 0 0 " +
                               std::to_string(stolen) + " 0 0\ncpu0 1 0 0 1\ncpu1 1 0 0 1\nintr 1\n");
    }
    void process(int pid, int parent, const std::string& name, int ticks, int majorFaults = 0) const
    {
        write("proc/" + std::to_string(pid) + "/stat",
              std::to_string(pid) + " (" + name + ") R " + std::to_string(parent) + " 1 1 0 -1 4194304 7 0 " +
                  std::to_string(majorFaults) + " 0 " + std::to_string(50 + ticks) + " 10 0 0 20 0 1 0 5 1 1\n");
    }
    void ended(int pid) const { fs::remove_all(m_root / "proc" / std::to_string(pid)); }
    /// @param ticks that children of the monitoring process used before they exited
    void reaped(int ticks) const
    {
        write("proc/self/stat",
              "1 (stepscope-cli) R 0 1 1 0 -1 0 0 0 0 0 0 0 " + std::to_string(ticks) + " 0 20 0 1 0 5 1 1\n");
    }
    [[nodiscard]] std::unique_ptr<MachineMonitor> monitor() const { return systemMonitor(m_root); }

private:
    fs::path m_root;
};

constexpr std::array<std::int64_t, 1> kOwn = {100};

TEST(MachineNoise, ProcessorTimeIsDividedAmongTheArmsAndNamedOthers)
{
    const FabricatedMachine machine;
    const auto monitor = machine.monitor();
    EXPECT_EQ(monitor->cores(), 2);
    monitor->begin(kOwn);
    machine.times(190, 10); // 100 ticks of each core: a second
    machine.process(100, 1, "stepscope-train", 50);
    machine.process(101, 100, "loader worker", 10);
    machine.process(200, 1, "cc1plus", 70);
    machine.process(201, 1, "cc1plus", 50);
    machine.process(300, 1, "a (b) c", 8);
    const TurnConditions turn = monitor->end(kOwn);
    EXPECT_DOUBLE_EQ(turn.seconds, 1);
    EXPECT_DOUBLE_EQ(turn.ownCores, 0.6) << "including its child processes";
    EXPECT_DOUBLE_EQ(turn.otherCores, 1.3);
    EXPECT_THAT(turn.others, ElementsAre(CpuShare{"cc1plus", 1.2}, CpuShare{"a (b) c", 0.08}));
}

TEST(MachineNoise, ProcessesThatCannotBeSeenAndOtherMachinesCountAsWell)
{
    const FabricatedMachine machine;
    const auto monitor = machine.monitor();
    monitor->begin(kOwn);
    machine.times(150, 10, 40);
    machine.process(100, 1, "stepscope-train", 50);
    const TurnConditions turn = monitor->end(kOwn);
    EXPECT_DOUBLE_EQ(turn.otherCores, 1.4);
    ASSERT_EQ(turn.others.size(), 2U);
    EXPECT_EQ(turn.others[0].name, "processes that are not visible to Stepscope");
    EXPECT_NEAR(turn.others[0].cores, 1.0, 1e-9);
    EXPECT_EQ(turn.others[1].name, "other virtual machines");
    EXPECT_NEAR(turn.others[1].cores, 0.4, 1e-9);
}

TEST(MachineNoise, AProcessThatStartedDuringTheTurnCountsFromItsStart)
{
    const FabricatedMachine machine;
    const auto monitor = machine.monitor();
    monitor->begin(kOwn);
    machine.times(100, 100);
    machine.process(400, 1, "ld", 30); // 50 + 30 user, 10 system
    EXPECT_THAT(monitor->end(kOwn).others, testing::Contains(CpuShare{"ld", 0.9}));
}

// A short program exits within a turn and is restarted: the time of both starts belongs to the arm.
TEST(MachineNoise, ARestartedArmIsNotADisturbance)
{
    const FabricatedMachine machine;
    machine.process(1, 0, "stepscope-cli", 0);
    machine.reaped(0);
    const auto monitor = machine.monitor();
    monitor->begin(kOwn);
    machine.times(100, 100);
    machine.ended(100);
    machine.ended(101);
    machine.reaped(60 + 60 + 30); // both had used 60 before the turn
    machine.process(500, 1, "stepscope-train", 10);
    machine.process(501, 500, "loader worker", -60);
    constexpr std::array<std::int64_t, 1> kAgain = {500};
    const TurnConditions turn = monitor->end(kAgain);
    EXPECT_DOUBLE_EQ(turn.ownCores, 0.3 + 0.7);
    EXPECT_DOUBLE_EQ(turn.otherCores, 0);
    EXPECT_THAT(turn.others, testing::IsEmpty());
}

TEST(MachineNoise, FaultsReadsSwappingClockAndHeatAreCounted)
{
    const FabricatedMachine machine;
    machine.write("sys/class/thermal/thermal_zone0/temp", "61000\n");
    machine.write("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3\n");
    const auto monitor = machine.monitor();
    monitor->begin(kOwn);
    machine.times(100, 100);
    machine.process(100, 1, "stepscope-train", 50, 12);
    machine.write("proc/100/io", "read_bytes: 1004096\n");
    machine.write("proc/vmstat", "pswpin 110\npswpout 20\n");
    machine.write("proc/cpuinfo", "cpu MHz : 1800.000\n");
    machine.write("sys/class/thermal/thermal_zone0/temp", "88500\n");
    machine.write("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "5\n");
    const TurnConditions turn = monitor->end(kOwn);
    EXPECT_EQ(turn.majorFaults, 12);
    EXPECT_EQ(turn.readBytes, 1'000'000);
    EXPECT_EQ(turn.swappedBytes, 100 * 4096);
    EXPECT_DOUBLE_EQ(turn.clockLow, 1800);
    EXPECT_DOUBLE_EQ(turn.clockHigh, 2500);
    EXPECT_DOUBLE_EQ(turn.hottest, 88.5);
    EXPECT_EQ(turn.throttled, 2);
}

TEST(MachineNoise, ScalingFrequenciesComeBeforeTheProcessorsNominalOnes)
{
    const FabricatedMachine machine;
    machine.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1200000\n");
    const auto monitor = machine.monitor();
    monitor->begin(kOwn);
    machine.times(100, 100);
    EXPECT_DOUBLE_EQ(monitor->end(kOwn).clockHigh, 1200);
}

TEST(MachineNoise, SharesOfAShortTurnAreUnknown)
{
    const FabricatedMachine machine;
    const auto monitor = machine.monitor();
    monitor->begin(kOwn);
    machine.times(10, 8); // nine hundredths of a second
    machine.process(200, 1, "cc1plus", 9);
    EXPECT_DOUBLE_EQ(monitor->end(kOwn).otherCores, 0);
}

TEST(MachineNoise, AMachineWithoutCountersIsNotDisturbed)
{
    const auto monitor = systemMonitor("/nowhere");
    monitor->begin(kOwn);
    const TurnConditions turn = monitor->end(kOwn);
    EXPECT_FALSE(isDisturbed(turn, monitor->cores(), 1));
}

TEST(Disturbance, IsMoreThanATenthOfTheCoresThatTheArmsNeed)
{
    // One of two cores is free.
    EXPECT_FALSE(isDisturbed({.otherCores = 1.09}, 2, 1));
    EXPECT_TRUE(isDisturbed({.otherCores = 1.11}, 2, 1));
    // Both are needed.
    EXPECT_FALSE(isDisturbed({.otherCores = 0.19}, 2, 2));
    EXPECT_TRUE(isDisturbed({.otherCores = 0.21}, 2, 2));
    // An arm that mostly waits for its data needs a whole core when it works.
    EXPECT_TRUE(isDisturbed({.otherCores = 1.2}, 2, 0.1));
    EXPECT_FALSE(isDisturbed({.swappedBytes = 4 << 20}, 2, 1));
    EXPECT_TRUE(isDisturbed({.swappedBytes = (4 << 20) + 4096}, 2, 1));
}

NoiseReport reportOf(const TurnConditions& turn)
{
    NoiseReport report;
    report.cores = 2;
    add(report, turn);
    return report;
}

TEST(NoiseSource, IsTheStrongestDisturbanceWithItsSize)
{
    const profiler::Message processes =
        noiseSource(reportOf({.seconds = 2, .otherCores = 1.4, .others = {{"cc1plus", 1.3}}}));
    EXPECT_THAT(processes,
                hasId("experiment.noise.processes", {{"process", "cc1plus"}, {"used", 1.3, ""}, {"cores", 2.0, ""}}));
    EXPECT_EQ(noiseSource(reportOf({.seconds = 1, .clockLow = 1800, .clockHigh = 2500})).id, "experiment.noise.clock");
    EXPECT_EQ(noiseSource(reportOf({.seconds = 1, .throttled = 1})).id, "experiment.noise.thermal");
    EXPECT_EQ(noiseSource(reportOf({.seconds = 1, .swappedBytes = 50'000'000})).id, "experiment.noise.swap");
    EXPECT_EQ(noiseSource(reportOf({.seconds = 1, .readBytes = 50'000'000})).id, "experiment.noise.page_cache");
    EXPECT_EQ(noiseSource(reportOf({.seconds = 1, .majorFaults = 500})).id, "experiment.noise.page_cache");
    EXPECT_EQ(noiseSource(reportOf({.seconds = 1, .otherCores = 0.05})).id, "experiment.noise.unknown");
}

TEST(NoiseSource, CoresThatTheArmsDoNotNeedAreFreeForOthers)
{
    NoiseReport report;
    report.cores = 16;
    report.neededCores = 2;
    add(report, {.seconds = 1, .otherCores = 12, .others = {{"browser", 12}}});
    EXPECT_EQ(noiseSource(report).id, "experiment.noise.unknown") << "two of the four others are needed";
    add(report, {.seconds = 1, .otherCores = 16, .others = {{"browser", 16}}});
    EXPECT_EQ(noiseSource(report).id, "experiment.noise.unknown") << "14 on average";
    report.neededCores = 4;
    EXPECT_EQ(noiseSource(report).id, "experiment.noise.processes");
}

TEST(NoiseSource, IsThatOfTheDisturbedPairsIfTheMeanHidesIt)
{
    NoiseReport report = reportOf({.seconds = 100, .otherCores = 0.1});
    const TurnConditions crowded{.seconds = 1, .otherCores = 1.8, .others = {{"cc1plus", 1.7}}};
    add(report, crowded);
    addDisturbed(report, crowded);
    EXPECT_EQ(noiseSource(report).id, "experiment.noise.unknown") << "the pair was repeated";
    report.disturbedPairs = 1;
    EXPECT_EQ(noiseSource(report).id, "experiment.noise.processes");
}

TEST(DisturbanceCause, NamesWhatDisturbedTheTurns)
{
    const auto causeOf = [](std::initializer_list<TurnConditions> turns) {
        NoiseReport report;
        report.cores = 2;
        for (const TurnConditions& turn : turns)
            addDisturbed(report, turn);
        return disturbanceCause(report);
    };
    const TurnConditions crowded{.seconds = 1, .otherCores = 1.3, .others = {{"cc1plus", 1.2}}};
    const TurnConditions swapped{.seconds = 1, .otherCores = 0.1, .swappedBytes = 50'000'000};
    EXPECT_EQ(std::get<std::string>(causeOf({crowded}).value), "processes");
    EXPECT_EQ(causeOf({crowded}).text, "cc1plus used 1.2 of 2 cores");
    EXPECT_EQ(std::get<std::string>(causeOf({swapped}).value), "swapping");
    EXPECT_EQ(causeOf({swapped}).text, "the machine swapped 50.0 MB");
    EXPECT_EQ(std::get<std::string>(causeOf({crowded, swapped}).value), "processes and swapping");
}

TEST(NoiseReport, SharesAreMeansAndCountsAreSums)
{
    NoiseReport report;
    add(report, {.seconds = 1, .otherCores = 1, .others = {{"ld", 1}}, .majorFaults = 2});
    add(report, {.seconds = 3, .otherCores = 0.2, .others = {{"cc1plus", 0.2}}, .majorFaults = 3});
    EXPECT_DOUBLE_EQ(report.turns.otherCores, 0.4);
    ASSERT_EQ(report.turns.others.size(), 2U);
    EXPECT_EQ(report.turns.others[0].name, "ld");
    EXPECT_DOUBLE_EQ(report.turns.others[0].cores, 0.25);
    EXPECT_DOUBLE_EQ(report.turns.others[1].cores, 0.15);
    EXPECT_EQ(report.turns.majorFaults, 5);
}

} // namespace
} // namespace advisor
