#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace architecture {

/// A source file of the project, as far as its place in the architecture goes.
struct SourceFile {
    std::string path; ///< from the root, with '/'
    std::size_t lines = 0;
    std::vector<std::string> includes; ///< as written, without brackets or quotes
};

/// All .cpp and .h under the project's folders.
std::vector<SourceFile> readTree(const std::filesystem::path& root);
SourceFile parse(std::string path, const std::string& text);

/// Each a sentence with the file: an include that its room may not have, a file that is too long.
std::vector<std::string> violations(const std::vector<SourceFile>& files);

} // namespace architecture
