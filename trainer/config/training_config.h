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

/// A wrong key or value: contains the key, the value, and what is allowed.
struct ConfigError {
    std::string id;  ///< "config.not_allowed": for programs and tests, with the fields below as parameters
    std::string key; ///< empty for an unreadable file
    std::string value;
    std::string allowed; ///< "an integer from 0 to 256", "one of sgd, adamw", the nearest keys…
    std::string where;   ///< file and, for invalid JSON, the byte; empty for --set
    [[nodiscard]] std::string message() const;
};
template <class T>
using Result = tl::expected<T, ConfigError>;

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
/// "an integer from 0 to 256", "true or false", "one of a, b".
std::string allowedText(const Knob& knob);
/// In the format that `--set` accepts and the app shows: "true", "4", "0.1", "adamw".
std::string toText(const Value& value);

/// The configuration of a training: a value for every knob. A value type.
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

    /// Parses and checks one value; does not change the configuration on failure.
    Result<void> set(std::string_view key, std::string_view text);
    /// "loader.workers=2".
    Result<void> setAssignment(std::string_view assignment);

    /// Nested by the dots of the keys: {"loader": {"workers": 2}}. Flat keys are accepted too.
    static Result<TrainingConfig> fromJson(std::string_view text, std::string_view where = {});
    static Result<TrainingConfig> load(const std::filesystem::path& path);
    /// @param all  every knob; otherwise only those that differ from the default
    [[nodiscard]] std::string toJson(bool all = true) const;
    /// Writes to a temporary file in the same folder as `path` and renames it.
    Result<void> save(const std::filesystem::path& path) const;

    /// Invalid combinations, and values that do not work on this machine: knobs that need a GPU when there is none,
    /// pinned memory on the CPU…
    [[nodiscard]] std::vector<ConfigError> problems(bool gpuAvailable) const;

    /// The first condition of the knob that this configuration does not satisfy; nullptr: the knob has an effect.
    [[nodiscard]] const Condition* unmetCondition(const Knob& knob) const;

    friend bool operator==(const TrainingConfig&, const TrainingConfig&) = default;

private:
    std::map<std::string, Value, std::less<>> m_values;
};

/// Keys whose values differ, with both values as text: {key, a, b}.
struct Difference {
    std::string key, a, b;
};
std::vector<Difference> difference(const TrainingConfig& a, const TrainingConfig& b);

} // namespace config
