#include "advisor/runner/machine_check.h"

#include "advisor/advice.h"
#include "advisor/experiment/trainer_process.h"
#include "advisor/runner/child_process.h"
#include "advisor/runner/shell_words.h"
#include "advisor/runner/workspace.h"
#include "profiler/os/files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

namespace advisor::runner {

namespace {

namespace fs = std::filesystem;
using profiler::Message;
using profiler::message;
using State = MachineCheck::State;
using Checks = std::vector<MachineCheck>;

// Starting an interpreter from a cold network disk takes seconds; a hanging driver must not hang the report.
constexpr change::ToolLimits kProbe{.time = std::chrono::seconds(10), .bytes = 1 << 20};
// libcupti.so.12 belongs to CUDA 12.0, which needs this driver (CUDA Toolkit release notes, table 3).
constexpr int kOldestDriver = 525;
// The CUDA 13 libraries of the pinned LibTorch need this driver (same source).
constexpr int kOldestTrainerDriver = 580;
// The range with which the hooks were tested; resources/python/stepscope/hooks.py warns outside of it.
constexpr std::pair<int, int> kOldestPython{3, 9}, kNewestPython{3, 14}, kOldestTorch{2, 4}, kNewestTorch{2, 15};
// A minute of a small model with operators takes about 100 MB; a private view needs as much again.
constexpr std::uintmax_t kLittleDisk = std::uintmax_t{1} << 30, kNoDisk = std::uintmax_t{100} << 20;

std::string textOf(const fs::path& file)
{
    return profiler::os::readFile(file, 1 << 20).value_or(std::string());
}

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// "2.11.0+cu130" → 2, 11; 0, 0 if it does not begin with two numbers.
std::pair<int, int> versionOf(std::string_view text)
{
    std::pair<int, int> version{0, 0};
    const char* const end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, version.first);
    if (major.ec == std::errc() && major.ptr != end && *major.ptr == '.')
        std::from_chars(major.ptr + 1, end, version.second);
    return version;
}

/// Its standard output only.
profiler::Result<change::ToolOutput> answerOf(const fs::path& program, std::vector<std::string> arguments)
{
    ChildCommand command;
    command.program = program;
    command.arguments = std::move(arguments);
    command.joinErrors = false;
    return change::runTool(command, kProbe);
}

std::string firstLine(std::string_view text)
{
    return std::string(text.substr(0, text.find('\n')));
}

void checkProgram(Checks& checks)
{
    const auto library = findNearProgram({"../lib/libstepscope_inject.so", "../lib/stepscope/libstepscope_inject.so"},
                                         "the injection library");
    const auto hooks = findPythonHooks();
    if (library && hooks)
        checks.push_back({"program", State::Works, message<"doctor.program", "The installation is complete">(), {}});
    else
        checks.push_back({"program", State::Missing, (library ? hooks.error() : library.error()).what,
                          (library ? hooks.error() : library.error()).hint});
}

void checkTrainer(Checks& checks)
{
    if (const auto trainer = findTrainer())
        checks.push_back(
            {"trainer",
             State::Works,
             message<"doctor.trainer", "Stepscope's own trainer is installed: {path}">({{"path", trainer->string()}}),
             {}});
    else
        checks.push_back(
            {"trainer", State::Limited,
             message<"doctor.no_trainer",
                     "Stepscope's own trainer is not installed; Python programs and traces do not need it">(),
             commandForTrainer()});
}

/// Whether the PCI bus has an NVIDIA display controller.
bool hasNvidiaDevice(const fs::path& root)
{
    std::error_code failed;
    for (const auto& device : fs::directory_iterator(root / "sys/bus/pci/devices", failed))
        if (textOf(device.path() / "vendor").starts_with("0x10de") &&
            textOf(device.path() / "class").starts_with("0x03"))
            return true;
    return false;
}

bool isContainer(const fs::path& root)
{
    std::error_code failed;
    return fs::exists(root / ".dockerenv", failed) || fs::exists(root / "run/.containerenv", failed);
}

MachineCheck withoutDriver(const fs::path& root)
{
    if (isContainer(root))
        return {
            "gpu", State::Limited,
            message<"doctor.gpu.container", "No GPU is visible in this container: programs are recorded on the CPU">(),
            "start the container with --gpus all (it needs the NVIDIA Container Toolkit)"};
    if (hasNvidiaDevice(root))
        return {"gpu", State::Limited,
                message<"doctor.gpu.no_driver",
                        "The NVIDIA GPU has no driver, or nvidia-smi is missing: programs are recorded on the CPU">(),
                "sudo apt-get install nvidia-driver"};
    return {"gpu",
            State::Limited,
            message<"doctor.gpu.none", "This machine has no NVIDIA GPU: programs are recorded on the CPU">(),
            {}};
}

/// @param row  "NVIDIA H200, 580.65.06, 9.0"
MachineCheck checkDriver(const std::string& row, std::size_t count)
{
    const std::size_t last = row.rfind(", "),
                      first = row.rfind(", ", last == row.npos || last == 0 ? row.npos : last - 1);
    if (last == row.npos || first == row.npos || first >= last)
        return {"gpu", State::Limited,
                message<"doctor.gpu.unknown", "nvidia-smi prints something unexpected: {text}">({{"text", row}}),
                "update the NVIDIA driver"};
    const std::string name = row.substr(0, first), driver = row.substr(first + 2, last - first - 2);
    const int major = versionOf(driver).first;
    if (major < kOldestDriver)
        return {"gpu", State::Limited,
                message<"doctor.gpu.driver_too_old",
                        "Driver {driver} of {gpu} is too old to record GPU work: {oldest} or later is needed">(
                    {{"driver", driver}, {"gpu", name}, {"oldest", kOldestDriver}}),
                "update the NVIDIA driver"};
    if (major < kOldestTrainerDriver)
        return {
            "gpu", State::Limited,
            message<
                "doctor.gpu.trainer_driver",
                "GPU work of {gpu} is recorded; Stepscope's own trainer needs driver {oldest}, and this is {driver}">(
                {{"driver", driver}, {"gpu", name}, {"oldest", kOldestTrainerDriver}}),
            "update the NVIDIA driver"};
    return {"gpu",
            State::Works,
            message<"doctor.gpu", "{count} {count|GPU|GPUs}: {gpu}, driver {driver}">(
                {{"count", static_cast<std::int64_t>(count)}, {"gpu", name}, {"driver", driver}}),
            {}};
}

void checkGpu(Checks& checks, const fs::path& root)
{
    auto program = change::findTool("nvidia-smi");
    if (!program)
        program = change::findTool((root / "usr/lib/wsl/lib/nvidia-smi").string()); // not in the PATH of WSL's services
    if (!program) {
        checks.push_back(withoutDriver(root));
        return;
    }
    const auto said = answerOf(*program, {"--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"});
    if (!said || said->status != 0) {
        checks.push_back({"gpu", State::Limited,
                          message<"doctor.gpu.failed", "The NVIDIA driver does not work: {why}">(
                              {{"why", said ? firstLine(said->text) : said.error().what.text}}),
                          "reinstall the NVIDIA driver, or restart the machine if it was just updated"});
        return;
    }
    const auto rows = static_cast<std::size_t>(std::count(said->text.begin(), said->text.end(), '\n'));
    checks.push_back(checkDriver(firstLine(said->text), std::max<std::size_t>(rows, 1)));
    const bool isRestricted =
        textOf(root / "proc/driver/nvidia/params").find("RmProfilingAdminOnly: 1") != std::string::npos;
    const bool isAdministrator = textOf(root / "proc/self/status").find("\nUid:\t0\t0\t") != std::string::npos;
    if (!isRestricted || isAdministrator)
        checks.push_back({"gpu_counters",
                          State::Works,
                          message<"doctor.gpu_counters", "CUPTI may profile the GPU for this user">(),
                          {}});
    else
        checks.push_back(
            {"gpu_counters", State::Limited,
             message<"doctor.gpu_counters.restricted", "The driver allows GPU profiling only for administrators; some "
                                                       "drivers then refuse to record kernels">(),
             "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
             "/etc/modprobe.d/nvidia-profiling.conf, then restart the machine"});
}

/// The interpreters that a user probably means, each once.
std::vector<fs::path> interpreters()
{
    std::vector<fs::path> found;
    std::vector<fs::path> prefixes;
    const auto add = [&](const fs::path& path) {
        std::error_code failed;
        const fs::path prefix = fs::weakly_canonical(path.parent_path(), failed);
        if (profiler::os::canExecute(path) && std::find(prefixes.begin(), prefixes.end(), prefix) == prefixes.end()) {
            prefixes.push_back(prefix);
            found.push_back(path);
        }
    };
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
        if (const std::string prefix = variable(name); !prefix.empty())
            add(fs::path(prefix) / "bin/python");
    for (const char* name : {"python3", "python"})
        if (const auto path = change::findTool(name))
            add(*path);
    return found;
}

// Without importing torch, which takes seconds, and without files of the current folder.
constexpr const char* kDescribe = R"(
import sys
del sys.path[0]
import json, os, platform
from importlib import metadata
facts = {"python": platform.python_version(), "torch": "", "cupti": ""}
try:
    torch = metadata.distribution("torch")
    facts["torch"] = torch.version
    for name in ("nvidia/cu13/lib/libcupti.so.13", "nvidia/cuda_cupti/lib/libcupti.so.12"):
        if os.path.exists(str(torch.locate_file(name))):
            facts["cupti"] = name
except metadata.PackageNotFoundError:
    pass
print(json.dumps(facts)))";

