#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The knobs of a training: what a row of the table says about a knob, and the names of the knobs with their value
/// types, so that a misspelt key does not compile. The rows themselves are in knobs.cpp.
namespace config {

using Value = std::variant<bool, std::int64_t, double, std::string>;
enum class KnobType { Flag, Integer, Real, Choice, Path, Text };

/// The measurement that shows whether changing a knob helps.
enum class Objective {
    StepTime,
    EpochTime,       ///< it acts at the start of an epoch
    ValidationTime,  ///< it acts in validation
    Memory,          ///< it trades time for memory
    LossAtEqualTime, ///< it changes what the model learns
};

/// How a knob changes the batches.
enum class Batches {
    Same,
    OtherSamples, ///< the same number of samples, but different ones
    OtherSize     ///< a different number of samples per step
};

/// Why the first steps of a training take longer when a knob is on.
enum class WarmUp {
    None,
    Autotuning, ///< algorithms are benchmarked before one is kept
    Compilation ///< code or a graph is compiled before it runs
};

/// Which values the tuner tries after a change of a knob that helped.
enum class ValueSearch {
    None,
    Neighbours, ///< one more, twice as many, one less; not more than the machine has cores
    Doubling    ///< twice as many until a value fails, then values between that and the best
};

/// What a path names.
enum class PathKind {
    File,
    FileOrFolder,
    NewFile,  ///< the training writes it
    NewFolder ///< the training writes files into it
};

/// A knob has an effect only if another knob's value is one of `values`, or none of them.
struct Condition {
    std::string_view on; ///< key of the other knob
    bool isOneOf = true; ///< false: none of them
    std::vector<std::string_view> values;
};

/// One knob of the training. The form, validation, JSON, `--set`, toggles, experiments and documentation use this row;
/// no other list of keys says what a knob means.
struct Knob {
    std::string_view key;   ///< "loader.workers"
    std::string_view group; ///< heading in the form: "Data loading"
    std::string_view label; ///< name in the form: "Workers"
    KnobType type{};
    Value fallback;                        ///< the default
    double min = 0, max = 0;               ///< Integer, Real: inclusive
    std::vector<std::string_view> choices; ///< Choice
    /// Choice: a value that older configurations and traces use for the first choice; empty for none. It is still read.
    std::string_view formerFirst;
    std::string_view unit;                 ///< "samples", "ms"; empty for none
    std::string_view zero;                 ///< meaning of 0 if it is special: "never"; otherwise empty
    PathKind path = PathKind::File;        ///< Path
    std::string_view whenEmpty;            ///< Path: meaning of an empty path: "none"
    std::string_view doc;                  ///< what it does, one or two sentences, for users
    std::string_view where;                ///< where it applies: "loader", "every step", "validation"…
    bool needsGpu = false;                 ///< no effect and rejected without a GPU
    bool advanced = false;                 ///< collapsed by default in the form
    Objective objective = Objective::StepTime;
    Batches batches = Batches::Same;
    /// The batches change only when changing from or to one of these values; empty: with every change.
    std::vector<std::string_view> batchValues;
    /// The loss after the same number of steps may differ by more than rounding.
    bool mayChangeLoss = false;
    /// Losses before and after a change measure the same thing. False for a different dataset, model or loss function.
    bool comparableLoss = true;
    /// A change makes training samples harder or easier: only validation losses are comparable.
    bool changesTrainingSamples = false;
    /// A number of steps that depends on the length of the training: a shorter training needs a smaller number.
    bool scalesWithLength = false;
    /// The number of samples per update is the product of these knobs: while the product stays the same, they only
    /// change how the samples are split into micro-batches.
    bool isBatchFactor = false;
    /// The trainer searches for its own batch size before it trains. Experiments turn this off unless it is the change
    /// under test: each arm would fill the memory, whatever the other changes do to it.
    bool searchesBatch = false;
    /// Controls how long a training runs or what it records, not what it trains: results measured with another value
    /// belong to the same configuration.
    bool isOfMeasurement = false;
    WarmUp warmUp = WarmUp::None;
    ValueSearch search = ValueSearch::None;
    /// Settings that belong together: when one changes, the others are worth trying again. Empty: none.
    std::string_view settings;
    std::vector<Condition> enabledIf; ///< all must hold; empty: always has an effect
};

/// All knobs in the form's order.
std::span<const Knob> knobs();
/// nullptr for an unknown key.
const Knob* findKnob(std::string_view key);
/// Whether changing this knob changes the batches. @param from  empty: unknown
bool changesBatches(const Knob& knob, std::string_view from, std::string_view to);

/// The name of a knob whose value has type T.
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
inline constexpr Text implementation{"optimizer.implementation"};      // for-loop, foreach, fused
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
