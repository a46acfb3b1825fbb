#pragma once

#include "profiler/formats/format.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace json_test {

/// A file in the temporary folder, deleted with the object.
class TextFile {
public:
    explicit TextFile(std::string_view bytes, std::string_view name = "trace.json");
    ~TextFile();
    TextFile(const TextFile&) = delete;
    TextFile& operator=(const TextFile&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
    std::filesystem::path m_folder, m_path;
};

/// Opens a temporary file with these bytes and deletes it. Details are unavailable if the file was compressed.
profiler::Result<std::shared_ptr<const profiler::Trace>> tryOpen(std::string_view bytes, unsigned threads = 2);
/// The same for a text that must open.
std::shared_ptr<const profiler::Trace> open(std::string_view bytes, unsigned threads = 2);
/// A JSON object with these events.
std::string object(std::string_view events);

/// All slices of the track with that name, by start.
std::vector<profiler::Slice> slices(const profiler::Trace& trace, std::string_view track);
const profiler::Track* track(const profiler::Trace& trace, std::string_view name);
/// The only slice of a trace.
profiler::Slice only(const profiler::Trace& trace);
/// Every slice, counter and note as text, to compare traces.
std::string dump(const profiler::Trace& trace);

std::string gzip(std::string_view text);
std::string zstd(std::string_view text);

} // namespace json_test