struct Interpreter {
    std::string path, version, torch, cupti;
    [[nodiscard]] bool hasTorch() const { return !torch.empty(); }
};

std::optional<Interpreter> describe(const fs::path& path)
{
    const auto said = answerOf(path, {"-c", kDescribe});
    if (!said || said->status != 0)
        return std::nullopt;
    const auto json = nlohmann::json::parse(said->text, nullptr, false);
    if (!json.is_object())
        return std::nullopt;
    return Interpreter{path.string(), json.value("python", ""), json.value("torch", ""), json.value("cupti", "")};
}

/// Versions of PyTorch whose library for operators is installed, ascending. resources/python/stepscope/operators.py
/// looks for it next to the injection library.
std::vector<std::string> versionsWithOperators()
{
    constexpr std::string_view kBefore = "stepscope_ops_torch_", kAfter = ".so";
    std::vector<std::string> versions;
    const auto library = findNearProgram({"../lib/libstepscope_inject.so", "../lib/stepscope/libstepscope_inject.so"},
                                         "the injection library");
    if (!library)
        return versions;
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator(library->parent_path(), failed))
        if (const std::string name = entry.path().filename(); name.starts_with(kBefore) && name.ends_with(kAfter))
            versions.push_back(name.substr(kBefore.size(), name.size() - kBefore.size() - kAfter.size()));
    std::sort(versions.begin(), versions.end(), [](const std::string& a, const std::string& b) {
        return std::pair(versionOf(a), a) < std::pair(versionOf(b), b);
    });
    return versions;
}

