#include "tests/record/recorded_run.h"

#include <fstream>
#include <gmock/gmock.h>

/// Experiments and tuning with a real program that was not recorded before.
namespace record_test {

using Json = nlohmann::json;
using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Waits for its samples most of the time.
constexpr const char* kProgram = R"(import time
import torch
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        time.sleep(0.002)
        return torch.full((8,), index / 100_000), index % 2


if __name__ == "__main__":
    torch.set_num_threads(1)
    model = torch.nn.Linear(8, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for inputs, targets in DataLoader(Slow(), batch_size=8):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
        with open("log.txt", "a") as log:
            log.write("a step\n")
)";

Json run(const Folder& folder, const std::string& command)
{
    const Ended ended = shell(folder, "cd '" + (folder / "").string() + "' && " + STEPSCOPE_CLI + " " + command +
                                          " --json -- " + PYTHON_WITH_TORCH + " train.py");
    EXPECT_EQ(ended.status, 0) << ended.err;
    return Json::parse(ended.out, nullptr, false);
}

} // namespace

TEST(PythonExperiment, ACommandIsRecordedFirst)
{
    const Folder folder;
    folder.write("train.py", kProgram);
    const Json json = run(folder, "experiment --budget 40 --set loader.workers=2");
    ASSERT_TRUE(json.is_object());
    EXPECT_EQ(json["patch"]["how"], "source");
    EXPECT_THAT(json["patch"]["diff"].get<std::string>(), HasSubstr("num_workers=2"));
    EXPECT_EQ(json["changes"][0]["to"], "2");
    EXPECT_THAT(json["program"]["isolation"].get<std::string>(), AnyOf("overlay", "copy"));
    EXPECT_THAT(folder.files(), ElementsAre("train.py")) << "nothing of the user's is written";
}

TEST(PythonExperiment, AProgramIsTuned)
{
    const Folder folder;
    folder.write("train.py", kProgram);
    const Json json = run(folder, "tune --budget 60 -o tuned");
    ASSERT_TRUE(json.is_object());
    std::vector<std::string> tried;
    for (const Json& trial : json["trials"])
        tried.push_back(trial["change"]["key"]);
    EXPECT_THAT(tried, Contains("loader.workers"));
    EXPECT_THAT(folder.files(), ElementsAre("train.py", "tuned"));
    EXPECT_TRUE(std::filesystem::exists(folder / "tuned/report.html"));
    if (json["patch"].is_null())
        return; // on a busy machine, the time was used up before anything was shown to pay
    const Ended applied = shell(folder, "cd '" + (folder / "").string() + "' && patch -p1 < tuned/changes.patch");
    EXPECT_EQ(applied.status, 0) << applied.out << applied.err;
}

} // namespace record_test
