#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

// The files and folders that the guides name exist.

namespace architecture {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

/// Paths of the project in `back quotes` that are not there. Patterns, as "advisor/rules/*.cpp", are not checked.
std::vector<std::string> missingPaths(const std::string& markdown, const fs::path& root)
{
    static const std::regex path(
        "`((app|advisor|profiler|trainer|tests|resources|packaging|\\.ci|\\.github)/[A-Za-z0-9_./-]+)`");
    std::vector<std::string> missing;
    for (std::sregex_iterator at(markdown.begin(), markdown.end(), path), end; at != end; ++at)
        if (!fs::exists(root / (*at)[1].str()))
            missing.push_back((*at)[1]);
    return missing;
}

TEST(Guide, NamesFilesThatExist)
{
    const fs::path root = STEPSCOPE_SOURCE_DIR;
    std::vector<fs::path> guides = {"README.md", ".github/CONTRIBUTING.md", ".github/ARCHITECTURE.md"};
    for (const auto& page : fs::directory_iterator(root / "resources/docs"))
        guides.push_back(fs::relative(page.path(), root));
    for (const fs::path& guide : guides) {
        std::ifstream in(root / guide);
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        ASSERT_FALSE(text.empty()) << guide;
        EXPECT_THAT(missingPaths(text, root), IsEmpty()) << guide;
    }
}

TEST(Guide, AMissingFileIsFound)
{
    const fs::path root = STEPSCOPE_SOURCE_DIR;
    EXPECT_THAT(missingPaths("Read `app/no_such_file.h` and `app/main.cpp`.", root), ElementsAre("app/no_such_file.h"));
    EXPECT_THAT(missingPaths("All of `advisor/rules/*.cpp`; app/no_such_file.h", root), IsEmpty());
}

} // namespace
} // namespace architecture
