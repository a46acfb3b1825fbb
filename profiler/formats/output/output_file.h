#pragma once

#include "profiler/formats/format.h"
#include "profiler/os/files.h"

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

/// A file that appears only when it is complete. It is written under a temporary name in the same folder, renamed at
/// the end, and deleted if it is abandoned. Data is written to disk in large blocks. If the name ends in .gz, the data
/// is compressed.
class OutputFile {
public:
    static Result<OutputFile> create(const std::filesystem::path& path);
    OutputFile(OutputFile&&) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    ~OutputFile();

    /// Appends data. An error is remembered; failed() and commit() report it.
    void write(std::string_view bytes)
    {
        m_buffer.append(bytes);
        if (m_buffer.size() >= kLot)
            flush(false);
    }
    /// The buffer of write(), for in-place formatting. Call grown() afterwards.
    std::string& buffer() { return m_buffer; }
    void grown()
    {
        if (m_buffer.size() >= kLot)
            flush(false);
    }
    [[nodiscard]] bool failed() const { return m_error != 0; }
    /// Gives the file its final name; replaces an existing file.
    /// @return NoSpace, Permission, Io
    [[nodiscard]] Result<void> commit();

private:
    static constexpr std::size_t kLot = std::size_t{1} << 20;
    struct Deflate;
    OutputFile() = default;
    void flush(bool last);
    void put(std::string_view bytes);
    [[nodiscard]] Error error() const;

    std::filesystem::path m_path;
    std::optional<os::ReplacementFile> m_file;
    int m_error = 0; ///< errno
    std::string m_buffer;
    std::unique_ptr<Deflate> m_deflate;
};

/// A window that contains all slices. Trace::range() excludes instants at its end.
inline constexpr TimeRange kAllTime{TraceTime::min(), TraceTime::max()};

/// The earliest time of a trace's slices and counters, ns; 0 if there are none.
std::int64_t firstTime(const Trace& trace);

/// Reports the progress of a walk over slices, and whether it must stop.
class Walk {
public:
    Walk(const Trace& trace, const WriteOptions& options) : m_options(options), m_all(trace.sliceCount()) {}
    /// Called for each slice; false means stop.
    bool step() { return ++m_done % kBetweenLooks != 0 || look(); }
    [[nodiscard]] bool stopped() const { return m_options.stop.stop_requested(); }

private:
    static constexpr std::uint64_t kBetweenLooks = 4096;
    bool look();
    const WriteOptions& m_options;
    std::uint64_t m_done = 0, m_all;
    std::chrono::steady_clock::time_point m_last;
};

/// Writes a complete file for a trace: creates it, calls write(file) to fill it (false means stopped), and gives it its
/// final name.
/// @return NoSpace, Permission, Io (also if a part of the trace can no longer be read), Cancelled. Unless the call
///         succeeds, no file is left behind.
Result<void> writeFile(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options,
                       const std::function<bool(OutputFile&)>& write);

} // namespace profiler::formats::writers
