#include "trainer/config/training_config.h"
#include "trainer/config/value_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

using namespace config;
using testing::HasSubstr;

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

TEST(Knobs, TakeBothEndsOfTheirRange)
{
    for (const Knob& knob : knobs())
        for (const std::string& text : someValues(knob)) {
            TrainingConfig config;
            ASSERT_TRUE(config.set(knob.key, text)) << knob.key << " = " << text;
            EXPECT_EQ(config.text(knob.key), text);
        }
}

TEST(Knobs, RefuseWrongValuesAndNameKeyValueAndWhatIsAllowed)
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

TEST(Knobs, AreFoundByKeyOnly)
{
    ASSERT_NE(findKnob("loader.workers"), nullptr);
    EXPECT_EQ(findKnob("loader.workers")->label, "Workers");
    EXPECT_EQ(findKnob("loader"), nullptr);
    EXPECT_EQ(findKnob(""), nullptr);
}

TEST(NearestKeys, FindSlipsOfTheHandAndMissingGroups)
{
    EXPECT_THAT(nearestKeys("loader.wrokers"), testing::StartsWith("loader.workers"));
    EXPECT_THAT(nearestKeys("workers"), HasSubstr("loader.workers"));
    EXPECT_THAT(nearestKeys("batchsize"), testing::StartsWith("batch.size"));
    EXPECT_THAT(nearestKeys("zero_grad.set_to_nnoe"), testing::StartsWith("zero_grad.set_to_none"));
}

TEST(Values, AreWrittenAsSetReadsThem)
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
