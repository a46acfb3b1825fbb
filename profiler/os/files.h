#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

/// Files: their descriptors; opening them, reading and writing all of what was asked for, their state, and replacing
/// their contents in one step. Reads and writes continue after an interrupting signal (EINTR). A failed function that
/// returns a Descriptor or an optional sets errno; the others return the errno. All descriptors are closed by exec. The
/// functions are thread-safe.
namespace profiler::os {

/// A file descriptor that is closed with its owner.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int descriptor) : m_descriptor(descriptor) {}
    ~Descriptor() { reset(); }
    Descriptor(Descriptor&& other) noexcept : m_descriptor(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept
    {
        if (this != &other) {
            reset();
            m_descriptor = other.release();
        }
        return *this;
    }
    [[nodiscard]] int get() const { return m_descriptor; }
    explicit operator bool() const { return m_descriptor >= 0; }
    /// Returns the descriptor; the caller must close it.
    int release() { return std::exchange(m_descriptor, -1); }
    void reset() { static_cast<void>(close()); }
    /// Closes the descriptor. Some file systems report only now that the disk is full.
    /// @return 0, or errno
    int close();

private:
    int m_descriptor = -1;
};

/// Takes ownership of a descriptor and moves it above 2: the numbers 0, 1 and 2 are the standard streams of a child.
/// @return an empty descriptor, with errno set, if there is no free number
Descriptor aboveStandardStreams(int descriptor);

/// Opens an existing file of any kind. Opening a FIFO does not wait for its writer.
Descriptor openToRead(const std::filesystem::path& path);
/// Opens a log: creates the file if it is missing, and appends to it.
Descriptor openToAppend(const std::filesystem::path& path);
/// Opens a file for writing; creates it, or empties it.
Descriptor openToReplace(const std::filesystem::path& path);
/// Creates a file for reading and writing, and removes its name. It disappears when it is closed, however the process
/// ends.
/// @param folder  determines the file system
Descriptor openUnnamed(const std::filesystem::path& folder);

struct TemporaryFile {
    Descriptor file; ///< for reading and writing; only the user may open the file
    std::filesystem::path path;
};
/// Creates a file with a new name: `prefix`, six characters and `suffix`. The caller deletes it.
std::optional<TemporaryFile> createTemporaryFile(const std::filesystem::path& prefix, std::string_view suffix);
/// Creates a folder with a new name, `prefix` and six characters, which only the user may enter. The caller deletes it.
std::optional<std::filesystem::path> createTemporaryFolder(const std::filesystem::path& prefix);
/// The path of this name in the folder for temporary files: TMPDIR if that is a folder, otherwise /tmp.
std::filesystem::path temporaryPath(std::string_view name);
/// A folder as createTemporaryFolder() makes it. The destructor deletes it with its contents.
class TemporaryFolder {
public:
    explicit TemporaryFolder(const std::filesystem::path& prefix);
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    /// Empty if the folder could not be created; after the constructor, errno has the reason.
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
    std::filesystem::path m_path;
};

/// How much was read or written, and why it was not all.
struct Transfer {
    std::size_t bytes = 0;
    int error = 0; ///< errno; 0 if none. Reaching the end of the file is not an error
};
/// Fills `into` from byte `offset`: less only at the end of the file or after an error.
Transfer readAt(int file, std::uint64_t offset, std::span<std::byte> into);
/// Writes both parts, one after the other, at the file's position. A non-blocking file accepts only a part (EAGAIN). A
/// file that accepts nothing more is full (ENOSPC).
Transfer writeAll(int file, std::span<const std::byte> first, std::span<const std::byte> second = {});
Transfer writeAll(int file, std::string_view text);
Transfer writeAllAt(int file, std::uint64_t offset, std::span<const std::byte> bytes);
/// The contents of a file, up to a number of bytes. Reads until the end, so it suits the kernel's files (/proc), which
/// have no size.
std::optional<std::string> readFile(const std::filesystem::path& path,
                                    std::size_t most = std::numeric_limits<std::size_t>::max());

struct FileState {
    enum class Kind { Regular, Folder, Other };
    Kind kind = Kind::Other;
    std::uint64_t bytes = 0;
    std::uint64_t device = 0, inode = 0; ///< identify the file as long as it exists
    std::uint64_t names = 0;             ///< 0 after it was deleted
    std::chrono::nanoseconds modified{}; ///< since 1970
};
std::optional<FileState> stateOf(int file);

/// Truncates or extends a file. @return 0, or errno
int resize(int file, std::uint64_t bytes);
/// Allocates disk space, so that a full disk is an error here and not when mapped memory is written. Extends the file
/// if necessary. @return 0, or errno
int reserve(int file, std::uint64_t offset, std::uint64_t bytes);
/// Renames a file, unless the new name exists (EEXIST). @return 0, or errno
int renameToNew(const std::filesystem::path& from, const std::filesystem::path& to);

/// What this process may do with a file; false also if it does not exist. A folder is executed by entering it.
bool canRead(const std::filesystem::path& path);
bool canWrite(const std::filesystem::path& path);
bool canExecute(const std::filesystem::path& path);

/// The next contents of a file, written under a temporary name in the same folder. commit() gives them the file's name
/// in one step, so that a reader sees either the old contents or all of the new ones. Without commit(), the destructor
/// deletes them. Not thread-safe.
class ReplacementFile {
public:
    /// @return nullopt, with errno set, if no file can be created in the folder of `path`
    static std::optional<ReplacementFile> create(std::filesystem::path path);
    ReplacementFile(ReplacementFile&& other) noexcept;
    ReplacementFile& operator=(ReplacementFile&& other) noexcept;
    ~ReplacementFile();

    /// Appends. @return 0, or errno
    int write(std::span<const std::byte> bytes) { return writeAll(m_file.get(), bytes).error; }
    int write(std::string_view text) { return writeAll(m_file.get(), text).error; }
    /// @return 0, or errno
    int writeAt(std::uint64_t offset, std::span<const std::byte> bytes)
    {
        return writeAllAt(m_file.get(), offset, bytes).error;
    }
    /// Writes everything to the disk and replaces the file. Afterwards, nothing may be written.
    /// @return 0, or errno with the old contents unchanged
    int commit();

private:
    ReplacementFile(Descriptor file, std::filesystem::path temporary, std::filesystem::path path);

    Descriptor m_file;
    std::filesystem::path m_temporary; ///< empty after commit()
    std::filesystem::path m_path;
};

} // namespace profiler::os
