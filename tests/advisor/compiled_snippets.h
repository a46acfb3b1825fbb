#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace advisor_test {

/// Code to paste as it stands in a tip's text.
struct Snippet {
    std::string key; ///< of the tip
    std::string code;
    int line = 1;            ///< of the tip's file, where it begins
    std::string given;       ///< parameters that it takes for granted, beyond what all do: "torch::Tensor x, int step"
    bool isFunction = false; ///< it defines functions, and is no piece of one
};

/// One source file in which each snippet is a function of its own. Their includes come first.
/// @param preamble  what all take for granted
std::string sourceOf(std::string_view preamble, const std::vector<Snippet>& snippets);

/// What a compiler says of it.
struct Compiled {
    bool works = false;
    std::string output;
    /// "optimizer.kind.md:12:5: error: …" lines, without notes and warnings, with the key of the tip that they are in.
    std::vector<std::pair<std::string, std::string>> errors;
};
/// Checks the syntax and types of `source`; nothing is linked. Blocks for as long as the compiler takes.
/// @param command  compiler and its options, as for a shell
Compiled compile(const std::string& command, const std::string& source);

} // namespace advisor_test
