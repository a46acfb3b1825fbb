#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace architecture {

/// A source file of the project and the headers it includes.
struct SourceFile {
    std::string path; ///< from the root, with '/'
    std::vector<std::string> includes; ///< as written, without brackets or quotes
};

/// All .cpp and .h under the project's folders.
std::vector<SourceFile> readTree(const std::filesystem::path& root);
SourceFile parse(std::string path, const std::string& text);

/// One sentence per violation: an include that the file's module must not have, or a file in an unknown folder.
std::vector<std::string> violations(const std::vector<SourceFile>& files);

} // namespace architecture
