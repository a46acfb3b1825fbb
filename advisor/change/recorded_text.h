#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The user's files as they were when their program was recorded. Line numbers of a trace refer to that text.
namespace advisor::change {

/// The bytes of a file if they are the recorded ones, or its kept original if a patch is applied to it.
/// @param sha256     of the recorded file, in hexadecimal
/// @param originals  folder with the originals of applied patches; see apply.h
/// @return no value if the file is missing, not a regular file, larger than 16 MiB, or has changed since
std::optional<std::string> recordedText(const std::filesystem::path& file, std::string_view sha256,
                                        const std::filesystem::path& originals);

/// Its lines without line ends and without a byte order mark.
std::vector<std::string> linesOfText(std::string_view text);

/// The SHA-256 digest of some bytes, in lower-case hexadecimal.
std::string sha256(std::string_view bytes);

} // namespace advisor::change
