#pragma once

#include "profiler/io/formats/json/byte_source.h"
#include "profiler/io/formats/json/parser.h"

#include <cstdint>
#include <memory>

namespace profiler::formats::json {

/// A part of the text in memory, that moves on through it. It is followed by kWindowPadding zeros.
class TextWindow {
public:
    explicit TextWindow(ByteSource& source);

    /// Begins anew at `offset`, with nothing read yet.
    void moveTo(std::uint64_t offset);
    /// Drops what lies before `keepFrom`, so that this is the window's beginning, and reads on; grows where little can
    /// be dropped. False: nothing came, since the text ends or kMostBytes are held.
    bool readOn(const char* keepFrom);
    [[nodiscard]] const char* begin() const { return m_bytes.get(); }
    [[nodiscard]] const char* end() const { return m_bytes.get() + m_size; }
    [[nodiscard]] std::uint64_t offset() const { return m_offset; }
    [[nodiscard]] std::uint64_t offsetOf(const char* place) const
    {
        return m_offset + static_cast<std::uint64_t>(place - begin());
    }
    /// The place of a byte of the text; the end where it is not in memory.
    [[nodiscard]] const char* placeOf(std::uint64_t offset) const
    {
        return offset - m_offset < m_size ? begin() + (offset - m_offset) : end();
    }
    /// The text ends where the window does.
    [[nodiscard]] bool atEnd() const { return m_atEnd; }

    static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

private:
    static constexpr std::size_t kUsualBytes = std::size_t{512} << 10;

    ByteSource& m_source;
    std::unique_ptr<char[]> m_bytes;
    std::size_t m_room = kUsualBytes, m_size = 0;
    std::uint64_t m_offset = 0;
    bool m_atEnd = false;
};

} // namespace profiler::formats::json
