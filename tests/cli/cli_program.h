#pragma once

#include "profiler/model/trace.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cli_test {

/// Writes a trace as one of our files, as a run would have left it.
void writeTrace(const std::filesystem::path& path, const profiler::Trace& trace);

/// A temporary folder for a test; deleted afterwards.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return m_path / name; }
    /// Writes a text file and returns its path.
    std::filesystem::path write(std::string_view name, std::string_view text) const;
    /// Writes the trace of a text (see tests/support/trace_text.h) and returns its path.
    std::filesystem::path trace(std::string_view name, std::string_view text) const;

private:
    std::filesystem::path m_path;
};

/// The output and exit status of a program.
struct Ended {
    int status = -1; ///< exit status; 128 + signal if it was killed
    std::string out, err;
};
/// Runs stepscope-cli with these arguments, and with STEPSCOPE_TRAINER set to `trainer`.
/// @param interruptAfter if not empty: SIGINT is sent when this text appears in the output
Ended run(const std::vector<std::string>& arguments, const std::string& trainer = "/nowhere/stepscope-train",
          std::string_view interruptAfter = {});

} // namespace cli_test
