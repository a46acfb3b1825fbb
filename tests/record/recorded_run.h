#pragma once

#include "profiler/model/trace.h"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace record_test {

/// A temporary folder for a test, deleted with its owner.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return m_path / name; }
    std::filesystem::path write(std::string_view name, std::string_view text) const;
    [[nodiscard]] std::set<std::string> files() const;

private:
    std::filesystem::path m_path;
};

/// The output and exit status of a shell command.
struct Ended {
    int status = -1; ///< exit status; 128 + signal if one ended the shell
    std::string out, err;
};
Ended shell(const Folder& folder, const std::string& line);
/// `stepscope-cli record -o FOLDER/t.sstrace OPTIONS -- COMMAND`
Ended record(const Folder& folder, const std::string& command, const std::string& options = {});
/// `stepscope-cli summarize --json` of FOLDER/t.sstrace.
nlohmann::json summary(const Folder& folder);
/// FOLDER/t.sstrace, opened.
std::shared_ptr<const profiler::Trace> trace(const Folder& folder);
/// Names of all slices of one kind.
std::vector<std::string> names(const profiler::Trace& trace, profiler::ActivityKind kind);

} // namespace record_test
