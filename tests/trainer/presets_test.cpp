#include "trainer/config/training_config.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace {

namespace fs = std::filesystem;

TEST(Presets, AreUnderstoodAndThereIsOneForEachModel)
{
    std::set<std::string> shown;
    for (const auto& entry : fs::directory_iterator(fs::path(EXAMPLES))) {
        if (entry.path().extension() != ".json")
            continue;
        const auto config = config::TrainingConfig::load(entry.path());
        ASSERT_TRUE(config) << config.error().message();
        EXPECT_THAT(config->problems(false), testing::IsEmpty()) << entry.path() << ": it starts on any machine";
        shown.insert((*config)[config::key::workload]);
    }
    for (const std::string_view workload : config::findKnob("workload")->choices)
        if (workload != "torchscript" && workload != "plugin") {
            EXPECT_EQ(shown.count(std::string(workload)), 1U) << workload;
        }
}

} // namespace
