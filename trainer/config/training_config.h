#pragma once

#include "trainer/config/knobs.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
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

/// "an integer from 0 to 256", "true or false", "one of a, b".
std::string allowedText(const Knob& knob);
/// In the format that `--set` accepts and the app shows: "true", "4", "0.1", "adamw".
std::string toText(const Value& value);
/// Parses what toText() writes; nullopt if `text` is not a value of the knob's type, is out of range or is not a
/// choice.
std::optional<Value> parseValue(const Knob& knob, std::string_view text);
/// True if the value is in the knob's range or is one of its choices; it must have the right type.
bool isAllowed(const Knob& knob, const Value& value);
/// The keys that `key` most likely means, most likely first, at most three: "a, b, c".
std::string nearestKeys(std::string_view key);

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
