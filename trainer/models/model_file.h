#pragma once

#include "profiler/model/result.h"
#include "trainer/models/objective.h"
#include "trainer/workloads/workload.h"

#include <string>
#include <vector>

namespace trainer {

/// The bytes of the user's model file. It is code, so it is only given out when its SHA-256 is the one that the
/// configuration trusts; the error says path and SHA-256, so that whoever asks the user can show both.
profiler::Result<std::string> readTrusted(const ModelOptions& options);
/// SHA-256 in lower-case hexadecimal.
std::string sha256(const std::string& bytes);

/// What a model of the user's is trained for: model.loss, with data of this kind.
Objective objectiveOf(const ModelOptions& options);
/// Whether model.input_shapes, where it is given, is what the data set gives. The error has both.
profiler::Result<void> checkShapes(const ModelOptions& options);
/// Throws std::runtime_error, naming both shapes, when the model's answer cannot be held against the targets.
void checkAnswer(const ModelOptions& options, const Pass& pass);

} // namespace trainer
