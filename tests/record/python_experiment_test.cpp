#include "tests/record/recorded_run.h"

#include <fstream>
#include <gmock/gmock.h>
#include <map>

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

/// Half of a step takes as long for any batch, and the rest grows with it: twice the batch makes fewer updates in the
/// same time, but more than half as many.
constexpr const char* kSmallBatches = R"(import time
import torch
from torch.utils.data import DataLoader, TensorDataset


class Net(torch.nn.Linear):
    def forward(self, inputs):
        time.sleep(0.0001 * len(inputs))
        return super().forward(inputs)


if __name__ == "__main__":
    torch.set_num_threads(1)
    inputs = torch.randn(100_000, 8)
    data = TensorDataset(inputs, inputs @ torch.randn(8, 1))
    model = Net(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.003, weight_decay=1e-6)
    optimizer.register_step_pre_hook(lambda *_: time.sleep(0.006))
    for epoch in range(100):
        for inputs, targets in DataLoader(data, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(inputs), targets).backward()
            optimizer.step()
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

TEST(PythonExperiment, ALargerBatchThatLearnsLessIsTunedWithItsLearningRate)
{
    const Folder folder;
    folder.write("train.py", kSmallBatches);
    const Json json = run(folder, "tune --budget 240 --turn 300");
    ASSERT_TRUE(json.is_object());
    std::map<std::size_t, Json> byChanges; // the batch alone, and with the learning rate
    for (const Json& trial : json["trials"])
        if (trial["change"]["key"] == "batch.size" && trial["change"]["to"] == "64")
            byChanges[1 + trial["with"].size()] = trial;
    ASSERT_THAT(byChanges, testing::SizeIs(2)) << json.dump();
    EXPECT_EQ(byChanges[1]["outcome"], "dropped");
    EXPECT_GT(byChanges[1]["experiment"]["samples_per_s"]["ratio"], 1.2) << "faster";
    EXPECT_THAT(byChanges[1]["why_id"].get<std::string>(),
                AnyOf("experiment.loss_worse", "experiment.loss_not_shown")) << "but it learns less";
    EXPECT_EQ(byChanges[2]["with"][0]["key"], "optimizer.lr_scaling");
    EXPECT_EQ(byChanges[2]["with"][0]["to"], "linear");
    EXPECT_EQ(byChanges[2]["why_id"], "experiment.screening.lower");
    EXPECT_THAT(json["patch"]["diff"].get<std::string>(), HasSubstr("lr=0.006, weight_decay=1e-6)"));
    EXPECT_THAT(json["patch"]["diff"].get<std::string>(), HasSubstr("batch_size=64, shuffle=True)"));
}

} // namespace record_test
