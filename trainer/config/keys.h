#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Names of the knobs with their value types, so that a misspelt key does not compile. The rows are in knobs*.cpp.
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

inline constexpr Text device{"device"};             // auto, cpu, cuda
inline constexpr Text workload{"workload"};         // a file of trainer/workloads
inline constexpr Text modelSize{"model.size"};      // tiny, small, base, large
inline constexpr Integer modelWidth{"model.width"}; // of the first layer; 0: by size
inline constexpr Integer modelDepth{"model.depth"}; // layers or stages; 0: by size
inline constexpr Text modelNorm{"model.norm"};      // batch, group, none
inline constexpr Flag convBias{"model.conv_bias"};  // in layers directly before a norm
inline constexpr Text attention{"attention"};       // math, sdpa
inline constexpr Flag fusePointwise{"fuse.pointwise"};
inline constexpr Text modelPath{"model.path"};                     // the user's own model file
inline constexpr Text trustedSha256{"model.trusted_sha256"};       // of the model file
inline constexpr Text modelLoss{"model.loss"};                     // cross_entropy, mse, given
inline constexpr Text inputShapes{"model.input_shapes"};           // "3,32,32"
inline constexpr Text dataset{"dataset.kind"};                     // a file of trainer/datasets
inline constexpr Text datasetPath{"dataset.path"};                 // folder; empty: the user's cache
inline constexpr Integer datasetSamples{"dataset.samples"};        // generated: how many images
inline constexpr Integer datasetClasses{"dataset.classes"};        // generated: how many classes
inline constexpr Integer datasetSourceSize{"dataset.source_size"}; // generated: edge of the stored images, px
inline constexpr Real datasetValidation{"dataset.validation_share"};
inline constexpr Integer contextLength{"dataset.context"};   // text: tokens of a sample
inline constexpr Text targetColumn{"dataset.target_column"}; // csv; empty: the last column
inline constexpr Text targetKind{"dataset.target"};          // csv, arrays: class, number
inline constexpr Flag normalize{"data.normalize"};           // mean 0, deviation 1
inline constexpr Integer imageSize{"dataset.image_size"};    // edge of the model's input, px
inline constexpr Flag augment{"augment.enabled"};            // random crop and flip
inline constexpr Integer batchSize{"batch.size"};
inline constexpr Integer epochs{"run.epochs"};
inline constexpr Integer steps{"run.steps"}; // 0: by epochs
inline constexpr Integer seed{"run.seed"};
inline constexpr Integer threads{"run.threads"}; // intra-op threads of the main thread; 0: LibTorch's choice
inline constexpr Integer workers{"loader.workers"};
inline constexpr Integer prefetchFactor{"loader.prefetch_factor"};
inline constexpr Flag persistentWorkers{"loader.persistent_workers"};
inline constexpr Flag pinMemory{"loader.pin_memory"};
inline constexpr Flag shuffle{"loader.shuffle"};
inline constexpr Flag shardStreams{"loader.shard_streams"}; // each worker reads its own part of a stream
inline constexpr Text optimizer{"optimizer.kind"};
inline constexpr Real learningRate{"optimizer.learning_rate"};
inline constexpr Real momentum{"optimizer.momentum"};
inline constexpr Flag nesterov{"optimizer.nesterov"};
inline constexpr Real beta1{"optimizer.beta1"};
inline constexpr Real beta2{"optimizer.beta2"};
inline constexpr Real epsilon{"optimizer.epsilon"};
inline constexpr Real weightDecay{"optimizer.weight_decay"};
inline constexpr Real trustCoefficient{"optimizer.trust_coefficient"}; // LARS
inline constexpr Text implementation{"optimizer.implementation"};      // plain, foreach, fused
inline constexpr Text lrScaling{"optimizer.lr_scaling"};               // none, linear, sqrt: with the batch
inline constexpr Integer lrBaseBatch{"optimizer.lr_base_batch"};       // batch that the learning rate is meant for
inline constexpr Text schedule{"schedule.kind"};                       // a file of trainer/schedules
inline constexpr Integer warmupSteps{"schedule.warmup_steps"};
inline constexpr Real finalShare{"schedule.final_share"};
inline constexpr Integer scheduleStepSize{"schedule.step_size"};
inline constexpr Real scheduleGamma{"schedule.gamma"};
inline constexpr Integer cycleSteps{"schedule.cycle_steps"};
inline constexpr Real lowestShare{"schedule.lowest_share"};
inline constexpr Real cycleShare{"schedule.cycle_share"};
inline constexpr Real rangeLowest{"schedule.range_lowest"};
inline constexpr Flag setToNone{"zero_grad.set_to_none"};
inline constexpr Text memoryFormat{"memory_format"}; // contiguous, channels_last
inline constexpr Text amp{"precision.amp"};          // off, bf16, fp16
inline constexpr Flag tf32{"precision.tf32"};
inline constexpr Flag cudnnBenchmark{"cudnn.benchmark"};
inline constexpr Flag compile{"compile"};                       // runs the step as a CUDA graph
inline constexpr Integer accumulation{"gradient.accumulation"}; // micro-batches per step
inline constexpr Real clipNorm{"gradient.clip_norm"};           // 0: off
inline constexpr Real clipValue{"gradient.clip_value"};         // 0: off
inline constexpr Text checkpointing{"checkpointing"};           // off, all, cheap
inline constexpr Integer frozenBlocks{"model.frozen_blocks"};   // whose weights do not change
inline constexpr Flag unusedWork{"work.unused"};
inline constexpr Flag nonBlocking{"transfer.non_blocking"};
inline constexpr Flag createOnDevice{"tensors.create_on_device"};
inline constexpr Flag shareMemory{"tensors.share_memory"};
inline constexpr Flag augmentOnDevice{"augment.device"};
inline constexpr Real noise{"augment.noise"}; // standard deviation; 0: none
inline constexpr Flag asyncWork{"host.async_work"};
inline constexpr Text logFile{"run.log_file"};                    // empty: none
inline constexpr Integer checkpointEvery{"run.checkpoint_every"}; // steps; 0: never
inline constexpr Text checkpointPath{"run.checkpoint_path"};      // folder
inline constexpr Text resume{"run.resume"};                       // a checkpoint
inline constexpr Text onNan{"run.on_nan"};                        // stop, continue
inline constexpr Flag findMax{"batch.find_max"};
inline constexpr Integer memoryLimit{"batch.memory_limit"}; // MiB; 0: what is free
inline constexpr Text parallel{"parallel.kind"};            // none, dp, ddp
inline constexpr Integer localRanks{"parallel.local_ranks"};
inline constexpr Integer syncEvery{"sync.every_n_steps"};
inline constexpr Flag evalNoGrad{"eval.no_grad"};
inline constexpr Text evalPackage{"eval.package"};              // an AOTInductor package; empty: none
inline constexpr Text evalPackageSha256{"eval.package_sha256"}; // of the package
inline constexpr Flag anomaly{"debug.anomaly"};
inline constexpr Flag autogradProfiler{"debug.autograd_profiler"};
inline constexpr Flag emitNvtx{"debug.emit_nvtx"};
inline constexpr Flag gradcheck{"debug.gradcheck"};
inline constexpr Flag gradgradcheck{"debug.gradgradcheck"};
inline constexpr Flag captureEnabled{"capture.enabled"};       // host events, ops and CUPTI
inline constexpr Text captureLevel{"capture.level"};           // standard, always, full: what the windows below record
inline constexpr Integer captureOpsEvery{"capture.ops_every"}; // record ops in one window every n steps; 0: never
inline constexpr Integer captureOpsWindow{"capture.ops_window"}; // steps per window
} // namespace key

} // namespace config
