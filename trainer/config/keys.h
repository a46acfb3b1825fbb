#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// The names of the knobs, with the type of their values, so that code cannot misspell one. Rows are in knobs.cpp.
namespace config {

template <class T>
struct Key {
    std::string_view name;
};

namespace key {
using Flag = Key<bool>;
using Integer = Key<std::int64_t>;
using Real = Key<double>;
using Text = Key<std::string>;

inline constexpr Text device{"device"};                      // auto, cpu, cuda
inline constexpr Text workload{"workload"};                  // a file of trainer/workloads
inline constexpr Integer modelWidth{"model.width"};          // convnet: channels of the first layer
inline constexpr Text dataset{"dataset.kind"};               // a file of trainer/datasets
inline constexpr Text datasetPath{"dataset.path"};           // folder; empty: the project's cache
inline constexpr Integer datasetSamples{"dataset.samples"};  // generated: how many images
inline constexpr Integer datasetClasses{"dataset.classes"};  // generated: how many classes
inline constexpr Integer datasetSourceSize{"dataset.source_size"}; // generated: edge of the stored images, px
inline constexpr Real datasetValidation{"dataset.validation_share"};
inline constexpr Integer imageSize{"dataset.image_size"};    // edge that the model sees, px
inline constexpr Flag augment{"augment.enabled"};            // random crop and flip
inline constexpr Integer batchSize{"batch.size"};
inline constexpr Integer epochs{"run.epochs"};
inline constexpr Integer steps{"run.steps"};                 // 0: by epochs
inline constexpr Integer seed{"run.seed"};
inline constexpr Integer threads{"run.threads"};             // intra-op threads of the main thread; 0: LibTorch's choice
inline constexpr Integer workers{"loader.workers"};
inline constexpr Integer prefetchFactor{"loader.prefetch_factor"};
inline constexpr Flag persistentWorkers{"loader.persistent_workers"};
inline constexpr Flag pinMemory{"loader.pin_memory"};
inline constexpr Flag shuffle{"loader.shuffle"};
inline constexpr Text optimizer{"optimizer.kind"};
inline constexpr Real learningRate{"optimizer.learning_rate"};
inline constexpr Real momentum{"optimizer.momentum"};
inline constexpr Flag nesterov{"optimizer.nesterov"};
inline constexpr Real beta1{"optimizer.beta1"};
inline constexpr Real beta2{"optimizer.beta2"};
inline constexpr Real epsilon{"optimizer.epsilon"};
inline constexpr Real weightDecay{"optimizer.weight_decay"};
inline constexpr Real trustCoefficient{"optimizer.trust_coefficient"}; // LARS
inline constexpr Text implementation{"optimizer.implementation"}; // plain, foreach, fused
inline constexpr Text lrScaling{"optimizer.lr_scaling"};     // none, linear, sqrt: with the batch
inline constexpr Integer lrBaseBatch{"optimizer.lr_base_batch"}; // batch that the learning rate is meant for
inline constexpr Text schedule{"schedule.kind"};             // a file of trainer/schedules
inline constexpr Integer warmupSteps{"schedule.warmup_steps"};
inline constexpr Real finalShare{"schedule.final_share"};
inline constexpr Integer scheduleStepSize{"schedule.step_size"};
inline constexpr Real scheduleGamma{"schedule.gamma"};
inline constexpr Integer cycleSteps{"schedule.cycle_steps"};
inline constexpr Real lowestShare{"schedule.lowest_share"};
inline constexpr Real cycleShare{"schedule.cycle_share"};
inline constexpr Real rangeLowest{"schedule.range_lowest"};
inline constexpr Flag setToNone{"zero_grad.set_to_none"};
inline constexpr Text memoryFormat{"memory_format"};         // contiguous, channels_last
inline constexpr Text amp{"precision.amp"};                  // off, bf16
inline constexpr Integer syncEvery{"sync.every_n_steps"};
inline constexpr Flag evalNoGrad{"eval.no_grad"};
inline constexpr Flag anomaly{"debug.anomaly"};
inline constexpr Flag captureEnabled{"capture.enabled"};     // host events, ops and CUPTI
inline constexpr Integer captureOpsEvery{"capture.ops_every"};   // record ops in a window of every n steps; 0: never
inline constexpr Integer captureOpsWindow{"capture.ops_window"}; // steps of that window
} // namespace key

} // namespace config
