#pragma once

#include "profiler/model/trace.h"
#include "trainer/config/training_config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The values of the user's program for the code to copy. Values that neither the configuration nor the trace contains
/// stay empty: the code then keeps the name of a variable.
namespace advisor {

struct ProgramValues {
    std::optional<std::int64_t> batchSize = {};      ///< batch size of the training loader
    std::optional<std::int64_t> workers = {};        ///< workers of that loader; 0: the main thread loads
    std::optional<std::int64_t> prefetchFactor = {}; ///< batches in flight per worker
    std::string optimizer = {};                      ///< the class name in Python: "torch.optim.AdamW"
    /// Keyword arguments of its constructor in Python syntax: "lr=0.001, weight_decay=0.01". Settings with default
    /// values may be missing.
    std::string optimizerSettings = {};
    bool hasAllSettings = false;   ///< it contains every setting that differs from its default
    std::string learningRate = {}; ///< of the first parameter group, formatted as in Python
    /// Of the first parameter group. The default of the class if all settings are known and this one is not among them.
    std::optional<double> weightDecay = {};

    friend bool operator==(const ProgramValues&, const ProgramValues&) = default;
};

/// From the configuration of one of our own runs.
ProgramValues programValues(const config::TrainingConfig& config);

/// From the configuration if there is one, else from what the trace records: the facts that the hooks write
/// ("loader.*", "optimizer.*"), the names of the optimizer's ranges, the arguments of its fused operators ("Concrete
/// Inputs"), and the first dimension of the images that each step's first convolution gets. A value that varies between
/// steps or optimizers counts as unknown.
ProgramValues programValues(const profiler::Trace& trace, const config::TrainingConfig* config = nullptr);

/// The implementations of an optimizer class that PyTorch 2.11 has in addition to the for-loop.
struct OptimizerForms {
    bool foreach = true;
    bool fused = true;
};
/// @param className the short name ("AdamW"). A class outside PyTorch may be derived from any class, so both are
/// assumed.
OptimizerForms optimizerForms(std::string_view className);

} // namespace advisor
