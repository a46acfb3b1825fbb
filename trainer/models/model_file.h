#pragma once

#include "profiler/model/result.h"
#include "trainer/models/objective.h"
#include "trainer/workloads/workload.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainer {

/// A file that is code, and the knobs that name it and say that it may be run.
struct CodeFile {
    std::string path, trustedSha256;
    std::string_view pathKey = "model.path", trustKey = "model.trusted_sha256";
};
/// The bytes of such a file, given out only when its SHA-256 is the one that the configuration trusts; the error says
/// path and SHA-256, so that whoever asks the user can show both.
profiler::Result<std::string> readTrusted(const CodeFile& file);
/// Of the user's model.
profiler::Result<std::string> readTrusted(const ModelOptions& options);
/// SHA-256 in lower-case hexadecimal. Throws profiler::Failure where OpenSSL does not offer it.
std::string sha256(const std::string& bytes);

/// What a model of the user's is trained for: model.loss, with data of this kind.
Objective objectiveOf(const ModelOptions& options);
/// Whether model.input_shapes, where it is given, is what the data set gives. The error has both.
profiler::Result<void> checkShapes(const ModelOptions& options);
/// Throws profiler::Failure, naming both shapes, when the loss cannot compare the model's output with the targets.
void checkAnswer(const ModelOptions& options, const Pass& pass);

} // namespace trainer
