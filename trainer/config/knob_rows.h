#pragma once

#include "trainer/config/training_config.h"

/// Shared by the files of the knob table: functions that make rows, and the headings of the form in order.
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
/// @param whenEmpty  the meaning of an empty path, shown in the field: "none"
Knob path(Key<std::string> key, std::string_view group, std::string_view label, PathKind kind,
          std::string_view whenEmpty, std::string_view where, std::string_view doc);
Knob text(Key<std::string> key, std::string_view group, std::string_view label, std::string_view where,
          std::string_view doc);
/// 0 has a special meaning. @param meaning  what it means, shown next to the field: "never"
Knob zeroIs(std::string_view meaning, Knob knob);
/// Collapsed by default in the form.
Knob advanced(Knob knob);
/// Rejected without a GPU.
Knob gpuOnly(Knob knob);

/// Evaluated by something other than step time.
Knob withObjective(Objective objective, Knob knob);
/// Changes what the model learns: evaluated by the loss at equal training time.
Knob learned(Knob knob);
/// Evaluated by time or memory, but the loss may differ by more than rounding.
Knob lossMayChange(Knob knob);
/// Changes the batches and therefore the loss. @param values  only when changing from or to these; empty: always
Knob otherBatches(Batches how, Knob knob, std::vector<std::string_view> values = {});
/// The losses before and after a change are not comparable.
Knob otherTask(Knob knob);
/// Makes training samples harder or easier, but not validation samples.
Knob otherTrainingSamples(Knob knob);
/// A number of steps that scales with the length of the training.
Knob scaledWithLength(Knob knob);
/// The product of all knobs of this kind is the number of samples per update.
Knob batchFactor(Knob knob);
/// The trainer searches for a batch size itself.
Knob batchSearch(Knob knob);
/// Controls how long a training runs or what it records.
Knob ofMeasurement(Knob knob);
/// When it is on, the first steps take longer.
Knob warmsUp(WarmUp why, Knob knob);
/// After a change that helped, the tuner tries further values.
Knob searched(ValueSearch search, Knob knob);
/// Settings that share the device's memory: batch size, micro-batches, precision, recomputation; and the loader's
/// workers, because a faster step needs more of them.
Knob sharesMemory(Knob knob);
/// Has an effect only if `on` has one of the values.
Knob onlyIf(std::string_view on, std::vector<std::string_view> values, Knob knob);
/// Has no effect if `on` has one of the values.
Knob unless(std::string_view on, std::vector<std::string_view> values, Knob knob);

/// Each function appends whole groups in the form's order. In knobs_data.cpp and knobs_model.cpp:
void addRun(Rows& rows);
void addModelAndData(Rows& rows);
void addLoading(Rows& rows);
/// In knobs_step.cpp:
void addOptimizer(Rows& rows);
void addSchedule(Rows& rows);
void addGradients(Rows& rows);
void addPrecision(Rows& rows);
void addMemory(Rows& rows);
void addTransfer(Rows& rows);
/// In knobs_work.cpp:
void addHost(Rows& rows);
void addParallel(Rows& rows);
void addRest(Rows& rows);

} // namespace config::rows
