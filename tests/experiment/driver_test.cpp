#include "advisor/experiment/driver.h"

#include "tests/experiment/simulation.h"

#include <gmock/gmock.h>
#include <set>

namespace experiment_test {
namespace {

using namespace advisor;
using testing::ElementsAre;
using testing::IsEmpty;
namespace protocol = config::protocol;

constexpr double kStepSeconds = 0.1;

class FakeArm final : public Arm {
public:
    FakeArm(std::size_t arm, double speed) : m_arm(arm), m_speed(speed) {}
    Outcome<protocol::Hello> hello(const RunLimits&) override { return protocol::Hello{}; }
    Outcome<protocol::TurnResult> take(const protocol::Turn& turn, const RunLimits&, std::chrono::seconds) override
    {
        protocol::TurnResult result;
        result.seconds.assign(static_cast<std::size_t>(turn.count), kStepSeconds / m_speed);
        result.losses.assign(static_cast<std::size_t>(turn.count), 2.0);
        result.samples = 32 * turn.count;
        result.peakBytes = 1000;
        return result;
    }
    void finish() override {}
    [[nodiscard]] std::vector<std::int64_t> processes() const override
    {
        return {static_cast<std::int64_t>(100 + m_arm)};
    }

private:
    std::size_t m_arm;
    double m_speed;
};

/// No trainers and no processes: any program can be an arm.
class FakeArms final : public Arms {
public:
    explicit FakeArms(double speedUp) : m_speedUp(speedUp) {}
    [[nodiscard]] std::string name(std::size_t arm) const override { return arm == 0 ? "a" : "b"; }
    [[nodiscard]] std::string startingText() const override { return "starting both"; }
    Outcome<std::unique_ptr<Arm>> start(std::size_t arm, std::size_t seed) override
    {
        starts.push_back(seed);
        return std::make_unique<FakeArm>(arm, arm == 1 ? m_speedUp : 1);
    }
    [[nodiscard]] std::int64_t stepsToDrop() const override { return 1; }
    [[nodiscard]] std::int64_t plannedSteps(std::size_t, const protocol::Hello&) const override { return 0; }
    Outcome<std::vector<RescaledSetting>> setLength(std::size_t, std::int64_t, std::int64_t) override
    {
        return std::vector<RescaledSetting>{};
    }
    [[nodiscard]] std::vector<std::string> warmUpCauses(std::size_t) const override { return {}; }

