#pragma once

#include "profiler/model/trace.h"
#include "trainer/config/training_config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The values of the user's own program that code to paste repeats. What neither the configuration nor the trace
/// contains stays empty: the code then keeps a variable's name.
namespace advisor {

struct ProgramValues {
    std::optional<std::int64_t> batchSize = {};      ///< samples of one batch of the training's loader
    std::optional<std::int64_t> workers = {};        ///< of that loader; 0: the main thread loads
    std::optional<std::int64_t> prefetchFactor = {}; ///< batches in flight for each worker
    std::string optimizer = {};                      ///< as Python names the class: "torch.optim.AdamW"
    /// Keyword arguments of its constructor, as Python writes them: "lr=0.001, weight_decay=0.01". Settings that have
    /// their default may be missing.
    std::string optimizerSettings = {};
    bool hasAllSettings = false;   ///< every setting that differs from its default is among them
    std::string learningRate = {}; ///< of the first parameter group, as Python writes the number
    /// Of the first parameter group. The class's default where all settings are known and it is not among them.
    std::optional<double> weightDecay = {};

    friend bool operator==(const ProgramValues&, const ProgramValues&) = default;
};

/// From the configuration of one of our own runs.
ProgramValues programValues(const config::TrainingConfig& config);

/// From the configuration, where there is one; else from what the trace records: the facts that our hooks write
/// ("loader.*", "optimizer.*"), the names of the optimizer's ranges, the arguments of its fused operators ("Concrete
/// Inputs"), and the first dimension of the images that each step's first convolution gets. A value that differs from
/// step to step, or of one of several optimizers, is not known.
ProgramValues programValues(const profiler::Trace& trace, const config::TrainingConfig* config = nullptr);

/// The implementations besides the plain one that PyTorch 2.11 has of an optimizer's class.
struct OptimizerForms {
    bool foreach = true;
    bool fused = true;
};
/// Of its short name ("AdamW"). A class that is not PyTorch's may derive from any: it has both.
OptimizerForms optimizerForms(std::string_view className);

} // namespace advisor
