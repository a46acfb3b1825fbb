#include "advisor/tuner/tune_search.h"

#include <gmock/gmock.h>

namespace experiment_test {
namespace {

using namespace advisor;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(TunerCandidates, ThoseWithAPredictionComeFirstAndConvergenceNever)
{
    const auto finding = [](const char* key, const char* to, bool predicted, Objective by, const char* measure) {
        RuleAdvice row{key, {}};
        row.advice.state = State::Fires;
        row.advice.toggle = Toggle{key, "", to};
        row.advice.objective = by;
        row.advice.measure = measure;
        if (predicted)
            row.advice.saving = Saving{};
        return row;
    };
    const std::vector<RuleAdvice> advice = {
        finding("eval.no_grad", "false", false, Objective::Time, "validation"),
        finding("memory_format", "channels_last", false, Objective::Time, "steps"),
        finding("schedule.kind", "cosine", false, Objective::LossAtEqualTime, "steps"),
        finding("batch.find_max", "true", false, Objective::Time, "steps"),
        finding("loader.workers", "2", true, Objective::Time, "steps")};
    const auto keys = [](const std::vector<Candidate>& rows) {
        std::vector<std::string> names;
        for (const Candidate& row : rows)
            names.push_back(row.change.key);
        return names;
    };
    EXPECT_THAT(keys(advised(advice, {}, {})), ElementsAre("loader.workers", "memory_format", "eval.no_grad"));
    EXPECT_THAT(keys(advised(advice, {}, {{"loader.workers", "2"}})), ElementsAre("memory_format", "eval.no_grad"));
}

TEST(TunerCandidates, WorkersAreSearchedWithinTheCoresAndBatchesDoubled)
{
    config::TrainingConfig config;
    ASSERT_TRUE(config.set("loader.workers", "3"));
    const auto values = [](const std::vector<Candidate>& rows) {
        std::vector<std::string> texts;
        for (const Candidate& row : rows)
            texts.push_back(row.change.to);
        return texts;
    };
    EXPECT_THAT(values(further({"loader.workers", "2", "3"}, config, 4, {})), ElementsAre("4", "2"));
    EXPECT_THAT(values(further({"loader.workers", "2", "3"}, config, 0, {{"loader.workers", "2"}})),
                ElementsAre("4", "6"));
    ASSERT_TRUE(config.set("batch.size", "64"));
    EXPECT_THAT(values(further({"batch.size", "32", "64"}, config, 4, {})), ElementsAre("128"));
    EXPECT_THAT(further({"memory_format", "contiguous", "channels_last"}, config, 4, {}), IsEmpty());
}

TEST(TunerCandidates, ABatchIsSearchedBelowTheOneThatFailedAndWithinTheDataSet)
{
    config::TrainingConfig config;
    const auto next = [&](const char* now, BatchLimits limits) {
        EXPECT_TRUE(config.set("batch.size", now));
        const auto rows = further({"batch.size", "1", now}, config, 4, {}, limits);
        return rows.empty() ? std::string() : rows.front().change.to;
    };
    EXPECT_EQ(next("64", {.samples = 128, .failed = 0}), "128");
    EXPECT_EQ(next("64", {.samples = 127, .failed = 0}), "");
    EXPECT_EQ(next("64", {.samples = 1000, .failed = 128}), "96");
    EXPECT_EQ(next("64", {.samples = 1000, .failed = 96}), "80");
    EXPECT_EQ(next("64", {.samples = 1000, .failed = 80}), "");
    EXPECT_EQ(next("96", {.samples = 1000, .failed = 128}), "112");
}

RuleAdvice savingMemory(const char* key, const char* to)
{
    RuleAdvice row{key, {}};
    row.advice.state = State::Fires;
    row.advice.toggle = Toggle{key, "", to};
    row.advice.objective = Objective::Memory;
    row.advice.saving = Saving{.unit = SavingUnit::Bytes, .low = 1e6, .mid = 2e6, .high = 3e6};
    return row;
}

TEST(TunerCandidates, MemorySavingsComeLastWithTwiceTheBatchAndAreJudgedByTime)
{
    RuleAdvice slow{"memory_format", {}};
    slow.advice.state = State::Fires;
    slow.advice.toggle = Toggle{"memory_format", "", "channels_last"};
    const auto rows =
        advised({savingMemory("checkpointing", "cheap"), savingMemory("gradient.accumulation", "2"), slow}, {}, {});
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[0].change.key, "memory_format");
    EXPECT_EQ(rows[1].objective, Objective::Time);
    EXPECT_FALSE(rows[1].predicted) << "bytes are not a time";
    const auto texts = [](const std::vector<Toggle>& changes) {
        std::vector<std::string> all;
        for (const Toggle& change : changes)
            all.push_back(change.key + "=" + change.to);
        return all;
    };
    EXPECT_THAT(texts(changesOf(rows[1], {})), ElementsAre("checkpointing=cheap", "batch.size=64"));
    // Two parts of half the batch size, and twice that: two parts of the current batch size.
    EXPECT_THAT(texts(changesOf(rows[2], {})), ElementsAre("gradient.accumulation=2"));
}

TEST(TunerCandidates, TheLargestImpactComesFirst)
{
    const auto finding = [](const char* key, const char* to, double impact) {
        RuleAdvice row{key, {}};
        row.advice.state = State::Fires;
        row.advice.toggle = Toggle{key, "", to};
        row.impact = impact;
        return row;
    };
    RuleAdvice predicted = finding("loader.workers", "2", 10);
    predicted.advice.saving = Saving{};
    const auto rows = advised({predicted, finding("memory_format", "channels_last", 300)}, {}, {});
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].change.key, "memory_format");
}

TEST(TunerCandidates, RelatedSettingsAreTriedAgain)
{
    Tried tried = {{"loader.workers", "4"}, {"memory_format", "channels_last"}, {"batch.size", "64"}};
    markKept(tried, {{"batch.size", "32", "64"}});
    EXPECT_THAT(tried, ElementsAre(std::pair("batch.size", "32"), std::pair("batch.size", "64"),
                                   std::pair("memory_format", "channels_last")));
    markKept(tried, {{"memory_format", "contiguous", "channels_last"}});
    EXPECT_EQ(tried.size(), 4U);
}

TEST(TunerCandidates, SettingsChangedWithAToggleLoseTheirFormerValueToo)
{
    Tried tried = {{"gradient.accumulation", "2"}, {"batch.size", "128"}, {"loader.workers", "4"}};
    markKept(tried, {{"gradient.accumulation", "1", "2"}, {"batch.size", "64", "32"}});
    EXPECT_THAT(tried, ElementsAre(std::pair("batch.size", "64"), std::pair("gradient.accumulation", "1"),
                                   std::pair("gradient.accumulation", "2")));
}

} // namespace
} // namespace experiment_test
