#include "trainer/config/knob_json.h"
#include "trainer/config/training_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

using namespace config;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

namespace {

// Two values of every knob that differ, both allowed.
std::vector<std::string> someValues(const Knob& knob)
{
    switch (knob.type) {
    case KnobType::Flag:
        return {"true", "false"};
    case KnobType::Integer:
        return {toText(static_cast<std::int64_t>(knob.min)), toText(static_cast<std::int64_t>(knob.max))};
    case KnobType::Real:
        return {toText(knob.min), toText(knob.max)};
    case KnobType::Choice:
        return {std::string(knob.choices.front()), std::string(knob.choices.back())};
    default:
        return {"", "/data/möhren"};
    }
}

std::vector<std::string> wrongValues(const Knob& knob)
{
    switch (knob.type) {
    case KnobType::Flag:
        return {"", "yes", "1", "True", "true "};
    case KnobType::Integer:
        return {"",
                "two",
                "1.5",
                "1e3",
                " 1",
                "99999999999999999999",
                toText(static_cast<std::int64_t>(knob.min) - 1),
                toText(static_cast<std::int64_t>(knob.max) + 1)};
    case KnobType::Real:
        return {"", "nan", "inf", "-inf", "1,5", toText(knob.min - 0.1), toText(knob.max + 0.1)};
    case KnobType::Choice:
        return {"", "none of these", std::string(knob.choices.front()) + " "};
    default:
        return {std::string("a\0b", 3), "\xff", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x82"};
    }
}

TEST(Knobs, AreDescribedForUsers)
{
    std::set<std::string_view> seen;
    for (const Knob& knob : knobs()) {
        EXPECT_TRUE(seen.insert(knob.key).second) << knob.key << " has two rows";
        EXPECT_FALSE(knob.group.empty()) << knob.key;
        EXPECT_FALSE(knob.label.empty()) << knob.key;
        EXPECT_FALSE(knob.where.empty()) << knob.key;
        EXPECT_TRUE(knob.doc.ends_with(".")) << knob.key;
        EXPECT_EQ(knob.type == KnobType::Choice, !knob.choices.empty()) << knob.key;
    }
}

TEST(Knobs, HaveAllowedFallbacksOfTheirOwnType)
{
    for (const Knob& knob : knobs()) {
        EXPECT_TRUE(isAllowed(knob, knob.fallback)) << knob.key;
        EXPECT_EQ(parseValue(knob, toText(knob.fallback)), knob.fallback) << knob.key;
    }
}

TEST(Knobs, AreGroupedSoThatTheFormHasEachHeadingOnce)
{
    std::set<std::string_view> closed;
    std::string_view current;
    for (const Knob& knob : knobs()) {
        if (knob.group != current) {
            EXPECT_TRUE(closed.insert(knob.group).second) << knob.group << " appears again at " << knob.key;
        }
        current = knob.group;
    }
}

TEST(Knobs, AcceptBothEndsOfTheirRange)
{
    for (const Knob& knob : knobs())
        for (const std::string& text : someValues(knob)) {
            TrainingConfig config;
            ASSERT_TRUE(config.set(knob.key, text)) << knob.key << " = " << text;
            EXPECT_EQ(config.text(knob.key), text);
        }
}

TEST(Knobs, RejectWrongValuesNamingKeyValueAndAllowedValues)
{
    for (const Knob& knob : knobs())
        for (const std::string& text : wrongValues(knob)) {
            TrainingConfig config;
            const auto done = config.set(knob.key, text);
            ASSERT_FALSE(done) << knob.key << " = '" << text << "'";
            EXPECT_EQ(done.error().key, knob.key);
            EXPECT_EQ(done.error().value, text);
            EXPECT_EQ(done.error().allowed, allowedText(knob));
            EXPECT_THAT(done.error().message(), HasSubstr(std::string(knob.key)));
            EXPECT_THAT(done.error().message(), HasSubstr(allowedText(knob)));
            EXPECT_EQ(config, TrainingConfig()) << "a refused value must change nothing";
        }
}

std::vector<std::string> keysWhere(bool (*holds)(const Knob&))
{
    std::vector<std::string> keys;
    for (const Knob& knob : knobs())
        if (holds(knob))
            keys.emplace_back(knob.key);
    return keys;
}

TEST(Knobs, ConditionsNameOtherKnobsAndValuesTheyTake)
{
    for (const Knob& knob : knobs())
        for (const Condition& condition : knob.enabledIf) {
            ASSERT_NE(findKnob(condition.on), nullptr) << knob.key << " depends on " << condition.on;
            EXPECT_NE(condition.on, knob.key);
            EXPECT_FALSE(condition.values.empty()) << knob.key;
            for (const std::string_view value : condition.values)
                EXPECT_TRUE(TrainingConfig().set(condition.on, value)) << condition.on << '=' << value;
        }
}

TEST(Knobs, AConditionHoldsForItsValuesOnly)
{
    TrainingConfig config;
    const Knob &attention = *findKnob("attention"), &workers = *findKnob("loader.prefetch_factor");
    ASSERT_NE(config.unmetCondition(attention), nullptr) << "the default model is a convnet";
    EXPECT_EQ(config.unmetCondition(attention)->on, "workload");
    EXPECT_TRUE(config.unmetCondition(attention)->isOneOf);
    ASSERT_TRUE(config.set("workload", "vit"));
    EXPECT_EQ(config.unmetCondition(attention), nullptr);
    ASSERT_NE(config.unmetCondition(workers), nullptr);
    EXPECT_FALSE(config.unmetCondition(workers)->isOneOf);
    ASSERT_TRUE(config.set("loader.workers", "1"));
    EXPECT_EQ(config.unmetCondition(workers), nullptr);
    EXPECT_EQ(config.unmetCondition(*findKnob("batch.size")), nullptr) << "no condition";
}

TEST(Knobs, RowsDoNotContradictThemselves)
{
    for (const Knob& knob : knobs()) {
        if (knob.objective == Objective::LossAtEqualTime || knob.batches != Batches::Same || !knob.comparableLoss) {
            EXPECT_TRUE(knob.mayChangeLoss) << knob.key;
        }
        if (knob.batches == Batches::Same) {
            EXPECT_TRUE(knob.batchValues.empty()) << knob.key;
        }
        for (const std::string_view value : knob.batchValues)
            EXPECT_TRUE(TrainingConfig().set(knob.key, value)) << knob.key << '=' << value;
        EXPECT_EQ(knob.objective == Objective::ValidationTime, knob.where == "validation") << knob.key;
        EXPECT_EQ(knob.objective == Objective::EpochTime, knob.where.ends_with("of an epoch")) << knob.key;
        EXPECT_EQ(!knob.comparableLoss, knob.key.starts_with("dataset.") || knob.key == "workload" ||
                                            knob.key == "model.path" || knob.key == "model.loss")
            << knob.key;
    }
}

TEST(Knobs, SayHowAChangeIsJudged)
{
    EXPECT_THAT(keysWhere([](const Knob& knob) { return knob.objective == Objective::Memory; }),
                UnorderedElementsAre("checkpointing", "gradient.accumulation"));
    for (const char* key :
         {"optimizer.kind", "optimizer.learning_rate", "schedule.kind", "schedule.warmup_steps", "gradient.clip_norm",
          "gradient.clip_value", "model.norm", "data.normalize", "augment.enabled", "augment.noise"})
        EXPECT_EQ(findKnob(key)->objective, Objective::LossAtEqualTime) << key;
    EXPECT_EQ(findKnob("optimizer.implementation")->objective, Objective::StepTime) << "the same values, earlier";
    EXPECT_FALSE(findKnob("optimizer.implementation")->mayChangeLoss);
    EXPECT_TRUE(findKnob("precision.amp")->mayChangeLoss);
    EXPECT_EQ(findKnob("batch.size")->objective, Objective::StepTime);
}

TEST(Knobs, SayWhichChangesChangeTheBatches)
{
    EXPECT_THAT(keysWhere([](const Knob& knob) { return knob.batches == Batches::OtherSize; }),
                UnorderedElementsAre("batch.size", "gradient.accumulation", "batch.find_max", "parallel.kind",
                                     "parallel.local_ranks"));
    const Knob &parallel = *findKnob("parallel.kind"), &workers = *findKnob("loader.workers");
    EXPECT_FALSE(changesBatches(parallel, "none", "dp")) << "parts of one batch";
    EXPECT_TRUE(changesBatches(parallel, "dp", "ddp")) << "a batch for each rank";
    EXPECT_TRUE(changesBatches(parallel, "ddp", "none"));
    EXPECT_TRUE(changesBatches(parallel, "", "dp")) << "the previous value is unknown";
    EXPECT_FALSE(changesBatches(workers, "0", "2"));
    EXPECT_TRUE(changesBatches(*findKnob("dataset.samples"), "2000", "4000"));
}

TEST(Knobs, SayWhatAScreeningHasToKnow)
{
    EXPECT_THAT(keysWhere([](const Knob& knob) { return knob.scalesWithLength; }),
                UnorderedElementsAre("schedule.warmup_steps", "schedule.step_size", "schedule.cycle_steps"));
    EXPECT_THAT(keysWhere([](const Knob& knob) { return knob.changesTrainingSamples; }),
                UnorderedElementsAre("augment.enabled", "augment.device", "augment.noise"));
}

TEST(Knobs, OfTheMeasurementSayHowLongItLastsAndWhatItRecords)
{
    for (const Knob& knob : knobs())
        EXPECT_EQ(knob.isOfMeasurement,
                  knob.key.starts_with("capture.") || knob.key == "run.steps" || knob.key == "run.epochs")
            << knob.key;
}

TEST(Knobs, SayWhatTheTunerAndItsExperimentsHaveToKnow)
{
    EXPECT_THAT(keysWhere([](const Knob& knob) { return knob.isBatchFactor; }),
                UnorderedElementsAre("batch.size", "gradient.accumulation"));
    EXPECT_THAT(keysWhere([](const Knob& knob) { return knob.searchesBatch; }), UnorderedElementsAre("batch.find_max"));
    EXPECT_THAT(keysWhere([](const Knob& knob) { return knob.search == ValueSearch::Neighbours; }),
                UnorderedElementsAre("loader.workers"));
    EXPECT_THAT(keysWhere([](const Knob& knob) { return knob.search == ValueSearch::Doubling; }),
                UnorderedElementsAre("batch.size"));
    EXPECT_THAT(keysWhere([](const Knob& knob) { return knob.warmUp == WarmUp::Autotuning; }),
                UnorderedElementsAre("cudnn.benchmark"));
    EXPECT_THAT(keysWhere([](const Knob& knob) { return knob.warmUp == WarmUp::Compilation; }),
                UnorderedElementsAre("compile", "fuse.pointwise"));
    for (const Knob& knob : knobs()) {
        if (knob.search != ValueSearch::None) {
            EXPECT_EQ(knob.type, KnobType::Integer) << knob.key;
        }
        if (knob.searchesBatch || knob.warmUp != WarmUp::None) {
            EXPECT_EQ(knob.type, KnobType::Flag) << knob.key;
        }
    }
}

TEST(Knobs, OfPathsSayWhatIsLookedFor)
{
    for (const Knob& knob : knobs())
        EXPECT_EQ(knob.type == KnobType::Path, !knob.whenEmpty.empty()) << knob.key;
    EXPECT_THAT(keysWhere([](const Knob& knob) { return knob.path == PathKind::NewFile; }),
                UnorderedElementsAre("run.log_file"));
    EXPECT_THAT(keysWhere([](const Knob& knob) { return knob.path == PathKind::NewFolder; }),
                UnorderedElementsAre("run.checkpoint_path"));
    EXPECT_EQ(findKnob("dataset.path")->path, PathKind::FileOrFolder);
    EXPECT_EQ(toJson(*findKnob("run.log_file")).at("path"), "new file");
    EXPECT_TRUE(toJson(*findKnob("loader.workers")).at("path").is_null());
}

TEST(Knobs, OfOneGroupShareTheMemory)
{
    EXPECT_THAT(keysWhere([](const Knob& knob) { return knob.settings == "memory"; }),
                UnorderedElementsAre("batch.size", "gradient.accumulation", "precision.amp", "checkpointing",
                                     "loader.workers", "loader.prefetch_factor"));
}

TEST(Knobs, AreDescribedWithTheirSemantics)
{
    const auto json = toJson(*findKnob("gradient.accumulation"));
    EXPECT_EQ(json.at("objective"), "memory");
    EXPECT_EQ(json.at("changes_batches"), true);
    EXPECT_EQ(json.at("may_change_loss"), true);
    EXPECT_EQ(json.at("settings"), "memory");
    const auto attention = toJson(*findKnob("attention"));
    EXPECT_EQ(attention.at("enabled_if")[0].at("key"), "workload");
    EXPECT_EQ(attention.at("enabled_if")[0].at("one_of").size(), 3U);
    EXPECT_EQ(toJson(*findKnob("loader.prefetch_factor")).at("enabled_if")[0].at("none_of")[0], "0");
    EXPECT_TRUE(attention.at("settings").is_null());
}

TEST(Knobs, AreFoundByKeyOnly)
{
    ASSERT_NE(findKnob("loader.workers"), nullptr);
    EXPECT_EQ(findKnob("loader.workers")->label, "Workers");
    EXPECT_EQ(findKnob("loader"), nullptr);
    EXPECT_EQ(findKnob(""), nullptr);
}

TEST(NearestKeys, CorrectTyposAndMissingGroups)
{
    EXPECT_THAT(nearestKeys("loader.wrokers"), testing::StartsWith("loader.workers"));
    EXPECT_THAT(nearestKeys("workers"), HasSubstr("loader.workers"));
    EXPECT_THAT(nearestKeys("batchsize"), testing::StartsWith("batch.size"));
    EXPECT_THAT(nearestKeys("zero_grad.set_to_nnoe"), testing::StartsWith("zero_grad.set_to_none"));
}

TEST(Values, RoundTripThroughSet)
{
    EXPECT_EQ(toText(true), "true");
    EXPECT_EQ(toText(std::int64_t{-4}), "-4");
    EXPECT_EQ(toText(0.1), "0.1");
    EXPECT_EQ(toText(std::string("adamw")), "adamw");
    const Knob& rate = *findKnob("optimizer.learning_rate");
    for (const double value : {1e-12, 0.1 + 0.2, 1.0 / 3, 99.999999999})
        EXPECT_EQ(parseValue(rate, toText(value)), Value(value)) << toText(value);
}

} // namespace
