#pragma once

#include "profiler/model/result.h"
#include "trainer/workloads/parts/network.h"
#include "trainer/workloads/workload.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainer {

/// A file with code, and the knobs for its path and its trusted SHA-256.
struct CodeFile {
    std::string path, trustedSha256;
    std::string_view pathKey = "model.path", trustKey = "model.trusted_sha256";
};
/// Returns the bytes of such a file only if its SHA-256 is the trusted one of the configuration; the error contains
/// path and SHA-256, so that the caller can show both to the user.
profiler::Result<std::string> readTrusted(const CodeFile& file);
/// The same for the user's model.
profiler::Result<std::string> readTrusted(const ModelOptions& options);
/// SHA-256 in lower-case hexadecimal. Throws profiler::Failure if OpenSSL does not provide it.
std::string sha256(const std::string& bytes);

/// The objective of the user's model: model.loss with data of this kind.
Objective objectiveOf(const ModelOptions& options);
/// Checks that model.input_shapes, if given, matches the dataset. The error contains both.
profiler::Result<void> checkShapes(const ModelOptions& options);
/// Throws profiler::Failure with both shapes if the loss cannot compare the model's output with the targets.
void checkAnswer(const ModelOptions& options, const Pass& pass);

} // namespace trainer
