#pragma once

#include <ATen/record_function.h>
#include <string>

namespace trainer {

/// Appends the sizes of an operator's inputs in the format of the PyTorch profiler: "[[32, 3, 224, 224], [], [[4],
/// [4]]]". Inputs that are not tensors appear as "[]". Only reads metadata; the tensors may be on any device.
void appendInputShapes(std::string& text, const at::RecordFunction& function);
/// Appends their types: "[float, Scalar, TensorList]"; "" for other inputs.
void appendInputTypes(std::string& text, const at::RecordFunction& function);

} // namespace trainer
