#include "advisor/prediction/saving.h"
#include "advisor/rule.h"
#include "advisor/verdict.h"
#include "tests/advisor/rules_fixtures.h"
#include "tests/support/message_matchers.h"
#include "tests/support/trace_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace advisor_test {
namespace {

using namespace advisor;
using testing::IsSupersetOf;

std::vector<std::string_view> keys(const std::vector<Rule>& rules)
{
    std::vector<std::string_view> result;
    for (const Rule& rule : rules)
        result.push_back(rule.key);
    return result;
}

TEST(Advisor, FindsRulesByKey)
{
    const auto found = keys(allRules());
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end());
    EXPECT_THAT(found, IsSupersetOf({"loader.workers", "loader.pin_memory", "precision.amp", "zero_grad.set_to_none"}));
}

TEST(Advisor, EveryRuleKeyIsAKnobOrAListedFinding)
{
    const std::set<std::string_view> noTips = {
        "comm.exposed",    "comm.buckets",       "optimizer.fused", "host.bound",        "step.variance",
        "memory.pressure", "thermal.throttling", "gemm.dimensions", "host.lazy_loading", "memory.growth",
        "comm.stragglers", "loader.balance",     "warmup",          "host.python",
        "host.threads",    "model.loop",         "precision.float64"};
    for (const Rule& rule : allRules())
        EXPECT_TRUE(config::findKnob(rule.key) || noTips.contains(rule.key)) << rule.key;
}

Advice predicting(double low, double mid, double high, double mostUs = 0)
{
    Advice advice;
    advice.state = State::Fires;
    advice.reason = profiler::foreignText("It is so.");
    advice.saving = Saving{.unit = SavingUnit::UsPerStep, .low = low, .mid = mid, .high = high};
    dropWidePrediction(advice, mostUs);
    return advice;
}

TEST(Prediction, AnIntervalWithinHalfOfItsMidpointIsAnEstimate)
{
    const Advice kept = predicting(50, 100, 150);
    ASSERT_TRUE(kept.saving);
    EXPECT_EQ(kept.saving->kind, SavingKind::Estimate);
    EXPECT_EQ(kept.saving->mid, 100);
    // The mean may be outside the interval: only the available time cannot be exceeded.
    for (const Advice& wide : {predicting(49, 100, 120, 200), predicting(80, 100, 151, 200)}) {
        EXPECT_EQ(wide.state, State::Fires);
        ASSERT_TRUE(wide.saving);
        EXPECT_EQ(wide.saving->kind, SavingKind::UpperBound) << "a bound is shown instead of nothing";
        EXPECT_EQ(wide.saving->low, 0);
        EXPECT_EQ(wide.saving->mid, wide.saving->high);
        EXPECT_EQ(wide.saving->high, 200);
    }
    for (const Advice& wide : {predicting(49, 100, 120), predicting(80, 100, 151, 1000), predicting(-10, 0, 10, 100)}) {
        EXPECT_EQ(wide.state, State::Fires);
        EXPECT_FALSE(wide.saving) << "nearly a whole step is not a prediction";
        EXPECT_THAT(wide.whyNoPrediction, test_support::HasId("prediction.too_uncertain"));
    }
}

TEST(Prediction, IsWithheldWithoutABoundInItsUnit)
{
    Advice advice;
    advice.state = State::Fires;
    advice.saving = Saving{.unit = SavingUnit::UsPerEpoch, .low = -300, .mid = 50, .high = 400, .ofUs = 1200};
    dropWidePrediction(advice, 120); // per step
    EXPECT_FALSE(advice.saving);
    EXPECT_THAT(advice.whyNoPrediction, test_support::HasId("prediction.too_uncertain"));
}

TEST(Prediction, AChangeThatWouldSaveNothingDoesNotFire)
{
    const Advice nothing = predicting(0, 0.001, 0.004);
    EXPECT_EQ(nothing.state, State::Silent);
    EXPECT_FALSE(nothing.saving);
    EXPECT_THAT(nothing.reason, test_support::HasId("prediction.nothing_to_save"));
    EXPECT_EQ(predicting(0.004, 0.006, 0.008).state, State::Fires);
}

