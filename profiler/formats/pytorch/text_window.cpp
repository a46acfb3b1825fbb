#include "profiler/formats/pytorch/text_window.h"

#include <algorithm>
#include <cstring>

namespace profiler::formats::json {

namespace {

/// A short file needs less than the usual room. A byte more than its size lets the first read find its end.
std::size_t firstRoom(const ByteSource& source)
{
    constexpr std::uint64_t kLeastBytes = 4096, kUsualBytes = std::uint64_t{512} << 10;
    const auto size = source.knownSize();
    return static_cast<std::size_t>(size ? std::clamp(*size + 1, kLeastBytes, kUsualBytes) : kUsualBytes);
}

} // namespace

TextWindow::TextWindow(ByteSource& source)
    : m_source(source), m_room(firstRoom(source)),
      m_bytes(std::make_unique_for_overwrite<char[]>(m_room + kWindowPadding))
{
    moveTo(0);
}

void TextWindow::moveTo(std::uint64_t offset)
{
    m_offset = offset;
    m_size = 0;
    m_atEnd = false;
    std::memset(m_bytes.get(), 0, kWindowPadding);
}

bool TextWindow::readOn(const char* keepFrom)
{
    const auto dropped = static_cast<std::size_t>(keepFrom - begin());
    const std::size_t kept = m_size - dropped;
    if (kept > m_room / 2) {
        if (2 * m_room > kMostBytes) {
            std::memmove(m_bytes.get(), keepFrom, kept + kWindowPadding);
            m_offset += dropped;
            m_size = kept;
            return false;
        }
        auto larger = std::make_unique_for_overwrite<char[]>(2 * m_room + kWindowPadding);
        std::memcpy(larger.get(), keepFrom, kept);
        m_bytes = std::move(larger);
        m_room *= 2;
    } else {
        std::memmove(m_bytes.get(), keepFrom, kept);
    }
    m_offset += dropped;
    const std::size_t wanted = m_room - kept;
    const std::size_t got = m_source.read(m_offset + kept, {m_bytes.get() + kept, wanted});
    m_size = kept + got;
    m_atEnd = got < wanted;
    std::memset(m_bytes.get() + m_size, 0, kWindowPadding);
    return got > 0;
}

} // namespace profiler::formats::json
