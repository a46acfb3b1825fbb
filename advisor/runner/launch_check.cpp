#include "advisor/runner/launch_check.h"

#include "profiler/os/files.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

namespace advisor::runner {

namespace {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::message;
using Field = LaunchProblem::Field;

bool isVariableName(std::string_view name)
{
    const auto isLetter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; };
    return !name.empty() && isLetter(static_cast<unsigned char>(name.front())) &&
           std::all_of(name.begin(), name.end(), [&](unsigned char c) { return isLetter(c) || std::isdigit(c) != 0; });
}

void checkEnvironment(const Launch& launch, std::vector<LaunchProblem>& problems)
{
    std::set<std::string> names;
    for (const std::string& entry : launch.environment) {
        const std::size_t equals = entry.find('=');
        const std::string name = entry.substr(0, equals);
        if (equals == std::string::npos || equals == 0)
            problems.push_back(
                {Field::Environment, Error::Code::Invalid,
                 message<"launch.environment.form", "The environment entry {entry} is not of the form NAME=VALUE">(
                     {{"entry", entry}}),
                 entry, "write one assignment per line, for example OMP_NUM_THREADS=4"});
        else if (!isVariableName(name))
            problems.push_back(
                {Field::Environment, Error::Code::Invalid,
                 message<"launch.environment.name", "{name} is not a valid variable name">({{"name", name}}), entry,
                 "use letters, digits and underscores; the first character must not be a digit"});
        else if (!names.insert(name).second)
            problems.push_back(
                {Field::Environment, Error::Code::Invalid,
                 message<"launch.environment.twice", "The variable {name} is set twice">({{"name", name}}), entry,
                 "remove one of the two"});
        else if (name.starts_with("STEPSCOPE_"))
            problems.push_back(
                {Field::Environment, Error::Code::Invalid,
                 message<"launch.environment.reserved", "Stepscope sets {name} itself">({{"name", name}}), entry,
                 "choose another name"});
    }
}

void checkFolder(const Launch& launch, std::vector<LaunchProblem>& problems)
{
    std::error_code failed;
    const auto add = [&](Error::Code code, profiler::Message what, const char* hint) {
        problems.push_back({Field::Folder, code, std::move(what), launch.folder.string(), hint});
    };
    if (!fs::exists(launch.folder, failed))
        add(Error::Code::NotFound, message<"launch.folder.missing", "The working directory does not exist">(),
            "choose the folder in which to run the command");
    else if (!fs::is_directory(launch.folder, failed))
        add(Error::Code::Invalid, message<"launch.folder.file", "The working directory is not a folder">(),
            "choose the folder in which to run the command");
    else if (!profiler::os::canExecute(launch.folder))
        add(Error::Code::Permission, message<"launch.folder.permission", "The working directory is not accessible">(),
            "choose a folder that you have access to");
}

/// The value that the command will see.
std::string variable(const Launch& launch, std::string_view name)
{
    for (const std::string& entry : launch.environment)
        if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
            return entry.substr(name.size() + 1);
    const char* value = std::getenv(std::string(name).c_str());
    return value ? value : "";
}

/// Finds a program like execvp(3): the first executable file of that name in PATH, else the first file of that name.
std::optional<fs::path> findProgram(const Launch& launch, const std::string& program)
{
    std::error_code failed;
    if (program.find('/') != std::string::npos) {
        const fs::path path = launch.folder / program;
        return fs::exists(path, failed) ? std::optional(path) : std::nullopt;
    }
    std::optional<fs::path> found;
    const std::string path = variable(launch, "PATH");
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find(':', at), path.size());
        const fs::path candidate = launch.folder / path.substr(at, end - at) / program;
        if (fs::is_regular_file(candidate, failed)) {
            if (profiler::os::canExecute(candidate))
                return candidate;
            found = found ? found : candidate;
        }
        at = end + 1;
    }
    return found;
}

/// Index of the program after a leading `env` and its assignments; no value if env has options that change more.
std::optional<std::size_t> programBehindEnv(const std::vector<std::string>& words)
{
    if (words.empty() || fs::path(words[0]).filename() != "env")
        return 0;
    std::size_t at = 1;
    while (at < words.size() && words[at].find('=') != std::string::npos && words[at].front() != '-')
        ++at;
    return at < words.size() && words[at].front() != '-' ? std::optional(at) : std::nullopt;
}

bool isPython(std::string_view program)
{
    return (program.starts_with("python") || program.starts_with("pypy")) &&
           program.find('-') == std::string_view::npos;
}

/// Programs that start Python with the script among their arguments: `torchrun --nproc-per-node 2 train.py`.
bool isLauncher(const std::vector<std::string>& words, std::size_t program)
{
    const std::string name = fs::path(words[program]).filename().string();
    const auto argument = [&](std::size_t n) { return program + n < words.size() ? words[program + n] : ""; };
    if (isPython(name))
        return argument(1) == "-m" &&
               (argument(2) == "torch.distributed.run" || argument(2) == "torch.distributed.launch");
    if (name == "accelerate")
        return argument(1) == "launch";
    if (name == "uv" || name == "conda" || name == "poetry" || name == "pdm")
        return argument(1) == "run";
    constexpr std::string_view kLaunchers[] = {"torchrun", "deepspeed", "srun", "mpirun", "horovodrun"};
    return std::find(std::begin(kLaunchers), std::end(kLaunchers), name) != std::end(kLaunchers);
}

