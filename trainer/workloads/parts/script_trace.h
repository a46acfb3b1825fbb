#pragma once

#include <string>
#include <string_view>

namespace trainer {

/// Summarises a failure inside a TorchScript model in one line: the layer and the reason. LibTorch's own text is a
/// traceback of many lines.
/// @param text  LibTorch's text
std::string layerAndReason(std::string_view text);

} // namespace trainer
