#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Encodes bytes for JSON, because the text of a file may not be UTF-8.
namespace advisor::change {

std::string toBase64(std::string_view bytes);
/// No value if the text is not Base64 with padding.
std::optional<std::string> fromBase64(std::string_view text);

} // namespace advisor::change
