#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace advisor_test {

/// Code from a tip's text.
struct Snippet {
    std::string key; ///< key of the tip
    std::string code;
    int line = 1;            ///< line in the tip's file where it begins
    std::string given;       ///< parameters that it needs in addition to the common ones: "torch::Tensor x, int step"
    bool isFunction = false; ///< it defines functions and cannot be placed inside one
};

/// One source file in which each snippet is a separate function. Their includes come first.
/// @param preamble declarations that all snippets need
std::string sourceOf(std::string_view preamble, const std::vector<Snippet>& snippets);

/// The result of the compilation.
struct Compiled {
    bool works = false;
    std::string output;
    /// "optimizer.kind.md:12:5: error: …" lines, without notes and warnings, with the key of the tip that contains
    /// them.
    std::vector<std::pair<std::string, std::string>> errors;
};
/// Checks the syntax and types of `source`; nothing is linked. Blocks while the compiler runs.
/// @param command compiler and options, as for a shell
Compiled compile(const std::string& command, const std::string& source);

} // namespace advisor_test
