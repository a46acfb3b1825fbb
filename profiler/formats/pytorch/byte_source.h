#pragma once

#include "profiler/formats/open/source_file.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace profiler::formats::json {

/// The text of a trace by position. The file is plain or compressed; a separate thread decompresses it into an unlinked
/// file, on disk rather than in memory, while others read. All functions are thread-safe.
class ByteSource {
public:
    static Result<std::shared_ptr<ByteSource>> open(const std::filesystem::path& path, std::stop_token stop);
    ~ByteSource();

    /// Fills `out` from `offset`, waiting for the decompression if necessary. Returns fewer bytes only if the text
    /// ends.
    std::size_t read(std::uint64_t offset, std::span<char> out);
    /// True if the text has a byte at `offset`; waits until that is known.
    bool reaches(std::uint64_t offset);
    /// Size of the text in bytes, if it is known before the text has been read.
    [[nodiscard]] std::optional<std::uint64_t> knownSize() const;
    /// Share of the compressed file that has been consumed, [0, 1].
    [[nodiscard]] double inflatedShare() const;
    /// What is wrong with the file itself; empty if nothing was found. Complete once the end was read.
    [[nodiscard]] std::string damage() const;
    /// The position in the file of data that follows the compressed content and is not read; 0 if there is none.
    /// Complete once the end was read.
    [[nodiscard]] std::uint64_t trailing() const;
    /// True if the opened file has not been modified since. Always true for a compressed file, whose text is a copy.
    [[nodiscard]] bool unchanged() const;
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
    ByteSource(SourceFile file, std::filesystem::path path) : m_file(std::move(file)), m_path(std::move(path)) {}
    bool startInflating(Compression compression, std::stop_token stop);
    void inflate(Compression compression, const std::stop_token& own, const std::stop_token& stop);
    void inflateAll(Compression compression, const std::stop_token& own, const std::stop_token& stop);
    /// Waits until `offset` bytes are available or no more will come. Returns the number of available bytes.
    std::uint64_t waitFor(std::uint64_t offset);

    SourceFile m_file;
    std::filesystem::path m_path;
    std::int64_t m_modified = 0;       ///< modification time of the file when it was opened, ns
    std::optional<SourceFile> m_spill; ///< the decompressed text
    std::atomic<std::uint64_t> m_taken{0};
    mutable std::mutex m_mutex; ///< guards the members below; nothing blocks while it is held
    std::condition_variable m_grown;
    std::uint64_t m_inflated = 0;
    bool m_over = false;
    std::string m_damage;
    std::uint64_t m_trailing = 0;
    std::jthread m_inflater; ///< declared last, so that it ends before the members that it uses
};

/// Number of bytes after the end of a window that may be read; they are zero.
inline constexpr std::size_t kPadding = 128;

/// A part of the text in memory that moves through the text. It is followed by kPadding zeros.
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

/// Number of bytes around a place that are in memory when it is examined, unless the text begins or ends there.
inline constexpr std::size_t kLook = 256;

/// The first place in [from, limit) that has `needle` and that `accept` accepts; empty if there is none or the search
/// was stopped. The window moves on.
std::optional<std::uint64_t> findText(TextWindow& window, std::string_view needle, std::uint64_t from,
                                      std::uint64_t limit, const std::function<bool(const char*)>& accept,
                                      const std::stop_token& stop = {});

/// Skips a JSON value of any length at `cursor`, without validating it. The window moves on.
/// @return false if the text ends inside the value, or if the skip was stopped; `cursor` is then the window's end
bool skipLongValue(TextWindow& window, const char*& cursor, const std::stop_token& stop = {});

} // namespace profiler::formats::json
