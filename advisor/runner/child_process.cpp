#include "advisor/runner/child_process.h"

#include "profiler/os/connections.h"
#include "profiler/os/files.h"
#include "profiler/os/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>
#include <vector>

namespace advisor {

using profiler::Error;
using profiler::Result;
namespace os = profiler::os;

namespace {

/// The child's ends of the pipes. This process closes them after the program has started.
struct ChildEnds {
    Descriptor input, output, extra, file;
};

/// @tparam Text ends with the reason: "No pipe could be created: {why}"
template <profiler::detail::Literal Id, profiler::detail::Literal Text>
Error systemError(int number, std::string where = {})
{
    const auto code = number == ENOENT   ? Error::Code::NotFound
                      : number == EACCES ? Error::Code::Permission
                                         : Error::Code::Unavailable;
    return profiler::makeError<Id, Text>(code, std::move(where), {}, {{"why", std::strerror(number)}});
}

bool makeInput(Descriptor& ours, Descriptor& theirs)
{
    // A socket, because writing to a pipe without a reader raises SIGPIPE for the whole process.
    auto ends = os::makeSocketPair();
    if (!ends)
        return false;
    ours = std::move(ends->first);
    theirs = std::move(ends->second);
    return true;
}

bool makeOutput(Descriptor& ours, Descriptor& theirs)
{
    auto pipe = os::makePipe();
    if (!pipe)
        return false;
    os::setNonBlocking(pipe->reading.get());
    ours = std::move(pipe->reading);
    theirs = std::move(pipe->writing);
    return true;
}

os::ProcessSpec specOf(const ChildCommand& command, const ChildEnds& child)
{
    os::ProcessSpec spec;
    spec.words = {command.program.string()};
    spec.words.insert(spec.words.end(), command.arguments.begin(), command.arguments.end());
    spec.environment = os::environment();
    spec.input = child.input.get();
    spec.output = child.output.get();
    if (!command.joinErrors)
        spec.errors = -1;
    if (child.file) {
        spec.words.insert(spec.words.end(), {command.fileOption, fmt::format("/dev/fd/{}", child.file.get())});
        spec.inherited.push_back(child.file.get());
    }
    if (child.extra) {
        spec.words.insert(spec.words.end(), {command.extraOption, std::to_string(child.extra.get())});
        spec.inherited.push_back(child.extra.get());
    }
    return spec;
}

} // namespace

Result<ChildProcess> ChildProcess::start(const ChildCommand& command)
{
    ChildProcess process;
    ChildEnds child;
    const bool ready = makeInput(process.m_input, child.input) && makeOutput(process.m_output, child.output) &&
                       (command.extraOption.empty() || makeOutput(process.m_extra, child.extra)) &&
                       (command.fileOption.empty() || (child.file = os::makeMemoryFile(command.file)));
    if (!ready)
        return tl::unexpected(systemError<"process.no_pipe", "No pipe could be created: {why}">(errno));
    os::StartFailure failure;
    process.m_tree = os::ProcessTree::start(specOf(command, child), failure);
    if (!process.m_tree && failure.stage == os::StartFailure::Stage::Program)
        return tl::unexpected(systemError<"process.not_started", "The program cannot be started: {why}">(
            failure.number, command.program.string()));
    if (!process.m_tree)
        return tl::unexpected(systemError<"process.no_process", "No process could be started: {why}">(failure.number));
    return process;
}

void ChildProcess::kill()
{
    if (m_tree)
        m_tree->kill();
}

namespace {

constexpr std::size_t kMostBytes = 8192;
constexpr std::size_t kMostLines = 20;

/// Number of bytes of the well-formed UTF-8 character at the beginning of `text`; 0: none. Source: RFC 3629, section 4.
std::size_t characterLength(std::string_view text)
{
    const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto follows = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
    const unsigned first = at(0);
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool tooLong = first == 0xE0 && at(1) < 0xA0;
        const bool surrogate = first == 0xED && at(1) > 0x9F;
        return follows(1) && follows(2) && !tooLong && !surrogate ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool tooLong = first == 0xF0 && at(1) < 0x90;
        const bool tooHigh = first == 0xF4 && at(1) > 0x8F;
        return follows(1) && follows(2) && follows(3) && !tooLong && !tooHigh ? 4 : 0;
    }
    return 0;
}

/// A progress bar redraws its line repeatedly: only the last version counts.
std::string_view lastDrawing(std::string_view line)
{
    while (line.ends_with('\r'))
        line.remove_suffix(1);
    return line.substr(line.rfind('\r') + 1);
}

void appendReadable(std::string& result, std::string_view line)
{
    while (!line.empty()) {
        const std::size_t length = characterLength(line);
        const bool control = static_cast<unsigned char>(line.front()) < 0x20 || line.front() == 0x7F;
        if (length == 0)
            result += "\xEF\xBF\xBD"; // the replacement character
        else if (!control || line.front() == '\t')
            result += line.substr(0, length);
        line.remove_prefix(length == 0 ? 1 : length);
    }
}

} // namespace

