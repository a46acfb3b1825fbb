#include "tests/data/image_files.h"
#include "tests/data/numbered_dataset.h"
#include "tests/support/message_matchers.h"
#include "trainer/data/image_folder.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <set>
#include <unistd.h>

namespace data_test {
namespace {

namespace fs = std::filesystem;
using namespace trainer::data;
using profiler::Error;
using profiler::test::hasId;
using test_support::TextIs;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void writeClass(const TemporaryFolder& folder, const std::string& name, int images)
{
    for (int i = 0; i < images; ++i)
        writePng(folder / name / (std::to_string(i) + ".png"), plainImage({12, 12}, {0, 100, 200}));
}

std::set<std::string> namesOf(const ImageTree::Files& files)
{
    std::set<std::string> names;
    for (const auto& file : files.files)
        names.insert(std::to_string(file.label) + "/" + file.name);
    return names;
}

Error failure(const fs::path& folder)
{
    const auto dataset = openDataset("image_folder", configOf({{"dataset.path", folder.string()}}));
    EXPECT_FALSE(dataset);
    return dataset ? Error{} : dataset.error();
}

TEST(ImageTree, ClassesAreSortedAndImageNamesRecognized)
{
    const TemporaryFolder folder;
    for (const char* name : {"b/x.JPG", "b/y.jpeg", "a/z.PnG", "a/notes.txt", "a/.hidden.png", ".git/q.png", "a/png"})
        writeBytes(folder / name, {1});
    const auto tree = scanImageTree(folder.path(), 0, {}, {});
    ASSERT_TRUE(tree);
    EXPECT_THAT(tree->classes, ElementsAre("a", "b"));
    EXPECT_THAT(namesOf(tree->train), ElementsAre("0/z.PnG", "1/x.JPG", "1/y.jpeg"));
    EXPECT_EQ(tree->path(Split::Train, 1), folder / "b" / "x.JPG");
    EXPECT_THAT(tree->notices, Contains(AllOf(hasId("images.other_files", {{"files", 2}}),
                                              profiler::test::hasPart("example", (folder / "a").string()))));
}

TEST(ImageTree, TheSplitIsStableAndTakesItsShareOfEveryClass)
{
    const TemporaryFolder folder;
    for (const char* name : {"cat", "dog"})
        for (int i = 0; i < 20; ++i)
            writeBytes(folder / name / (std::to_string(i) + ".jpg"), {1});
    const auto tree = scanImageTree(folder.path(), 0.25, {}, {});
    ASSERT_TRUE(tree);
    EXPECT_EQ(tree->train.files.size(), 30U);
    EXPECT_EQ(tree->validation.files.size(), 10U);
    for (const std::int64_t label : {0, 1})
        EXPECT_EQ(std::count_if(tree->validation.files.begin(), tree->validation.files.end(),
                                [&](const auto& file) { return file.label == label; }),
                  5);
    EXPECT_EQ(namesOf(scanImageTree(folder.path(), 0.25, {}, {})->validation), namesOf(tree->validation));
    const auto more = namesOf(scanImageTree(folder.path(), 0.5, {}, {})->validation);
    for (const std::string& name : namesOf(tree->validation))
        EXPECT_THAT(more, Contains(name));
}

TEST(ImageTree, EveryClassKeepsATrainingImage)
{
    const TemporaryFolder folder;
    writeBytes(folder / "a/1.png", {1});
    writeBytes(folder / "b/1.png", {1});
    writeBytes(folder / "b/2.png", {1});
    const auto tree = scanImageTree(folder.path(), 0.9, {}, {});
    ASSERT_TRUE(tree);
    EXPECT_EQ(tree->train.files.size(), 2U);
    EXPECT_EQ(tree->validation.files.size(), 1U);
}

TEST(ImageTree, TrainAndValFoldersAreTheSplit)
{
    const TemporaryFolder folder;
    for (const char* name : {"train/a/1.png", "train/b/2.png", "val/b/3.png", "val/c/4.png"})
        writeBytes(folder / name, {1});
    const auto tree = scanImageTree(folder.path(), 0.5, {}, {});
    ASSERT_TRUE(tree);
    EXPECT_THAT(tree->classes, ElementsAre("a", "b"));
    EXPECT_THAT(namesOf(tree->train), ElementsAre("0/1.png", "1/2.png"));
    EXPECT_THAT(namesOf(tree->validation), ElementsAre("1/3.png"));
    EXPECT_EQ(tree->path(Split::Validation, 0), folder / "val" / "b" / "3.png");
    EXPECT_THAT(tree->notices, ElementsAre(hasId("images.class_left_out", {{"class", "c"}})));
}

TEST(ImageTree, AnEmptyClassIsReportedAndOnlyEmptyOnesAreRejected)
{
    const TemporaryFolder folder;
    fs::create_directory(folder / "empty");
    const Error error = failure(folder.path());
    EXPECT_THAT(error.what, hasId("data.images.no_file", {{"folders", 1}}));
    EXPECT_EQ(error.where, folder.path());
    writeClass(folder, "full", 2);
    writeClass(folder, "other", 2);
    const auto dataset = openDataset("image_folder", configOf({{"dataset.path", folder.path().string()}}));
    ASSERT_TRUE(dataset);
    EXPECT_THAT((*dataset)->notices(), ElementsAre(hasId("images.empty_class", {{"class", "empty"}})));
    EXPECT_EQ((*dataset)->spec().classes, 3);
}

TEST(ImageFolder, UnusableFoldersAreNamedWithTheReason)
{
    const TemporaryFolder folder;
    EXPECT_EQ(failure({}).where, "dataset.path");
    const Error missing = failure(folder / "nowhere");
    EXPECT_EQ(missing.code, Error::Code::NotFound);
    EXPECT_EQ(missing.where, folder / "nowhere");
    EXPECT_THAT(missing.hint, HasSubstr("subfolder"));
    writeBytes(folder / "file.png", {1});
    EXPECT_THAT(failure(folder / "file.png").what, hasId("data.images.not_folder"));
    EXPECT_THAT(failure(folder.path()).what, hasId("data.images.not_in_classes", {{"images", 1}}));
}

/// Root can read every folder, so this process runs as the user "nobody" for a while.
class AsNobody {
public:
    AsNobody() : m_wasRoot(geteuid() == 0), m_isNobody(!m_wasRoot || seteuid(65534) == 0) {}
    ~AsNobody()
    {
        if (m_wasRoot && m_isNobody && seteuid(0) != 0)
            std::abort(); // later tests would fail for no reason of theirs
    }
    AsNobody(const AsNobody&) = delete;
    AsNobody& operator=(const AsNobody&) = delete;
    [[nodiscard]] bool isNobody() const { return m_isNobody; }

private:
    bool m_wasRoot, m_isNobody;
};

TEST(ImageFolder, UnreadableFoldersAndFilesAreNamed)
{
    const TemporaryFolder folder;
    fs::permissions(folder.path(), fs::perms(0755));
    writeClass(folder, "open", 2);
    writeClass(folder, "shut", 1);
    fs::permissions(folder / "shut", fs::perms::none);
    fs::permissions(folder / "open" / "1.png", fs::perms::none);
    const auto scan = [&](const fs::path& root) { return scanImageTree(root, 0, {}, {}); };
    {
        const AsNobody nobody;
        if (!nobody.isNobody())
            GTEST_SKIP() << "the superuser can read every folder, and may not become somebody else here";
        for (const fs::path& root : {folder.path(), folder / "shut"}) {
            const auto tree = scan(root);
            ASSERT_FALSE(tree);
            EXPECT_EQ(tree.error().code, Error::Code::Permission);
            EXPECT_EQ(tree.error().where, folder / "shut");
            EXPECT_THAT(tree.error().what, hasId("data.images.unreadable", {{"why", "Permission denied"}}));
        }
    }
    fs::permissions(folder / "shut", fs::perms::owner_all);
    const auto dataset = openDataset(
        "image_folder", configOf({{"dataset.path", folder.path().string()}, {"dataset.validation_share", "0"}}));
    ASSERT_TRUE(dataset);
    const AsNobody nobody;
    std::vector<float> out(static_cast<std::size_t>((*dataset)->spec().inputs[0].elements()));
    const auto loaded = loadImage(**dataset, Split::Train, 1, 0, out);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, Error::Code::Permission);
    EXPECT_EQ(loaded.error().where, folder / "open" / "1.png");
}

TEST(ImageFolder, ScanningCanBeCancelled)
{
    const TemporaryFolder folder;
    writeClass(folder, "a", 1);
    std::stop_source stop;
    stop.request_stop();
    const auto dataset =
        openDataset("image_folder", configOf({{"dataset.path", folder.path().string()}}), {}, stop.get_token());
    ASSERT_FALSE(dataset);
    EXPECT_EQ(dataset.error().code, Error::Code::Cancelled);
}

class LoadedFolder : public testing::Test {
protected:
    void SetUp() override
    {
        writeJpeg(m_folder / "a" / "1.jpg", rampImage({120, 90}));
        writeJpeg(m_folder / "a" / "2.jpg", rampImage({90, 120}));
        writePng(m_folder / "b" / "3.png", plainImage({64, 64}, {124, 116, 104}));
        writePng(m_folder / "b" / "4.png", rampImage({20, 20}));
    }
    [[nodiscard]] std::shared_ptr<const Dataset> open() const
    {
        return *openDataset("image_folder", configOf({{"dataset.path", m_folder.path().string()},
                                                      {"dataset.image_size", "24"},
                                                      {"dataset.validation_share", "0"}}));
    }
    TemporaryFolder m_folder;
};

TEST_F(LoadedFolder, LabelsShapeAndNormalisation)
{
    const auto dataset = open();
    EXPECT_EQ(dataset->size(Split::Train), 4);
    EXPECT_EQ(dataset->size(Split::Validation), 0);
    EXPECT_EQ(dataset->spec().inputs[0].elements(), 3 * 24 * 24);
    EXPECT_THAT(dataset->classNames(), ElementsAre("a", "b"));
    std::vector<float> out(3 * 24 * 24, NAN);
    const auto label = loadImage(*dataset, Split::Train, 2, 0, out);
    ASSERT_TRUE(label);
    EXPECT_EQ(*label, 1);
    const std::array<float, 3> expected{(124 / 255.0F - 0.485F) / 0.229F, (116 / 255.0F - 0.456F) / 0.224F,
                                        (104 / 255.0F - 0.406F) / 0.225F};
    for (std::size_t i = 0; i < out.size(); ++i)
        ASSERT_NEAR(out[i], expected[i / (24 * 24)], 1e-5) << i;
}

TEST_F(LoadedFolder, AugmentationFollowsItsSeedAndValidationHasNone)
{
    const auto dataset = open();
    const auto load = [&](std::uint64_t seed) {
        std::vector<float> out(3 * 24 * 24);
        EXPECT_TRUE(loadImage(*dataset, Split::Train, 0, seed, out));
        return out;
    };
    EXPECT_EQ(load(1), load(1));
    EXPECT_NE(load(1), load(2));
    EXPECT_EQ(load(0), load(0));
    const auto centre = load(0);
    EXPECT_LT(centre.front(), centre[23]); // the ramp rises to the right: not mirrored
}

TEST_F(LoadedFolder, ScaledDecodingShowsTheSamePart)
{
    writePng(m_folder / "c" / "whole.png", rampImage({250, 250}));
    writeJpeg(m_folder / "c" / "scaled.jpg", rampImage({250, 250}), 100);
    const auto dataset = open();
    std::vector<float> png(3 * 24 * 24), jpeg(png);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        ASSERT_TRUE(loadImage(*dataset, Split::Train, 4, seed, jpeg));
        ASSERT_TRUE(loadImage(*dataset, Split::Train, 5, seed, png));
        for (std::size_t i = 0; i < 2 * 24 * 24; ++i)
            ASSERT_NEAR(jpeg[i], png[i], 0.06) << "seed " << seed << ", float " << i; // 3.5 of 255
    }
}

