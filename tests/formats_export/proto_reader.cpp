#include "tests/formats_export/proto_reader.h"

#include <bit>

namespace formats_export_test {

namespace {

bool takeVarint(std::string_view& bytes, std::uint64_t& value)
{
    value = 0;
    for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

} // namespace

Message::Message(std::string_view bytes)
{
    while (!bytes.empty()) {
        std::uint64_t key = 0, value = 0;
        if (!takeVarint(bytes, key))
            return;
        const auto field = static_cast<std::uint32_t>(key >> 3);
        if ((key & 7) == 0) {
            if (!takeVarint(bytes, value))
                return;
            m_numbers.emplace(field, value);
        } else if ((key & 7) == 1) {
            if (bytes.size() < 8)
                return;
            for (unsigned i = 0; i < 8; ++i)
                value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
            bytes.remove_prefix(8);
            m_numbers.emplace(field, value);
        } else if ((key & 7) == 2) {
            if (!takeVarint(bytes, value) || value > bytes.size())
                return;
            m_texts.emplace(field, bytes.substr(0, value));
            bytes.remove_prefix(value);
        } else {
            return;
        }
    }
    m_whole = true;
}

std::uint64_t Message::number(std::uint32_t field, std::uint64_t otherwise) const
{
    const auto found = m_numbers.find(field);
    return found == m_numbers.end() ? otherwise : found->second;
}

double Message::real(std::uint32_t field) const
{
    return std::bit_cast<double>(number(field));
}

std::string_view Message::text(std::uint32_t field) const
{
    const auto found = m_texts.find(field);
    return found == m_texts.end() ? std::string_view() : found->second;
}

std::vector<Message> Message::messages(std::uint32_t field) const
{
    std::vector<Message> result;
    for (auto [at, end] = m_texts.equal_range(field); at != end; ++at)
        result.emplace_back(at->second);
    return result;
}

std::vector<std::uint64_t> Message::numbers(std::uint32_t field) const
{
    std::vector<std::uint64_t> result;
    for (auto [at, end] = m_numbers.equal_range(field); at != end; ++at)
        result.push_back(at->second);
    return result;
}

bool Message::has(std::uint32_t field) const
{
    return m_numbers.contains(field) || m_texts.contains(field);
}

} // namespace formats_export_test