TEST(Prediction, IsNarrowOrABoundOrWithheldWithAReasonForEveryFixture)
{
    for (const Fixture& fixture : fixtures()) {
        const auto trace = test_support::traceFromText(fixture.text);
        const config::TrainingConfig config;
        for (const RuleAdvice& row : advise(*trace, fixture.imported ? nullptr : &config)) {
            const auto& saving = row.advice.saving;
            if (saving && saving->kind == SavingKind::UpperBound) {
                EXPECT_EQ(saving->low, 0) << row.id << " in " << fixture.name;
                EXPECT_EQ(saving->mid, saving->high) << row.id << " in " << fixture.name;
                EXPECT_GT(saving->high, 0) << row.id << " in " << fixture.name;
            } else if (saving) {
                EXPECT_GT(saving->mid, 0) << row.id << " in " << fixture.name;
                EXPECT_GE(saving->low, saving->mid * 0.499999) << row.id << " in " << fixture.name;
                EXPECT_LE(saving->high, saving->mid * 1.500001) << row.id << " in " << fixture.name;
            } else if (row.advice.state == State::Fires) {
                EXPECT_FALSE(row.advice.whyNoPrediction.empty()) << row.id << " in " << fixture.name;
            }
        }
    }
}

TEST(Estimate, IsTheIntervalOfTheMeanNotTheSpreadOfTheSteps)
{
    // Student's t for five values: 2.776 standard errors. The mean is 12, its standard error the root of one half.
    const std::vector<double> us = {10, 11, 12, 13, 14};
    const Saving saving = meanOverSteps(us, us);
    EXPECT_EQ(saving.kind, SavingKind::Estimate);
    EXPECT_DOUBLE_EQ(saving.mid, 12);
    EXPECT_NEAR(saving.low, 12 - 2.776 * std::sqrt(0.5), 1e-3);
    EXPECT_NEAR(saving.high, 12 + 2.776 * std::sqrt(0.5), 1e-3);
    // With more steps of the same spread, the interval of the mean is narrower.
    std::vector<double> many;
    for (int i = 0; i < 20; ++i)
        many.insert(many.end(), us.begin(), us.end());
    EXPECT_LT(meanOverSteps(many, many).high - meanOverSteps(many, many).low, 0.6);
}

TEST(Estimate, ContainsTheMeanAsOftenAsItClaims)
{
    std::mt19937 random(7);
    std::normal_distribution<double> step(1000, 150);
    int contained = 0;
    constexpr int kTraces = 2000;
    for (int i = 0; i < kTraces; ++i) {
        std::vector<double> us(8);
        for (double& value : us)
            value = step(random);
        const Saving saving = meanOverSteps(us, us);
        contained += saving.low <= 1000 && 1000 <= saving.high ? 1 : 0;
    }
    // 95 % of 2,000 is 1,900 ± 20 at two standard errors.
    EXPECT_NEAR(contained, Saving::kCoverage * kTraces, 30);
}

TEST(Estimate, ContainsTheMeanOfCorrelatedSteps)
{
    std::mt19937 random(11);
    std::normal_distribution<double> fresh(0, 100);
    int contained = 0;
    constexpr int kTraces = 2000;
    for (int i = 0; i < kTraces; ++i) {
        std::vector<double> us(80);
        double drift = fresh(random) / std::sqrt(1 - 0.25);
        for (double& value : us) {
            drift = 0.5 * drift + fresh(random);
            value = 1000 + drift;
        }
        const Saving saving = meanOverSteps(us, us);
        EXPECT_EQ(saving.coverage, Saving::kCoverage);
        contained += saving.low <= 1000 && 1000 <= saving.high ? 1 : 0;
    }
    // If they were treated as independent, 74 % would.
    EXPECT_GE(contained, 0.92 * kTraces);
}

TEST(Estimate, ClaimsNoCoverageThatIsNotEstablished)
{
    const std::vector<double> us = {10, 11, 12, 13, 14};
    EXPECT_EQ(limited(meanOverSteps(us, us), 20).coverage, Saving::kCoverage);
    EXPECT_EQ(limited(meanOverSteps(us, us), 12).coverage, 0) << "limited by a value from the same trace";
    EXPECT_EQ(perStep(10, 12, 14).coverage, 0) << "of a model";
}

TEST(Estimate, OneStepGivesNoIntervalOfTheMean)
{
    const std::vector<double> one = {14};
    Advice advice;
    advice.state = State::Fires;
    advice.saving = meanOverSteps(one, one);
    EXPECT_EQ(advice.saving->kind, SavingKind::Estimate);
    dropWidePrediction(advice, 0);
    EXPECT_FALSE(advice.saving);
    EXPECT_THAT(advice.whyNoPrediction, test_support::HasId("prediction.one_observation"));
    advice.saving = meanOverSteps(one, one);
    dropWidePrediction(advice, 20);
    ASSERT_TRUE(advice.saving);
    EXPECT_EQ(advice.saving->kind, SavingKind::UpperBound);
    EXPECT_EQ(advice.saving->high, 20) << "the available time";
}