TEST_F(LoadedFolder, ABrokenFileIsNamedAndTheOthersLoad)
{
    Bytes cut = readBytes(m_folder / "a" / "1.jpg");
    cut.resize(cut.size() / 2);
    writeBytes(m_folder / "a" / "1.jpg", cut);
    writeBytes(m_folder / "b" / "4.png", {1, 2, 3});
    const auto dataset = open();
    fs::remove(m_folder / "a" / "2.jpg"); // after it was found
    Loader loader(dataset, {.batchSize = 4, .workers = 2, .shuffle = false});
    loader.startEpoch(0);
    const auto batch = loader.next();
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->count, 1);
    EXPECT_EQ(batch->target<std::int64_t>()[0], 1);
    ASSERT_EQ(batch->bad.size(), 3U);
    EXPECT_THAT(batch->bad[0].what,
                AllOf(hasId("data.jpeg.broken"), TextIs(HasSubstr((m_folder / "a" / "1.jpg").string()))));
    EXPECT_THAT(batch->bad[1].what, AllOf(hasId("data.file.failed"), TextIs(HasSubstr("2.jpg"))));
    EXPECT_THAT(batch->bad[2].what, AllOf(hasId("data.image.kind"), TextIs(HasSubstr("4.png"))));
}

TEST_F(LoadedFolder, WorkersDoNotChangeAPixel)
{
    const auto dataset = open();
    Loader alone(dataset, {.batchSize = 3, .seed = 3});
    Loader loader(dataset, {.batchSize = 3, .workers = 3, .seed = 3});
    for (const std::int64_t epoch : {0, 1})
        EXPECT_EQ(epochOf(loader, epoch, 3 * 24 * 24), epochOf(alone, epoch, 3 * 24 * 24));
}

} // namespace
} // namespace data_test
