#include "advisor/runner/shell_words.h"

#include <gmock/gmock.h>

namespace runner_test {

using advisor::runner::commandLine;
using advisor::runner::shellWords;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

TEST(ShellWords, AreSeparatedByBlanksOutsideOfQuotes)
{
    EXPECT_THAT(*shellWords("  python train.py\t--lr 3e-4\n"), ElementsAre("python", "train.py", "--lr", "3e-4"));
    EXPECT_THAT(*shellWords("a 'b  c' \"d \\\" e\" f\\ g ''"), ElementsAre("a", "b  c", "d \" e", "f g", ""));
    EXPECT_THAT(*shellWords("x'y'\"z\" '\\'"), ElementsAre("xyz", "\\"));
    EXPECT_THAT(*shellWords(""), IsEmpty());
    EXPECT_FALSE(shellWords("python 'train.py"));
}

TEST(ShellWords, ALineIsReadAsTheWordsThatItWasMadeOf)
{
    const std::vector<std::string> words = {"python", "a b", "it's", "", "$HOME", "*", "\\", "\"", "x=1"};
    EXPECT_THAT(*shellWords(commandLine(words)), words);
}

} // namespace
} // namespace runner_test
