#include "profiler/job/job_files.h"

#include "profiler/formats/format.h"
#include "profiler/os/shell_expansion.h"
#include "profiler_formats_formats_registry.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace profiler::job {

namespace {

namespace fs = std::filesystem;

// Deeper folders do not contain the traces of a job but something else, such as a file system.
constexpr int kMostDepth = 8;
constexpr std::size_t kMostNotes = 20;
// Memory snapshots are not ranks.
constexpr std::array<std::string_view, 3> kFormats = {"pytorch_json", "nsys_sqlite", "stepscope"};

bool isPattern(const fs::path& path)
{
    std::error_code none;
    return path.native().find_first_of("*?[") != std::string::npos && !fs::exists(path, none);
}

bool hasTraceExtension(const fs::path& path)
{
    std::string name = path.filename().string();
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return c < 128 ? std::tolower(c) : c; });
    if (name.starts_with(".") || name == kManifest)
        return false;
    for (const auto& [stem, format] : formats::all())
        if (std::ranges::find(kFormats, stem) != kFormats.end())
            for (const std::string_view extension : format.extensions)
                if (name.ends_with(extension))
                    return true;
    return false;
}

/// True for JSON files with the marks of a trace. Any object is accepted as PyTorch JSON when it is opened, but a
/// folder also contains configurations and manifests.
bool looksLikeTrace(const formats::FileHead& head)
{
    if (std::ranges::find(kFormats, head.format) == kFormats.end())
        return false;
    if (head.format != "pytorch_json")
        return true;
    for (const std::string_view key : {"\"traceEvents\"", "\"deviceProperties\"", "\"distributedInfo\"", "\"ph\""})
        if (head.text.find(key) != std::string::npos)
            return true;
    return false;
}

/// Compares names with the numbers in them by value.
bool isBefore(const fs::path& left, const fs::path& right)
{
    const std::string &a = left.native(), &b = right.native();
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t i = 0, k = 0;
    while (i < a.size() && k < b.size()) {
        if (digit(a[i]) && digit(b[k])) {
            const auto skip = [&](const std::string& text, std::size_t& at) {
                while (at + 1 < text.size() && text[at] == '0' && digit(text[at + 1]))
                    ++at;
                const std::size_t begin = at;
                while (at < text.size() && digit(text[at]))
                    ++at;
                return std::string_view(text).substr(begin, at - begin);
            };
            const std::string_view x = skip(a, i), y = skip(b, k);
            if (x != y)
                return x.size() != y.size() ? x.size() < y.size() : x < y;
        } else if (a[i] != b[k]) {
            return a[i] < b[k];
        } else {
            ++i;
            ++k;
        }
    }
    return a.size() - i < b.size() - k || (a.size() - i == b.size() - k && a < b);
}

/// The folder and worker of a file that PyTorch's tensorboard_trace_handler wrote: "HOST_PID" of
/// "HOST_PID.TIME.pt.trace.json". A profiler with a schedule writes one for each cycle. Empty for other names.
std::string_view workerOf(const fs::path& path)
{
    constexpr std::string_view kPacked = ".gz", kTrace = ".pt.trace.json";
    std::string_view name = path.native();
    if (name.ends_with(kPacked))
        name.remove_suffix(kPacked.size());
    if (!name.ends_with(kTrace))
        return {};
    name.remove_suffix(kTrace.size());
    // Times are in ns, or in ms before PyTorch 1.13; a shorter number is part of the worker's name.
    constexpr std::size_t kFewestDigits = 13;
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos)
        return {};
    const std::string_view time = name.substr(dot + 1);
    const bool isTime = time.size() >= kFewestDigits && time.find_first_not_of("0123456789") == std::string_view::npos;
    return isTime ? name.substr(0, dot) : std::string_view();
}

class Finding {
public:
    /// @return false if there is nothing at the path
    bool addInput(const fs::path& path)
    {
        std::error_code none;
        if (fs::is_directory(path, none))
            addFolder(path, 0);
        else if (isPattern(path)) {
            const auto matches = os::matchingPaths(path.native());
            for (const fs::path& match : matches)
                fs::is_directory(match, none) ? addFolder(match, 0) : addFile(match, false);
            return !matches.empty();
        } else if (fs::exists(path, none))
            addFile(path, true);
        else
            return false;
        return true;
    }