    std::vector<std::size_t> starts;

private:
    double m_speedUp;
};

/// Disturbs the turns with these numbers, starting at 0.
class DisturbingMonitor final : public QuietMonitor {
public:
    explicit DisturbingMonitor(std::set<std::size_t> disturbed) : m_disturbed(std::move(disturbed)) {}
    void begin(std::span<const std::int64_t> own) override { owned.emplace_back(own.begin(), own.end()); }
    TurnConditions end(std::span<const std::int64_t> own) override
    {
        TurnConditions turn = QuietMonitor::end(own);
        if (m_disturbed.contains(owned.size() - 1) || m_disturbed.contains(kAlways)) {
            turn.otherCores = 1.3;
            turn.others = {{"cc1plus", 1.3}};
        }
        return turn;
    }
    static constexpr std::size_t kAlways = 1'000'000;
    std::vector<std::set<std::int64_t>> owned; ///< for each observed turn

private:
    std::set<std::size_t> m_disturbed;
};

ExperimentResult drive(Arms& arms, MachineMonitor& monitor, const ExperimentPlan& plan = {},
                       const std::function<void(const ExperimentProgress&)>& progress = {})
{
    auto result = driveExperiment({plan, arms, monitor, progress, {}});
    if (!result)
        ADD_FAILURE() << result.error().message();
    return result ? std::move(*result) : ExperimentResult{};
}

std::vector<std::string> noteIds(const ExperimentResult& result)
{
    std::vector<std::string> ids;
    for (const profiler::Message& note : result.notes)
        ids.push_back(note.id);
    return ids;
}

TEST(Driver, MeasuresAnyPrograms)
{
    FakeArms arms(1.5);
    QuietMonitor monitor;
    const auto result = drive(arms, monitor);
    EXPECT_EQ(result.verdict, Verdict::Pays);
    EXPECT_NEAR(result.judgedRatio.value, 1.5, 1e-9);
    EXPECT_THAT(arms.starts, ElementsAre(0, 0, 1, 1, 2, 2));
    EXPECT_THAT(noteIds(result), IsEmpty());
}

TEST(Driver, KeepsTheLossesOfEachSeed)
{
    FakeArms arms(1.5);
    QuietMonitor monitor;
    const auto result = drive(arms, monitor);
    ASSERT_EQ(result.losses.size(), 3U) << "one per start of both arms";
    for (const LossesOfSeed& seed : result.losses) {
        ASSERT_FALSE(seed[0].empty());
        const LossPoint &a = seed[0].back(), &b = seed[1].back();
        EXPECT_DOUBLE_EQ(a.loss, 2.0);
        EXPECT_NEAR(a.seconds / kStepSeconds, a.samples / 32, 1e-6) << "timed steps of 32 samples";
        EXPECT_NEAR(b.samples, a.samples, 1e-6);
        EXPECT_NEAR(a.seconds / b.seconds, 1.5, 1e-6);
    }
}

TEST(LossHistory, ManyStepsBecomeMeans)
{
    LossHistory history;
    protocol::TurnResult turn;
    for (int i = 0; i < 5000; ++i) {
        turn.seconds.push_back(0.01);
        turn.losses.push_back(i < 2500 ? 3 : 1);
    }
    turn.samples = 5000 * 8;
    history.add(0, turn);
    history.endSeed();
    EXPECT_THAT(history.seeds(), IsEmpty()) << "the other arm has no losses";
    history.add(0, turn);
    history.add(1, turn);
    history.restart();
    history.add(0, turn);
    history.add(1, turn);
    history.endSeed();
    ASSERT_EQ(history.seeds().size(), 1U);
    const auto& points = history.seeds().front()[1];
    EXPECT_LE(points.size(), LossHistory::kMostPoints);
    EXPECT_GE(points.size(), LossHistory::kMostPoints / 2);
    EXPECT_DOUBLE_EQ(points.front().loss, 3);
    EXPECT_DOUBLE_EQ(points.back().loss, 1);
    EXPECT_NEAR(points.back().seconds, 50, 1);
    EXPECT_NEAR(points.back().samples, 40'000, 800);
}

TEST(Driver, ObservesTheMeasuredTurnsOfBothArms)
{
    FakeArms arms(1.5);
    DisturbingMonitor monitor({});
    drive(arms, monitor);
    EXPECT_EQ(monitor.owned.size(), 12U) << "six pairs";
    EXPECT_THAT(monitor.owned, testing::Each(testing::UnorderedElementsAre(100, 101)))
        << "the waiting arm belongs to the experiment";
}

// Whichever arm is disturbed, the whole pair is measured again: the rule treats both arms equally.
TEST(Driver, APairIsRepeatedWhicheverTurnWasDisturbed)
{
    for (const std::size_t hit : {2U, 3U}) {
        FakeArms arms(1.5);
        DisturbingMonitor monitor({hit});
        std::vector<std::string> doing;
        const auto result = drive(arms, monitor, {}, [&](const ExperimentProgress& progress) {
            if (progress.doing.starts_with("pair 2 ") && (doing.empty() || doing.back() != progress.doing))
                doing.push_back(progress.doing);
        });
        EXPECT_EQ(result.pairs.size(), 6U);
        EXPECT_EQ(monitor.owned.size(), 14U) << "both turns of the second pair, once more";
        EXPECT_EQ(result.noise.repeatedPairs, 1U);
        EXPECT_EQ(result.noise.disturbedPairs, 0U);
        EXPECT_THAT(doing, ElementsAre("pair 2 of at most 20", "pair 2 of at most 20, repeated"));
        EXPECT_THAT(noteIds(result), ElementsAre("experiment.note.repeated_pairs"));
        EXPECT_DOUBLE_EQ(result.noise.turns.otherCores, 0) << "of the pairs that count";
        EXPECT_EQ(result.noise.crowdedTurns, 1U);
        EXPECT_EQ(result.noise.disturbed.others.front().name, "cc1plus")
            << "the program that disturbed the other turn is known";
    }
}

TEST(Driver, RepetitionsAreLimitedOnAMachineThatIsAlwaysBusy)
{
    FakeArms arms(1.5);
    DisturbingMonitor monitor({DisturbingMonitor::kAlways});
    const auto result = drive(arms, monitor);
    EXPECT_EQ(result.noise.repeatedPairs, kMostRepeatedPairs);
    EXPECT_EQ(result.noise.disturbedPairs, 6U);
    EXPECT_EQ(result.verdict, Verdict::Pays) << "the interval decides";
    EXPECT_THAT(noteIds(result), ElementsAre("experiment.note.repeated_pairs", "experiment.note.disturbed_pairs"));
}

TEST(Driver, PeakMemoryDoesNotDependOnOtherPrograms)
{
    FakeArms arms(1);
    DisturbingMonitor monitor({DisturbingMonitor::kAlways});
    ExperimentPlan plan;
    plan.objective = Objective::Memory;
    const auto result = drive(arms, monitor, plan);
    EXPECT_EQ(result.noise.repeatedPairs, 0U);
    EXPECT_EQ(result.pairs.size(), 3U);
    EXPECT_EQ(result.verdict, Verdict::DoesNotPay);
}

TEST(Driver, ADisturbedSeedOfAScreeningIsTrainedAgainByBothArms)
{
    FakeArms arms(1);
    DisturbingMonitor monitor({1}); // with the first seed
    ExperimentPlan plan;
    plan.objective = Objective::LossAtEqualTime;
    plan.horizon = std::chrono::seconds(4);
    const auto result = drive(arms, monitor, plan);
    EXPECT_EQ(result.noise.repeatedPairs, 1U);
    EXPECT_THAT(arms.starts, ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 2, 2)) << "planned, disturbed, repeated, and two more";
    EXPECT_EQ(result.lossAtEqualTime->seeds.size(), 3U);
    EXPECT_EQ(result.verdict, Verdict::DoesNotPay);
}

TEST(Driver, AGainOfAnUnknownChangePaysOnlyWhereTheLossIsNotWorse)
{
    const Programs noisyLoss{.speedUp = 1.5, .lossFactor = 1, .seedNoise = 0, .lossNoise = 0.2};
    ExperimentPlan plan;
    EXPECT_EQ(simulate(kQuiet, noisyLoss, 1, plan).verdict, Verdict::Pays) << "nothing is changed";
    plan.isChangeUnknown = true;
    const auto result = simulate(kQuiet, noisyLoss, 1, plan);
    EXPECT_EQ(result.loss.kind, LossKind::NotShown);
    EXPECT_EQ(result.verdict, Verdict::Inconclusive);
    EXPECT_EQ(result.why.id, "experiment.loss_not_shown");
    const auto sameLoss = simulate(kQuiet, {.speedUp = 1.5}, 1, plan);
    EXPECT_EQ(sameLoss.verdict, Verdict::Pays);
    EXPECT_EQ(sameLoss.why.id, "experiment.faster.loss_not_worse");
}

TEST(Driver, NoiseThatPreventsAVerdictIsNamed)
{
    // Machines with noisy turns: on one of them a compiler uses most of the machine, on the other no cause is visible.
    const Machine busy{"busy", 0.3, 0, 0, 0, 1, 1}, strange{"strange", 0.3, 0, 0, 0, 0, 0};
    int inconclusive = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        if (const auto result = simulate(busy, {}, seed); result.verdict == Verdict::Inconclusive) {
            EXPECT_EQ(result.why.id, "experiment.noise.processes");
            EXPECT_EQ(result.noise.repeatedPairs, kMostRepeatedPairs);
            ++inconclusive;
        }
        if (const auto result = simulate(strange, {}, seed); result.verdict == Verdict::Inconclusive) {
            EXPECT_EQ(result.why.id, "experiment.noise.unknown");
        }
    }
    EXPECT_GE(inconclusive, 5);
}

TEST(Driver, AScreeningThatNoiseDecidesNamesItsSource)
{
    const Machine busy{"busy", 0.01, 0, 0, 0, 1, 1};
    ExperimentPlan plan;
    plan.objective = Objective::LossAtEqualTime;
    plan.horizon = std::chrono::seconds(4);
    const auto result = simulate(busy, {.speedUp = 1, .lossFactor = 1, .seedNoise = 0, .lossNoise = 0.3}, 1, plan);
    ASSERT_EQ(result.verdict, Verdict::Inconclusive);
    EXPECT_EQ(result.why.id, "experiment.screening.seeds_differ");
    EXPECT_THAT(noteIds(result), testing::Contains("experiment.noise.processes"));
    const auto quiet = simulate(kQuiet, {.speedUp = 1, .lossFactor = 1, .seedNoise = 0, .lossNoise = 0.3}, 1, plan);
    ASSERT_EQ(quiet.verdict, Verdict::Inconclusive);
    EXPECT_THAT(noteIds(quiet), testing::Not(testing::Contains(testing::StartsWith("experiment.noise."))));
}

} // namespace
} // namespace experiment_test
