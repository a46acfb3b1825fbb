#pragma once

#include <string>
#include <string_view>

namespace trainer {

/// A failure inside a TorchScript model in one line: which layer it was in, and what went wrong. LibTorch's own text is
/// a traceback of many lines.
/// @param text  as LibTorch gives it
std::string layerAndReason(std::string_view text);

} // namespace trainer
