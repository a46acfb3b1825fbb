#pragma once

#include "profiler/formats/pytorch/byte_source.h"
#include "profiler/formats/pytorch/parser.h"

#include <cstdint>
#include <memory>

namespace profiler::formats::json {

/// A part of the text in memory that moves through the text. It is followed by kWindowPadding zeros.
class TextWindow {
public:
    explicit TextWindow(ByteSource& source);

    /// Restarts at `offset` with an empty window.
    void moveTo(std::uint64_t offset);
    /// Drops the text before `keepFrom`, which becomes the start of the window, and reads on. The window grows if
    /// little can be dropped. False if nothing was read, because the text ends or kMostBytes are held.
    bool readOn(const char* keepFrom);
    [[nodiscard]] const char* begin() const { return m_bytes.get(); }
    [[nodiscard]] const char* end() const { return m_bytes.get() + m_size; }
    [[nodiscard]] std::uint64_t offset() const { return m_offset; }
    [[nodiscard]] std::uint64_t offsetOf(const char* place) const
    {
        return m_offset + static_cast<std::uint64_t>(place - begin());
    }
    /// The position of a byte of the text; the end of the window if the byte is not in memory.
    [[nodiscard]] const char* placeOf(std::uint64_t offset) const
    {
        return offset - m_offset < m_size ? begin() + (offset - m_offset) : end();
    }
    /// True if the text ends where the window ends.
    [[nodiscard]] bool atEnd() const { return m_atEnd; }

    static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

private:
    ByteSource& m_source;
    std::size_t m_room, m_size = 0;
    std::unique_ptr<char[]> m_bytes;
    std::uint64_t m_offset = 0;
    bool m_atEnd = false;
};

} // namespace profiler::formats::json
