#include "app/record/output_text.h"

#include <gtest/gtest.h>

namespace app {
namespace {

/// The displayed text after these pieces of output.
std::string shown(std::initializer_list<const char*> pieces)
{
    OutputText text;
    QString all;
    for (const char* piece : pieces) {
        const auto change = text.take(QString::fromUtf8(piece));
        EXPECT_LE(change.erased, all.size());
        EXPECT_FALSE(all.right(change.erased).contains('\n')) << "only the last line changes";
        all.chop(change.erased);
        all += change.added;
    }
    return all.toStdString();
}

TEST(OutputText, PlainLinesStayAsTheyAre)
{
    EXPECT_EQ(shown({"one\ntwo\n"}), "one\ntwo\n");
    EXPECT_EQ(shown({"one\nt", "wo", "\n\n", "é\t3"}), "one\ntwo\n\né\t3");
    EXPECT_EQ(shown({"one\r\ntwo\r", "\nthree"}), "one\ntwo\nthree");
}

TEST(OutputText, AProgressBarIsOneLine)
{
    EXPECT_EQ(shown({"begin\n  0%|    | 0/2", "\r 50%|██  | 1/2", "\r100%|████| 2/2", "\ndone\n"}),
              "begin\n100%|████| 2/2\ndone\n");
    EXPECT_EQ(shown({" 50%|██", "  | 1/2\r", "100%|█", "███| 2/2\r"}), "100%|████| 2/2") << "cut between two reads";
    EXPECT_EQ(shown({"a long line\rshort"}), "shortg line") << "text that is not overwritten stays, as in a terminal";
    EXPECT_EQ(shown({"12/12\b\b\b\b\b13/12"}), "13/12");
}

TEST(OutputText, OnlyChangedTextIsUpdated)
{
    OutputText text;
    text.take(u"Epoch 1:  10%");
    EXPECT_EQ(text.take(u"\rEpoch 1:  20%"), (OutputText::Change{3, "20%"}));
    EXPECT_EQ(text.take(u" and on"), (OutputText::Change{0, " and on"}));
    EXPECT_EQ(text.take(u"\n"), (OutputText::Change{0, "\n"}));
    EXPECT_EQ(text.take(u"\rnext"), (OutputText::Change{0, "next"}));
}

TEST(OutputText, EscapeSequencesAreLeftOut)
{
    EXPECT_EQ(shown({"\x1b[1;31mred\x1b[0m and\x1b[38;5;12m blue\x1b[m"}), "red and blue");
    EXPECT_EQ(shown({"\x1b", "[1;3", "1mred", "\x1b[0", "m"}), "red") << "cut between two reads";
    EXPECT_EQ(shown({"\x1b]0;title\x07text", " \x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\ \x1b(Bend\x07"}),
              "text link end");
}

TEST(OutputText, ALineCanBeErased)
{
    EXPECT_EQ(shown({"a long line\r\x1b[Kshort"}), "short");
    EXPECT_EQ(shown({"a long line", "\x1b[2K\rshort"}), "short      ");
    EXPECT_EQ(shown({"abcdef\rab\x1b[1Kx"}), "  xdef");
}

} // namespace
} // namespace app
