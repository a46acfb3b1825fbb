#include "tests/data/image_files.h"
#include "tests/support/message_matchers.h"
#include "trainer/data/generated_folder.h"
#include "trainer/data/image_decoder.h"
#include "trainer/data/image_painter.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <map>
#include <set>
#include <thread>

namespace data_test {
namespace {

namespace fs = std::filesystem;
using namespace trainer::data;
using profiler::Error;
using profiler::test::hasId;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ImageSet kSmall{.samples = 40, .classes = 4, .edge = 32};

config::TrainingConfig smallConfig(const fs::path& folder)
{
    return configOf({{"dataset.path", folder.string()},
                     {"dataset.samples", "40"},
                     {"dataset.classes", "4"},
                     {"dataset.source_size", "32"},
                     {"dataset.image_size", "16"}});
}

/// Every file below a folder, with its contents.
std::map<fs::path, Bytes> contents(const fs::path& folder)
{
    std::map<fs::path, Bytes> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file())
            files[fs::relative(entry.path(), folder)] = readBytes(entry.path());
    return files;
}

std::map<fs::path, fs::file_time_type> times(const fs::path& folder)
{
    std::map<fs::path, fs::file_time_type> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        files[entry.path()] = entry.last_write_time();
    return files;
}

TEST(GeneratedImages, AreWrittenOnceAndOpened)
{
    const TemporaryFolder folder;
    const auto dataset = openDataset("generated_images", smallConfig(folder.path()));
    ASSERT_TRUE(dataset) << dataset.error().message();
    EXPECT_EQ((*dataset)->size(Split::Train) + (*dataset)->size(Split::Validation), 40);
    EXPECT_EQ((*dataset)->spec().classes, 4);
    EXPECT_EQ((*dataset)->spec().inputs[0].shape[2], 16);
    EXPECT_THAT((*dataset)->notices(), IsEmpty());
    std::vector<float> out(3 * 16 * 16);
    EXPECT_TRUE(loadImage(**dataset, Split::Train, 0, 1, out));

    const auto before = times(folder.path());
    bool told = false;
    ASSERT_TRUE(
        openDataset("generated_images", smallConfig(folder.path()),
                    [&](std::string_view what, std::int64_t, std::int64_t) { told = what == "writing images"; }));
    EXPECT_EQ(times(folder.path()), before);
    EXPECT_FALSE(told);
}

TEST(GeneratedImages, AreTheSameEverywhereAndDifferByParameters)
{
    const TemporaryFolder a, b;
    const auto first = makeImageSet(a.path(), kSmall, {}, {}), second = makeImageSet(b.path(), kSmall, {}, {});
    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_EQ(contents(*first), contents(*second));
    EXPECT_EQ(contents(*first).size(), 41U); // and the marker
    ImageSet larger = kSmall;
    larger.edge = 48;
    EXPECT_NE(*makeImageSet(a.path(), larger, {}, {}), *first);
}

TEST(GeneratedImages, AreInTheUsersCacheIfNoFolderIsChosen)
{
    const TemporaryFolder folder;
    const char* before = std::getenv("XDG_CACHE_HOME");
    const std::string kept = before ? before : "";
    ::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
    auto config = smallConfig({});
    const auto dataset = openDataset("generated_images", config);
    if (before)
        ::setenv("XDG_CACHE_HOME", kept.c_str(), 1);
    else
        ::unsetenv("XDG_CACHE_HOME");
    ASSERT_TRUE(dataset) << dataset.error().message();
    EXPECT_TRUE(fs::exists(folder / "stepscope" / "datasets" / kSmall.key()));
}

TEST(GeneratedImages, MissingFilesAreRestoredWithoutTouchingTheRest)
{
    const TemporaryFolder folder;
    const auto set = makeImageSet(folder.path(), kSmall, {}, {});
    ASSERT_TRUE(set);
    const auto whole = contents(*set);
    const auto before = times(*set);
    fs::remove(*set / imageSetFile(kSmall, 5));
    fs::remove_all(*set / paintedClassName(2));
    ASSERT_TRUE(makeImageSet(folder.path(), kSmall, {}, {}));
    EXPECT_EQ(contents(*set), whole);
    const auto kept = *set / imageSetFile(kSmall, 0);
    EXPECT_EQ(times(*set)[kept], before.at(kept));
}

TEST(GeneratedImages, AnInterruptedSetIsContinued)
{
    const TemporaryFolder folder, other;
    const auto whole = contents(*makeImageSet(other.path(), kSmall, {}, {}));
    const fs::path growing = folder / (kSmall.key() + ".partial");
    const fs::path done = growing / imageSetFile(kSmall, 1), cut = growing / imageSetFile(kSmall, 2);
    writeBytes(done, whole.at(imageSetFile(kSmall, 1)));
    Bytes half = whole.at(imageSetFile(kSmall, 2));
    half.resize(half.size() / 2); // a crash of the machine can do that
    writeBytes(cut, half);
    const auto before = fs::last_write_time(done);
    const auto set = makeImageSet(folder.path(), kSmall, {}, {});
    ASSERT_TRUE(set);
    EXPECT_EQ(contents(*set), whole);
    EXPECT_EQ(fs::last_write_time(*set / imageSetFile(kSmall, 1)), before);
    EXPECT_FALSE(fs::exists(growing));
}

TEST(GeneratedImages, CancellingKeepsFinishedFilesForTheNextTime)
{
    const TemporaryFolder folder;
    const ImageSet large{.samples = 4000, .classes = 4, .edge = 128};
    std::stop_source stop;
    std::int64_t told = 0;
    const auto cancelled = makeImageSet(
        folder.path(), large,
        [&](std::string_view what, std::int64_t done, std::int64_t total) {
            EXPECT_EQ(what, "writing images");
            EXPECT_EQ(total, 4000);
            told = done;
            stop.request_stop();
        },
        stop.get_token());
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().code, Error::Code::Cancelled);
    EXPECT_FALSE(fs::exists(folder / large.key()));
    EXPECT_GE(contents(folder / (large.key() + ".partial")).size(),
              static_cast<std::size_t>(std::max<std::int64_t>(told, 1)));
}

