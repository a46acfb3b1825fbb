#include "app/terminal/remote_command.h"

#include "advisor/runner/remote_answer.h"
#include "advisor/runner/remote_host.h"
#include "advisor/runner/remote_setup.h"
#include "app/terminal/inputs.h"
#include "app/terminal/interrupt.h"
#include "profiler/model/number_text.h"
#include "profiler/os/files.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iostream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace app::terminal {

namespace {

namespace fs = std::filesystem;
namespace runner = advisor::runner;
using profiler::Error;
using runner::RemoteHost;

/// A command that can run on another machine.
struct Reader {
    std::string_view name;
    std::string_view written; ///< the option with the file that it writes; empty: it prints its answer
};
constexpr std::array<Reader, 9> kReaders{{{"summarize", ""},
                                          {"advise", ""},
                                          {"lines", ""},
                                          {"query", ""},
                                          {"calls", ""},
                                          {"watch", ""},
                                          {"diff", "--junit"},
                                          {"report", "--output"},
                                          {"convert", "OUT"}}};

constexpr const char* kHost = "--host";
constexpr const char* kThrough = "--through";
constexpr const char* kFolder = "--host-folder";
/// A script is one argument of sh, and Linux limits each to 128 KiB.
constexpr std::size_t kLongestWord = 64 << 10;
constexpr std::size_t kMostKept = 1 << 20;

std::string_view writtenBy(const CLI::App& command)
{
    const auto found = std::find_if(kReaders.begin(), kReaders.end(),
                                    [&](const Reader& reader) { return reader.name == command.get_name(); });
    return found == kReaders.end() ? std::string_view() : found->written;
}

/// The words of a parsed command, without its place.
runner::RemoteRequest requestOf(const CLI::App& command)
{
    runner::RemoteRequest request;
    request.words.push_back(command.get_name());
    const std::string_view written = writtenBy(command);
    std::vector<std::string> positionals;
    std::optional<std::size_t> positionalResult;
    for (const CLI::Option* option : command.get_options()) {
        if (option->count() == 0 || option == command.get_help_ptr())
            continue;
        const auto& names = option->get_lnames();
        const bool isWritten = !written.empty() && option->check_name(std::string(written));
        std::vector<std::string> values = option->results();
        if (isWritten) {
            request.result = values.back();
            values = {std::string(runner::kRemoteResult)};
        }
        if (names.empty()) {
            positionalResult = isWritten ? std::optional(positionals.size()) : positionalResult;
            positionals.insert(positionals.end(), values.begin(), values.end());
            continue;
        }
        const std::string name = "--" + names.front();
        if (name == kHost || name == kThrough || name == kFolder)
            continue;
        const bool isFlag = option->get_expected_max() == 0;
        if (isWritten)
            request.resultWord = request.words.size();
        for (const std::string& value : values)
            request.words.push_back(isFlag ? name : fmt::format("{}={}", name, value));
    }
    request.words.emplace_back("--");
    if (positionalResult)
        request.resultWord = request.words.size() + *positionalResult;
    request.words.insert(request.words.end(), positionals.begin(), positionals.end());
    return request;
}

/// Replaces "-" for the SQL text by what standard input contains.
void readSql(const CLI::App& command, runner::RemoteRequest& request)
{
    if (command.get_name() == "query" && request.words.back() == "-")
        request.words.back().assign(std::istreambuf_iterator<char>(std::cin), {});
}

/// Wrong usage, and what is noticed here before anything is sent.
std::optional<Error> wrongIn(const runner::RemoteRequest& request)
{
    for (const std::string& word : request.words)
        if (word.size() > kLongestWord || word.find('\0') != std::string::npos)
            return profiler::makeError<"remote.long_word", "an argument is too long to be sent to another machine">(
                Error::Code::Invalid, word.substr(0, 40) + "…", "shorten it, or run the command there");
    std::error_code failed;
    const fs::path parent = fs::absolute(request.result, failed).parent_path();
    if (!request.result.empty() && !profiler::os::canWrite(parent))
        return profiler::makeError<"remote.result_folder", "the file cannot be written here">(
            Error::Code::Permission, parent.string(), "name a folder that exists and that you can write to");
    return std::nullopt;
}

/// Output of a command that names the file it has written: with the name that the file has here.
std::string withNameHere(std::string text, const runner::RemoteRequest& request)
{
    // Paths there end with …/jobs/NAME/trace/result.EXTENSION.
    for (std::size_t at = text.find("/trace/result"); at != std::string::npos; at = text.find("/trace/result", at)) {
        constexpr std::string_view kEnds = " \n\t\"'():,";
        const std::size_t before = text.find_last_of(kEnds, at);
        const std::size_t begin = before == std::string::npos ? 0 : before + 1;
        const std::size_t end = std::min(text.find_first_of(kEnds, at), text.size());
        text.replace(begin, end - begin, request.result.string());
        at = begin + request.result.string().size();
    }
    return text;
}

} // namespace

