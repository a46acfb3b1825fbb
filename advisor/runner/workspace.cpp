#include "advisor/runner/workspace.h"

#include "profiler/os/connections.h"
#include "profiler/os/files.h"
#include "profiler/os/process.h"
#include "profiler/os/process_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

namespace advisor::runner {

namespace {

namespace fs = std::filesystem;
namespace os = profiler::os;
using profiler::Error;
using profiler::Result;
using profiler::os::PrivateView;

fs::path programFolder()
{
    if (const char* folder = std::getenv("STEPSCOPE_PROGRAMS"); folder && *folder)
        return folder;
    std::error_code failed;
    const auto program = fs::read_symlink("/proc/self/exe", failed);
    return failed ? fs::path() : program.parent_path();
}

void putInFront(EnvironmentVariables& environment, const std::string& name, const std::string& value)
{
    std::string& list = environment[name];
    list = list.empty() ? value : value + ":" + list;
}

// System folders: programs do not write there, or need the real ones (devices, processes).
constexpr std::array kSystemFolders = {"bin",  "boot", "dev",  "etc",  "lib", "lib32", "lib64",     "libx32",
                                       "proc", "run",  "sbin", "snap", "sys", "usr",   "lost+found"};
// Copying a working directory with a dataset would take minutes and fill the user's disk.
constexpr std::uintmax_t kMostCopiedBytes = std::uintmax_t{2} << 30;

bool isInside(const fs::path& path, const fs::path& folder)
{
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

/// @tparam Text ends with the reason: "A folder cannot be created: {why}"
template <profiler::detail::Literal Id, profiler::detail::Literal Text>
Error systemError(int number, const fs::path& where, std::string hint)
{
    const auto code = number == ENOSPC                      ? Error::Code::NoSpace
                      : number == EACCES || number == EPERM ? Error::Code::Permission
                                                            : Error::Code::Io;
    return profiler::makeError<Id, Text>(code, where.string(), std::move(hint),
                                         {{"why", std::generic_category().message(number)}});
}

/// Folders for the files that a program writes, best first. Memory comes last.
std::vector<fs::path> scratchFolders()
{
    std::vector<fs::path> folders;
    for (const char* variable : {"STEPSCOPE_SCRATCH", "XDG_RUNTIME_DIR"})
        if (const char* value = std::getenv(variable); value && *value == '/')
            folders.emplace_back(value);
    // /var/tmp is on a disk, is kept long enough, and is not inside a folder that becomes private.
    folders.insert(folders.begin() + (std::getenv("STEPSCOPE_SCRATCH") ? 1 : 0), "/var/tmp");
    folders.emplace_back("/dev/shm");
    std::erase_if(folders, [](const fs::path& folder) { return !os::canWrite(folder) || !os::canExecute(folder); });
    return folders;
}

/// All folders in which a user's program may write, except those that contain `scratch`.
std::vector<fs::path> privateFolders(const fs::path& folder, const fs::path& scratch)
{
    std::vector<fs::path> folders;
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator("/", failed)) {
        std::error_code ignored;
        const std::string name = entry.path().filename().string();
        const bool isSystem = std::find(kSystemFolders.begin(), kSystemFolders.end(), name) != kSystemFolders.end();
        if (entry.is_directory(ignored) && !entry.is_symlink(ignored) && !isSystem && !isInside(scratch, entry.path()))
            folders.push_back(entry.path());
    }
    if (folder != "/" && !isInside(scratch, folder))
        folders.push_back(folder);
    return folders;
}

Result<fs::path> makeScratch(const fs::path& parent)
{
    auto folder = os::createTemporaryFolder(parent / "stepscope-arm-");
    if (!folder)
        return tl::unexpected(systemError<"workspace.no_folder", "A temporary folder could not be created: {why}">(
            errno, parent, "set STEPSCOPE_SCRATCH to another folder"));
    return std::move(*folder);
}

/// Also removes folders that their owner cannot read, which overlayfs and some programs leave behind.
void removeTree(const fs::path& folder)
{
    std::error_code ignored;
    fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, ignored);
    for (fs::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored)) {
        std::error_code none;
        if (entry->is_directory(none) && !entry->is_symlink(none))
            removeTree(entry->path());
    }
    fs::remove_all(folder, ignored);
}

