#pragma once

#include "profiler/model/result.h"
#include "profiler/os/private_view.h"

#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Where and with which environment a program runs: Stepscope's Python hooks, and a view of the file system that
/// protects the user's files.
namespace advisor::runner {

/// A process's environment, by name.
using EnvironmentVariables = std::map<std::string, std::string, std::less<>>;
/// The environment of this process.
EnvironmentVariables currentEnvironment();

/// A file that belongs to this program, in a build tree or an installation. `places` are relative to the folder in
/// STEPSCOPE_PROGRAMS; if it is not set, to the folder of the running program.
profiler::Result<std::filesystem::path> findNearProgram(std::initializer_list<const char*> places,
                                                        std::string_view what);

struct PythonHooks {
    std::filesystem::path startup; ///< folder that must be first in PYTHONPATH
    std::filesystem::path preload; ///< library that puts the folder there if a command sets PYTHONPATH itself; may be
                                   ///< empty
};
profiler::Result<PythonHooks> findPythonHooks();

/// Changes `environment` so that each Python interpreter started with it loads the hooks.
void addHooks(EnvironmentVariables& environment, const PythonHooks& hooks);

/// How the user's files are protected from a program that is only measured.
enum class Isolation {
    Overlay, ///< the program sees all files; its writes go to a layer that is deleted
    Copy,    ///< the program runs in a copy of its working directory; writes to other places affect the user's files
    InPlace  ///< the program runs as the user would run it
};
/// "overlay", "copy", "in place".
std::string_view isolationName(Isolation isolation);

/// A file that a program sees instead of the user's file.
struct ReplacedFile {
    std::filesystem::path path; ///< absolute; the user's file may not exist
    std::string text;
};

/// The files for one start of a program. They are deleted with their owner, which outlives the program.
class Workspace {
public:
    /// @param folder the program's working directory; absolute
    /// @param replaced in a private view, any files; in a copy, files in `folder`; in place, none
    /// @return an error if files cannot be replaced or there is not enough space
    static profiler::Result<Workspace> make(const std::filesystem::path& folder, Isolation isolation,
                                            const std::vector<ReplacedFile>& replaced);
    Workspace(Workspace&& other) noexcept;
    Workspace& operator=(Workspace&& other) noexcept;
    ~Workspace();

    /// The program's working directory.
    [[nodiscard]] const std::filesystem::path& folder() const { return m_folder; }
    /// The view that the program has to enter first; nullptr: none.
    [[nodiscard]] const profiler::os::PrivateView* view() const { return m_view ? &*m_view : nullptr; }
    /// Translates a word of the command: in a copy, a path to a file of the folder becomes the path of the copied file.
    [[nodiscard]] std::string inside(const std::string& word) const;
    /// A folder outside of the private view: what the program writes there is visible outside as well. It is deleted
    /// with the workspace.
    profiler::Result<std::filesystem::path> exchange();

private:
    Workspace() = default;
    profiler::Result<void> makeView(const std::vector<ReplacedFile>& replaced);
    profiler::Result<void> makeCopy(const std::vector<ReplacedFile>& replaced);
    void remove();

    std::filesystem::path m_original, m_folder, m_scratch;
    std::optional<profiler::os::PrivateView> m_view;
};

/// Prevents a measured program from reporting to online services under the user's accounts, and gives it its own ports.
/// A service that the user has disabled stays disabled.
void keepServicesPrivate(EnvironmentVariables& environment);

/// Whether private views can be entered here; otherwise, the error contains the reason and the alternatives.
profiler::Result<void> checkPrivateViews();

} // namespace advisor::runner
