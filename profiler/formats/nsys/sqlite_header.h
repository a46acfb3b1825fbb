#pragma once

#include "profiler/model/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace profiler::formats::nsys {

/// True if the bytes are the start of a SQLite file.
bool isSqlite(std::span<const std::byte> head);

/// The relevant header fields of a SQLite file. Source: sqlite.org/fileformat.html.
struct SqliteHeader {
    std::uint64_t fileBytes = 0, pageBytes = 0, pages = 0; ///< pages: as in the header; 0: not recorded
    [[nodiscard]] bool isCut() const { return pages > 0 && fileBytes < pages * pageBytes; }
};

/// @return NotFound, Permission, Malformed (empty or not a SQLite file), Unavailable (another program is writing it or
///         left changes in separate files that an immutable reader would miss)
Result<SqliteHeader> readHeader(const std::filesystem::path& path);

} // namespace profiler::formats::nsys
