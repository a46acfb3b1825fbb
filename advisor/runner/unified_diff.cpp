#include "advisor/runner/unified_diff.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace advisor::runner {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;

namespace {

constexpr std::string_view kNoFile = "/dev/null";

/// Lines with their line ends; the last line may have none.
std::vector<std::string_view> linesOf(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return lines;
}

struct Hunk {
    std::size_t line = 0;   ///< starting line in the original file, from 1; 0: the file is empty
    std::size_t number = 0; ///< line number in the diff, from 1
    std::vector<std::string> before, after;
};

struct FileDiff {
    std::string before, after; ///< file names
    std::vector<Hunk> hunks;
};

template <profiler::detail::Literal Id, profiler::detail::Literal Text>
tl::unexpected<Error> malformed(std::size_t number)
{
    return profiler::fail<Id, Text>(Error::Code::Malformed, fmt::format("line {}", number),
                                    "create the diff with diff -u or git diff");
}

/// "--- a/train.py\t2026-01-01" → "a/train.py".
std::string nameIn(std::string_view line)
{
    line.remove_prefix(4);
    line = line.substr(0, line.find_first_of("\t\r\n"));
    while (line.ends_with(' '))
        line.remove_suffix(1);
    return std::string(line);
}

std::optional<std::size_t> numberAt(std::string_view text, std::size_t& at)
{
    std::size_t value = 0;
    const auto [end, failed] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (failed != std::errc())
        return std::nullopt;
    at = static_cast<std::size_t>(end - text.data());
    return value;
}

/// Reads a diff line by line.
class DiffReader {
public:
    explicit DiffReader(std::string_view diff) : m_lines(linesOf(diff)) {}

    Result<std::vector<FileDiff>> read()
    {
        std::vector<FileDiff> files;
        while (m_next < m_lines.size()) {
            const std::string_view line = m_lines[m_next];
            if (line.starts_with("--- ") && m_next + 1 < m_lines.size() && m_lines[m_next + 1].starts_with("+++ ")) {
                files.push_back({nameIn(line), nameIn(m_lines[m_next + 1]), {}});
                m_next += 2;
            } else if (line.starts_with("@@ -")) {
                if (files.empty())
                    return malformed<"unified_diff.no_name_before_hunk",
                                     "The diff cannot be read: a hunk comes before its file name">(m_next + 1);
                auto hunk = readHunk();
                if (!hunk)
                    return tl::unexpected(hunk.error());
                files.back().hunks.push_back(std::move(*hunk));
            } else if (line.starts_with("GIT binary patch") || line.starts_with("Binary files")) {
                return malformed<"unified_diff.binary", "The diff cannot be read: it changes a binary file">(m_next +
                                                                                                             1);
            } else if (line.starts_with("rename from") || line.starts_with("copy from")) {
                return malformed<"unified_diff.renames", "The diff cannot be read: it renames or copies a file">(
                    m_next + 1);
            } else {
                ++m_next; // comments that a tool adds to the diff
            }
        }
        if (files.empty())
            return malformed<"unified_diff.no_file", "The diff cannot be read: it contains no file name">(1);
        return files;
    }

private:
    Result<Hunk> readHunk()
    {
        Hunk hunk;
        hunk.number = m_next + 1;
        std::size_t before = 0, after = 0;
        if (!readHeader(m_lines[m_next], hunk.line, before, after))
            return malformed<"unified_diff.bad_hunk_head",
                             "The diff cannot be read: a hunk header does not have the form @@ -1,2 +1,3 @@">(m_next +
                                                                                                              1);
        ++m_next;
        while (hunk.before.size() < before || hunk.after.size() < after) {
            if (m_next == m_lines.size())
                return malformed<"unified_diff.cut_off", "The diff cannot be read: its last hunk is incomplete">(
                    hunk.number);
            std::string text(m_lines[m_next++]);
            // Editors and mail programs strip the blank of an empty context line.
            const char kind = text == "\n" || text == "\r\n" ? ' ' : text.front();
            if (text.front() == kind)
                text.erase(0, 1);
            if (kind != ' ' && kind != '-' && kind != '+')
                return malformed<"unified_diff.bad_line",
                                 "The diff cannot be read: a line of a hunk does not begin with a blank, - or +">(
                    m_next);
            if (m_next < m_lines.size() && m_lines[m_next].starts_with("\\")) { // "\ No newline at end of file"
                text.erase(text.size() - (text.ends_with("\n") ? 1 : 0));
                ++m_next;
            }
            if (kind != '+')
                hunk.before.push_back(text);
            if (kind != '-')
                hunk.after.push_back(text);
        }
        return hunk;
    }

    static bool readHeader(std::string_view head, std::size_t& line, std::size_t& before, std::size_t& after)
    {
        std::size_t at = 4; // after "@@ -"
        const auto range = [&](std::size_t& first, std::size_t& count) {
            const auto number = numberAt(head, at);
            if (!number)
                return false;
            first = *number;
            count = 1;
            if (at < head.size() && head[at] == ',') {
                const auto length = numberAt(head, ++at);
                if (!length)
                    return false;
                count = *length;
            }
            return true;
        };
        std::size_t ignored = 0;
        if (!range(line, before) || head.substr(at, 2) != " +")
            return false;
        at += 2;
        return range(ignored, after) && head.substr(at, 3) == " @@";
    }

