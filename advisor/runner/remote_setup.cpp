#include "advisor/runner/remote_setup.h"

#include "advisor/runner/remote_bundle.h"
#include "advisor/runner/remote_frames.h"
#include "advisor/runner/shell_words.h"
#include "profiler/model/number_text.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <system_error>
#include <utility>

namespace advisor::runner {

using profiler::Error;
using profiler::fail;
using profiler::Result;

namespace {

constexpr std::string_view kSaid = "@stepscope ";
constexpr std::size_t kMostSaid = 1 << 20;
#if defined(__x86_64__)
constexpr std::string_view kMachine = "x86_64";
#elif defined(__aarch64__)
constexpr std::string_view kMachine = "aarch64";
#else
constexpr std::string_view kMachine = "unknown";
#endif

std::string lastLine(const std::string& text)
{
    std::string last;
    std::istringstream lines(harmlessText(text, text.size()));
    for (std::string line; std::getline(lines, line);)
        if (line.find_first_not_of(" \t") != std::string::npos)
            last = line;
    return last;
}

/// What scripts report in lines "@stepscope KEY VALUE".
using Said = std::map<std::string, std::string>;

Said saidIn(const std::string& output)
{
    Said said;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(kSaid))
            continue;
        const std::string rest = line.substr(kSaid.size());
        const std::size_t blank = std::min(rest.find(' '), rest.size());
        said[rest.substr(0, blank)] = harmlessText(rest.substr(std::min(blank + 1, rest.size())));
    }
    return said;
}

class Setup {
public:
    Setup(const RemoteHost& host, const RemoteNeeds& needs, const RemoteHost::GoesOn& goesOn)
        : m_host(host), m_needs(needs), m_goesOn(goesOn)
    {
    }

    Result<RemoteProgram> run(const std::function<void(std::uint64_t)>& uploading)
    {
        const auto bundle = makeRemoteBundle();
        if (!bundle)
            return tl::unexpected(bundle.error());
        if (auto probed = probe(*bundle); !probed)
            return tl::unexpected(probed.error());
        const std::string folder = m_root + "/" + bundle->hash;
        if (!m_hasBundle) {
            uploading(bundle->tar.size());
            if (auto uploaded = upload(*bundle, folder); !uploaded)
                return tl::unexpected(uploaded.error());
        }
        RemoteProgram program{m_root, folder + "/bin/stepscope-cli"};
        if (auto runs = check(program.program); !runs)
            return tl::unexpected(runs.error());
        return program;
    }

private:
    [[nodiscard]] Result<Said> ask(const std::string& script, std::string_view input = {}) const;
    Result<void> probe(const RemoteBundle& bundle);
    [[nodiscard]] Result<void> upload(const RemoteBundle& bundle, const std::string& folder) const;
    [[nodiscard]] Result<void> check(const std::string& program) const;

    const RemoteHost& m_host;
    const RemoteNeeds& m_needs;
    const RemoteHost::GoesOn& m_goesOn;
    std::string m_root;
    bool m_hasBundle = false;
};

Result<Said> Setup::ask(const std::string& script, std::string_view input) const
{
    std::string output;
    bool isCancelled = false;
    const auto ran = m_host.run(
        script, input,
        [&](std::string_view piece) {
            output.append(piece);
            return output.size() < kMostSaid;
        },
        [&] {
            isCancelled = isCancelled || !m_goesOn();
            return !isCancelled;
        });
    if (!ran)
        return tl::unexpected(ran.error());
    if (isCancelled)
        return fail<"remote.cancelled", "cancelled before the command was started">(Error::Code::Cancelled);
    Said said = saidIn(output);
    if (said.empty())
        return tl::unexpected(unreachable(m_host, *ran));
    said["errors"] = lastLine(ran->errors);
    return said;
}

