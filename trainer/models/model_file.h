#pragma once

#include "profiler/model/result.h"
#include "trainer/models/objective.h"
#include "trainer/workloads/workload.h"

#include <stdexcept>
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
/// SHA-256 in lower-case hexadecimal.
std::string sha256(const std::string& bytes);

/// What a model of the user's is trained for: model.loss, with data of this kind.
Objective objectiveOf(const ModelOptions& options);
/// Whether model.input_shapes, where it is given, is what the data set gives. The error has both.
profiler::Result<void> checkShapes(const ModelOptions& options);
/// The user's model and the data do not go together: what, the file, and what to do.
class ModelMisfit final : public std::runtime_error {
public:
    ModelMisfit(const std::string& what, std::string where, std::string hint)
        : std::runtime_error(what), m_where(std::move(where)), m_mend(std::move(hint))
    {
    }
    [[nodiscard]] const std::string& where() const { return m_where; }
    [[nodiscard]] const std::string& hint() const { return m_mend; }

private:
    std::string m_where, m_mend;
};
/// Throws ModelMisfit, naming both shapes, when the model's answer cannot be held against the targets.
void checkAnswer(const ModelOptions& options, const Pass& pass);

} // namespace trainer