/// The script that an interpreter or a launcher runs; no value if it runs a module, a command line or its standard
/// input. Launchers have too many options to know which of them take a value, so their script is the first word that
/// ends in .py.
std::optional<std::string> scriptOf(const std::vector<std::string>& words, std::size_t program)
{
    if (isLauncher(words, program)) {
        const auto script = std::find_if(words.begin() + static_cast<std::ptrdiff_t>(program) + 1, words.end(),
                                         [](const std::string& word) { return word.ends_with(".py"); });
        return script == words.end() || script->front() == '-' ? std::nullopt : std::optional(*script);
    }
    const std::string name = fs::path(words[program]).filename().string();
    constexpr std::string_view kShells[] = {"sh", "bash", "dash", "zsh"};
    const bool python = isPython(name);
    if (!python && std::find(std::begin(kShells), std::end(kShells), name) == std::end(kShells))
        return std::nullopt;
    for (std::size_t at = program + 1; at < words.size(); ++at) {
        const std::string& word = words[at];
        if (word == "-" || word == "--")
            return std::nullopt;
        if (word.empty() || word.front() != '-')
            return word;
        if (word.starts_with("--"))
            continue;
        if (word.find_first_of(python ? "cm" : "cs") != std::string::npos)
            return std::nullopt;
        const char last = word.back();
        if (python ? last == 'W' || last == 'X' : last == 'o' || last == 'O')
            ++at; // value of the option
    }
    return std::nullopt;
}

/// The module after `-m`; no value if the command runs something else.
std::optional<std::string> moduleOf(const std::vector<std::string>& words, std::size_t program)
{
    const bool python = isPython(fs::path(words[program]).filename().string());
    const bool launches = isLauncher(words, program);
    if (!python && !launches)
        return std::nullopt;
    // A launcher that is itself a module follows its own `-m`.
    for (std::size_t at = program + (python && launches ? 3 : 1); at + 1 < words.size(); ++at) {
        if (words[at] == "-m" || (launches && words[at] == "--module"))
            return words[at + 1];
        if (!launches && (!words[at].starts_with('-') || words[at].starts_with("-c")))
            return std::nullopt;
    }
    return std::nullopt;
}

void checkCommand(const Launch& launch, std::vector<LaunchProblem>& problems)
{
    const auto add = [&](Error::Code code, profiler::Message what, std::string where, std::string hint) {
        problems.push_back({Field::Command, code, std::move(what), std::move(where), std::move(hint)});
    };
    if (launch.words.empty() || launch.words.front().empty())
        return add(Error::Code::Invalid, message<"launch.command.missing", "There is no command">(), {},
                   "enter one, for example python train.py");
    std::error_code failed;
    const std::size_t inner = programBehindEnv(launch.words).value_or(0);
    for (const std::size_t at : inner == 0 ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, inner}) {
        const std::string& program = launch.words[at];
        const auto found = findProgram(launch, program);
        if (!found)
            return add(Error::Code::NotFound, message<"launch.command.not_found", "command not found">(), program,
                       "check its name, or specify its path");
        if (fs::is_directory(*found, failed))
            return add(Error::Code::Invalid, message<"launch.command.folder", "the command is a folder">(), program,
                       "specify a program in the folder");
        if (!profiler::os::canExecute(*found))
            return add(Error::Code::Permission, message<"launch.command.permission", "the command is not executable">(),
                       program, "make it executable (chmod +x), or start it with an interpreter: python " + program);
    }
    const auto script = scriptOf(launch.words, inner);
    if (!script)
        return;
    const fs::path path = launch.folder / *script;
    const std::string hint = "check its name and the working directory";
    const bool isModuleFolder = fs::is_directory(path, failed) && fs::exists(path / "__main__.py", failed);
    if (!fs::exists(path, failed))
        add(Error::Code::NotFound, message<"launch.script.missing", "the script does not exist">(), path.string(),
            hint);
    else if (fs::is_directory(path, failed) && !isModuleFolder)
        add(Error::Code::Invalid, message<"launch.script.folder", "the script is a folder">(), path.string(), hint);
    else if (!profiler::os::canRead(path))
        add(Error::Code::Permission, message<"launch.script.permission", "the script is not readable">(), path.string(),
            "change its permissions");
}

} // namespace

std::vector<LaunchProblem> checkLaunch(const Launch& launch)
{
    std::vector<LaunchProblem> problems;
    checkFolder(launch, problems);
    checkEnvironment(launch, problems);
    if (problems.empty()) // if the folder or PATH is wrong, an error about the command would be misleading
        checkCommand(launch, problems);
    return problems;
}

std::string programName(const std::vector<std::string>& command)
{
    if (command.empty())
        return {};
    const std::size_t program = programBehindEnv(command).value_or(0);
    if (const auto script = scriptOf(command, program))
        return fs::path(*script).filename().string();
    if (const auto module = moduleOf(command, program))
        return *module;
    return fs::path(command[program]).filename().string();
}

} // namespace advisor::runner
