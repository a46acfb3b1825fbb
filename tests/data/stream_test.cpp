#include "tests/data/image_files.h"
#include "tests/data/sample_access.h"
#include "tests/support/message_matchers.h"
#include "trainer/data/archive.h"
#include "trainer/data/loader.h"

#include <gmock/gmock.h>
#include <map>

namespace data_test {
namespace {

namespace fs = std::filesystem;
using namespace trainer::data;
using profiler::test::hasId;
using testing::HasSubstr;

class Stream : public testing::Test {
protected:
    /// Two tar files of six samples each; the class of each is its number.
    void SetUp() override
    {
        int next = 0;
        for (const char* shard : {"a.tar", "b.tar"}) {
            std::vector<ArchiveFile> files;
            for (int i = 0; i < 6; ++i, ++next)
                addSample(files, "sample" + std::to_string(100 + next), std::to_string(next));
            ASSERT_TRUE(writeTar(m_folder / shard, files));
        }
    }
    void addSample(std::vector<ArchiveFile>& files, const std::string& key, const std::string& label)
    {
        writeJpeg(m_folder / "one.jpg", plainImage({20, 20}, {100, 20, 200}));
        files.push_back({key + ".jpg", readBytes(m_folder / "one.jpg")});
        files.push_back({key + ".cls", Bytes(label.begin(), label.end())});
    }
    [[nodiscard]] profiler::Result<std::shared_ptr<const Dataset>> open() const
    {
        return openDataset("stream", configOf({{"dataset.path", m_folder.path().string()},
                                               {"dataset.classes", "12"},
                                               {"dataset.image_size", "16"},
                                               {"dataset.validation_share", "0"}}));
    }
    /// How often each sample comes in an epoch.
    static std::map<std::int64_t, int> seen(const std::shared_ptr<const Dataset>& dataset, int workers, bool share)
    {
        std::map<std::int64_t, int> counts;
        Loader loader(dataset, {.batchSize = 2, .workers = workers, .shardStreams = share});
        loader.startEpoch(0);
        while (const auto batch = loader.next())
            for (std::int64_t i = 0; i < batch->count; ++i)
                ++counts[batch->target<std::int64_t>()[i]];
        return counts;
    }
    TemporaryFolder m_folder;
};

TEST_F(Stream, ShardedEachSampleComesOnceForAnyNumberOfWorkers)
{
    const auto dataset = *open();
    ASSERT_EQ(dataset->size(Split::Train), 12);
    EXPECT_TRUE(dataset->isStream());
    for (const int workers : {0, 1, 2, 4}) {
        const auto counts = seen(dataset, workers, true);
        EXPECT_EQ(counts.size(), 12U);
        for (const auto& [sample, count] : counts)
            EXPECT_EQ(count, 1) << "sample " << sample << " with " << workers << " workers";
    }
}

TEST_F(Stream, UnshardedEachSampleComesOncePerWorker)
{
    const auto dataset = *open();
    for (const int workers : {1, 2, 4})
        for (const auto& [sample, count] : seen(dataset, workers, false))
            EXPECT_EQ(count, workers) << "sample " << sample;
}

TEST_F(Stream, KeepsItsOrder)
{
    Loader loader(*open(), {.batchSize = 12, .workers = 2, .shuffle = true});
    loader.startEpoch(0);
    const auto batch = loader.next();
    ASSERT_TRUE(batch);
    for (std::int64_t i = 0; i < 12; ++i)
        EXPECT_EQ(batch->target<std::int64_t>()[i], i);
}

TEST_F(Stream, RewindsOnRequest)
{
    const auto dataset = *open();
    for (const std::int64_t index : {7, 3, 3, 11, 0, 5})
        EXPECT_THAT(loadSample(*dataset, Split::Train, index)->classes(), testing::ElementsAre(index));
}

TEST_F(Stream, BadSamplesAreNamedWithTheirFile)
{
    std::vector<ArchiveFile> files;
    addSample(files, "good", "1");
    addSample(files, "far", "12");
    addSample(files, "text", "cat");
    files.push_back({"lonely.cls", {'1'}});
    files.push_back({"broken.jpg", {1, 2, 3}});
    files.push_back({"broken.cls", {'1'}});
    fs::remove(m_folder / "b.tar");
    ASSERT_TRUE(writeTar(m_folder / "a.tar", files));
    const auto dataset = *open();
    ASSERT_EQ(dataset->size(Split::Train), 5);
    EXPECT_TRUE(loadSample(*dataset, Split::Train, 0));
    const auto why = [&](std::int64_t index) { return loadSample(*dataset, Split::Train, index).error(); };
    EXPECT_THAT(why(1).what, hasId("data.tar.no_class", {{"class", "12"}}));
    EXPECT_THAT(why(1).where, HasSubstr("a.tar:far"));
    EXPECT_THAT(why(2).what, hasId("data.tar.no_class", {{"class", "cat"}}));
    EXPECT_THAT(why(2).where, HasSubstr("a.tar:text"));
    EXPECT_THAT(why(3).what, hasId("data.tar.no_image"));
    EXPECT_THAT(why(3).where, HasSubstr("a.tar:lonely"));
    EXPECT_THAT(why(4).what, hasId("data.image.kind"));
    EXPECT_THAT(why(4).where, HasSubstr("a.tar:broken"));
}

TEST_F(Stream, AFileThatIsNotAnArchiveIsNamed)
{
    writeBytes(m_folder / "c.tar", Bytes(5000, 'x'));
    const auto dataset = open();
    ASSERT_FALSE(dataset);
    EXPECT_THAT(dataset.error().where, HasSubstr("c.tar"));
}

} // namespace
} // namespace data_test
