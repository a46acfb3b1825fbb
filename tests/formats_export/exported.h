#pragma once

#include "profiler/model/trace.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace formats_export_test {

/// A folder of its own for a test; deleted afterwards.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return m_path / name; }
    [[nodiscard]] std::size_t files() const;

private:
    std::filesystem::path m_path;
};

std::string bytesOf(const std::filesystem::path& path);
/// Saves the trace of a text (tests/support/trace_text.h) under that name and returns the file's bytes.
std::string exported(std::string_view text, std::string_view name);
/// Bytes of a .gz, inflated.
std::string inflated(const std::string& bytes);

/// Steps with loader waits, operators forward and backward, launches, kernels that overlap, copies, counters.
extern const std::string_view kTraining;

} // namespace formats_export_test
