#include "tests/data/image_files.h"
#include "tests/data/sample_access.h"
#include "tests/support/message_matchers.h"
#include "trainer/data/byte_pair.h"
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

TEST(Text, TargetsAreTheTokensThatFollow)
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

TEST(Text, TooShortATextIsRefused)
{
    const TemporaryFolder folder;
    writeBytes(folder / "a.txt", bytesOf("abc"));
    const auto dataset = openDataset("text", configOf({{"dataset.path", folder.path().string()}}));
    ASSERT_FALSE(dataset);
    EXPECT_THAT(dataset.error().what, hasId("dataset.text.short"));
}

TEST(Sentences, AreTheSameEachTimeAndLookLikeText)
{
    const std::string text = writeSentences(5000);
    EXPECT_EQ(text, writeSentences(5000));
    EXPECT_GE(text.size(), 5000U);
    EXPECT_THAT(text, HasSubstr("the "));
    EXPECT_EQ(std::count(text.begin(), text.end(), '"') % 2, 0);
}

/// The byte-level alphabet with a few merges: "he", "hel", "lo", " w", "or".
std::string vocabularyJson(bool tokenizerJson)
{
    std::string entries;
    int next = 0;
    const auto add = [&](const std::string& token) {
        entries += (entries.empty() ? "\"" : ", \"") + token + "\": " + std::to_string(next++);
    };
    for (int byte = 0; byte < 256; ++byte) {
        // As GPT-2 writes bytes: printable ones as they are, the rest from U+0100.
        static const std::string escape = "\\";
        const bool printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
        static int shifted = 0;
        shifted = byte == 0 ? 0 : shifted;
        const int character = printable ? byte : 0x100 + shifted++;
        if (character == '"' || character == '\\')
            add(escape + static_cast<char>(character));
        else if (character < 0x80)
            add(std::string(1, static_cast<char>(character)));
        else
            add({static_cast<char>(0xc0 | (character >> 6)), static_cast<char>(0x80 | (character & 0x3f))});
    }
    for (const char* token : {"he", "hel", "lo", "\xc4\xa0w", "or"})
        add(token);
    if (!tokenizerJson)
        return "{" + entries + "}";
    return R"({"added_tokens": [{"id": 300, "content": "<end>"}], "pre_tokenizer": {"type": "ByteLevel"},
               "model": {"type": "BPE", "vocab": {)" +
           entries + R"(}, "merges": ["h e", ["he", "l"], "l o", "\u0120 w", "o r"]}})";
}

TEST(BytePair, MergesInTheOrderOfTheFileWithinWords)
{
    const TemporaryFolder folder;
    writeBytes(folder / "tokenizer.json", bytesOf(vocabularyJson(true)));
    const auto encoder = BytePairEncoder::load(folder / "tokenizer.json");
    ASSERT_TRUE(encoder) << encoder.error().message();
    EXPECT_EQ(encoder->vocabulary(), 301) << "added tokens count";
    std::vector<std::uint32_t> ids;
    ASSERT_TRUE(encoder->encode("hello world", ids, {}));
    EXPECT_THAT(ids, ElementsAre(257, 258, 259, 260, 'l', 'd')) << "hel lo ·w or l d";
}

TEST(BytePair, ThePairOfOlderFilesSaysTheSame)
{
    const TemporaryFolder folder;
    std::string vocabulary = vocabularyJson(false);
    vocabulary.insert(1, "\"model\": 261, "); // a word like any other
    writeBytes(folder / "vocab.json", bytesOf(vocabulary));
    writeBytes(folder / "merges.txt", bytesOf("#version: 0.2\nh e\nhe l\nl o\n\xc4\xa0 w\no r\n"));
    const auto encoder = BytePairEncoder::load(folder / "vocab.json");
    ASSERT_TRUE(encoder) << encoder.error().message();
    std::vector<std::uint32_t> ids;
    ASSERT_TRUE(encoder->encode("hello world", ids, {}));
    EXPECT_THAT(ids, ElementsAre(257, 258, 259, 260, 'l', 'd'));
}

TEST(BytePair, EveryByteSurvives)
{
    const TemporaryFolder folder;
    writeBytes(folder / "tokenizer.json", bytesOf(vocabularyJson(true)));
    const auto encoder = BytePairEncoder::load(folder / "tokenizer.json");
    ASSERT_TRUE(encoder);
    std::string text;
    for (int i = 255; i >= 0; --i)
        text += static_cast<char>(i);
    std::vector<std::uint32_t> ids;
    ASSERT_TRUE(encoder->encode(text, ids, {}));
    std::string back;
    for (const std::uint32_t id : ids)
        back += static_cast<char>(id);
    EXPECT_EQ(back, text) << "not UTF-8, and yet nothing is lost";
}

TEST(BytePair, FilesOfAnotherKindAreRefused)
{
    const TemporaryFolder folder;
    const auto why = [&](const std::string& text) {
        writeBytes(folder / "t.json", bytesOf(text));
        const auto encoder = BytePairEncoder::load(folder / "t.json");
        EXPECT_FALSE(encoder);
        return encoder ? profiler::Message() : encoder.error().what;
    };
    EXPECT_THAT(why("[1]"), hasId("data.bpe.no_json"));
    EXPECT_THAT(why(R"({"model": {"type": "WordPiece", "vocab": {}}})"), hasId("data.bpe.no_bpe"));
    EXPECT_THAT(why(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "pre_tokenizer": null})"),
                hasId("data.bpe.not_byte_level"));
    EXPECT_THAT(why(R"({"a": -1})"), hasId("data.file.failed"));
    EXPECT_THAT(why(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]},
                        "pre_tokenizer": {"type": "ByteLevel"}})"),
                hasId("data.bpe.merge", {{"merge", 1}}));
    writeBytes(folder / "few.json", bytesOf(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
                           "pre_tokenizer": {"type": "ByteLevel"}})"));
    std::vector<std::uint32_t> ids;
    const auto encoded = BytePairEncoder::load(folder / "few.json")->encode("ab", ids, {});
    ASSERT_FALSE(encoded);
    EXPECT_THAT(encoded.error().what, hasId("data.bpe.byte", {{"byte", 0x62}}));
}

} // namespace
} // namespace data_test
