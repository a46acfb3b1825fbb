#pragma once

#include "tests/capture/parsed_trace.h"
#include "tests/support/temporary_folder.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace capture_test {

/// Runs nvtx_program with the injection library, as `stepscope-cli record` does.
struct InjectedRun {
    /// @param what   the program's argument
    /// @param trace  value of STEPSCOPE_RECORD, relative to the folder; not set if empty
    explicit InjectedRun(std::string_view what, std::string_view trace = "t");

    /// The part of the program itself, whatever its pid, plus recovered events of its ring file if there is one.
    [[nodiscard]] ParsedTrace main() const;
    /// Parts of its child processes.
    [[nodiscard]] std::vector<ParsedTrace> others() const;

    test_support::TemporaryFolder folder;
    int status = 0; ///< as returned by waitpid()
    int pid = 0;
    std::string out, err;

private:
    [[nodiscard]] std::vector<std::filesystem::path> parts() const;
};

} // namespace capture_test
