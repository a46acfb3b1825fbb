#pragma once

#include "trainer/config/training_config.h"

/// What the files of the table of knobs share: makers of rows, and the headings of the form in its order.
namespace config::rows {

using Rows = std::vector<Knob>;

inline constexpr std::string_view kRun = "Run", kModel = "Model", kData = "Data", kLoading = "Data loading",
                                  kOptimizer = "Optimizer", kSchedule = "Learning rate schedule",
                                  kGradients = "Gradients", kPrecision = "Precision", kMemory = "Memory",
                                  kTransfer = "Transfer", kHost = "Host", kParallel = "Parallel",
                                  kValidation = "Validation", kDebugging = "Debugging", kCapture = "Recording";

Knob flag(Key<bool> key, std::string_view group, std::string_view label, bool fallback, std::string_view where,
          std::string_view doc);
Knob number(Key<std::int64_t> key, std::string_view group, std::string_view label, std::int64_t fallback, double min,
            double max, std::string_view unit, std::string_view where, std::string_view doc);
Knob real(Key<double> key, std::string_view group, std::string_view label, double fallback, double min, double max,
          std::string_view where, std::string_view doc);
/// The first choice is the default.
Knob choice(Key<std::string> key, std::string_view group, std::string_view label, std::vector<std::string_view> choices,
            std::string_view where, std::string_view doc);
/// @param whenEmpty  what an empty path stands for, in the field: "none"
Knob path(Key<std::string> key, std::string_view group, std::string_view label, PathKind kind,
          std::string_view whenEmpty, std::string_view where, std::string_view doc);
Knob text(Key<std::string> key, std::string_view group, std::string_view label, std::string_view where,
          std::string_view doc);
/// 0 is no amount. @param meaning  what it stands for, beside the field: "never"
Knob zeroIs(std::string_view meaning, Knob knob);
/// Folded away in the form.
Knob advanced(Knob knob);
/// Refused without a GPU.
Knob gpuOnly(Knob knob);

/// Judged by something other than the time of a step.
Knob judgedBy(Objective objective, Knob knob);
/// Changes what the model learns: judged by the loss at equal time.
Knob learned(Knob knob);
/// Judged by time or memory, but the loss may differ by more than rounding.
Knob lossMayChange(Knob knob);
/// Changes the batches, and so the loss. @param values  only for a change from or to these; empty: always
Knob otherBatches(Batches how, Knob knob, std::vector<std::string_view> values = {});
/// Losses before and after are not comparable.
Knob otherTask(Knob knob);
/// Makes training samples harder or easier, but not those of a validation.
Knob otherTrainingSamples(Knob knob);
/// A number of steps that is rescaled with the length of the training.
Knob scaledWithLength(Knob knob);
/// Its product with the others of its kind is the batch of an update.
Knob batchFactor(Knob knob);
/// The trainer searches for a batch itself.
Knob batchSearch(Knob knob);
/// How long a training runs or what it records.
Knob ofMeasurement(Knob knob);
/// Where it is on, the first steps take longer.
Knob warmsUp(WarmUp why, Knob knob);
/// After a change that paid, the tuner tries further values.
Knob searched(ValueSearch search, Knob knob);
/// Settings that share the memory of the device: batch, its parts, precision, recomputation; and the loader's workers,
/// of which a faster step needs more.
Knob sharesMemory(Knob knob);
/// Has an effect only where `on` has one of the values.
Knob onlyIf(std::string_view on, std::vector<std::string_view> values, Knob knob);
/// Has no effect where `on` has one of the values.
Knob unless(std::string_view on, std::vector<std::string_view> values, Knob knob);

/// Each appends whole groups, in the form's order: knobs_data.cpp, knobs_model.cpp …
void addRun(Rows& rows);
void addModelAndData(Rows& rows);
void addLoading(Rows& rows);
/// … knobs_step.cpp …
void addOptimizer(Rows& rows);
void addSchedule(Rows& rows);
void addGradients(Rows& rows);
void addPrecision(Rows& rows);
void addMemory(Rows& rows);
void addTransfer(Rows& rows);
/// … and knobs_work.cpp.
void addHost(Rows& rows);
void addParallel(Rows& rows);
void addRest(Rows& rows);

} // namespace config::rows
