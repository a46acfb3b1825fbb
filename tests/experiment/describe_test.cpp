#include "tests/experiment/script.h"

#include <cstdlib>
#include <gmock/gmock.h>

namespace experiment_test {
namespace {

using testing::HasSubstr;

TEST(Describe, IsReadFromTheTrainer)
{
    const Script script;
    const auto description = advisor::describeTrainer(scriptedTrainer());
    ASSERT_TRUE(description) << description.error().message();
    ASSERT_EQ(description->workloads.size(), 1U);
    EXPECT_EQ(description->workloads[0].id, "convnet");
    EXPECT_EQ(description->cores, 2);
}

TEST(Describe, OtherOutputIsAnError)
{
    const Script script{{"SCRIPT_DESCRIBE", "Segmentation fault"}};
    const auto description = advisor::describeTrainer(scriptedTrainer());
    ASSERT_FALSE(description);
    EXPECT_THAT(description.error().message(), HasSubstr(scriptedTrainer().string()));
}

TEST(Describe, AFailureIsAnError)
{
    const Script script{{"SCRIPT_DESCRIBE", "fail"}};
    EXPECT_FALSE(advisor::describeTrainer(scriptedTrainer()));
}

TEST(FindTrainer, UsesTheNamedOne)
{
    const Script script{{"STEPSCOPE_TRAINER", scriptedTrainer()}};
    const auto found = advisor::findTrainer();
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, scriptedTrainer());
}

TEST(FindTrainer, ANameThatIsNotAProgramIsAnErrorAndNotIgnored)
{
    const Script script{{"STEPSCOPE_TRAINER", "/nowhere/stepscope-train"}};
    const auto found = advisor::findTrainer();
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message(), HasSubstr("/nowhere/stepscope-train"));
}

TEST(FindTrainer, LooksInThePath)
{
    std::string folder = (std::filesystem::temp_directory_path() / "find-trainer-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const auto link = std::filesystem::path(folder) / "stepscope-train";
    std::filesystem::create_symlink(scriptedTrainer(), link);
    {
        const Script script{{"PATH", "/nowhere:" + folder}};
        const auto found = advisor::findTrainer();
        ASSERT_TRUE(found);
        // A build tree that contains a trainer comes first.
        EXPECT_TRUE(*found == link || found->filename() == "stepscope-train");
    }
    std::filesystem::remove_all(folder);
}

} // namespace
} // namespace experiment_test