/// Copies the permissions of `original`, if it exists.
Result<void> writeText(const fs::path& path, const std::string& text, const fs::path& original)
{
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (!(file << text << std::flush))
        return tl::unexpected(systemError<"workspace.unwritten", "A patched file could not be written: {why}">(
            errno, path, "check that the disk has free space"));
    if (const auto status = fs::status(original, failed); !failed && fs::exists(status))
        fs::permissions(path, status.permissions(), failed);
    return {};
}

/// Folders of a layer get the permissions of those below: a merged folder has the permissions of its upper layer.
void copyFolderPermissions(const fs::path& layer, const fs::path& original, const fs::path& scratch)
{
    for (fs::path below = original.parent_path(), above = layer.parent_path();
         above.parent_path().parent_path() != scratch && above.has_relative_path();
         below = below.parent_path(), above = above.parent_path()) {
        std::error_code failed;
        if (const auto status = fs::status(below, failed); !failed && fs::is_directory(status))
            fs::permissions(above, status.permissions(), failed);
    }
}

std::uintmax_t sizeOf(const fs::path& folder)
{
    std::uintmax_t bytes = 0;
    std::error_code failed;
    constexpr auto kOptions = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator entry(folder, kOptions, failed), end; entry != end; entry.increment(failed)) {
        std::error_code ignored;
        if (entry->is_regular_file(ignored) && !entry->is_symlink(ignored))
            bytes += entry->file_size(ignored);
        if (failed || bytes > kMostCopiedBytes)
            break;
    }
    return bytes;
}

/// Enters a private view on `scratch` as a test.
/// @return why that is not possible; empty: it is possible
std::string tryView(const fs::path& scratch)
{
    PrivateView view(privateFolders("/", scratch), scratch);
    if (const int number = view.prepare())
        return std::generic_category().message(number);
    profiler::os::StartFailure failure;
    auto tree = profiler::os::ProcessTree::start(
        {.words = {"true"}, .environment = {"PATH=/usr/bin:/bin"}, .folder = "/", .view = &view}, failure);
    if (tree || failure.stage != profiler::os::StartFailure::Stage::View)
        return {};
    // unshare(2) reports ENOSPC if the limit on namespaces is reached.
    return failure.number == ENOSPC ? "the limit on user namespaces is used up (user.max_user_namespaces)"
                                    : std::generic_category().message(failure.number);
}

/// A folder for layers: a test shows whether its file system supports private views.
Result<fs::path> scratchParent()
{
    Error error = profiler::makeError<"scratch.no_folder", "No folder is available for temporary files">(
        Error::Code::Unavailable, "/var/tmp", "set STEPSCOPE_SCRATCH to a folder on a local disk");
    for (const fs::path& parent : scratchFolders()) {
        const auto scratch = makeScratch(parent);
        if (!scratch)
            continue;
        const std::string why = tryView(*scratch);
        removeTree(*scratch);
        if (why.empty())
            return parent;
        error =
            profiler::makeError<"workspace.no_view", "A private view of the file system could not be created: {why}">(
                Error::Code::Unavailable, parent.string(),
                "run the program in a copy of its folder (--isolation copy) or, if what it writes does no harm, in "
                "place (--isolation in-place)",
                {{"why", why}});
    }
    return tl::unexpected(error);
}

} // namespace

EnvironmentVariables currentEnvironment()
{
    EnvironmentVariables environment;
    for (const std::string& assignment : profiler::os::environment())
        if (const std::size_t equals = assignment.find('='); equals != std::string::npos && equals > 0)
            environment.emplace(assignment.substr(0, equals), assignment.substr(equals + 1));
    return environment;
}

