#include "profiler/formats/nsys/sqlite_header.h"

#include "profiler/os/file_lock.h"
#include "profiler/os/files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <string_view>

namespace profiler::formats::nsys {

namespace {

constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kHeaderBytes = 100;
// SQLite locks these bytes of the file, which hold no data, while a program writes.
constexpr std::uint64_t kLockBytes = 0x40000000;
constexpr std::uint64_t kLockLength = 512;

Error cannotOpen(const std::filesystem::path& path, int error)
{
    const Error::Code code = error == ENOENT                     ? Error::Code::NotFound
                             : error == EACCES || error == EPERM ? Error::Code::Permission
                                                                 : Error::Code::Io;
    return makeError<"nsys.io", "{why}">(code, path.string(), {}, {{"why", std::strerror(error)}});
}

std::uint64_t bigEndian(std::span<const std::byte> bytes)
{
    std::uint64_t value = 0;
    for (const std::byte byte : bytes)
        value = value << 8 | std::to_integer<std::uint64_t>(byte);
    return value;
}

bool hasNeighbour(const std::filesystem::path& path, std::string_view suffix)
{
    std::error_code none;
    const auto bytes = std::filesystem::file_size(path.string() + std::string(suffix), none);
    return !none && bytes > 0;
}

} // namespace

bool isSqlite(std::span<const std::byte> head)
{
    return head.size() >= kMagic.size() && std::memcmp(head.data(), kMagic.data(), kMagic.size()) == 0;
}

Result<SqliteHeader> readHeader(const std::filesystem::path& path)
{
    const os::Descriptor file = os::openToRead(path);
    const auto state = file ? os::stateOf(file.get()) : std::nullopt;
    if (!state)
        return tl::unexpected(cannotOpen(path, errno));
    std::array<std::byte, kHeaderBytes> head{};
    if (os::readAt(file.get(), 0, head).bytes < kHeaderBytes || !isSqlite(head))
        return tl::unexpected(Error{.code = Error::Code::Malformed,
                                    .what = state->bytes == 0
                                                ? message<"file.empty", "the file is empty">()
                                                : message<"nsys.no_sqlite", "this is not a SQLite file">(),
                                    .where = path.string(),
                                    .hint = "export the report again: nsys export --type sqlite REPORT.nsys-rep"});
    if (os::isLockedForWriting(file.get(), kLockBytes, kLockLength))
        return fail<"nsys.being_written", "another program is writing this file">(
            Error::Code::Unavailable, path.string(), "wait until it has finished");
    if (hasNeighbour(path, "-wal"))
        return fail<"nsys.wal", "changes to this file are still in its write-ahead log (…-wal) and would be missed">(
            Error::Code::Unavailable, path.string(),
            "close the program that wrote them, or run: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'");
    if (hasNeighbour(path, "-journal"))
        return fail<"nsys.journal", "the program that was writing this file was interrupted (…-journal)">(
            Error::Code::Unavailable, path.string(),
            "export the report again: nsys export --type sqlite REPORT.nsys-rep");
    const std::span bytes(head);
    SqliteHeader header;
    header.fileBytes = state->bytes;
    header.pageBytes = bigEndian(bytes.subspan(16, 2));
    if (header.pageBytes == 1) // 65,536 does not fit in two bytes
        header.pageBytes = 65536;
    // The page count is valid only if it was written with the last change.
    if (bigEndian(bytes.subspan(24, 4)) == bigEndian(bytes.subspan(92, 4)))
        header.pages = bigEndian(bytes.subspan(28, 4));
    return header;
}

} // namespace profiler::formats::nsys
