#include "tests/architecture/retired_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <unordered_map>

namespace architecture {

namespace fs = std::filesystem;

namespace {

/// A part of a name, or a word of prose: "host" and "lane" of hostLane.
struct Part {
    std::string text; ///< in lower case
    std::size_t begin = 0, end = 0;
};

bool isLetterOrDigit(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
}
bool isUpper(char c)
{
    return std::isupper(static_cast<unsigned char>(c)) != 0;
}

/// Whether a new part starts at `at`, inside a run of letters and digits: fooBar, and the R of HTMLReport.
bool startsPart(std::string_view text, std::size_t at)
{
    if (!isUpper(text[at]))
        return false;
    return !isUpper(text[at - 1]) ||
           (at + 1 < text.size() && std::islower(static_cast<unsigned char>(text[at + 1])) != 0);
}

std::vector<Part> partsOf(std::string_view text)
{
    std::vector<Part> parts;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '\\') { // the n of "\n" is not part of a word
            at += 2;
            continue;
        }
        if (!isLetterOrDigit(text[at])) {
            ++at;
            continue;
        }
        Part part{.text = {}, .begin = at, .end = at + 1};
        while (part.end < text.size() && isLetterOrDigit(text[part.end]) && !startsPart(text, part.end))
            ++part.end;
        for (std::size_t i = part.begin; i < part.end; ++i)
            part.text += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
        at = part.end;
        parts.push_back(std::move(part));
    }
    return parts;
}

bool joinsName(std::string_view gap)
{
    return gap.find_first_not_of('_') == std::string_view::npos;
}

/// Whether two words with this text between them follow each other in a sentence: white space, at most one line break,
/// and around it the ends of a string literal or the marks that a comment's line starts with.
bool joinsProse(std::string_view gap)
{
    std::size_t at = 0;
    const auto skip = [&](std::string_view characters) {
        at = std::min(gap.find_first_not_of(characters, at), gap.size());
    };
    if (gap.empty())
        return false;
    skip(" \t");
    if (at == gap.size())
        return true;
    skip("\" \t");
    if (at == gap.size() || gap[at] != '\n')
        return false;
    ++at;
    skip(" \t");
    skip("/<!#*\"");
    skip(" \t");
    return at == gap.size();
}

/// A retired word, prepared for the search.
struct Pattern {
    std::vector<Part> parts;
    bool isPhrase = false; ///< contains a space

    /// @param parts  of a text; the pattern is compared with those from `first` on
    bool matches(std::string_view text, std::span<const Part> found, std::size_t first, const std::string& word) const
    {
        if (first + parts.size() > found.size())
            return false;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const Part& part = found[first + i];
            const bool isPlural = !isPhrase && i + 1 == parts.size() && part.text == parts[i].text + 's';
            if (part.text != parts[i].text && !isPlural)
                return false;
            if (i == 0)
                continue;
            const auto gapBetween = [](std::string_view of, const Part& a, const Part& b) {
                return of.substr(a.end, b.begin - a.end);
            };
            const std::string_view gap = gapBetween(text, found[first + i - 1], part);
            const std::string_view wanted = gapBetween(word, parts[i - 1], parts[i]);
            const bool isSpace = wanted == " ";
            if (!(joinsName(gap) && (isSpace || joinsName(wanted))) && !(isSpace && joinsProse(gap)) && gap != wanted)
                return false;
        }
        return true;
    }
};

bool isAllowed(std::string_view text, std::size_t begin, std::size_t end, const std::vector<std::string>& allowed)
{
    return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& around) {
        const std::size_t earliest = end > around.size() ? end - around.size() : 0;
        for (auto at = text.find(around, earliest); at != std::string_view::npos && at <= begin;
             at = text.find(around, at + 1))
            if (at + around.size() >= end)
                return true;
        return false;
    });
}

std::string trimmed(const std::string& text)
{
    const auto first = text.find_first_not_of(" \t");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

bool isProductText(const fs::path& path)
{
    static const std::set<std::string> kExtensions = {".cpp", ".h",    ".py",  ".md",  ".txt",     ".cmake", ".json",
                                                      ".yml", ".yaml", ".map", ".xml", ".desktop", ""};
    return kExtensions.contains(path.extension().string());
}

} // namespace

std::vector<RetiredWord> parseRetiredWords(const std::string& list)
{
    std::vector<RetiredWord> words;
    std::set<std::string> seen;
    std::istringstream in(list);
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (trimmed(line).empty() || line.starts_with('#'))
            continue;
        std::vector<std::string> fields;
        std::istringstream row(line);
        for (std::string field; std::getline(row, field, '|');)
            fields.push_back(trimmed(field));
        const std::string where = "line " + std::to_string(number) + ": ";
        if (fields.size() < 2 || fields[0].empty() || fields[1].empty())
            throw std::invalid_argument(where + "write 'word | replacement'");
        if (partsOf(fields[0]).empty())
            throw std::invalid_argument(where + '\'' + fields[0] + "' has no letters");
        if (!seen.insert(fields[0]).second)
            throw std::invalid_argument(where + '\'' + fields[0] + "' is listed twice");
        words.push_back({fields[0], fields[1], {fields.begin() + 2, fields.end()}});
    }
    return words;
}

std::vector<ProductFile> readProduct(const fs::path& root)
{
    constexpr std::array kFolders = {
        "app", "profiler", "advisor", "trainer", "resources/python", "resources/tips", "packaging", ".github"};
    std::vector<fs::path> paths{root / "README.md", root / "CMakeLists.txt"};
    for (const char* folder : kFolders)
        for (const auto& entry : fs::recursive_directory_iterator(root / folder))
            if (entry.is_regular_file() && isProductText(entry.path()) && entry.path().filename() != "libtorch.txt")
                paths.push_back(entry.path());
    std::vector<ProductFile> files;
    for (const fs::path& path : paths) {
        std::ifstream in(path, std::ios::binary);
        files.push_back({fs::relative(path, root).generic_string(), {std::istreambuf_iterator<char>(in), {}}});
    }
    return files;
}

std::vector<std::string> retiredUses(const ProductFile& file, const std::vector<RetiredWord>& words)
{
    // By their first part, since files have a million words.
    std::vector<Pattern> patterns;
    std::unordered_multimap<std::string, std::size_t> starting;
    for (const RetiredWord& word : words) {
        patterns.push_back({partsOf(word.word), word.word.find(' ') != std::string::npos});
        const std::vector<Part>& parts = patterns.back().parts;
        starting.emplace(parts.front().text, patterns.size() - 1);
        if (parts.size() == 1) // or its plural
            starting.emplace(parts.front().text + 's', patterns.size() - 1);
    }

    // The path is searched as a line ahead of the text.
    const std::string text = file.path + ".\n" + file.text;
    const std::vector<Part> parts = partsOf(text);
    std::vector<std::string> found;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto [first, last] = starting.equal_range(parts[i].text);
        for (auto at = first; at != last; ++at) {
            const std::size_t w = at->second;
            const Pattern& pattern = patterns[w];
            if (!pattern.matches(text, parts, i, words[w].word))
                continue;
            const std::size_t begin = parts[i].begin, end = parts[i + pattern.parts.size() - 1].end;
            if (isAllowed(text, begin, end, words[w].allowed))
                continue;
            const auto breaks = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
            found.push_back(file.path + ':' + std::to_string(std::max<std::ptrdiff_t>(breaks, 1)) + ": '" +
                            words[w].word + "' is retired; write '" + words[w].replacement + '\'');
        }
    }
    return found;
}

} // namespace architecture