/// @param isNeeded  whether no interpreter has PyTorch
MachineCheck checkInterpreter(const Interpreter& python, bool isNeeded)
{
    const std::string pip = commandLine({python.path}) + " -m pip install ";
    if (!python.hasTorch())
        return {"torch", isNeeded ? State::Limited : State::Works,
                message<"doctor.no_torch", "{python} (Python {version}) has no PyTorch">(
                    {{"python", python.path}, {"version", python.version}}),
                isNeeded ? pip + "torch" : std::string()};
    if (versionOf(python.torch) < kOldestTorch || versionOf(python.version) < kOldestPython)
        return {"torch", State::Limited,
                message<"doctor.torch.too_old", "{python} has Python {version} and PyTorch {torch}; the hooks need "
                                                "Python 3.9 and PyTorch 2.4 or later">(
                    {{"python", python.path}, {"version", python.version}, {"torch", python.torch}}),
                versionOf(python.version) < kOldestPython ? "create an environment with a newer Python"
                                                          : pip + "--upgrade torch"};
    if (versionOf(python.torch) > kNewestTorch || versionOf(python.version) > kNewestPython)
        return {"torch",
                State::Limited,
                message<"doctor.torch.too_new",
                        "{python} has Python {version} and PyTorch {torch}, which are newer than the tested ones">(
                    {{"python", python.path}, {"version", python.version}, {"torch", python.torch}}),
                {}};
    const std::vector<std::string> fitting = versionsWithOperators();
    if (std::find(fitting.begin(), fitting.end(), python.torch.substr(0, python.torch.find('+'))) != fitting.end())
        return {"torch",
                State::Works,
                message<"doctor.torch", "{python} has PyTorch {torch}; operators are recorded by Stepscope's own hook">(
                    {{"python", python.path},
                     {"version", python.version},
                     {"torch", python.torch},
                     {"cupti", python.cupti}}),
                {}};
    return {
        "torch",
        State::Works,
        message<
            "doctor.torch.profiler",
            "{python} has PyTorch {torch}; operators are recorded by PyTorch's profiler, which costs more. Stepscope's "
            "own hook is installed for: {fitting}">(
            {{"python", python.path},
             {"version", python.version},
             {"torch", python.torch},
             {"cupti", python.cupti},
             {"fitting", fitting.empty() ? "no version" : fmt::format("{}", fmt::join(fitting, ", "))}}),
        {}};
}

