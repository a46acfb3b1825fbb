#include "tests/architecture/retired_words.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <stdexcept>

namespace architecture {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<RetiredWord> repositoryList()
{
    std::ifstream in(STEPSCOPE_SOURCE_DIR "/tests/architecture/retired_words.txt");
    return parseRetiredWords({std::istreambuf_iterator<char>(in), {}});
}

std::vector<std::string> check(std::string path, std::string text, const std::string& list)
{
    return retiredUses({std::move(path), std::move(text)}, parseRetiredWords(list));
}

TEST(RetiredWords, TheProductDoesNotUseThem)
{
    const auto words = repositoryList();
    ASSERT_GT(words.size(), 20U);
    const auto files = readProduct(STEPSCOPE_SOURCE_DIR);
    ASSERT_GT(files.size(), 500U);
    std::string found;
    for (const ProductFile& file : files)
        for (const std::string& use : retiredUses(file, words))
            found += use + '\n';
    EXPECT_EQ(found, "") << "tests/architecture/retired_words.txt lists the words";
}

TEST(RetiredWords, EachRowOfTheListFindsItsWord)
{
    for (const RetiredWord& word : repositoryList())
        EXPECT_THAT(retiredUses({"app/x.cpp", "// " + word.word + '\n'}, {word}), SizeIs(1)) << word.word;
}

TEST(RetiredWords, AMessageNamesTheFileTheLineAndTheReplacement)
{
    EXPECT_THAT(check("profiler/x.cpp", "int a;\nHostLane lane;\n", "HostLane | ThreadBuffer\n"),
                ElementsAre("profiler/x.cpp:2: 'HostLane' is retired; write 'ThreadBuffer'"));
}

TEST(RetiredWords, ANameIsFoundInEverySpelling)
{
    for (const char* text : {"HostLane", "hostLane", "m_hostLane", "makeHostLane", "HostLanes", "HOST_LANE",
                             "#include \"profiler/capture/host_lane.h\"", "HostLaneImpl", "// the HostLane ends"})
        EXPECT_THAT(check("app/x.cpp", text, "HostLane | ThreadBuffer\n"), SizeIs(1)) << text;
    EXPECT_THAT(check("profiler/capture/host_lane.cpp", "", "HostLane | ThreadBuffer\n"),
                ElementsAre(HasSubstr("host_lane.cpp:1:")));
    for (const char* text : {"host lane", "ghostLane", "HostLanespan", "host::lane", "hostPlane"})
        EXPECT_THAT(check("app/x.cpp", text, "HostLane | ThreadBuffer\n"), IsEmpty()) << text;
}

TEST(RetiredWords, AWordOfOnePartIsFoundInProseAndInNames)
{
    for (const char* text : {"// how to mend it", "error.mend", "\"Mend it\"", "\"first\\nmend\""})
        EXPECT_THAT(check("app/x.cpp", text, "mend | fix\n"), SizeIs(1)) << text;
    for (const char* text : {"we recommend it", "amended", "\"\\mend\""})
        EXPECT_THAT(check("app/x.cpp", text, "mend | fix\n"), IsEmpty()) << text;
}

TEST(RetiredWords, APhraseIsFoundAcrossLineBreaks)
{
    for (const char* text : {"own time", "Own  time", "/// The slice's own\n    /// time.",
                             "\"its own \"\n    \"time\"", "# its own\n# time", "ownTime", "own_time"})
        EXPECT_THAT(check("app/x.cpp", text, "own time | self time\n"), SizeIs(1)) << text;
    for (const char* text : {"own, time", "own\n\ntime", "own * time", "its own\n// - time", "own timer", "own\\ntime"})
        EXPECT_THAT(check("app/x.cpp", text, "own time | self time\n"), IsEmpty()) << text;
}

TEST(RetiredWords, PunctuationInsideAPhraseCounts)
{
    EXPECT_THAT(check("app/x.cpp", "\"switches, forced\"", "switches, forced | context switches\n"), SizeIs(1));
    EXPECT_THAT(check("app/x.cpp", "\"switches forced\"", "switches, forced | context switches\n"), IsEmpty());
}

TEST(RetiredWords, AnAllowedTextIsNotReported)
{
    const std::string list = "Learner | TrainStep | \"Learner\" | fastai's Learner\n";
    EXPECT_THAT(check("x.py", "(\"Learner\", \"lr\")", list), IsEmpty());
    EXPECT_THAT(check("x.py", "# fastai's Learner", list), IsEmpty());
    EXPECT_THAT(check("x.py", "(\"Learner\", Learner())", list), SizeIs(1));
}

TEST(RetiredWords, ABadListIsRefused)
{
    for (const char* list : {"HostLane\n", "HostLane | \n", " | ThreadBuffer\n", "+ | plus\n", "a | b\n# c\na | d\n"})
        EXPECT_THROW(parseRetiredWords(list), std::invalid_argument) << list;
    EXPECT_THAT(parseRetiredWords("# a comment\n\na | b\n"), SizeIs(1));
}

} // namespace
} // namespace architecture
