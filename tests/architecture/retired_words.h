#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Keeps words out of the product that the project has replaced by the words of PyTorch, CUDA, Perfetto, Nsight and
/// statistics. retired_words.txt is the list; the test fails where a product file uses one of them again.
namespace architecture {

/// One row of the list.
struct RetiredWord {
    std::string word;                 ///< "HostLane" or "own time", as in the list
    std::string replacement;          ///< what to write instead
    std::vector<std::string> allowed; ///< an occurrence inside one of these texts is not reported
};

/// Reads a list: one row per line, `word | replacement` or `word | replacement | allowed text | allowed text …`. Empty
/// lines and lines that start with '#' are skipped.
/// @throws std::invalid_argument  naming the line, for a row without a replacement or a word listed twice
std::vector<RetiredWord> parseRetiredWords(const std::string& list);

/// A text file of the product.
struct ProductFile {
    std::string path; ///< from the root, with '/'
    std::string text;
};

/// The files that users get or that contributors read as the product: the sources of the four modules, the Python
/// package, the tips, the scripts of packaging, the guides in .github and README.md. Other files of these folders
/// (images, samples) are skipped.
std::vector<ProductFile> readProduct(const std::filesystem::path& root);

/// One message per occurrence: "path:line: 'word' is retired; write 'replacement'". A file's path counts as its line 1.
///
/// A word without a space ("HostLane") is looked for in names: hostLane, m_hostLane, HOST_LANE, host_lanes and
/// makeHostLane are occurrences; a word of one part ("mend") also in prose. A word with a space ("own time") is looked
/// for in prose, also across line breaks inside a comment or a string, and in names (ownTime). Case does not matter.
std::vector<std::string> retiredUses(const ProductFile& file, const std::vector<RetiredWord>& words);

} // namespace architecture
