#pragma once

#include "profiler/model/message.h"
#include "profiler/model/number_text.h"
#include "profiler/model/trace.h"

#include <optional>
#include <string>
#include <vector>

/// A rule's verdict on a trace (Advice) and what it consists of: evidence, an expected saving, a change of a knob,
/// places in the user's files.
namespace advisor {

/// A place in a user's file: a call, from its first to its last character.
struct SourcePlace {
    std::string file;     ///< absolute path
    int line = 0;         ///< starting at 1
    int endLine = 0;      ///< not before `line`
    int column = 0;       ///< byte offset in the line
    int endColumn = 0;    ///< in the last line; after the last character
    std::string function; ///< the function that contains it: "main"
    std::string what;     ///< description of the place: "DataLoader (training)"

    friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

using profiler::message;
using profiler::Message;

enum class State { Fires, Silent, CannotTell };
/// What decides whether a change pays. JSON calls LossAtEqualTime "convergence" (cli.md): it compares the loss at equal
/// time.
enum class Objective { Time, Memory, LossAtEqualTime };
/// The unit of a saving. Times are in µs.
enum class SavingUnit { UsPerStep, UsPerEpoch, UsPerValidation, Bytes };

/// How a saving is to be read.
enum class SavingKind {
    Estimate,  ///< an interval for the mean, from a model that replays this trace
    UpperBound ///< a value that cannot be exceeded; how much of it a change saves is unknown
};

/// The expected saving of a change, in the unit of its objective.
struct Saving {
    /// Coverage of the interval of a mean over steps.
    static constexpr double kCoverage = 0.95;

    SavingUnit unit = SavingUnit::UsPerStep;
    /// The interval of an estimate and its midpoint. For an upper bound, `low` is 0, and `mid` and `high` are the
    /// bound.
    double low = 0, mid = 0, high = 0;
    /// Duration of one such unit in the trace, in µs. Machines differ in speed, so a saving carries over only as a
    /// share of this duration. 0: unknown, or the saving is in bytes.
    double ofUs = 0;
    SavingKind kind = SavingKind::Estimate;
    /// For estimates: the probability that the interval contains the mean that an experiment measures. 0: not
    /// established, for example because the ends come from a model of the input pipeline and not from the variation
    /// between steps.
    double coverage = 0;

    /// The time that the saving stands for: the midpoint of an estimate, or the full upper bound.
    [[nodiscard]] double claimed() const { return mid > 0 ? mid : 0; }
};

/// A change of one knob.
struct Toggle {
    std::string key, from, to; ///< values in the format of config::toText
    friend bool operator==(const Toggle&, const Toggle&) = default;
};

/// A place in the trace that shows the finding.
struct Evidence {
    profiler::TrackId track;
    std::optional<profiler::SliceId> slice; ///< no value: a range of a track
    profiler::TimeRange range;
    std::string name;
};

/// A rule's verdict on one trace.
struct Advice {
    State state = State::CannotTell;
    std::string title; ///< "The step waits for data"
    /// One sentence with the key number. Silent: which evidence contradicts the rule; cannot tell: what the trace does
    /// not record.
    profiler::Message reason;
    profiler::Message need;         ///< cannot tell: what to do to get an answer
    std::vector<Evidence> evidence; ///< most relevant first, at most about ten
    std::optional<Saving> saving;
    profiler::Message whyNoPrediction; ///< set if the rule fires without a saving
    /// Part of the saving, in µs per step, spent between the steps, where no other finding claims time.
    double betweenStepsUs = 0;
    double timeShare = 0; ///< share of the time that the finding is about, [0, 1]; ranks it if it has no estimate
    std::vector<profiler::Message> caveats;
    std::optional<Toggle> toggle;
    profiler::Message whyNoToggle;
    /// The change that the rule proposes, even if it cannot be re-run from here; `from` is empty if the run's value is
    /// unknown.
    std::optional<Toggle> proposed;
    Objective objective = Objective::Time;
    /// The user's lines that it concerns in a recorded Python program; most relevant first.
    std::vector<SourcePlace> source;
    /// What an experiment with this toggle should time: "steps", "epoch" or "validation".
    std::string measure = "steps";
};

/// The product's one number formatter, under the names that the advisor uses.
using profiler::bytesText;
using profiler::countText;
using profiler::shareText;
using profiler::timeText;

} // namespace advisor
