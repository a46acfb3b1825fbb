#include "tests/cli/cli_program.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

// The commands of the book exist, with the options that they use, and so do the pictures of the book and the README.

namespace cli_test {
namespace {

namespace fs = std::filesystem;

struct Command {
    std::string page, name;
    std::vector<std::string> options;
};

/// The commands in the code blocks of a page. What follows " -- " is the user's.
std::vector<Command> commandsIn(const fs::path& page)
{
    std::ifstream in(page);
    std::vector<Command> commands;
    bool code = false;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("```"))
            code = !code;
        static const std::regex command("^stepscope-cli ([a-z]+)(.*)$"), option("(^| )(--?[a-z][a-z-]*)");
        std::smatch found;
        if (!code || !std::regex_match(line, found, command))
            continue;
        std::string rest = found[2];
        rest = rest.substr(0, rest.find(" -- "));
        rest = rest.substr(0, rest.find(" #"));
        rest = std::regex_replace(rest, std::regex("'[^']*'|\"[^\"]*\""), "");
        Command one{page.filename(), found[1], {}};
        for (std::sregex_iterator at(rest.begin(), rest.end(), option), end; at != end; ++at)
            one.options.push_back((*at)[2]);
        commands.push_back(one);
    }
    return commands;
}

TEST(Book, UsesCommandsAndOptionsThatExist)
{
    std::size_t checked = 0;
    for (const auto& page : fs::directory_iterator(fs::path(STEPSCOPE_SOURCE_DIR) / "resources/docs"))
        for (const Command& command : commandsIn(page.path())) {
            const Ended help = run({command.name, "--help"});
            EXPECT_EQ(help.status, 0) << command.page << ": " << command.name;
            for (const std::string& option : command.options)
                EXPECT_TRUE(std::regex_search(help.out, std::regex("(^|[ ,\n])" + option + "([ ,:{\n]|$)")))
                    << command.page << ": " << command.name << ' ' << option;
            ++checked;
        }
    EXPECT_GT(checked, 30U);
}

TEST(Book, ShowsPicturesThatExist)
{
    const fs::path root = STEPSCOPE_SOURCE_DIR;
    std::vector<fs::path> pages = {root / "README.md"};
    for (const auto& page : fs::directory_iterator(root / "resources/docs"))
        pages.push_back(page.path());
    std::size_t checked = 0;
    for (const fs::path& page : pages) {
        std::ifstream in(page);
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        static const std::regex picture(R"(!\[[^\]]+\]\(([^)]+)\))");
        for (std::sregex_iterator at(text.begin(), text.end(), picture), end; at != end; ++at, ++checked)
            EXPECT_TRUE(fs::is_regular_file(page.parent_path() / (*at)[1].str())) << page << ": " << (*at)[1];
    }
    EXPECT_GT(checked, 10U);
}

TEST(Book, HasASmallMovingPicture)
{
    EXPECT_LE(fs::file_size(fs::path(STEPSCOPE_SOURCE_DIR) / "resources/screenshots/tour.gif"), 1'500'000U);
}

} // namespace
} // namespace cli_test