void checkTorch(Checks& checks)
{
    std::vector<Interpreter> described;
    for (const fs::path& path : interpreters())
        if (auto interpreter = describe(path))
            described.push_back(std::move(*interpreter));
    const bool isNeeded =
        std::none_of(described.begin(), described.end(), [](const auto& python) { return python.hasTorch(); });
    for (const Interpreter& python : described)
        checks.push_back(checkInterpreter(python, isNeeded));
    if (described.empty())
        checks.push_back(
            {"torch", State::Limited,
             message<"doctor.no_python", "No Python interpreter is in PATH, VIRTUAL_ENV or CONDA_PREFIX">(),
             "activate the environment of your program"});
}

/// The command that allows what a private view needs.
std::string commandForViews(const fs::path& root)
{
    const fs::path settings = root / "proc/sys";
    if (isContainer(root))
        return "start the container with --cap-add SYS_ADMIN, or use --isolation copy";
    if (textOf(settings / "kernel/apparmor_restrict_unprivileged_userns").starts_with("1"))
        return "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0";
    if (textOf(settings / "kernel/unprivileged_userns_clone").starts_with("0"))
        return "sudo sysctl kernel.unprivileged_userns_clone=1";
    if (textOf(settings / "user/max_user_namespaces").starts_with("0"))
        return "sudo sysctl user.max_user_namespaces=10000";
    return "use --isolation copy";
}

void checkViews(Checks& checks, const fs::path& root)
{
    const auto allowed = checkPrivateViews();
    if (allowed)
        checks.push_back(
            {"private_views",
             State::Works,
             message<"doctor.private_views", "Measured programs run in a private view of the file system">(),
             {}});
    else
        checks.push_back({"private_views", State::Limited, allowed.error().what, commandForViews(root)});
}

void checkDisk(Checks& checks, const fs::path& folder)
{
    std::error_code failed;
    const auto space = fs::space(folder, failed);
    if (failed) {
        checks.push_back({"disk", State::Missing,
                          message<"doctor.disk.unknown", "The free space of {folder} cannot be read: {why}">(
                              {{"folder", folder.string()}, {"why", failed.message()}}),
                          "run this in a folder that exists"});
        return;
    }
    const auto bytes = static_cast<double>(space.available);
    if (space.available < kLittleDisk)
        checks.push_back({"disk", space.available < kNoDisk ? State::Missing : State::Limited,
                          message<"doctor.disk.full", "{folder} has only {free} free">(
                              {{"folder", folder.string()}, {"free", bytes, bytesText(bytes)}}),
                          "write traces to another disk: -o FOLDER/run.sstrace"});
    else
        checks.push_back({"disk",
                          State::Works,
                          message<"doctor.disk", "{folder} has {free} free">(
                              {{"folder", folder.string()}, {"free", bytes, bytesText(bytes)}}),
                          {}});
}

void checkDisplay(Checks& checks)
{
    for (const char* name : {"WAYLAND_DISPLAY", "DISPLAY"})
        if (const std::string display = variable(name); !display.empty()) {
            checks.push_back(
                {"display",
                 State::Works,
                 message<"doctor.display", "The app opens on the display {display}">({{"display", display}}),
                 {}});
            return;
        }
    checks.push_back({"display", State::Limited,
                      message<"doctor.no_display", "No display: the app cannot open; stepscope-cli works">(),
                      "connect with ssh -X, or open the traces on another machine"});
}

} // namespace

std::string_view stateName(State state)
{
    constexpr std::array<std::string_view, 3> kNames = {"works", "limited", "missing"};
    return kNames[static_cast<std::size_t>(state)];
}

std::vector<MachineCheck> checkMachine(const MachineCheckOptions& options)
{
    Checks checks;
    checkProgram(checks);
    checkTrainer(checks);
    checkGpu(checks, options.root);
    checkTorch(checks);
    checkViews(checks, options.root);
    checkDisk(checks, options.folder);
    checkDisplay(checks);
    return checks;
}

} // namespace advisor::runner
