#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace architecture {

/// A source file of the project, the headers that it includes, and the system calls that it makes.
struct SourceFile {
    std::string path;                     ///< from the root, with '/'
    std::vector<std::string> includes;    ///< as written, without brackets or quotes
    std::vector<std::string> systemCalls; ///< names: "fork"
};

/// All .cpp and .h under the project's folders.
std::vector<SourceFile> readTree(const std::filesystem::path& root);
SourceFile parse(std::string path, const std::string& text);

/// One sentence per violation: an include or a system call that the file's module must not have, or a file in an
/// unknown folder.
std::vector<std::string> violations(const std::vector<SourceFile>& files);

} // namespace architecture
