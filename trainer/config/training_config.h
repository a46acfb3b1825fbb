#pragma once

#include "trainer/config/keys.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

namespace config {

/// A wrong key or value: names the key, the value, and what is allowed.
struct ConfigError {
    std::string id;  ///< "config.not_allowed": programs and tests check it, with the fields below as parameters
    std::string key; ///< empty for a file that cannot be read
    std::string value;
    std::string allowed; ///< "an integer from 0 to 256", "one of sgd, adamw", the nearest keys…
    std::string where;   ///< file and, for bad JSON, the byte; empty for --set
    [[nodiscard]] std::string message() const;
};
template <class T>
using Result = tl::expected<T, ConfigError>;

using Value = std::variant<bool, std::int64_t, double, std::string>;
enum class KnobType { Flag, Integer, Real, Choice, Path, Text };

/// What shows whether a change of a knob pays.
enum class Objective {
    StepTime,
    EpochTime,       ///< it acts at the start of an epoch
    ValidationTime,  ///< it acts in validation
    Memory,          ///< it trades time for memory
    LossAtEqualTime, ///< it changes what the model learns
};

/// How a knob changes the batches of a step.
enum class Batches {
    Same,
    OtherSamples, ///< as many samples, but others
    OtherSize     ///< another number of samples per step
};

/// Why the first steps of a training take longer where a knob is on.
enum class WarmUp {
    None,
    Autotuning, ///< algorithms are tried before one is kept
    Compilation ///< code or a graph is made before it runs
};

/// Which values the tuner tries after a change of a knob that paid.
enum class ValueSearch {
    None,
    Neighbours, ///< one more, twice as many, one less; not more than the machine has cores
    Doubling    ///< twice as many, until a value fails; then between that and the best
};

/// What a path names.
enum class PathKind {
    File,
    FileOrFolder,
    NewFile,  ///< the training writes it
    NewFolder ///< the training writes files into it
};

/// A knob has an effect only where another knob's value is one of `values`, or none of them.
struct Condition {
    std::string_view on; ///< key of the other knob
    bool isOneOf = true; ///< false: none of them
    std::vector<std::string_view> values;
};

/// One knob of the training. Form, validation, JSON, `--set`, toggles, experiments and documentation read this row;
/// no other list of keys says what a knob means.
struct Knob {
    std::string_view key;   ///< "loader.workers"
    std::string_view group; ///< heading in the form: "Data loading"
    std::string_view label; ///< name in the form: "Workers"
    KnobType type{};
    Value fallback;                        ///< the default
    double min = 0, max = 0;               ///< Integer, Real: inclusive
    std::vector<std::string_view> choices; ///< Choice
    std::string_view unit;                 ///< "samples", "ms"; empty for none
    std::string_view zero;                 ///< what 0 stands for where it is no amount: "never"; else empty
    PathKind path = PathKind::File;        ///< Path
    std::string_view whenEmpty;            ///< Path: what an empty one stands for: "none"
    std::string_view doc;                  ///< what it does, one or two sentences, for users
    std::string_view where;                ///< where it applies: "loader", "every step", "validation"…
    bool needsGpu = false;                 ///< no effect, and refused, without a GPU
    bool advanced = false;                 ///< folded away in the form
    Objective objective = Objective::StepTime;
    Batches batches = Batches::Same;
    /// The batches change only for a change from or to one of these values; empty: for every change.
    std::vector<std::string_view> batchValues;
    /// The loss after the same number of steps may differ by more than rounding.
    bool mayChangeLoss = false;
    /// Losses before and after a change measure the same thing. False for another data set, model or loss function.
    bool comparableLoss = true;
    /// A change makes training samples harder or easier: only losses of a validation are comparable.
    bool changesTrainingSamples = false;
    /// A number of steps that belongs to the length of the training: a shorter training needs a smaller number.
    bool scalesWithLength = false;
    /// The samples of an update are the product of these knobs: when the product stays, they only change in which parts
    /// the samples are trained.
    bool isBatchFactor = false;
    /// The trainer searches for a batch of its own before it trains. An experiment leaves that out, unless it is the
    /// change: each arm would fill the memory, whatever the other changes do to it.
    bool searchesBatch = false;
    /// It says how long a training runs or what it records, not what is trained: results that were measured with
    /// another value are about the same configuration.
    bool isOfMeasurement = false;
    WarmUp warmUp = WarmUp::None;
    ValueSearch search = ValueSearch::None;
    /// Settings that belong together: when one of them changes, the others are worth another try. Empty: none.
    std::string_view settings;
    std::vector<Condition> enabledIf; ///< all must hold; empty: it always has an effect
};

/// All knobs in the form's order.
std::span<const Knob> knobs();
/// nullptr for an unknown key.
const Knob* findKnob(std::string_view key);
/// Whether a change of this knob changes the batches. @param from  empty: unknown
bool changesBatches(const Knob& knob, std::string_view from, std::string_view to);
/// "an integer from 0 to 256", "true or false", "one of a, b".
std::string allowedText(const Knob& knob);
/// As `--set` takes it and as the app shows it: "true", "4", "0.1", "adamw".
std::string toText(const Value& value);

/// What is asked of a training: a value for every knob. A value type.
class TrainingConfig {
public:
    /// All defaults: the naive training.
    TrainingConfig();

    template <class T>
    [[nodiscard]] const T& operator[](Key<T> key) const
    {
        return std::get<T>(value(key.name));
    }
    /// By name; asserts that the key exists (see findKnob).
    [[nodiscard]] const Value& value(std::string_view key) const;
    [[nodiscard]] std::string text(std::string_view key) const { return toText(value(key)); }

    /// Parses and checks one value; leaves the configuration alone on failure.
    Result<void> set(std::string_view key, std::string_view text);
    /// "loader.workers=2".
    Result<void> setAssignment(std::string_view assignment);

    /// Nested by the dots of the keys: {"loader": {"workers": 2}}. Flat keys are taken as well.
    static Result<TrainingConfig> fromJson(std::string_view text, std::string_view where = {});
    static Result<TrainingConfig> load(const std::filesystem::path& path);
    /// @param all  every knob; else only those that differ from the default
    [[nodiscard]] std::string toJson(bool all = true) const;
    /// Writes to a temporary file beside `path` and renames it.
    Result<void> save(const std::filesystem::path& path) const;

    /// What cannot work together or here: knobs that need a GPU when there is none, pinned memory on the CPU…
    [[nodiscard]] std::vector<ConfigError> problems(bool gpuAvailable) const;

    /// The first condition of the knob that this configuration does not meet; nullptr: the knob has an effect.
    [[nodiscard]] const Condition* unmetCondition(const Knob& knob) const;

    friend bool operator==(const TrainingConfig&, const TrainingConfig&) = default;

private:
    std::map<std::string, Value, std::less<>> m_values;
};

/// Keys whose values differ, with both texts: {key, a, b}.
struct Difference {
    std::string key, a, b;
};
std::vector<Difference> difference(const TrainingConfig& a, const TrainingConfig& b);

} // namespace config
