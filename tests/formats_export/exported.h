#pragma once

#include "profiler/model/trace.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace formats_export_test {

/// A temporary folder for one test; deleted afterwards.
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
/// Saves the trace of a text (tests/support/trace_text.h) under that name and returns the bytes of the file.
std::string exported(std::string_view text, std::string_view name);
/// The decompressed bytes of a .gz file.
std::string inflated(const std::string& bytes);

/// Steps with loader waits, forward and backward operators, launches, overlapping kernels, copies and counters.
extern const std::string_view kTraining;

} // namespace formats_export_test
