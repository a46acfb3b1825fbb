#pragma once

#include "advisor/change/program_patch.h"
#include "profiler/model/trace.h"
#include "tests/runner/traces_of_processes.h"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

namespace runner_test {

/// The user's file: its loader is in line 2.
inline constexpr const char* kScript = "from torch.utils.data import DataLoader\n"
                                       "loader = DataLoader(data, batch_size=32)\n";
/// Steps that wait for data for more than half of their time, and steps that do not wait.
inline constexpr std::string_view kWaitingSteps = R"(
    meta host.cores 2
    meta host.threads 1
    meta loader.workers 0
    main
      repeat 20 every 1000
        step 0 0 1000
        phase "data wait" 0 600
        stage decode 0 590
        phase forward 600 400
      end
)";
inline constexpr std::string_view kBusySteps = R"(
    meta host.cores 2
    main
      repeat 20 every 1000
        step 0 0 1000
        phase forward 0 1000
      end
)";

/// Steps that spend much of their time on the weights, whatever the batch size.
inline constexpr std::string_view kSmallBatches = R"(
    meta host.cores 2
    meta host.threads 1
    meta loader.batch_size 32
    main
      repeat 20 every 1000
        step 0 0 1000
        phase forward 0 200
        op aten::linear 0 200 seq=1
        phase backward 200 200
        phase optimizer 400 600
        op aten::add 400 600
      end
)";

/// Steps, and a validation whose operators autograd tracks.
inline constexpr std::string_view kValidatingSteps = R"(
    meta host.cores 2
    main
      repeat 20 every 1000
        step 0 0 1000
        phase forward 0 1000
      end
      phase validation 20000 5000
      op aten::linear 20000 2000 seq=1
      op aten::relu 22000 2000 seq=2
)";

/// A program of one file, train.py, and the facts of a recording about it.
class RecordedProgram {
protected:
    RecordedProgram();
    /// The recording with such steps, see tests/support/trace_text.h.
    [[nodiscard]] std::shared_ptr<const profiler::Trace> trace(std::string_view steps) const;
    /// The number of workers comes from --workers.
    void passWorkersAsOption();
    /// The recording contains the size of the loader's batches, 32.
    void recordBatchSize();
    /// The same, and the program trains with an optimizer whose learning rate is 0.1.
    void trainWithRate();
    /// The program validates with gradients, in a loop after its loader.
    void validateWithGradients();
    /// The patcher of the sources.
    static advisor::change::PatcherOptions patcher();

    const Folder m_folder;
    const std::filesystem::path m_script = m_folder.write("train.py", kScript);
    nlohmann::json m_facts;
};

} // namespace runner_test
