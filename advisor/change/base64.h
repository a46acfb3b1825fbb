#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Bytes in JSON: the text of a file need not be UTF-8.
namespace advisor::change {

std::string toBase64(std::string_view bytes);
/// Nothing where the text is not Base64 with padding.
std::optional<std::string> fromBase64(std::string_view text);

} // namespace advisor::change
