#include "advisor/experiment/output_tail.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace advisor {

namespace {

constexpr std::size_t kMostBytes = 8192;
constexpr std::size_t kMostLines = 20;

/// Number of bytes of the well-formed UTF-8 character at the beginning of `text`; 0: none. Source: RFC 3629, section 4.
std::size_t characterLength(std::string_view text)
{
    const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto follows = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
    const unsigned first = at(0);
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first <= 0xDF)
        return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool tooLong = first == 0xE0 && at(1) < 0xA0;
        const bool surrogate = first == 0xED && at(1) > 0x9F;
        return follows(1) && follows(2) && !tooLong && !surrogate ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool tooLong = first == 0xF0 && at(1) < 0x90;
        const bool tooHigh = first == 0xF4 && at(1) > 0x8F;
        return follows(1) && follows(2) && follows(3) && !tooLong && !tooHigh ? 4 : 0;
    }
    return 0;
}

/// A progress bar redraws its line repeatedly: only the last version counts.
std::string_view lastDrawing(std::string_view line)
{
    while (line.ends_with('\r'))
        line.remove_suffix(1);
    return line.substr(line.rfind('\r') + 1);
}

void appendReadable(std::string& result, std::string_view line)
{
    while (!line.empty()) {
        const std::size_t length = characterLength(line);
        const bool control = static_cast<unsigned char>(line.front()) < 0x20 || line.front() == 0x7F;
        if (length == 0)
            result += "\xEF\xBF\xBD"; // the replacement character
        else if (!control || line.front() == '\t')
            result += line.substr(0, length);
        line.remove_prefix(length == 0 ? 1 : length);
    }
}

} // namespace

void OutputTail::add(std::string_view text)
{
    m_text += text;
    if (m_text.size() <= kMostBytes)
        return;
    m_text.erase(0, m_text.size() - kMostBytes);
    // The rest of a truncated line is useless, unless it is the only line.
    if (const auto end = m_text.find('\n'); end != std::string::npos && end + 1 < m_text.size())
        m_text.erase(0, end + 1);
}

std::string OutputTail::lastLines() const
{
    std::vector<std::string_view> lines;
    std::string_view rest = m_text;
    while (!rest.empty() && lines.size() < kMostLines) {
        if (rest.ends_with('\n'))
            rest.remove_suffix(1);
        const auto before = rest.rfind('\n');
        const auto begin = before == std::string_view::npos ? 0 : before + 1;
        if (const auto line = lastDrawing(rest.substr(begin)); !line.empty())
            lines.push_back(line);
        rest = rest.substr(0, begin);
    }
    std::string result;
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        if (!result.empty())
            result += '\n';
        appendReadable(result, *line);
    }
    return result;
}

bool namesScarceResource(std::string_view error)
{
    // Of CUDA and of our own messages, of PyTorch on a CPU, of Python, of C++, of the operating system (ENOMEM).
    constexpr std::array<std::string_view, 6> kLackOfMemory = {"ut of memory",     "can't allocate memory",
                                                               "not enough memory", "MemoryError",
                                                               "std::bad_alloc",    "Cannot allocate memory"};
    return namesTakenPort(error) || std::ranges::any_of(kLackOfMemory, [&](std::string_view text) {
               return error.find(text) != error.npos;
           });
}

bool namesFullDisk(std::string_view error)
{
    // Of the operating system: ENOSPC, EDQUOT, EFBIG.
    constexpr std::array<std::string_view, 3> kTexts = {"No space left on device", "Disk quota exceeded",
                                                        "File too large"};
    return std::ranges::any_of(kTexts, [&](std::string_view text) { return error.find(text) != error.npos; });
}

bool namesTakenPort(std::string_view error)
{
    return error.find("ddress already in use") != error.npos;
}

} // namespace advisor
