#pragma once

#include "profiler/io/formats/format.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace profiler::formats::writers {

/// A file that appears when it is whole: written beside its place under another name, renamed at the end, deleted when
/// it is given up. What is written goes to disk in lots; with a name that ends in .gz it is compressed on the way.
class OutputFile {
public:
    static Result<OutputFile> create(const std::filesystem::path& path);
    OutputFile(OutputFile&&) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();

    /// Appends; an error is remembered, told by failed() and commit().
    void write(std::string_view bytes)
    {
        m_buffer.append(bytes);
        if (m_buffer.size() >= kLot)
            flush(false);
    }
    /// The buffer that write() fills, for what is formatted in place; grown() afterwards.
    std::string& buffer() { return m_buffer; }
    void grown()
    {
        if (m_buffer.size() >= kLot)
            flush(false);
    }
    [[nodiscard]] bool failed() const { return m_error != 0; }
    /// Makes the file appear at its place, replacing what was there.
    /// @return NoSpace, Permission, Io
    [[nodiscard]] Result<void> commit();

private:
    static constexpr std::size_t kLot = std::size_t{1} << 20;
    struct Deflate;
    OutputFile() = default;
    void flush(bool last);
    void put(std::string_view bytes);
    [[nodiscard]] Error error() const;

    std::filesystem::path m_path, m_part;
    int m_fd = -1;
    int m_error = 0; ///< errno
    std::string m_buffer;
    std::unique_ptr<Deflate> m_deflate;
};

/// A window that leaves no slice out; Trace::range() ends before what begins at its end and takes no time.
inline constexpr TimeRange kAllTime{TraceTime::min(), TraceTime::max()};

/// The earliest time of a trace's slices and counters, ns; 0 where it has none.
std::int64_t firstTime(const Trace& trace);

/// Tells how far a walk over slices is, and whether it shall stop.
class Walk {
public:
    Walk(const Trace& trace, const WriteOptions& options) : m_options(options), m_all(trace.sliceCount()) {}
    /// Called for each slice; false: stop.
    bool step() { return ++m_done % kBetweenLooks != 0 || look(); }
    [[nodiscard]] bool stopped() const { return m_options.stop.stop_requested(); }

private:
    static constexpr std::uint64_t kBetweenLooks = 4096;
    bool look();
    const WriteOptions& m_options;
    std::uint64_t m_done = 0, m_all;
    std::chrono::steady_clock::time_point m_last;
};

/// A whole file of a trace: made, filled by write(file), which returns false when it was stopped, and put at its place.
/// @return NoSpace, Permission, Io (also where a part of the trace cannot be read any more), Cancelled; but for the
///         first success nothing is left behind
Result<void> writeFile(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options,
                       const std::function<bool(OutputFile&)>& write);

} // namespace profiler::formats::writers
