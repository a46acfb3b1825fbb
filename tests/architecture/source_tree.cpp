#include "tests/architecture/source_tree.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <regex>
#include <span>
#include <sstream>
#include <string_view>

namespace architecture {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostLines = 400;
constexpr std::array<std::string_view, 5> kFolders = {"app", "profiler", "advisor", "trainer", "tests"};

/// What a room may include of the project's own rooms. The longest prefix that fits a file is its room.
struct Room {
    std::string_view prefix;
    std::vector<std::string_view> mayInclude;
};

const std::vector<Room>& rooms()
{
    static const std::vector<Room> all = {
        {"profiler/model/", {"profiler/model/"}},
        {"profiler/io/wire/", {"profiler/model/", "profiler/io/wire/"}},
        {"profiler/io/packed/", {"profiler/model/", "profiler/io/wire/", "profiler/io/packed/"}},
        {"profiler/io/formats/", {"profiler/model/", "profiler/io/"}},
        {"profiler/capture/", {"profiler/model/", "profiler/io/wire/", "profiler/capture/"}},
        {"profiler/analysis/", {"profiler/model/", "profiler/analysis/"}},
        {"advisor/cli/", {"profiler/", "advisor/", "trainer/config/"}},
        {"advisor/", {"profiler/model/", "profiler/analysis/", "advisor/", "trainer/config/"}},
        {"trainer/config/", {"trainer/config/"}},
        {"trainer/", {"profiler/model/", "profiler/io/wire/", "profiler/capture/", "trainer/"}},
        {"app/look/", {"profiler/model/", "profiler/analysis/", "app/look/"}},
        {"app/models/",
         {"profiler/model/", "profiler/io/", "profiler/analysis/", "advisor/", "trainer/config/", "app/look/",
          "app/session/", "app/models/"}},
        {"app/widgets/",
         {"profiler/model/", "profiler/analysis/", "trainer/config/", "app/look/", "app/models/", "app/widgets/"}},
        {"app/", {"profiler/model/", "profiler/io/", "profiler/analysis/", "advisor/", "trainer/config/", "app/"}},
        {"tests/", {"profiler/", "advisor/", "trainer/", "app/", "tests/"}},
    };
    return all;
}

bool startsWithAny(std::string_view text, std::span<const std::string_view> prefixes)
{
    return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return text.starts_with(p); });
}

bool isOurs(std::string_view include)
{
    return std::any_of(kFolders.begin(), kFolders.end(),
                       [&](std::string_view folder) { return include.starts_with(std::string(folder) + "/"); });
}

bool isQt(std::string_view include)
{
    static const std::regex pattern("^(Q[A-Z][A-Za-z0-9]*|Qt[A-Z][A-Za-z]*/.*|q[a-z]+\\.h)$");
    return std::regex_match(std::string(include), pattern);
}

bool isTorch(std::string_view include)
{
    constexpr std::array<std::string_view, 4> kTorch = {"torch/", "ATen/", "c10/", "caffe2/"};
    return startsWithAny(include, kTorch);
}

bool isTestOrBenchOf(std::string_view path, std::initializer_list<std::string_view> areas)
{
    return path.starts_with("tests/") && std::any_of(areas.begin(), areas.end(), [&](std::string_view area) {
               return path.substr(6).starts_with(area);
           });
}

void checkForeign(const SourceFile& file, std::vector<std::string>& found)
{
    const std::string& path = file.path;
    for (const std::string& include : file.includes) {
        if (isQt(include) && !path.starts_with("app/") &&
            !isTestOrBenchOf(path, {"app", "e2e", "ui", "bench", "support"}))
            found.push_back(path + " includes " + include + ": Qt belongs in app");
        if (isTorch(include) &&
            ((!path.starts_with("trainer/") && !isTestOrBenchOf(path, {"trainer", "bench", "gpu"})) ||
             path.starts_with("trainer/config/") || path.starts_with("trainer/data/") ||
             path.starts_with("trainer/datasets/")))
            found.push_back(path + " includes " + include + ": LibTorch belongs in trainer's loop, hooks and models");
        if (include.starts_with("cupti") && !path.starts_with("profiler/capture/") &&
            !isTestOrBenchOf(path, {"capture", "bench", "gpu"}))
            found.push_back(path + " includes " + include + ": CUPTI belongs in profiler/capture");
    }
}

void checkRooms(const SourceFile& file, std::vector<std::string>& found)
{
    const Room* room = nullptr;
    for (const Room& candidate : rooms())
        if (file.path.starts_with(candidate.prefix) && (!room || candidate.prefix.size() > room->prefix.size()))
            room = &candidate;
    if (!room)
        return;
    for (const std::string& include : file.includes)
        if (isOurs(include) && !startsWithAny(include, room->mayInclude))
            found.push_back(file.path + " includes " + include + ": not a room that " + std::string(room->prefix) +
                            " may depend on");
}

/// A view is given {trace, selection, session}, never another view.
void checkViews(const SourceFile& file, std::vector<std::string>& found)
{
    constexpr std::string_view kViews = "app/views/";
    if (!file.path.starts_with(kViews))
        return;
    const auto own = file.path.substr(0, file.path.find('/', kViews.size()) + 1);
    for (const std::string& include : file.includes)
        if (include.starts_with(kViews) && include != "app/views/view.h" && !include.starts_with(own))
            found.push_back(file.path + " includes " + include + ": a view does not know another view");
}

std::string readFile(const fs::path& path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

SourceFile parse(std::string path, const std::string& text)
{
    static const std::regex pattern("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
    SourceFile file{.path = std::move(path), .lines = 0, .includes = {}};
    std::istringstream in(text);
    for (std::string line; std::getline(in, line); ++file.lines)
        if (std::smatch match; line.find('#') != std::string::npos && std::regex_search(line, match, pattern))
            file.includes.push_back(match[1]);
    return file;
}

std::vector<SourceFile> readTree(const fs::path& root)
{
    std::vector<SourceFile> files;
    for (std::string_view folder : kFolders)
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const auto extension = entry.path().extension();
            if (entry.is_regular_file() && (extension == ".cpp" || extension == ".h"))
                files.push_back(parse(fs::relative(entry.path(), root).generic_string(), readFile(entry.path())));
        }
    return files;
}

std::vector<std::string> violations(const std::vector<SourceFile>& files)
{
    std::vector<std::string> found;
    for (const SourceFile& file : files) {
        checkForeign(file, found);
        checkRooms(file, found);
        checkViews(file, found);
        if (file.lines > kMostLines)
            found.push_back(file.path + " has " + std::to_string(file.lines) + " lines: split it by stage");
    }
    return found;
}

} // namespace architecture