void OutputTail::add(std::string_view text)
{
    m_text += text;
    if (m_text.size() <= kMostBytes)
        return;
    m_text.erase(0, m_text.size() - kMostBytes);
    // The rest of a truncated line is useless, unless it is the only line.
    if (const auto end = m_text.find('\n'); end != std::string::npos && end + 1 < m_text.size())
        m_text.erase(0, end + 1);
}

std::string OutputTail::lastLines() const
{
    std::vector<std::string_view> lines;
    std::string_view rest = m_text;
    while (!rest.empty() && lines.size() < kMostLines) {
        if (rest.ends_with('\n'))
            rest.remove_suffix(1);
        const auto before = rest.rfind('\n');
        const auto begin = before == std::string_view::npos ? 0 : before + 1;
        if (const auto line = lastDrawing(rest.substr(begin)); !line.empty())
            lines.push_back(line);
        rest = rest.substr(0, begin);
    }
    std::string result;
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        if (!result.empty())
            result += '\n';
        appendReadable(result, *line);
    }
    return result;
}

bool namesScarceResource(std::string_view error)
{
    // Of CUDA and of our own messages, of PyTorch on a CPU, of Python, of C++, of the operating system (ENOMEM).
    constexpr std::array<std::string_view, 6> kLackOfMemory = {"ut of memory",      "can't allocate memory",
                                                               "not enough memory", "MemoryError",
                                                               "std::bad_alloc",    "Cannot allocate memory"};
    return namesTakenPort(error) ||
           std::ranges::any_of(kLackOfMemory, [&](std::string_view text) { return error.find(text) != error.npos; });
}

bool namesFullDisk(std::string_view error)
{
    // Of the operating system: ENOSPC, EDQUOT, EFBIG.
    constexpr std::array<std::string_view, 3> kTexts = {"No space left on device", "Disk quota exceeded",
                                                        "File too large"};
    return std::ranges::any_of(kTexts, [&](std::string_view text) { return error.find(text) != error.npos; });
}

bool namesTakenPort(std::string_view error)
{
    return error.find("ddress already in use") != error.npos;
}

} // namespace advisor

namespace advisor::change {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;

namespace {

using Clock = std::chrono::steady_clock;

Error writesTooMuch(const ChildCommand& command)
{
    return profiler::makeError<"tool.output", "{program} produced too much output">(
        Error::Code::Unavailable, {}, {}, {{"program", command.program.filename().string()}});
}

Error tookTooLong(const ChildCommand& command, const ToolLimits& limits)
{
    const auto seconds = limits.time.count() / 1000;
    return profiler::makeError<"tool.time", "{program} took longer than {limit}">(
        Error::Code::Unavailable, {}, {},
        {{"program", command.program.filename().string()},
         {"limit", static_cast<double>(seconds) * 1e6, fmt::format("{} s", seconds)}});
}

/// Waits until a descriptor is readable or the time is over. With a negative descriptor, waits a short time.
void waitFor(int descriptor, Clock::time_point end)
{
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    const std::chrono::milliseconds most(descriptor < 0 ? 5 : 1000);
    profiler::os::waitForAny(std::array{descriptor}, std::clamp(left, std::chrono::milliseconds(0), most));
}

bool canRun(const fs::path& program)
{
    std::error_code failed;
    return fs::is_regular_file(program, failed) && profiler::os::canExecute(program);
}

} // namespace

Result<ToolOutput> runTool(const ChildCommand& command, const ToolLimits& limits)
{
    auto process = ChildProcess::start(command);
    if (!process)
        return tl::unexpected(process.error());
    const auto end = Clock::now() + limits.time;
    ToolOutput output;
    while (profiler::os::readAvailable(process->output(), output.text)) {
        if (output.text.size() > limits.bytes)
            return tl::unexpected(writesTooMuch(command));
        if (Clock::now() >= end)
            return tl::unexpected(tookTooLong(command, limits));
        waitFor(process->output(), end);
    }
    std::optional<int> status;
    while (!(status = process->status())) {
        if (Clock::now() >= end)
            return tl::unexpected(tookTooLong(command, limits));
        waitFor(process->end(), end);
    }
    output.status = profiler::os::exitStatus(*status).shellStatus();
    return output;
}

Result<fs::path> findTool(std::string_view name)
{
    if (name.find('/') != name.npos) {
        if (canRun(name))
            return fs::absolute(name);
        return profiler::fail<"tool.not_runnable", "No executable program has this path">(
            Error::Code::NotFound, std::string(name), "check the path");
    }
    const char* folders = std::getenv("PATH");
    std::istringstream list(folders ? folders : "");
    for (std::string folder; std::getline(list, folder, ':');)
        if (folder.starts_with('/') && canRun(fs::path(folder) / name))
            return fs::path(folder) / name;
    return profiler::fail<"tool.not_found", "{program} was not found">(
        Error::Code::NotFound, "PATH", fmt::format("install {}, or add its folder to PATH", name), {{"program", name}});
}

} // namespace advisor::change
