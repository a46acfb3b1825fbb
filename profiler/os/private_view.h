#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// A view of the file system in which a program sees all files unchanged, while its writes below some folders go to a
/// separate layer: overlays (overlayfs) in a mount namespace that only the program and its children share. The kernel
/// removes the namespace and its mounts when the last of these processes has ended.
namespace profiler::os {

/// The mounts of a view, prepared in the parent process; see enter().
class PrivateView {
public:
    /// @param folders  absolute paths of existing folders whose contents become private; folders within them need no
    ///                 entry. File systems mounted below them become private as well if they are writable, and stay
    ///                 unchanged otherwise. Those that overlayfs cannot show (devpts, FAT, …) become read-only, unless
    ///                 they contain one of `folders`
    /// @param scratch  an existing folder for what the program writes, outside of `folders`, on a file system that
    ///                 overlayfs can write to (not NFS, FUSE or another overlay)
    PrivateView(std::vector<std::filesystem::path> folders, const std::filesystem::path& scratch);

    /// Creates the folders in `scratch`. Call it once, before a process enters the view.
    /// @return 0, or the errno of the folder that cannot be created
    int prepare();

    /// Path of the file in the view's layer that the program sees as `file`; empty if `file` is not in a private
    /// folder. If this file is written before the program starts, the program sees it.
    [[nodiscard]] std::filesystem::path layerOf(const std::filesystem::path& file) const;

    /// Moves the calling process, which must have only one thread, into the view: into a new mount namespace if it is
    /// allowed to create one, otherwise into a new user namespace, in which it keeps its user and group. Does not
    /// allocate memory, so it can be called between fork and exec.
    /// @return 0, or errno
    [[nodiscard]] int enter() const;

private:
    struct Mount {
        enum class Kind { Overlay, Bind };
        Kind kind = Kind::Overlay;
        std::string path;    ///< path that the program sees
        std::string staging; ///< where it is mounted first, so that no mount hides what a later one needs
        std::string upper, work;
        std::string options, userOptions; ///< options of overlayfs; userOptions in a user namespace
        bool mayBeReadOnly = false;       ///< if overlayfs refuses it
    };
    void add(Mount::Kind kind, const std::filesystem::path& path, bool mayBeReadOnly = false);
    [[nodiscard]] static int stage(const Mount& mount, bool inUserNamespace);
    [[nodiscard]] int mountAll(bool inUserNamespace) const;
    [[nodiscard]] int enterUserNamespace() const;

    std::filesystem::path m_scratch;
    std::vector<Mount> m_mounts; ///< outer ones first
    std::string m_userMap, m_groupMap;
};

} // namespace profiler::os