Result<fs::path> findNearProgram(std::initializer_list<const char*> places, std::string_view what)
{
    for (const char* place : places)
        if (const auto path = (programFolder() / place).lexically_normal(); fs::exists(path))
            return path;
    return profiler::fail<"record.incomplete", "{what} is missing">(
        Error::Code::NotFound, programFolder().string(),
        "reinstall Stepscope, or build the target stepscope_inject (it needs the CUDA headers)", {{"what", what}});
}

Result<PythonHooks> findPythonHooks()
{
    const auto startup = findNearProgram({"../share/stepscope/python/startup"}, "the Python module");
    if (!startup)
        return tl::unexpected(startup.error());
    PythonHooks hooks{*startup, {}};
    const auto preload = findNearProgram({"../lib/libstepscope_preload.so", "../lib/stepscope/libstepscope_preload.so"},
                                         "the library for Python's path");
    if (preload && preload->string().find_first_of(": ") == std::string::npos) // separators between its entries
        hooks.preload = *preload;
    return hooks;
}

void addHooks(EnvironmentVariables& environment, const PythonHooks& hooks)
{
    putInFront(environment, "PYTHONPATH", hooks.startup.string());
    environment["STEPSCOPE_PYTHON"] = hooks.startup.string();
    if (!hooks.preload.empty())
        putInFront(environment, "LD_PRELOAD", hooks.preload.string());
}

std::string_view isolationName(Isolation isolation)
{
    switch (isolation) {
    case Isolation::Overlay:
        return "overlay";
    case Isolation::Copy:
        return "copy";
    case Isolation::InPlace:
        break;
    }
    return "in place";
}

void keepServicesPrivate(EnvironmentVariables& environment)
{
    struct Service {
        const char *variable, *offline;
        std::array<std::string_view, 3> off; // values that disable the service
    };
    constexpr std::array<Service, 2> kServices = {{{"WANDB_MODE", "offline", {"disabled", "dryrun", "offline"}},
                                                   {"NEPTUNE_MODE", "offline", {"debug", "disabled", "read-only"}}}};
    for (const Service& service : kServices) {
        std::string& value = environment[service.variable];
        if (std::find(service.off.begin(), service.off.end(), value) == service.off.end())
            value = service.offline;
    }
    environment["COMET_START_ONLINE"] = "0";
    environment["CLEARML_OFFLINE_MODE"] = "1";
    environment["MLFLOW_TRACKING_URI"] = "file:mlruns";
    // Two programs cannot listen on the same port.
    if (const int port = profiler::os::freePort())
        environment["MASTER_PORT"] = environment["PET_MASTER_PORT"] = std::to_string(port);
}

Result<void> checkPrivateViews()
{
    if (const auto parent = scratchParent(); !parent)
        return tl::unexpected(parent.error());
    return {};
}

Result<Workspace> Workspace::make(const fs::path& folder, Isolation isolation,
                                  const std::vector<ReplacedFile>& replaced)
{
    Workspace workspace;
    workspace.m_original = workspace.m_folder = folder;
    Result<void> made;
    if (isolation == Isolation::Overlay)
        made = workspace.makeView(replaced);
    else if (isolation == Isolation::Copy)
        made = workspace.makeCopy(replaced);
    else if (!replaced.empty())
        made = profiler::fail<"workspace.in_place", "A modified file cannot be measured in place">(
            Error::Code::Unsupported, replaced.front().path.string(),
            "run the program in a copy of its folder (--isolation copy)");
    if (!made)
        return tl::unexpected(made.error());
    return workspace;
}