    JobFiles take()
    {
        std::ranges::sort(m_found.files, isBefore);
        keepLastOfEachWorker();
        return std::move(m_found);
    }
    [[nodiscard]] const std::map<std::string, std::size_t>& formats() const { return m_formats; }

private:
    /// Files of one process are no ranks. The last ones are of the same cycle in all ranks.
    void keepLastOfEachWorker()
    {
        std::vector<fs::path> kept;
        for (fs::path& file : m_found.files) {
            const std::string worker(workerOf(file));
            if (!kept.empty() && !worker.empty() && worker == workerOf(kept.back())) {
                note(
                    message<"job.earlier_cycle", "{file} is left out: {last} is a later part of the same process. Open "
                                                 "it alone to see it.">(
                        {{"file", kept.back().string()}, {"last", file.filename().string()}}));
                kept.pop_back();
            }
            kept.push_back(std::move(file));
        }
        m_found.files = std::move(kept);
    }

    void note(Message message)
    {
        if (m_found.notes.size() < kMostNotes)
            m_found.notes.push_back(std::move(message));
    }

    void addFolder(const fs::path& folder, int depth)
    {
        std::error_code failed;
        std::vector<fs::path> folders;
        auto entry = fs::directory_iterator(folder, failed);
        for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
            std::error_code none;
            if (entry->is_directory(none)) {
                if (!entry->is_symlink(none) && !entry->path().filename().native().starts_with("."))
                    folders.push_back(entry->path());
            } else if (hasTraceExtension(entry->path())) {
                addFile(entry->path(), false);
            }
        }
        if (failed)
            note(message<"job.folder_unreadable", "The folder {folder} cannot be read: {why}.">(
                {{"folder", folder.string()}, {"why", failed.message()}}));
        if (depth < kMostDepth)
            for (const fs::path& inside : folders)
                addFolder(inside, depth + 1);
        else if (!folders.empty())
            note(message<"job.too_deep", "Folders inside {folder} were not searched: they are more than {depth} levels "
                                         "deep.">({{"folder", folder.string()}, {"depth", kMostDepth}}));
    }

    /// @param named  by the user: whatever it contains, it is read and its errors are reported
    void addFile(const fs::path& path, bool named)
    {
        std::error_code none;
        const fs::path real = fs::canonical(path, none);
        if (!real.empty() && !m_known.insert(real).second) {
            note(
                message<"job.same_file", "{file} is a file that the job already contains.">({{"file", path.string()}}));
            return;
        }
        const auto head = formats::readFileHead(path);
        if (!head) {
            // Reported as an excluded rank when it is opened.
            m_found.files.push_back(path);
            return;
        }
        if (!named && !looksLikeTrace(*head)) {
            // A file that was cut off at once is a rank of the job nevertheless.
            if (head->text.empty())
                m_found.files.push_back(path);
            else
                ++m_found.others;
            return;
        }
        if (!head->format.empty()) {
            ++m_formats[std::string(head->format)];
            m_found.format = head->format;
        }
        m_found.files.push_back(path);
    }

    JobFiles m_found;
    std::set<fs::path> m_known;
    std::map<std::string, std::size_t> m_formats;
};

std::string titleOf(std::string_view stem)
{
    for (const auto& [known, format] : formats::all())
        if (known == stem)
            return std::string(format.title);
    return std::string(stem);
}

} // namespace

Result<JobFiles> findJobFiles(std::span<const fs::path> inputs)
{
    Finding finding;
    for (const fs::path& input : inputs)
        if (!finding.addInput(input))
            return fail<"job.no_input", "there is no file or folder of this name">(
                Error::Code::NotFound, input.string(), "check the path, or the pattern");
    if (finding.formats().size() > 1) {
        std::string list;
        for (const auto& [stem, count] : finding.formats())
            list += (list.empty() ? "" : ", ") + std::to_string(count) + " × " + titleOf(stem);
        return fail<"job.mixed_formats", "the traces have different formats: {list}">(
            Error::Code::Invalid, inputs.front().string(), "choose the files of one format, for example with a pattern",
            {{"list", list}});
    }
    JobFiles found = finding.take();
    if (found.files.empty())
        return fail<"job.no_traces", "the folder contains no traces">(
            Error::Code::NotFound, inputs.front().string(),
            "choose a folder with PyTorch JSON files, exports of Nsight Systems, or .sstrace files");
    return found;
}

bool mayBeJob(std::span<const fs::path> inputs)
{
    std::error_code none;
    return inputs.size() > 1 ||
           (inputs.size() == 1 && (fs::is_directory(inputs.front(), none) || isPattern(inputs.front())));
}

std::optional<fs::path> onlyTraceOf(const JobFiles& found)
{
    std::error_code none;
    return found.files.size() == 1 && !fs::exists(found.files.front().parent_path() / kManifest, none)
               ? std::optional(found.files.front())
               : std::nullopt;
}

std::optional<fs::path> onlyTraceIn(std::span<const fs::path> inputs)
{
    if (inputs.size() != 1 || !mayBeJob(inputs))
        return std::nullopt;
    const auto found = findJobFiles(inputs);
    return found ? onlyTraceOf(*found) : std::nullopt;
}

} // namespace profiler::job
