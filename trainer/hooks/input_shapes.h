#pragma once

#include <ATen/record_function.h>
#include <string>

namespace trainer {

/// Appends the sizes of an operator's inputs as the PyTorch profiler writes them: "[[32, 3, 224, 224], [], [[4],
/// [4]]]". What is no tensor has "[]". Reads only; the tensors may be on any device.
void appendInputShapes(std::string& text, const at::RecordFunction& function);
/// Their types: "[float, Scalar, TensorList]"; "" for what is neither.
void appendInputTypes(std::string& text, const at::RecordFunction& function);

} // namespace trainer