TEST(Estimate, OfAnUncertainModelCoversItsWholeRange)
{
    const std::vector<double> least = {10, 10, 10}, most = {20, 20, 20};
    const Saving saving = meanOverSteps(least, most);
    EXPECT_EQ(saving.low, 10);
    EXPECT_EQ(saving.mid, 15);
    EXPECT_EQ(saving.high, 20);
}

TEST(SavingText, SaysWhatIsClaimed)
{
    EXPECT_EQ(savingText(perStep(10'100, 12'000, 14'100)), "Could save 10.1–14.1 ms per step.");
    EXPECT_EQ(savingText(perStep(812, 1000, 1200)), "Could save 812 µs–1.20 ms per step.");
    EXPECT_EQ(savingText(perStep(100, 100, 100)), "Could save about 100 µs per step.");
    EXPECT_EQ(savingText(upperBound(SavingUnit::UsPerStep, 14'000)), "At most 14.0 ms per step.");
    EXPECT_EQ(savingText(upperBound(SavingUnit::UsPerEpoch, 2e6)), "At most 2.00 s per epoch.");
    EXPECT_EQ(savingText(upperBound(SavingUnit::UsPerValidation, 2e6)), "At most 2.00 s per validation.");
    EXPECT_EQ(savingText(Saving{.unit = SavingUnit::Bytes, .low = 1e6, .mid = 2e6, .high = 3e6}),
              "Could save 1.00–3.00 MB.");
    EXPECT_EQ(savingAmount(perStep(10'100, 12'000, 14'100)), "10.1–14.1 ms");
    EXPECT_EQ(savingAmount(upperBound(SavingUnit::Bytes, 95e6)), "at most 95.0 MB");
    EXPECT_EQ(savingAmount(perStep(-5'640, 20'000, 43'400)), "−5.64 ms to 43.4 ms");
}

TEST(Advisor, FindingsComeFirstThenUnknownThenSilent)
{
    const std::string text = cpuRun(1000, 600, 0.9) + R"(
        main
          repeat 20 every 1000
            phase "zero grad" 980 20
            op aten::zero_ 980 20
          end
    )";
    const auto trace = test_support::traceFromText(text);
    const config::TrainingConfig config;
    const auto advice = advise(*trace, &config);
    ASSERT_EQ(advice.size(), allRules().size());
    EXPECT_EQ(advice[0].id, "loader.workers");
    EXPECT_EQ(advice[1].id, "memory_format"); // has no prediction, but is about most of the remaining time
    EXPECT_EQ(advice[2].id, "zero_grad.set_to_none");
    int rank = 0;
    for (const RuleAdvice& row : advice) {
        const int now = row.advice.state == State::Fires ? 0 : row.advice.state == State::CannotTell ? 1 : 2;
        EXPECT_GE(now, rank);
        rank = now;
        EXPECT_FALSE(row.advice.title.empty());
    }
}

TEST(Advisor, ALargeTimeShareRanksFirstWithoutAPrediction)
{
    const auto trace = test_support::traceFromText(R"(
        main
          repeat 20 every 1000
            step 0 0 1000
            phase "zero grad" 0 50
            op aten::zero_ 0 45
            phase backward 50 100
          end
    )");
    config::TrainingConfig config;
    ASSERT_TRUE(config.set("debug.gradcheck", "true"));
    const auto advice = advise(*trace, &config);
    EXPECT_EQ(advice[0].id, "debug.gradcheck");
    EXPECT_FALSE(advice[0].advice.saving);
    EXPECT_GT(advice[0].impact, 400);
}

TEST(Advisor, AnEmptyTraceGetsAVerdictFromEveryRule)
{
    const auto trace = test_support::traceFromText("");
    for (const RuleAdvice& row : advise(*trace, nullptr))
        EXPECT_NE(row.advice.state, State::Fires) << row.id;
}

TEST(Advisor, WithoutStepMarksFindingsAreRankedByTimeShare)
{
    const auto trace = test_support::traceFromText("main\ncall cudaMemcpy 1 802 corr=5\nstream 0 7\nkernel a 0 2\n"
                                                   "copy HtoD 2 800 bytes=1000 src=pinned dst=device corr=5\n"
                                                   "kernel sgemm 802 150\nkernel a 952 50");
    const auto advice = advise(*trace, nullptr);
    EXPECT_EQ(advice[0].id, "transfer.non_blocking");
    EXPECT_EQ(advice[1].id, "precision.amp");
}

} // namespace
} // namespace advisor_test
