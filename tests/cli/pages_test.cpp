#include "tests/cli/cli_program.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <sstream>
#include <sys/wait.h>

/// Manual pages and completion scripts: each command and option of --help is in them, and the shells accept them.
namespace cli_test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

std::string textOf(const fs::path& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> commands()
{
    std::vector<std::string> names;
    std::istringstream help(run({"--help"}).out);
    bool isList = false;
    for (std::string line; std::getline(help, line);) {
        isList = isList || line.starts_with("Subcommands:");
        if (std::smatch found; isList && std::regex_search(line, found, std::regex("^  ([a-z]+) ")))
            names.push_back(found[1]);
    }
    return names;
}

std::vector<std::string> longOptions(const std::string& command)
{
    const std::string help = run({command, "--help"}).out;
    std::vector<std::string> names;
    const std::regex option("(?:^|\\n)  (?:-[a-z],)?(--[a-z-]+)");
    for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at)
        names.push_back((*at)[1]);
    return names;
}

std::vector<std::string> wordsOf(const std::string& text)
{
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), {}};
}

/// What bash proposes for the last word.
std::vector<std::string> bashCompletes(const fs::path& script, const std::string& words, int last)
{
    const Folder folder;
    const std::string out = folder / "out";
    const std::string line = "bash -c 'source " + script.string() + "; COMP_WORDS=(" + words +
                             "); COMP_CWORD=" + std::to_string(last) +
                             "; _stepscope_cli; echo \"${COMPREPLY[@]}\"' > " + out;
    EXPECT_EQ(std::system(line.c_str()), 0) << line;
    return wordsOf(textOf(out));
}

class Pages : public testing::Test {
protected:
    Pages() { EXPECT_EQ(run({"pages", m_folder / "share"}).status, 0); }
    [[nodiscard]] fs::path path(const std::string& name) const { return m_folder / "share" / name; }

private:
    Folder m_folder;
};

TEST_F(Pages, DescribeEachCommandAndEachOption)
{
    ASSERT_THAT(commands(), IsSupersetOf({"summarize", "record", "doctor", "mcp"}));
    EXPECT_THAT(commands(), Not(Contains("pages")));
    const std::string all = textOf(path("man/man1/stepscope-cli.1"));
    const std::string fish = textOf(path("fish/vendor_completions.d/stepscope-cli.fish"));
    const std::string zsh = textOf(path("zsh/site-functions/_stepscope-cli"));
    EXPECT_THAT(fish, HasSubstr(" -l json -d ")) << "a flag takes no value";
    EXPECT_THAT(fish, HasSubstr(" -l limit -r -d "));
    for (const std::string& command : commands()) {
        EXPECT_THAT(all, HasSubstr("stepscope\\-cli\\-" + command + " (1)"));
        const std::string page = textOf(path("man/man1/stepscope-cli-" + command + ".1"));
        ASSERT_FALSE(longOptions(command).empty());
        for (const std::string& option : longOptions(command)) {
            EXPECT_THAT(page, HasSubstr(std::regex_replace(option, std::regex("-"), "\\-"))) << command;
            EXPECT_THAT(zsh, HasSubstr("'" + option + "[")) << command;
            EXPECT_THAT(fish, HasSubstr(" -l " + option.substr(2) + " ")) << command;
        }
    }
}

TEST_F(Pages, CompleteCommandsOptionsAndValuesInBash)
{
    const fs::path script = path("bash-completion/completions/stepscope-cli");
    EXPECT_THAT(bashCompletes(script, "stepscope-cli su", 1), testing::ElementsAre("summarize"));
    EXPECT_THAT(bashCompletes(script, "stepscope-cli record --p", 2), testing::ElementsAre("--patience"));
    EXPECT_THAT(bashCompletes(script, "stepscope-cli record --level sta", 3), testing::ElementsAre("standard"));
    EXPECT_THAT(bashCompletes(script, "stepscope-cli record -- pyth", 3), Contains(testing::StartsWith("pyth")));
    EXPECT_THAT(bashCompletes(script, "stepscope-cli record -- python --he", 4), testing::IsEmpty());
}

TEST_F(Pages, AreAcceptedByTheOtherShellsAndByMan)
{
    const auto accepts = [&](const std::string& tool, const std::string& line) {
        if (std::system(("command -v " + tool + " > /dev/null").c_str()) == 0) {
            EXPECT_EQ(std::system(line.c_str()), 0) << line;
        }
    };
    accepts("zsh", "zsh -n " + path("zsh/site-functions/_stepscope-cli").string());
    accepts("fish", "fish -n " + path("fish/vendor_completions.d/stepscope-cli.fish").string());
    for (const auto& page : fs::directory_iterator(path("man/man1")))
        accepts("groff", "test -z \"$(groff -k -man -Tutf8 -ww " + page.path().string() + " 2>&1 > /dev/null)\"");
}

TEST_F(Pages, ThatCannotBeWrittenAreAnError)
{
    const Folder folder;
    const Ended ended = run({"pages", folder.write("file", "")});
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, HasSubstr("could not be written"));
}

} // namespace
} // namespace cli_test