void addRemotePlace(CLI::App& command, RemotePlace& place, const std::string& hostHelp)
{
    CLI::Option* host = command.add_option(kHost, place.host, hostHelp)->type_name("HOST");
    CLI::Option* through =
        command
            .add_option(kThrough, place.through,
                        "Like --host, but with a prefix for the commands that run there: 'docker exec -i NAME', "
                        "'srun --jobid N', 'kubectl exec -i POD --'")
            ->type_name("PREFIX")
            ->excludes(host);
    command
        .add_option_function<std::string>(
            kFolder,
            [&place, host, through](const std::string& folder) {
                if (host->count() == 0 && through->count() == 0)
                    throw CLI::ValidationError("--host-folder requires --host or --through");
                place.folder = folder;
            },
            "Working directory there (default: that of the shell, usually the home folder)")
        ->type_name("FOLDER");
}

void addRemoteReaders(CLI::App& app, RemotePlace& place)
{
    for (const Reader& reader : kReaders)
        addRemotePlace(*app.get_subcommand(std::string(reader.name)), place,
                       "Run the command on this machine, over ssh, next to the traces that it reads: as ssh names it, "
                       "with your keys, agent and ~/.ssh/config. Only the answer is sent back");
}

profiler::Result<RemoteHost> hostOf(const RemotePlace& place)
{
    return place.host ? RemoteHost::overSsh(*place.host) : RemoteHost::through(place.through.value_or(""));
}

int runRemotely(const CLI::App& command, const RemotePlace& place, const Streams& streams)
{
    const std::string prefix = "stepscope-cli " + command.get_name() + ": ";
    const auto failed = [&](const Error& error, int status = kBadInput) {
        streams.err << prefix << error.message() << '\n';
        return error.code == Error::Code::Cancelled ? kInterrupted : status;
    };
    catchInterrupts();
    auto host = hostOf(place);
    if (!host)
        return failed(host.error(), kWrongUsage);
    runner::RemoteRequest request = requestOf(command);
    readSql(command, request);
    if (const auto wrong = wrongIn(request))
        return failed(*wrong);
    request.folder = place.folder;
    request.goesOn = [] { return interrupts() == 0; };
    const auto program = runner::setUpRemoteProgram(
        *host, {.folder = place.folder, .environment = {}, .command = {}},
        [&](std::uint64_t bytes) {
            streams.err << fmt::format("{}uploading Stepscope's program ({}) to {}\n", prefix,
                                       profiler::bytesText(bytes), host->name());
        },
        request.goesOn);
    if (!program)
        return failed(program.error());
    std::string kept; // of a command that writes a file: its output names it
    const bool isKept = !request.result.empty();
    request.output = [&](std::string_view text) {
        if (isKept && kept.size() < kMostKept)
            kept += text;
        else if (!isKept)
            streams.out << text;
    };
    request.errors = [&](std::string_view text) { streams.err << text << std::flush; };
    ProgressLine line("Receiving " + request.result.filename().string());
    request.received = [&](double share) { line.show(share); };
    const auto status = runner::askRemote(*host, *program, request);
    streams.out << withNameHere(kept, request);
    return status ? *status : failed(status.error());
}

} // namespace app::terminal
