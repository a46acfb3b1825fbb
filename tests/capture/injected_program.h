#pragma once

#include "tests/capture/parsed_trace.h"
#include "tests/capture/temporary_folder.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace capture_test {

/// nvtx_program, run with the injection library as `stepscope-cli record` does it.
struct InjectedRun {
    /// @param what  the program's argument. @param trace  STEPSCOPE_RECORD, from inside the folder; empty: not set
    explicit InjectedRun(std::string_view what, std::string_view trace = "t");

    /// The part of the program itself, whatever its number. Leftovers of its ring file are added where there is one.
    [[nodiscard]] ParsedTrace main() const;
    /// Parts of its children.
    [[nodiscard]] std::vector<ParsedTrace> others() const;

    TemporaryFolder folder;
    int status = 0; ///< as waitpid() has it
    int pid = 0;
    std::string out, err;

private:
    [[nodiscard]] std::vector<std::filesystem::path> parts() const;
};

} // namespace capture_test
