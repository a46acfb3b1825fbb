#include "trainer/config/dataset_check.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace config {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class DatasetCheck : public testing::Test {
protected:
    DatasetCheck()
    {
        std::string name = (fs::temp_directory_path() / "stepscope-dataset-XXXXXX").string();
        folder = mkdtemp(name.data());
    }
    ~DatasetCheck() override { fs::remove_all(folder); }
    void add(const fs::path& file) const
    {
        fs::create_directories((folder / file).parent_path());
        std::ofstream(folder / file) << "x";
    }
    /// What is wrong with `path` as a dataset of that kind; empty: nothing.
    static std::string problem(std::string_view kind, const std::string& path) { return found(kind, path).allowed; }
    /// The id of that.
    static std::string idOf(std::string_view kind, const std::string& path) { return found(kind, path).id; }
    [[nodiscard]] std::string idOf(std::string_view kind) const { return idOf(kind, folder.string()); }
    static ConfigError found(std::string_view kind, const std::string& path)
    {
        TrainingConfig config;
        EXPECT_TRUE(config.set("dataset.kind", kind));
        EXPECT_TRUE(config.set("dataset.path", path));
        const auto found = datasetProblem(config);
        EXPECT_TRUE(!found || found->key == "dataset.path");
        return found ? *found : ConfigError();
    }
    [[nodiscard]] std::string problem(std::string_view kind) const { return problem(kind, folder.string()); }
    fs::path folder;
};

TEST_F(DatasetCheck, WithoutAFolderSamplesAreGenerated)
{
    EXPECT_EQ(problem("generated_images", ""), "");
    EXPECT_EQ(problem("csv", ""), "");
    EXPECT_EQ(idOf("image_folder", ""), "config.dataset_folder");
}

TEST_F(DatasetCheck, AFolderMustExistBeReadableAndNotBeEmpty)
{
    EXPECT_EQ(idOf("text", (folder / "none").string()), "config.dataset_missing");
    EXPECT_EQ(idOf("text"), "config.dataset_empty");
    add("a.txt");
    EXPECT_EQ(problem("text"), "");
    std::ofstream(folder / "empty.csv") << "";
    EXPECT_EQ(idOf("csv", (folder / "empty.csv").string()), "config.dataset_empty");
    if (geteuid() != 0) { // root reads everything
        fs::permissions(folder, fs::perms::none);
        EXPECT_EQ(idOf("text"), "config.dataset_unreadable");
        fs::permissions(folder, fs::perms::owner_all);
    }
}

TEST_F(DatasetCheck, ImagesNeedOneSubfolderPerClass)
{
    add("notes.txt");
    EXPECT_EQ(idOf("image_folder"), "config.dataset_incomplete");
    add("a.jpg");
    EXPECT_EQ(idOf("image_folder"), "config.dataset_incomplete") << "images without a class";
    add("cat/1.JPG");
    EXPECT_EQ(problem("image_folder"), "");
    EXPECT_EQ(idOf("image_folder", (folder / "a.jpg").string()), "config.dataset_incomplete");
    // With its own split, the training images count.
    fs::create_directories(folder / "train");
    fs::create_directories(folder / "val");
    EXPECT_EQ(idOf("image_folder"), "config.dataset_incomplete");
    add("train/cat/1.png");
    EXPECT_EQ(problem("image_folder"), "");
}

// Of all folders together only so many entries are read: five thousand folders of as many files each would take
// minutes.
TEST_F(DatasetCheck, OnlyTheFirstEntriesOfManyLargeFoldersAreRead)
{
    for (int folderNumber = 0; folderNumber < 3; ++folderNumber) {
        fs::create_directories(folder / std::to_string(folderNumber));
        for (int file = 0; file < 1800; ++file)
            std::ofstream(folder / std::to_string(folderNumber) / std::to_string(file));
    }
    EXPECT_EQ(problem("image_folder"), "") << "5403 entries without an image: more than are read may have one";
    fs::remove_all(folder / "2");
    EXPECT_EQ(idOf("image_folder"), "config.dataset_incomplete") << "3602 entries, all read";
}

TEST_F(DatasetCheck, EachKindNamesItsMissingFile)
{
    add("readme");
    EXPECT_THAT(problem("mnist"), HasSubstr("train-images-idx3-ubyte"));
    for (const char* name : {"train-images-idx3-ubyte", "train-labels.idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz"})
        add(name);
    EXPECT_THAT(problem("mnist"), HasSubstr("t10k-labels-idx1-ubyte"));
    add("t10k-labels-idx1-ubyte");
    EXPECT_EQ(problem("mnist"), "");

    EXPECT_THAT(problem("cifar10"), HasSubstr("data_batch_1.bin"));
    for (const char* name :
         {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"})
        add(fs::path("cifar-10-batches-bin") / name);
    EXPECT_THAT(problem("cifar10"), HasSubstr("test_batch.bin"));
    add("cifar-10-batches-bin/test_batch.bin");
    EXPECT_EQ(problem("cifar10"), "");

    struct Case {
        const char *kind, *lacks, *file;
    };
    for (const Case& test : {Case{"text", ".txt", "a.txt"}, Case{"csv", ".csv", "a.csv"},
                             Case{"arrays", ".npy", "inputs.npy"}, Case{"stream", ".tar", "train/0.tar.gz"}}) {
        EXPECT_THAT(problem(test.kind), HasSubstr(test.lacks)) << test.kind;
        add(test.file);
        EXPECT_EQ(problem(test.kind), "") << test.kind;
    }
    EXPECT_EQ(problem("csv", (folder / "a.csv").string()), "");
    EXPECT_THAT(problem("arrays", (folder / "a.csv").string()), HasSubstr(".npz"));
}

} // namespace
} // namespace config
