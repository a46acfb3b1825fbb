#pragma once

#include "profiler/model/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace profiler::formats::nsys {

/// True where bytes from the start of a file are those of a SQLite file.
bool isSqlite(std::span<const std::byte> head);

/// What the first page of a SQLite file and its neighbours say. Source: sqlite.org/fileformat.html.
struct SqliteHeader {
    std::uint64_t fileBytes = 0, pageBytes = 0, pages = 0; ///< pages: as written there; 0: not written
    [[nodiscard]] bool isCut() const { return pages > 0 && fileBytes < pages * pageBytes; }
};

/// @return NotFound, Permission, Malformed (empty, no SQLite file), Unavailable (another program is writing it, or left
/// changes beside it that an immutable reader would miss)
Result<SqliteHeader> readHeader(const std::filesystem::path& path);

} // namespace profiler::formats::nsys
