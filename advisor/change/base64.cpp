#include "advisor/change/base64.h"

#include <cstdint>

namespace advisor::change {

namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

} // namespace

std::string toBase64(std::string_view bytes)
{
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i)
            group = group << 8U | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i)
            text += at + i <= bytes.size() ? kDigits[group >> (18 - 6 * i) & 63U] : '=';
    }
    return text;
}

std::optional<std::string> fromBase64(std::string_view text)
{
    if (text.size() % 4 != 0)
        return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    for (std::size_t at = 0; at < text.size(); at += 4) {
        std::uint32_t group = 0;
        std::size_t digits = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            const auto digit = kDigits.find(text[at + i]);
            const bool padding = text[at + i] == '=' && i >= 2 && at + 4 == text.size();
            if ((digit == kDigits.npos && !padding) || (digit != kDigits.npos && digits < i))
                return std::nullopt;
            group = group << 6U | (padding ? 0U : static_cast<std::uint32_t>(digit));
            digits += padding ? 0 : 1;
        }
        for (std::size_t i = 0; i + 1 < digits; ++i)
            bytes += static_cast<char>(group >> (16 - 8 * i) & 255U);
    }
    return bytes;
}

} // namespace advisor::change
