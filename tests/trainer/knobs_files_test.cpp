#include "tests/trainer/trainer_run.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

// Knobs that say what is in a file.
using namespace trainer_test;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, const std::string& text)
{
    std::ofstream(path, std::ios::binary) << text;
}

class Table : public testing::Test {
protected:
    Table()
    {
        std::string text = "first,second,third\n";
        for (int i = 0; i < 64; ++i)
            text += std::to_string(i % 3) + "," + std::to_string(100 * i) + "," + std::to_string(i % 2) + "\n";
        write(m_folder.path() / "table.csv", text);
    }
    Finished trainOn(const std::vector<std::string>& settings)
    {
        std::vector<std::string> all = {"workload=mlp",
                                        "model.size=tiny",
                                        "model.width=0",
                                        "dataset.kind=csv",
                                        "dataset.classes=3",
                                        "run.steps=2",
                                        "dataset.path=" + (m_folder.path() / "table.csv").string()};
        all.insert(all.end(), settings.begin(), settings.end());
        return train(m_folder.path(), all);
    }
    TestFolder m_folder;
};

TEST_F(Table, TheTargetColumnIsTheLastUnlessNamed)
{
    EXPECT_EQ(trainOn({}).ended.status, 0);
    EXPECT_EQ(trainOn({"dataset.target_column=first"}).ended.status, 0);
    const auto wrong = trainOn({"dataset.target_column=second"});
    EXPECT_EQ(wrong.ended.status, static_cast<int>(protocol::Exit::BadInput));
    EXPECT_THAT(wrong.one<protocol::Notice>().where, testing::HasSubstr("row 3, column second"));
    EXPECT_THAT(trainOn({"dataset.target_column=fourth"}).one<protocol::Notice>().what,
                testing::HasSubstr("first, second, third"));
}

TEST_F(Table, ANumberIsPredictedOnRequest)
{
    const auto run = trainOn({"dataset.target=number", "dataset.target_column=second"});
    EXPECT_EQ(run.ended.status, 0) << run.ended.output;
    EXPECT_EQ(run.one<protocol::Done>().metric, "rmse");
    EXPECT_EQ(trainOn({}).one<protocol::Done>().metric, "accuracy");
}

} // namespace
