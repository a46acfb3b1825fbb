#include "tests/record/python_script.h"
#include "tests/record/recorded_run.h"

#include <fstream>
#include <gmock/gmock.h>
#include <string>

// Programs with one typical fault (faults.py): the advice names it first, with its line.
namespace record_test {
namespace {

using Json = nlohmann::json;

int lineOf(std::string_view text)
{
    std::ifstream script(std::string(SCRIPTS) + "/faults.py");
    std::string line;
    for (int number = 1; std::getline(script, line); ++number)
        if (line.ends_with(text))
            return number;
    return 0;
}

Json adviceOn(const std::string& kind)
{
    const Folder folder;
    const Ended ended = record(folder, python("faults.py", kind));
    EXPECT_EQ(ended.status, 0) << ended.err;
    const Ended advised =
        shell(folder, std::string(STEPSCOPE_CLI) + " advise --json '" + (folder / "t.sstrace").string() + "'");
    EXPECT_EQ(advised.status, 0) << advised.err;
    return Json::parse(advised.out, nullptr, false)["advice"];
}

/// The first finding is this one, and its first place is the line that ends with the text.
void expectFirst(const Json& advice, std::string_view id, std::string_view line)
{
    ASSERT_FALSE(advice.empty());
    EXPECT_EQ(advice[0]["id"], id) << advice[0];
    EXPECT_EQ(advice[0]["state"], "fires");
    ASSERT_FALSE(advice[0]["source"].empty()) << advice[0];
    EXPECT_EQ(advice[0]["source"][0]["line"], lineOf(line)) << advice[0]["source"];
}

std::string stateOf(const Json& advice, std::string_view id)
{
    for (const Json& entry : advice)
        if (entry["id"] == id)
            return entry["state"];
    return {};
}

} // namespace

TEST(RecordFaults, ARecurrentCellInALoopOverTime)
{
    const Json advice = adviceOn("recurrent");
    expectFirst(advice, "model.loop", "# the cell");
    EXPECT_EQ(stateOf(advice, "precision.float64"), "silent");
}

TEST(RecordFaults, AModelThatIsCalledForEachSample)
{
    expectFirst(adviceOn("samples"), "model.loop", "# the samples");
}

TEST(RecordFaults, ADoubleModel)
{
    const Json advice = adviceOn("double");
    for (const Json& entry : advice)
        if (entry["id"] == "precision.float64") {
            EXPECT_EQ(entry["state"], "fires");
            EXPECT_EQ(entry["source"][0]["line"], lineOf("# the type"));
        }
    EXPECT_EQ(stateOf(advice, "precision.float64"), "fires");
}

TEST(RecordFaults, ALoopOverLayersIsNone)
{
    const Json advice = adviceOn("deep");
    EXPECT_EQ(stateOf(advice, "model.loop"), "silent");
    EXPECT_EQ(stateOf(advice, "host.python"), "silent");
    EXPECT_EQ(stateOf(advice, "optimizer.weight_decay"), "cannot tell");
}

} // namespace record_test
