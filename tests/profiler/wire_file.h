#pragma once

#include "profiler/formats/container/frame.h"
#include "tests/support/temporary_folder.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

/// Builds trace files byte by byte.
namespace wire_test {

/// The bytes of a trace file under construction.
class WireFile {
public:
    static constexpr std::uint64_t kRunId = 77;
    static constexpr std::int64_t kNoProcess = 0; ///< a pid that no process has

    explicit WireFile(std::int64_t pid = kNoProcess);
    WireFile& frame(profiler::container::FrameType type, std::span<const std::byte> payload = {});
    WireFile& strings(std::initializer_list<std::pair<std::uint32_t, std::string_view>> entries);
    WireFile& track(std::uint32_t number, profiler::container::TrackEntry entry);
    WireFile& events(std::uint32_t track, std::uint64_t firstIndex,
                     std::span<const profiler::container::EventRecord> records);
    WireFile& end() { return frame(profiler::container::FrameType::End); }
    /// Gives the next frame the number `sequence`.
    WireFile& jumpTo(std::uint32_t sequence);

    [[nodiscard]] const std::vector<std::byte>& bytes() const { return m_bytes; }
    /// The start of each frame, and the end of the last one.
    [[nodiscard]] const std::vector<std::size_t>& boundaries() const { return m_boundaries; }

private:
    profiler::container::Payload m_bytes;
    std::vector<std::size_t> m_boundaries;
    std::uint32_t m_sequence = 0;
};

/// A file with every type of frame and event: two host threads with steps, ops and an open wait, a stream with a copy
/// and a kernel, a counter, a device, metadata. Its slices are named step, forward, relu, relu_backward, read, Memcpy
/// HtoD, gemm, "data wait".
WireFile everything(std::int64_t pid = WireFile::kNoProcess);
inline constexpr std::size_t kSlicesOfEverything = 8;

profiler::container::EventRecord record(profiler::container::EventType type, profiler::ActivityKind kind,
                                        std::uint32_t name, std::int64_t begin, std::int64_t end,
                                        std::int64_t link = 0);

/// A file in memory that has a path, for tests that write thousands of files.
class MemoryFile {
public:
    MemoryFile();
    ~MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    /// Replaces the content of the file. A reader of the file sees the change.
    std::filesystem::path write(std::span<const std::byte> bytes) const;

private:
    int m_descriptor;
};

/// A temporary folder that writes files.
class TestFolder : public test_support::TemporaryFolder {
public:
    /// Writes a file to the folder, replacing an existing one.
    std::filesystem::path write(std::string_view name, std::span<const std::byte> bytes) const;
};

} // namespace wire_test