Result<void> Workspace::makeView(const std::vector<ReplacedFile>& replaced)
{
    const auto parent = scratchParent();
    if (!parent)
        return tl::unexpected(parent.error());
    const auto scratch = makeScratch(*parent);
    if (!scratch)
        return tl::unexpected(scratch.error());
    m_scratch = *scratch;
    std::vector<fs::path> folders = privateFolders(m_folder, m_scratch);
    for (const ReplacedFile& file : replaced)
        folders.push_back(file.path.parent_path());
    m_view.emplace(std::move(folders), m_scratch);
    if (const int number = m_view->prepare())
        return tl::unexpected(
            systemError<"workspace.no_view", "A private view of the file system could not be created: {why}">(
                number, m_scratch, "check that the disk has free space"));
    for (const ReplacedFile& file : replaced) {
        const fs::path layer = m_view->layerOf(file.path);
        if (layer.empty())
            return profiler::fail<"workspace.file_outside", "This file cannot be replaced for one arm">(
                Error::Code::Unsupported, file.path.string(), "measure a change of a file in the program's folder");
        if (const auto written = writeText(layer, file.text, file.path); !written)
            return written;
        copyFolderPermissions(layer, file.path, m_scratch);
    }
    return {};
}

Result<void> Workspace::makeCopy(const std::vector<ReplacedFile>& replaced)
{
    if (sizeOf(m_original) > kMostCopiedBytes)
        return profiler::fail<"workspace.too_large", "The working directory is too large to copy">(
            Error::Code::Unsupported, m_original.string(), "run the program in place (--isolation in-place)");
    const auto scratch = makeScratch(fs::temp_directory_path());
    if (!scratch)
        return tl::unexpected(scratch.error());
    m_scratch = *scratch;
    m_folder = m_scratch / m_original.filename();
    std::error_code failed;
    fs::copy(m_original, m_folder, fs::copy_options::recursive | fs::copy_options::copy_symlinks, failed);
    if (failed)
        return tl::unexpected(systemError<"workspace.no_copy", "The working directory could not be copied: {why}">(
            failed.value(), m_original,
            "check that the disk has free space and that you can read all files in the folder"));
    for (const ReplacedFile& file : replaced) {
        if (!isInside(file.path, m_original))
            return profiler::fail<"workspace.not_copied",
                                  "The copy of the program's folder does not contain this file">(
                Error::Code::Unsupported, file.path.string(), "start the program in a folder that contains the file");
        if (const auto written = writeText(inside(file.path.string()), file.text, file.path); !written)
            return written;
    }
    return {};
}

std::string Workspace::inside(const std::string& word) const
{
    if (m_folder == m_original || word.empty() || word.front() != '/' || !isInside(word, m_original))
        return word;
    return (m_folder / fs::path(word).lexically_relative(m_original)).string();
}

Result<fs::path> Workspace::exchange()
{
    if (m_scratch.empty()) {
        const auto scratch = makeScratch(fs::temp_directory_path());
        if (!scratch)
            return scratch;
        m_scratch = *scratch;
    }
    // No view hides its scratch folder.
    const fs::path folder = m_scratch / ".exchange";
    std::error_code failed;
    fs::create_directory(folder, failed);
    if (failed)
        return tl::unexpected(systemError<"workspace.no_folder", "A temporary folder could not be created: {why}">(
            failed.value(), folder, "set STEPSCOPE_SCRATCH to another folder"));
    return folder;
}

Workspace::Workspace(Workspace&& other) noexcept
{
    *this = std::move(other);
}

Workspace& Workspace::operator=(Workspace&& other) noexcept
{
    if (this != &other) {
        remove();
        m_original = std::move(other.m_original);
        m_folder = std::move(other.m_folder);
        m_scratch = std::exchange(other.m_scratch, {});
        m_view = std::move(other.m_view);
    }
    return *this;
}

Workspace::~Workspace()
{
    remove();
}

void Workspace::remove()
{
    if (!m_scratch.empty())
        removeTree(std::exchange(m_scratch, {}));
}

} // namespace advisor::runner
