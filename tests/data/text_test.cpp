#include "tests/data/image_files.h"
#include "tests/data/sample_access.h"
#include "tests/support/message_matchers.h"
#include "trainer/data/sentences.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>

namespace data_test {
namespace {

using namespace trainer::data;
using profiler::test::hasId;
using testing::ElementsAre;
using testing::HasSubstr;

Bytes bytesOf(const std::string& text)
{
    return {text.begin(), text.end()};
}

TEST(Text, TargetsAreTheNextTokens)
{
    const TemporaryFolder folder;
    writeBytes(folder / "a.txt", bytesOf("abcdefgh"));
    writeBytes(folder / "b.txt", bytesOf("ijklmnop"));
    const auto dataset = *openDataset("text", configOf({{"dataset.path", folder.path().string()},
                                                        {"dataset.context", "4"},
                                                        {"dataset.validation_share", "0.25"}}));
    EXPECT_EQ(dataset->spec().classes, 256);
    EXPECT_EQ(dataset->size(Split::Train), 2);
    const auto sample = loadSample(*dataset, Split::Train, 1);
    EXPECT_THAT(sample->tokens(), ElementsAre('e', 'f', 'g', 'h'));
    EXPECT_THAT(sample->classes(), ElementsAre('f', 'g', 'h', 'i')) << "files follow each other";
}

TEST(Text, AugmentationMovesTheWindowAndStaysInTheTrainingPart)
{
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 256; ++i)
        text += static_cast<char>(i);
    writeBytes(folder / "all.txt", bytesOf(text));
    const auto dataset = *openDataset("text", configOf({{"dataset.path", (folder / "all.txt").string()},
                                                        {"dataset.context", "16"},
                                                        {"dataset.validation_share", "0.5"}}));
    std::set<std::int64_t> starts;
    for (std::int64_t index = 0; index < dataset->size(Split::Train); ++index)
        for (std::uint64_t seed = 1; seed < 40; ++seed) {
            const auto sample = loadSample(*dataset, Split::Train, index, seed);
            EXPECT_LT(sample->classes().back(), 128);
            EXPECT_EQ(sample->classes()[0], sample->tokens()[0] + 1);
            starts.insert(sample->tokens()[0]);
        }
    EXPECT_GT(starts.size(), 60U);
}

TEST(Text, ATooShortTextIsRejected)
{
    const TemporaryFolder folder;
    writeBytes(folder / "a.txt", bytesOf("abc"));
    const auto dataset = openDataset("text", configOf({{"dataset.path", folder.path().string()}}));
    ASSERT_FALSE(dataset);
    EXPECT_THAT(dataset.error().what, hasId("dataset.text.short"));
}

TEST(Sentences, AreReproducibleAndLookLikeText)
{
    const std::string text = writeSentences(5000);
    EXPECT_EQ(text, writeSentences(5000));
    EXPECT_GE(text.size(), 5000U);
    EXPECT_THAT(text, HasSubstr("the "));
    EXPECT_EQ(std::count(text.begin(), text.end(), '"') % 2, 0);
}

} // namespace
} // namespace data_test