Result<void> Setup::probe(const RemoteBundle& bundle)
{
    std::string script = "say() { printf '@stepscope %s %s\\n' \"$1\" \"$2\"; }\n"
                         "root=${XDG_CACHE_HOME:-$HOME/.cache}/stepscope/remote\n"
                         "say system \"$(uname -s)\"; say machine \"$(uname -m)\"\n";
    if (!m_needs.folder.empty())
        script += "cd -- " + shellWord(m_needs.folder) + " || { say folder no; exit; }\n";
    script += "mkdir -p \"$root/jobs\" && say root \"$root\"\n"
              "[ -e \"$root/" +
              bundle.hash +
              "/complete\" ] && say bundle yes\n"
              "say free \"$(df -Pk \"$root\" | awk 'NR == 2 {print $4}')\"\n";
    for (const std::string& assignment : m_needs.environment)
        script += "export " + shellWord(assignment) + "\n";
    if (!m_needs.command.empty())
        script += "command -v -- " + shellWord(m_needs.command) + " > /dev/null 2>&1 && say command yes\n";
    auto said = ask(script);
    if (!said)
        return tl::unexpected(said.error());
    if ((*said)["system"] != "Linux" || (*said)["machine"] != kMachine)
        return fail<"remote.architecture", "this installation's recording part does not run there: it is for Linux on "
                                           "{machine}, the other machine is {other}">(
            Error::Code::Unsupported, m_host.name(), "install Stepscope there, and use it there",
            {{"machine", kMachine}, {"other", (*said)["system"] + " on " + (*said)["machine"]}});
    if (said->contains("folder"))
        return fail<"remote.folder", "cannot change to this folder on the other machine">(
            Error::Code::NotFound, m_needs.folder, "name one of its folders with --host-folder");
    m_root = (*said)["root"];
    if (m_root.empty() || m_root.front() != '/')
        return fail<"remote.cache", "no folder for the recording part can be created there: {why}">(
            Error::Code::Permission, m_host.name(), "it needs a home folder, or XDG_CACHE_HOME",
            {{"why", (*said)["errors"]}});
    m_hasBundle = said->contains("bundle");
    const std::string& text = (*said)["free"];
    std::uint64_t free = 0;
    constexpr std::uint64_t kKib = 1024;
    const bool isKnown = std::from_chars(text.data(), text.data() + text.size(), free).ec == std::errc();
    const std::uint64_t needed = m_needs.freeBytes + (m_hasBundle ? 0 : bundle.tar.size());
    if (isKnown && free < needed / kKib)
        return fail<"remote.no_space", "only {free} are free there; at least {needed} are needed">(
            Error::Code::NoSpace, m_host.name() + ":" + m_root, "delete files there, or set XDG_CACHE_HOME there",
            {{"free", static_cast<double>(free * kKib), profiler::bytesText(free * kKib)},
             {"needed", static_cast<double>(needed), profiler::bytesText(needed)}});
    if (m_needs.command.empty() || said->contains("command"))
        return {};
    if (std::filesystem::path(m_needs.command).filename().string().starts_with("python"))
        return fail<"remote.no_python", "there is no {program} on the other machine">(
            Error::Code::NotFound, m_host.name(),
            "specify its path, or add its folder: --env PATH=…; ssh does not read the files that a login reads",
            {{"program", m_needs.command}});
    return fail<"remote.no_command", "command not found on the other machine">(
        Error::Code::NotFound, m_needs.command, "specify its path, or set PATH with --env; see --host-folder");
}

Result<void> Setup::upload(const RemoteBundle& bundle, const std::string& folder) const
{
    // Two uploads at a time do not meet, and an interrupted one leaves nothing that looks complete.
    const auto said = ask("part=" + shellWord(folder) +
                              ".$$; trap 'rm -rf \"$part\"' EXIT; mkdir -p \"$part\" && tar -xf - -C \"$part\" "
                              "&& : > \"$part/complete\" && { mv \"$part\" " +
                              shellWord(folder) +
                              " 2> /dev/null || :; }\n"
                              "[ -e " +
                              shellWord(folder + "/complete") +
                              " ] && echo '@stepscope uploaded yes' || echo '@stepscope uploaded no'",
                          bundle.tar);
    if (!said)
        return tl::unexpected(said.error());
    const auto uploaded = said->find("uploaded");
    if (uploaded != said->end() && uploaded->second == "yes")
        return {};
    return fail<"remote.upload", "the recording part cannot be stored there: {why}">(
        Error::Code::Io, m_host.name() + ":" + folder, "it needs tar, and space on the disk",
        {{"why", said->at("errors")}});
}

/// A C library that is older than that of this machine is noticed here, not in the middle of a recording.
Result<void> Setup::check(const std::string& program) const
{
    const auto said = ask(shellWord(program) + " --version > /dev/null && echo '@stepscope runs yes' || echo "
                                               "'@stepscope runs no'");
    if (!said)
        return tl::unexpected(said.error());
    const auto runs = said->find("runs");
    if (runs != said->end() && runs->second == "yes")
        return {};
    return fail<"remote.cannot_run", "this installation's recording part does not run there: {why}">(
        Error::Code::Unsupported, m_host.name(), "install Stepscope there, and use it there",
        {{"why", said->at("errors")}});
}

} // namespace

std::string shellWord(const std::string& word)
{
    return commandLine({word});
}

Error unreachable(const RemoteHost& host, const RemoteHost::Ran& ran)
{
    const std::string why = lastLine(ran.errors);
    return profiler::makeError<"remote.unreachable", "the other machine cannot be reached: {why}">(
        Error::Code::Unavailable, host.name(), "check that this works without Stepscope",
        {{"why", why.empty() ? fmt::format("exit status {}", ran.end.shellStatus()) : why}});
}

std::string newRemoteJob(const RemoteProgram& program)
{
    std::random_device random;
    return fmt::format("{}/jobs/{:08x}{:08x}", program.root, random(), random());
}

Result<RemoteProgram> setUpRemoteProgram(const RemoteHost& host, const RemoteNeeds& needs,
                                         const std::function<void(std::uint64_t)>& uploading,
                                         const RemoteHost::GoesOn& goesOn)
{
    return Setup(host, needs, goesOn).run(uploading);
}

} // namespace advisor::runner
