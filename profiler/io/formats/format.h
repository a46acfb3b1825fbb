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

// Trace files by their format. A format is one file of this folder, <stem>.cpp, which defines `Format <stem>()` in this
// namespace: dropping it in registers it. What a format is made of besides lies in a folder of its own below this one.
namespace profiler::formats {

struct ReadOptions {
    /// Called with the share read, [0, 1], at least every 50 ms of work; on the thread that called the reader. May be
    /// empty.
    std::function<void(double)> progress;
    /// A stop ends the reading with Error::Code::Cancelled within 50 ms.
    std::stop_token stop;
    unsigned threads = 0; ///< that read and seal; 0: one a core
    std::uint64_t memoryBudget =
        0; ///< bytes of memory for columns, beyond which they go to disk; 0: a share of the machine's
    /// Called with what was read so far, on the reader's thread, a few times during a long reading. May be empty.
    std::function<void(std::shared_ptr<const Trace>)> preview;
    /// A reader that shows the trace as it grows begins then: shorter readings are not worth it.
    std::chrono::milliseconds previewAfter{250};
};

struct WriteOptions {
    std::function<void(double)> progress; ///< share written, [0, 1]; on the caller's thread; may be empty
    std::stop_token stop;                 ///< a stop ends the writing with Error::Code::Cancelled
    /// What a copy in our own format has in its metadata besides the trace's, or in its stead; an empty text takes an
    /// entry away. Other formats have no place for it.
    std::map<std::string, std::string> metadata;
};

/// One kind of trace file.
struct Format {
    std::string_view title, doc; ///< for file dialogs and `describe`: "PyTorch profiler JSON", one sentence
    std::vector<std::string_view> extensions; ///< with their dot, longest first: ".json.gz", ".json"
    /// True if a file that begins so is of this format. The name counts only where the content leaves it open.
    /// @param head  the first bytes, at least 4 KiB where the file has them; inflated if the file is .gz or .zst
    bool (*recognises)(std::span<const std::byte> head, const std::filesystem::path& path) = nullptr;
    /// Opens a whole file. Bad input gives what can be read, with notes in captureStats(), or an Error. Any thread.
    Result<std::shared_ptr<const Trace>> (*read)(const std::filesystem::path& path,
                                                 const ReadOptions& options) = nullptr;
    /// Null: cannot be written. A failed or stopped writing leaves no file behind. Any thread.
    Result<void> (*write)(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options) = nullptr;
    bool readsCompressed = false; ///< `read` takes .gz and .zst files too
};

/// Opens a trace file of any format, told by its content.
Result<std::shared_ptr<const Trace>> openTrace(const std::filesystem::path& path, const ReadOptions& options = {});

/// Writes a trace in the format that the extension of `path` names.
Result<void> saveTrace(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options = {});

} // namespace profiler::formats
