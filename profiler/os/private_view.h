#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// A view of the file system in which a program sees all files as they are, while what it writes below some folders
/// goes to a layer of its own: overlays (overlayfs) in a mount namespace that only the program and its children are in.
/// The kernel removes the namespace and its mounts when the last of these processes has ended.
namespace profiler::os {

/// The mounts of a view, prepared in the starting process; see enter().
class PrivateView {
public:
    /// @param folders  absolute paths of existing folders whose contents become private; one that lies within another
    ///                 needs no entry. File systems that are mounted below them become private as well where they are
    ///                 writable, and stay as they are otherwise
    /// @param scratch  an existing folder for what the program writes, outside of `folders`, on a file system that
    ///                 overlayfs can write to (not NFS, FUSE or another overlay)
    PrivateView(std::vector<std::filesystem::path> folders, const std::filesystem::path& scratch);

    /// Makes the folders in `scratch`. Call it once, before a process enters the view.
    /// @return 0, or the errno of the folder that cannot be made
    int prepare();

    /// Where the view keeps the file that the program sees as `file`; empty where `file` lies in no private folder. A
    /// file that is written there before the program starts is what the program sees.
    [[nodiscard]] std::filesystem::path layerOf(const std::filesystem::path& file) const;

    /// Puts the calling process, which must have one thread, into the view: in a mount namespace where it has the right
    /// to make one, and otherwise in a user namespace of its own, in which it keeps its user and group. Allocates
    /// nothing, so that it can be called between fork and exec.
    /// @return 0, or errno
    [[nodiscard]] int enter() const;

private:
    struct Mount {
        enum class Kind { Overlay, Bind };
        Kind kind = Kind::Overlay;
        std::string path;    ///< where the program sees it
        std::string staging; ///< where it is mounted first, so that no mount hides what a later one needs
        std::string upper, work;
        std::string options, userOptions; ///< of overlayfs; userOptions in a user namespace
    };
    void add(Mount::Kind kind, const std::filesystem::path& path);
    [[nodiscard]] int mountAll(bool inUserNamespace) const;
    [[nodiscard]] int enterUserNamespace() const;

    std::filesystem::path m_scratch;
    std::vector<Mount> m_mounts; ///< outer ones first
    std::string m_userMap, m_groupMap;
};

} // namespace profiler::os
