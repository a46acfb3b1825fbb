#include "advisor/prediction/saving.h"
#include "app/document/finding_text.h"

#include <gtest/gtest.h>

namespace app {
namespace {

using advisor::SavingUnit;
using namespace std::chrono_literals;

std::string text(const QString& words)
{
    return words.toStdString();
}

TEST(FindingText, ASavingIsARangeWithOneUnit)
{
    EXPECT_EQ(text(savingText({SavingUnit::UsPerStep, 38'000, 45'000, 52'000})), "Could save 38.0–52.0 ms per step.");
    EXPECT_EQ(text(savingText({SavingUnit::UsPerValidation, 900'000, 1'000'000, 1'200'000})),
              "Could save 900 ms–1.20 s per validation.");
}

TEST(FindingText, ASavingThatMayBeZeroSaysUpTo)
{
    EXPECT_EQ(text(app::savingText(advisor::upperBound(SavingUnit::UsPerStep, 4'100))), "At most 4.10 ms per step.");
}

TEST(FindingText, ASavingWithoutWidthIsOneNumber)
{
    EXPECT_EQ(text(savingText({SavingUnit::UsPerStep, 4'090.1, 4'090.2, 4'090.3})),
              "Could save about 4.09 ms per step.");
}

TEST(FindingText, AToggleIsNamedByItsLabel)
{
    EXPECT_EQ(text(toggleText({"loader.workers", "0", "2"})), "Workers: 0 → 2");
}

TEST(FindingText, DurationsAreRounded)
{
    EXPECT_EQ(text(aboutText(7s)), "about 7 s");
    EXPECT_EQ(text(aboutText(43s)), "about 45 s");
    EXPECT_EQ(text(aboutText(200s)), "about 3 min");
}

advisor::ExperimentResult measured(advisor::Verdict verdict, advisor::Interval ratio)
{
    advisor::ExperimentResult result;
    result.verdict = verdict;
    result.samplesPerSecond = ratio;
    result.savedUs = {44'100, 42'000, 46'200};
    result.loss.kind = advisor::LossKind::NotWorse;
    result.loss.steps = 400;
    return result;
}

TEST(FindingText, EachVerdictIsASentenceWithItsInterval)
{
    EXPECT_EQ(text(verdictText(measured(advisor::Verdict::Pays, {1.43, 1.40, 1.46}))),
              "Pays: 1.43 × faster (95 % interval 1.40–1.46); loss not worse over 400 steps");
    EXPECT_EQ(text(verdictText(measured(advisor::Verdict::DoesNotPay, {1.0, 0.995, 1.005}))),
              "Does not pay: 1.00 × (95 % interval 0.995–1.00); loss not worse over 400 steps");
    EXPECT_EQ(text(verdictText(measured(advisor::Verdict::Costs, {0.9, 0.88, 0.92}))),
              "Costs: only 0.900 × as fast (95 % interval 0.880–0.920); loss not worse over 400 steps");
}

TEST(FindingText, AWorseLossIsNotHidden)
{
    auto result = measured(advisor::Verdict::Pays, {1.43, 1.40, 1.46});
    result.loss.kind = advisor::LossKind::Worse;
    result.loss.a = 0.5;
    result.loss.b = 0.9;
    EXPECT_EQ(text(verdictText(result)),
              "Pays: 1.43 × faster (95 % interval 1.40–1.46); but the loss is worse: 0.900 instead of 0.500");
}

TEST(FindingText, AnUncheckedLossIsNotMentioned)
{
    auto result = measured(advisor::Verdict::Pays, {1.43, 1.40, 1.46});
    result.loss.kind = advisor::LossKind::NotCompared;
    EXPECT_EQ(text(verdictText(result)), "Pays: 1.43 × faster (95 % interval 1.40–1.46)");
    result.loss.kind = advisor::LossKind::NotShown;
    EXPECT_EQ(text(verdictText(result)),
              "Pays: 1.43 × faster (95 % interval 1.40–1.46); could not show that the loss is not worse");
}

TEST(FindingText, ThePredictionIsShownWithTheMeasurement)
{
    auto result = measured(advisor::Verdict::Pays, {1.43, 1.40, 1.46});
    EXPECT_EQ(text(predictedAndMeasured(result)), "measured 44.1 ms (42.0–46.2 ms) per step");
    result.plan.predicted = advisor::Saving{SavingUnit::UsPerStep, 38'000, 45'000, 52'000};
    EXPECT_EQ(text(predictedAndMeasured(result)), "predicted 38.0–52.0 ms, measured 44.1 ms (42.0–46.2 ms) per "
                                                  "step");
}

TEST(FindingText, TheMemoryObjectiveIsReportedInBytes)
{
    auto result = measured(advisor::Verdict::Pays, {0.97, 0.95, 0.99});
    result.plan.objective = advisor::Objective::Memory;
    result.savedBytes = {120e6, 110e6, 130e6};
    EXPECT_EQ(text(verdictText(result)), "Pays: 120 MB less in tensors at the peak (95 % interval 110–130 MB), 0.970 × "
                                         "as fast; loss not worse over 400 steps");
    result.plan.predicted = advisor::Saving{SavingUnit::Bytes, 100e6, 125e6, 150e6};
    EXPECT_EQ(text(predictedAndMeasured(result)),
              "predicted 100–150 MB, measured 120 MB (110–130 MB) in tensors at the peak");
    result.verdict = advisor::Verdict::Costs;
    result.savedBytes = {-20e6, -30e6, -10e6};
    EXPECT_EQ(text(verdictText(result)), "Costs: 20.0 MB more in tensors at the peak (95 % interval 10.0–30.0 MB), "
                                         "0.970 × as fast; loss not worse over 400 steps");
}

TEST(FindingText, AScreeningIsReportedInUnitsOfTheLoss)
{
    auto result = measured(advisor::Verdict::Pays, {0.97, 0.95, 0.99});
    result.plan.objective = advisor::Objective::LossAtEqualTime;
    advisor::LossAtEqualTime& losses = result.lossAtEqualTime.emplace();
    losses.validation = true;
    losses.seconds = 20;
    losses.seeds = {{2.0, 1.9, 0.05}, {2.1, 1.97, 0.06}, {2.05, 1.93, 0.06}};
    losses.a = 2.05;
    losses.b = 1.93;
    losses.saved = {0.12, 0.08, 0.16};
    EXPECT_EQ(text(verdictText(result)), "Pays in screening at equal time: validation loss 0.120 lower (95 % interval "
                                         "0.0800–0.160) after 20.0 s of training");
    EXPECT_EQ(text(predictedAndMeasured(result)), "measured validation loss 1.93, before 2.05");
    result.verdict = advisor::Verdict::Costs;
    losses.validation = false;
    losses.saved = {-0.12, -0.16, -0.08};
    EXPECT_EQ(text(verdictText(result)), "Costs in screening at equal time: training loss 0.120 higher (95 % interval "
                                         "0.0800–0.160) after 20.0 s of training");
    result.verdict = advisor::Verdict::Inconclusive;
    losses.saved = {0.02, -0.08, 0.12};
    EXPECT_EQ(text(verdictText(result)), "No verdict from screening at equal time: training loss 0.0200 lower (95 % "
                                         "interval −0.0800 to 0.120) after 20.0 s of training");
    losses.seeds.resize(1);
    EXPECT_EQ(text(verdictText(result)), "No verdict: time budget used up after too few seeds");
}

TEST(FindingText, TheJournalCountsCorrectPredictions)
{
    Journal journal;
    EXPECT_EQ(text(predictionsText(journal)), "");
    auto result = measured(advisor::Verdict::Pays, {1.43, 1.40, 1.46});
    if (const auto prediction = measuredPrediction(result))
        journal.predictions.push_back(*prediction);
    EXPECT_EQ(text(predictionsText(journal)), "") << "nothing was predicted";
    result.plan.predicted = advisor::Saving{SavingUnit::UsPerStep, 38'000, 45'000, 52'000};
    if (const auto prediction = measuredPrediction(result))
        journal.predictions.push_back(*prediction);
    result.plan.predicted = advisor::Saving{SavingUnit::UsPerStep, 1'000, 2'000, 44'099};
    EXPECT_FALSE(measuredPrediction(result)) << "the measurement, 42.0–46.2 ms, is too imprecise to refute it";
    result.plan.predicted = advisor::Saving{SavingUnit::UsPerStep, 1'000, 2'000, 41'000};
    if (const auto prediction = measuredPrediction(result))
        journal.predictions.push_back(*prediction);
    EXPECT_EQ(text(predictionsText(journal)), "1 of 2 measured savings were in the predicted range");
    // The machine is twice as fast as the traced one, so the share counts.
    result.unitUsA = 150'000;
    result.plan.predicted = advisor::Saving{SavingUnit::UsPerStep, 80'000, 90'000, 100'000, 300'000};
    if (const auto prediction = measuredPrediction(result))
        journal.predictions.push_back(*prediction);
    EXPECT_EQ(text(predictionsText(journal)), "2 of 3 measured savings were in the predicted range");
    EXPECT_EQ(text(predictedAndMeasured(result)), "predicted 40.0–50.0 ms, measured 44.1 ms (42.0–46.2 ms) per "
                                                  "step");
}

TEST(FindingText, AnIntervalAroundZeroIsReadable)
{
    auto result = measured(advisor::Verdict::Inconclusive, {0.97, 0.88, 1.05});
    result.savedUs = {-2'760, -9'920, 3'790};
    result.plan.predicted = advisor::Saving{SavingUnit::UsPerStep, -5'640, 20'000, 43'400};
    EXPECT_EQ(text(predictedAndMeasured(result)),
              "predicted −5.64 ms to 43.4 ms, measured −2.76 ms (−9.92 ms to 3.79 ms) per step");
}

} // namespace
} // namespace app
