#pragma once

#include "profiler/io/formats/open/inflate_stream.h"
#include "profiler/io/formats/open/source_file.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>

namespace profiler::formats::json {

/// The text of a trace by position: a plain file, or a compressed one that a thread of its own inflates into an
/// unlinked file, on disk and not in memory, while others read. All functions may be called by several threads.
class ByteSource {
public:
    static Result<std::shared_ptr<ByteSource>> open(const std::filesystem::path& path, std::stop_token stop);
    ~ByteSource();

    /// Fills `out` from `offset` on, waiting for what is being inflated; fewer bytes: the text ends.
    std::size_t read(std::uint64_t offset, std::span<char> out);
    /// True if the text has a byte at `offset`; waits until that is known.
    bool reaches(std::uint64_t offset);
    /// Bytes of the text, where that is known before it was read.
    [[nodiscard]] std::optional<std::uint64_t> knownSize() const;
    /// Share of the file that was taken in, [0, 1], where a thread inflates it.
    [[nodiscard]] double inflatedShare() const;
    /// What is wrong with the file itself; empty: nothing found. Complete once the end was read.
    [[nodiscard]] std::string damage() const;
    /// Where something that is not read follows the compressed content: the byte of the file; 0: nowhere. Complete once
    /// the end was read.
    [[nodiscard]] std::uint64_t trailing() const;
    /// True while the file is the one that was opened, as far as its size and time say.
    [[nodiscard]] bool unchanged() const;
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
    ByteSource(SourceFile file, std::filesystem::path path) : m_file(std::move(file)), m_path(std::move(path)) {}
    bool startInflating(Compression compression, std::stop_token stop);
    void inflate(Compression compression, const std::stop_token& own, const std::stop_token& stop);
    void inflateAll(Compression compression, const std::stop_token& own, const std::stop_token& stop);
    /// Waits until `offset` bytes are there or no more come; returns how many are there.
    std::uint64_t waitFor(std::uint64_t offset);

    SourceFile m_file;
    std::filesystem::path m_path;
    std::int64_t m_modified = 0;       ///< ns, of the file as it was opened
    std::optional<SourceFile> m_spill; ///< the inflated text
    std::atomic<std::uint64_t> m_taken{0};
    mutable std::mutex m_mutex; ///< guards what follows; nothing blocks while it is held
    std::condition_variable m_grown;
    std::uint64_t m_inflated = 0;
    bool m_over = false;
    std::string m_damage;
    std::uint64_t m_trailing = 0;
    std::jthread m_inflater; ///< last: it ends before what it uses
};

} // namespace profiler::formats::json
