#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace formats_export_test {

/// Parses a protocol buffer message according to its encoding, without code shared with the writer.
class Message {
public:
    explicit Message(std::string_view bytes);
    /// False if the bytes are not a complete message.
    [[nodiscard]] bool whole() const { return m_whole; }
    [[nodiscard]] std::uint64_t number(std::uint32_t field, std::uint64_t otherwise = 0) const;
    [[nodiscard]] double real(std::uint32_t field) const;
    [[nodiscard]] std::string_view text(std::uint32_t field) const;
    [[nodiscard]] Message message(std::uint32_t field) const { return Message(text(field)); }
    [[nodiscard]] std::vector<Message> messages(std::uint32_t field) const;
    [[nodiscard]] std::vector<std::uint64_t> numbers(std::uint32_t field) const;
    [[nodiscard]] bool has(std::uint32_t field) const;

private:
    std::multimap<std::uint32_t, std::uint64_t> m_numbers; ///< varints and fixed-size numbers
    std::multimap<std::uint32_t, std::string_view> m_texts;
    bool m_whole = false;
};

} // namespace formats_export_test
