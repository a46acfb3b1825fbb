#pragma once

#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

// Trace file formats. Each format is one file of this folder, <stem>.cpp, which defines `Format <stem>()` in this
// namespace. Adding the file registers the format. The other sources of a format are in a subfolder.
namespace profiler::formats {

struct ReadOptions {
    /// Receives the share of the file that has been read, [0, 1], at least every 50 ms, on the thread that called the
    /// reader. May be empty.
    std::function<void(double)> progress;
    /// A stop request ends the read with Error::Code::Cancelled within 50 ms.
    std::stop_token stop;
    unsigned threads = 0; ///< threads that read and seal; 0: one per core
    std::uint64_t memoryBudget =
        0; ///< bytes of memory for columns; the rest goes to disk. 0: a share of the machine's memory
    /// Receives what has been read so far, on the reader's thread, a few times during a long read. May be empty.
    std::function<void(std::shared_ptr<const Trace>)> preview;
    /// Time before the first preview. Shorter reads do not need one.
    std::chrono::milliseconds previewAfter{250};
};

struct WriteOptions {
    std::function<void(double)> progress; ///< receives the share written, [0, 1], on the caller's thread; may be empty
    std::stop_token stop;                 ///< a stop request ends the write with Error::Code::Cancelled
    /// Metadata that a file in our own format gets in addition to the trace's. An entry overrides the trace's entry of
    /// the same key; an empty text removes it. Other formats cannot store it.
    std::map<std::string, std::string> metadata;
};

/// A trace file format.
struct Format {
    std::string_view title, doc; ///< for file dialogs and `describe`: "PyTorch profiler JSON", one sentence
    std::vector<std::string_view> extensions; ///< with the dot, longest first: ".json.gz", ".json"
    /// True if a file with this content is of this format. The file name is used only if the content is ambiguous.
    /// @param head  the first bytes, at least 4 KiB unless the file is shorter; decompressed if the file is .gz or .zst
    bool (*recognises)(std::span<const std::byte> head, const std::filesystem::path& path) = nullptr;
    /// Opens a whole file. For damaged input, returns what can be read, with notes in captureStats(), or an Error.
    /// Callable from any thread.
    Result<std::shared_ptr<const Trace>> (*read)(const std::filesystem::path& path,
                                                 const ReadOptions& options) = nullptr;
    /// Null if the format cannot be written. A write that fails or is stopped leaves no file behind. Callable from any
    /// thread.
    Result<void> (*write)(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options) = nullptr;
    bool readsCompressed = false; ///< `read` accepts .gz and .zst files
};

/// Opens a trace file of any format. The content of the file determines the format.
Result<std::shared_ptr<const Trace>> openTrace(const std::filesystem::path& path, const ReadOptions& options = {});

/// The start of a trace file.
struct FileHead {
    std::string_view format; ///< file stem of its format: "pytorch_json"; empty: not a format that can be read
    std::string text;        ///< at most 64 KiB, decompressed
};
/// Recognises the format of a file without reading all of it.
Result<FileHead> readFileHead(const std::filesystem::path& path);

/// Writes a trace in the format given by the extension of `path`.
Result<void> saveTrace(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options = {});

} // namespace profiler::formats