    std::vector<std::string_view> m_lines;
    std::size_t m_next = 0;
};

std::string withoutFirstPart(const std::string& name)
{
    const std::size_t slash = name.find('/');
    return slash == std::string::npos ? name : name.substr(slash + 1);
}

/// `folder` and its parents, up to the root of the Git repository that contains it.
std::vector<fs::path> rootsOf(const fs::path& folder)
{
    std::vector<fs::path> roots;
    for (fs::path root = folder;; root = root.parent_path()) {
        roots.push_back(root);
        std::error_code ignored;
        if (fs::exists(root / ".git", ignored))
            return roots;
        if (!root.has_relative_path())
            return {folder};
    }
}

std::optional<fs::path> findFile(const std::string& name, const fs::path& folder)
{
    for (const std::string& candidate : {withoutFirstPart(name), name})
        for (const fs::path& root : rootsOf(folder)) {
            std::error_code ignored;
            const fs::path path = (root / candidate).lexically_normal();
            if (fs::is_regular_file(path, ignored))
                return path;
        }
    return std::nullopt;
}

bool matches(const std::vector<std::string_view>& lines, std::size_t at, const std::vector<std::string>& wanted)
{
    return at + wanted.size() <= lines.size() &&
           std::equal(wanted.begin(), wanted.end(), lines.begin() + static_cast<std::ptrdiff_t>(at));
}

/// The position at or after `least` where the hunk applies; the one closest to `wanted`.
std::optional<std::size_t> placeOf(const Hunk& hunk, const std::vector<std::string_view>& lines, std::size_t wanted,
                                   std::size_t least)
{
    wanted = std::max(wanted, least);
    if (hunk.before.empty())
        return wanted <= lines.size() ? std::optional(wanted) : std::nullopt;
    for (std::size_t distance = 0; distance <= std::max(lines.size(), wanted); ++distance) {
        if (matches(lines, wanted + distance, hunk.before))
            return wanted + distance;
        if (wanted >= least + distance && matches(lines, wanted - distance, hunk.before))
            return wanted - distance;
    }
    return std::nullopt;
}

Result<std::string> patched(const FileDiff& diff, std::string_view text, const fs::path& path)
{
    const auto lines = linesOf(text);
    std::string result;
    std::size_t done = 0;
    std::ptrdiff_t shift = 0; // offset of the previous hunk
    for (const Hunk& hunk : diff.hunks) {
        // A hunk that removes nothing names the line before it.
        const auto named = static_cast<std::ptrdiff_t>(hunk.line) - (hunk.before.empty() ? 0 : 1);
        const auto wanted = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, named + shift));
        const auto place = placeOf(hunk, lines, wanted, done);
        if (!place)
            return profiler::fail<"unified_diff.hunk", "The hunk in line {line} of the diff does not apply">(
                Error::Code::Invalid, path.string(), "create the diff again from the current file",
                {{"line", hunk.number}});
        shift = static_cast<std::ptrdiff_t>(*place) - named;
        for (; done < *place; ++done)
            result += lines[done];
        for (const std::string& line : hunk.after)
            result += line;
        done += hunk.before.size();
    }
    for (; done < lines.size(); ++done)
        result += lines[done];
    return result;
}

} // namespace

Result<std::vector<ReplacedFile>> applyDiff(std::string_view diff, const fs::path& folder)
{
    const auto files = DiffReader(diff).read();
    if (!files)
        return tl::unexpected(files.error());
    std::vector<ReplacedFile> replaced;
    for (const FileDiff& file : *files) {
        if (file.after == kNoFile)
            return profiler::fail<"unified_diff.deletes", "The diff deletes a file">(
                Error::Code::Unsupported, file.before, "use a diff that only changes and adds text");
        const bool isNew = file.before == kNoFile;
        const auto found = isNew ? folder / withoutFirstPart(file.after) : findFile(file.after, folder);
        if (!found)
            return profiler::fail<"unified_diff.missing_file", "A file of the diff does not exist">(
                Error::Code::NotFound, file.after,
                "start the command in the folder to which the names in the diff refer");
        std::string text;
        if (!isNew) {
            std::ifstream input(*found, std::ios::binary);
            text.assign(std::istreambuf_iterator<char>(input), {});
            if (!input && !input.eof())
                return profiler::fail<"unified_diff.unreadable_file", "A file of the diff cannot be read">(
                    Error::Code::Io, found->string());
        }
        // A diff may name a file twice.
        const auto same = std::find_if(replaced.begin(), replaced.end(),
                                       [&](const ReplacedFile& earlier) { return earlier.path == *found; });
        auto result = patched(file, same == replaced.end() ? std::string_view(text) : same->text, *found);
        if (!result)
            return tl::unexpected(result.error());
        if (same == replaced.end())
            replaced.push_back({*found, std::move(*result)});
        else
            same->text = std::move(*result);
    }
    return replaced;
}

std::string diffInFolder(std::string_view diff, const fs::path& folder)
{
    const std::string inside = (folder / "").relative_path().string();
    const auto lines = linesOf(diff);
    std::string result;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        // Removed and added lines can look like a header, but only a header is followed by a hunk.
        const bool isHeader = i + 2 < lines.size() && lines[i].starts_with("--- a/") &&
                              lines[i + 1].starts_with("+++ b/") && lines[i + 2].starts_with("@@ ");
        if (!isHeader) {
            result += lines[i];
            continue;
        }
        for (const std::size_t at : {i, i + 1}) {
            constexpr std::size_t kMark = 6; // "--- a/"
            if (!lines[at].substr(kMark).starts_with(inside))
                return std::string(diff);
            result.append(lines[at].substr(0, kMark)).append(lines[at].substr(kMark + inside.size()));
        }
        ++i;
    }
    return result;
}

} // namespace advisor::runner
