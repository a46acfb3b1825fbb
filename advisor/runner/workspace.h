#pragma once

#include "advisor/runner/python_hooks.h"
#include "profiler/model/result.h"
#include "profiler/os/private_view.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace advisor::runner {

/// How a program that is only measured is kept from changing the user's files.
enum class Isolation {
    Overlay, ///< it sees all files, and what it writes goes to a layer that is deleted
    Copy,    ///< it runs in a copy of its working directory; other files that it writes are the user's
    InPlace  ///< it runs as the user would run it
};
/// "overlay", "copy", "in place".
std::string_view isolationName(Isolation isolation);

/// A file that a program sees instead of the user's.
struct ReplacedFile {
    std::filesystem::path path; ///< absolute; the user may have no such file
    std::string text;
};

/// The files that one start of a program works with. They go away with their owner, which outlives the program.
class Workspace {
public:
    /// @param folder    the program's working directory; absolute
    /// @param replaced  in a private view, of any file; in a copy, of files in `folder`; in place, none
    /// @return an error where files cannot be replaced, or there is no room
    static profiler::Result<Workspace> make(const std::filesystem::path& folder, Isolation isolation,
                                            const std::vector<ReplacedFile>& replaced);
    Workspace(Workspace&& other) noexcept;
    Workspace& operator=(Workspace&& other) noexcept;
    ~Workspace();

    /// Where the program runs.
    [[nodiscard]] const std::filesystem::path& folder() const { return m_folder; }
    /// What it has to enter first; nullptr: nothing.
    [[nodiscard]] const profiler::os::PrivateView* view() const { return m_view ? &*m_view : nullptr; }
    /// A word of the command: in a copy, a path to a file of the folder is that of the copied file.
    [[nodiscard]] std::string inside(const std::string& word) const;
    /// A folder beside the program's files: what the program writes there is seen outside of its view as well. It goes
    /// away with the workspace.
    profiler::Result<std::filesystem::path> exchange();

private:
    Workspace() = default;
    profiler::Result<void> makeView(const std::vector<ReplacedFile>& replaced);
    profiler::Result<void> makeCopy(const std::vector<ReplacedFile>& replaced);
    void remove();

    std::filesystem::path m_original, m_folder, m_scratch;
    std::optional<profiler::os::PrivateView> m_view;
};

/// Keeps what a program that is only measured reports to services off the network and out of the user's accounts, and
/// its ports its own. A service that the user has switched off stays off.
void keepServicesPrivate(EnvironmentVariables& environment);

/// Whether private views can be entered here; the error says why not, and what else can be done.
profiler::Result<void> checkPrivateViews();

} // namespace advisor::runner
