#include "tests/cli/cli_program.h"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

/// `doctor`: its JSON, its text, and its exit status. tests/runner/machine_check_test.cpp tests the checks.
namespace cli_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

TEST(DoctorCommand, ReportsEachSubjectWithItsStateAndWhatToDo)
{
    const Ended ended = run({"doctor", "--json"});
    const Json json = Json::parse(ended.out, nullptr, false);
    ASSERT_TRUE(json.is_object()) << ended.err;
    std::set<std::string> ids;
    bool isMissing = false;
    for (const Json& check : json["checks"]) {
        ids.insert(check["id"]);
        EXPECT_FALSE(check["message"]["id"].get<std::string>().empty());
        EXPECT_TRUE(check["state"] == "works" || check["state"] == "limited" || check["state"] == "missing") << check;
        isMissing = isMissing || check["state"] == "missing";
    }
    for (const char* id : {"program", "trainer", "gpu", "torch", "private_views", "disk", "display"})
        EXPECT_TRUE(ids.contains(id)) << id;
    EXPECT_EQ(ended.status, isMissing ? 1 : 0);
    EXPECT_EQ(json["version"].get<std::string>() + "\n", run({"--version"}).out);
}

TEST(DoctorCommand, FailsIfNothingCanBeRecorded)
{
    const Folder folder;
    ::setenv("STEPSCOPE_PROGRAMS", (folder / "bin").c_str(), 1);
    const Ended ended = run({"doctor"});
    ::unsetenv("STEPSCOPE_PROGRAMS");
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.out, HasSubstr("missing "));
}

} // namespace
} // namespace cli_test