TEST(GeneratedImages, TwoConcurrentGenerationsMakeOneSet)
{
    const TemporaryFolder folder;
    std::vector<profiler::Result<fs::path>> made(2);
    {
        std::vector<std::jthread> threads;
        for (auto& result : made)
            threads.emplace_back([&] { result = makeImageSet(folder.path(), kSmall, {}, {}); });
    }
    ASSERT_TRUE(made[0]);
    ASSERT_TRUE(made[1]);
    EXPECT_EQ(*made[0], *made[1]);
    EXPECT_EQ(contents(*made[0]).size(), 41U);
}

TEST(GeneratedImages, ADiskThatIsTooSmallIsReportedFirst)
{
    const TemporaryFolder folder;
    const auto set = makeImageSet(folder.path(), {.samples = 10'000'000, .classes = 2, .edge = 2048}, {}, {});
    ASSERT_FALSE(set) << "this machine has a disk of ten terabytes";
    EXPECT_EQ(set.error().code, Error::Code::NoSpace);
    EXPECT_THAT(set.error().what.text, AllOf(HasSubstr("MB free"), HasSubstr("need about")));
    EXPECT_THAT(set.error().hint, HasSubstr("dataset.samples"));
}

TEST(GeneratedImages, AFullDiskLeavesNoPartialFile)
{
    const TemporaryFolder folder;
    const fs::path growing = folder / (kSmall.key() + ".partial");
    // /dev/full takes no byte: one of the images meets a full disk.
    const fs::path image = growing / imageSetFile(kSmall, 7);
    fs::create_directories(image.parent_path());
    fs::create_symlink("/dev/full", image.string() + ".tmp");
    const auto set = makeImageSet(folder.path(), kSmall, {}, {});
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().code, Error::Code::NoSpace);
    EXPECT_THAT(set.error().what.text, AllOf(HasSubstr("the disk is full"), HasSubstr("need about 1 MB")));
    EXPECT_FALSE(fs::exists(growing));
    EXPECT_FALSE(fs::exists(folder / kSmall.key()));
}

TEST(GeneratedImages, InvalidFoldersAndNumbersAreNamed)
{
    const TemporaryFolder folder;
    writeBytes(folder / "file", {1});
    const auto inFile = makeImageSet(folder / "file", kSmall, {}, {});
    ASSERT_FALSE(inFile);
    EXPECT_THAT(inFile.error().where, HasSubstr((folder / "file").string()));
    const auto tooFew = makeImageSet(folder.path(), {.samples = 3, .classes = 4, .edge = 32}, {}, {});
    ASSERT_FALSE(tooFew);
    EXPECT_THAT(tooFew.error().what, hasId("data.images.few", {{"images", 3}, {"classes", 4}}));
    EXPECT_THAT(tooFew.error().where, HasSubstr("dataset.classes"));
}

TEST(PaintedImages, EveryClassHasItsOwnName)
{
    std::set<std::string> names;
    for (std::int64_t i = 0; i < kMostPaintedClasses; ++i)
        names.insert(paintedClassName(i).substr(4)); // without the number
    EXPECT_EQ(std::ssize(names), kMostPaintedClasses);
}

TEST(PaintedImages, CostAsMuchToDecodeAsPhotographs)
{
    RgbImage image;
    std::int64_t bytes = 0;
    for (int i = 0; i < 20; ++i) {
        paintImage(i, static_cast<std::uint64_t>(i) + 1, 256, image);
        bytes += std::ssize(*encodeJpeg(image, 90));
    }
    const double bitsPerPixel = static_cast<double>(bytes) * 8 / (20 * 256 * 256);
    EXPECT_GT(bitsPerPixel, 1.5); // cameras' files have about two
    EXPECT_LT(bitsPerPixel, 4);
}

TEST(PaintedImages, DifferWithinAClass)
{
    RgbImage a, b;
    paintImage(3, 1, 64, a);
    paintImage(3, 2, 64, b);
    EXPECT_FALSE(std::equal(a.pixels().begin(), a.pixels().end(), b.pixels().begin()));
    paintImage(3, 1, 64, b);
    EXPECT_TRUE(std::equal(a.pixels().begin(), a.pixels().end(), b.pixels().begin()));
}

} // namespace
} // namespace data_test
