#include "profiler/os/private_view.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <string_view>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

namespace profiler::os {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSharedMemory = "/dev/shm";

bool liesIn(const fs::path& path, const fs::path& folder)
{
    const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    static_cast<void>(rest);
    return end == folder.end();
}

/// Escapes a path in a mount option: commas separate options, and colons separate the folders of lowerdir.
std::string escaped(const std::string& path)
{
    std::string text;
    for (const char letter : path) {
        if (letter == ',' || letter == ':' || letter == '\\')
            text += '\\';
        text += letter;
    }
    return text;
}

/// Undoes the escapes of mountinfo, in which "\040" is a space; see proc(5).
std::string unescaped(std::string_view text)
{
    std::string path;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            path += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else {
            path += text[i];
        }
    }
    return path;
}

/// Folders on which file systems are mounted, in order of mounting.
std::vector<fs::path> mountPoints()
{
    std::vector<fs::path> points;
    std::ifstream file("/proc/self/mountinfo");
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string id, parent, device, root, point;
        fields >> id >> parent >> device >> root >> point;
        points.emplace_back(unescaped(point));
    }
    return points;
}

int writeFile(const char* path, const std::string& text)
{
    const int file = ::open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return errno;
    const bool isWritten = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    const int number = isWritten ? 0 : errno;
    ::close(file);
    return number;
}

/// Binds a mounted file system to another folder, read-only.
/// @return 0, or errno
int bindReadOnly(const char* path, const char* to)
{
    if (::mount(path, to, nullptr, MS_BIND | MS_REC, nullptr) != 0)
        return errno;
    struct statvfs status {};
    if (::statvfs(to, &status) != 0)
        return errno;
    // In a user namespace, the kernel refuses to clear the flags that the mount has.
    unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY;
    constexpr std::pair<unsigned long, unsigned long> kKept[] = {
        {ST_NOSUID, MS_NOSUID},   {ST_NODEV, MS_NODEV},           {ST_NOEXEC, MS_NOEXEC},
        {ST_NOATIME, MS_NOATIME}, {ST_NODIRATIME, MS_NODIRATIME}, {ST_RELATIME, MS_RELATIME}};
    for (const auto& [reported, flag] : kKept)
        flags |= (status.f_flag & reported) != 0 ? flag : 0;
    return ::mount(nullptr, to, nullptr, flags, nullptr) == 0 ? 0 : errno;
}

} // namespace

PrivateView::PrivateView(std::vector<fs::path> folders, const fs::path& scratch)
    : m_scratch(scratch), m_userMap(std::to_string(::getuid()) + " " + std::to_string(::getuid()) + " 1"),
      m_groupMap(std::to_string(::getgid()) + " " + std::to_string(::getgid()) + " 1")
{
    std::sort(folders.begin(), folders.end());
    std::vector<fs::path> outer;
    for (const fs::path& folder : folders)
        if (outer.empty() || !liesIn(folder, outer.back()))
            outer.push_back(folder);
    std::vector<fs::path> below = mountPoints();
    std::sort(below.begin(), below.end());
    below.erase(std::unique(below.begin(), below.end()), below.end());
    for (const fs::path& folder : outer) {
        add(Mount::Kind::Overlay, folder);
        fs::path bound; // read-only mount whose bind mount already includes everything below it
        for (const fs::path& point : below) {
            std::error_code ignored;
            if (point == folder || !liesIn(point, folder) || !fs::is_directory(point, ignored) ||
                (!bound.empty() && liesIn(point, bound)))
                continue;
            const bool isWritable = ::access(point.c_str(), W_OK) == 0;
            const bool isNeeded = std::any_of(folders.begin(), folders.end(),
                                              [&](const fs::path& needed) { return liesIn(needed, point); });
            add(isWritable ? Mount::Kind::Overlay : Mount::Kind::Bind, point, !isNeeded);
            if (!isWritable)
                bound = point;
        }
    }
}

void PrivateView::add(Mount::Kind kind, const fs::path& path, bool mayBeReadOnly)
{
    const fs::path folder = m_scratch / std::to_string(m_mounts.size());
    Mount mount{
        kind, path.string(), (folder / "staging").string(), (folder / "upper").string(), (folder / "work").string(), {},
        {},   mayBeReadOnly};
    mount.options =
        "lowerdir=" + escaped(mount.path) + ",upperdir=" + escaped(mount.upper) + ",workdir=" + escaped(mount.work);
    mount.userOptions = mount.options + ",userxattr";
    m_mounts.push_back(std::move(mount));
}

int PrivateView::prepare()
{
    for (const Mount& mount : m_mounts)
        for (const std::string& folder : {mount.staging, mount.upper, mount.work}) {
            std::error_code failed;
            fs::create_directories(folder, failed);
            if (failed)
                return failed.value();
        }
    // A merged folder has the owner and permissions of its upper folder.
    for (const Mount& mount : m_mounts) {
        struct stat lower {};
        if (::stat(mount.path.c_str(), &lower) != 0)
            return errno;
        if (::chmod(mount.upper.c_str(), lower.st_mode & 07777) != 0)
            return errno;
        static_cast<void>(!::chown(mount.upper.c_str(), lower.st_uid, lower.st_gid)); // only root may change the owner
                                                                                      // of a file
    }
    return 0;
}

fs::path PrivateView::layerOf(const fs::path& file) const
{
    // Inner mounts come last.
    const auto found = std::find_if(m_mounts.rbegin(), m_mounts.rend(), [&](const Mount& mount) {
        return mount.kind == Mount::Kind::Overlay && liesIn(file, mount.path);
    });
    return found == m_mounts.rend() ? fs::path() : fs::path(found->upper) / file.lexically_relative(found->path);
}

int PrivateView::enterUserNamespace() const
{
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return errno;
    // A process may map its own group only after it has disabled setgroups(2); see user_namespaces(7).
    if (const int number = writeFile("/proc/self/setgroups", "deny"); number != 0 && number != ENOENT)
        return number;
    if (const int number = writeFile("/proc/self/uid_map", m_userMap))
        return number;
    return writeFile("/proc/self/gid_map", m_groupMap);
}

int PrivateView::stage(const Mount& mount, bool inUserNamespace)
{
    const char *path = mount.path.c_str(), *staging = mount.staging.c_str();
    if (mount.kind == Mount::Kind::Bind)
        return ::mount(path, staging, nullptr, MS_BIND | MS_REC, nullptr) == 0 ? 0 : errno;
    const std::string& options = inUserNamespace ? mount.userOptions : mount.options;
    if (::mount("overlay", staging, "overlay", 0, options.c_str()) == 0)
        return 0;
    const int number = errno;
    return mount.mayBeReadOnly ? bindReadOnly(path, staging) : number;
}

int PrivateView::mountAll(bool inUserNamespace) const
{
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return errno;
    for (const Mount& mount : m_mounts)
        if (const int number = stage(mount, inUserNamespace))
            return number;
    for (const Mount& mount : m_mounts)
        if (::mount(mount.staging.c_str(), mount.path.c_str(), nullptr, MS_MOVE, nullptr) != 0)
            return errno;
    // A private /dev/shm, so that shared memory left by a killed program disappears with the namespace. It may be
    // missing on some machines.
    static_cast<void>(::mount("tmpfs", kSharedMemory, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"));
    return 0;
}

int PrivateView::enter() const
{
    // Root needs no user namespace; inside one it could not write files of other users.
    if (::unshare(CLONE_NEWNS) == 0)
        return mountAll(false);
    if (const int number = enterUserNamespace())
        return number;
    return mountAll(true);
}

} // namespace profiler::os
