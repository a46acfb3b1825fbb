#pragma once

#include "advisor/source_place.h"
#include "profiler/model/message.h"
#include "profiler/model/trace.h"

#include <optional>
#include <string>
#include <vector>

namespace advisor {

using profiler::message;
using profiler::Message;

enum class State { Fires, Silent, CannotTell };
/// What decides whether a change pays. JSON calls LossAtEqualTime "convergence" (cli.md): it is a screening at equal
/// time.
enum class JudgedBy { Time, Memory, LossAtEqualTime };
/// What a saving is counted in. Times are µs.
enum class SavingUnit { UsPerStep, UsPerEpoch, UsPerValidation, Bytes };

/// What is claimed of a saving. There are no others.
enum class SavingKind {
    Estimate,  ///< an interval for the mean, from a model that replays this trace
    UpperBound ///< a value that cannot be exceeded; what of it a change reaches is not known
};

/// What a change should save, in the unit of its objective.
struct Saving {
    /// Coverage of the interval of a mean over steps.
    static constexpr double kCoverage = 0.95;

    SavingUnit unit = SavingUnit::UsPerStep;
    /// The interval of an estimate and its middle. Of an upper bound `low` is 0, and `mid` repeats `high`, the bound.
    double low = 0, mid = 0, high = 0;
    /// µs that such a unit took in the trace: elsewhere the machine is faster or slower, and what is saved is a share
    /// of what it takes there. 0: not known; bytes are what they are.
    double ofUs = 0;
    SavingKind kind = SavingKind::Estimate;
    /// Of the interval of an estimate: how often it contains the mean that an experiment measures. 0: not established,
    /// as where the ends come from a model of the input and not from the spread of the steps.
    double coverage = 0;

    /// The part of the time that the saving stands for: an estimate's middle, an upper bound's all.
    [[nodiscard]] double claimed() const { return mid > 0 ? mid : 0; }
};

/// A change of one knob.
struct Toggle {
    std::string key, from, to; ///< values as config::toText has them
    friend bool operator==(const Toggle&, const Toggle&) = default;
};

/// A place in the trace that shows it.
struct Evidence {
    profiler::TrackId track;
    std::optional<profiler::SliceId> slice; ///< none: a range of a track
    profiler::TimeRange range;
    std::string name;
};

/// A rule's verdict on one trace.
struct Advice {
    State state = State::CannotTell;
    std::string title; ///< "The step waits for data"
    /// One sentence with its number; silent: which evidence contradicts it; cannot tell: what the trace does not
    /// record.
    profiler::Message reason;
    profiler::Message need;         ///< cannot tell: what to do for an answer
    std::vector<Evidence> evidence; ///< most telling first, at most about ten
    std::optional<Saving> saving;
    profiler::Message whyNoPrediction; ///< when it fires without a saving
    double timeShare = 0; ///< share of the time that the finding is about, [0, 1]: ranks it where it has no estimate
    std::vector<profiler::Message> caveats;
    std::optional<Toggle> toggle;
    profiler::Message whyNoToggle;
    /// The change that the rule is about, also where it cannot be re-run from here; `from` is empty where the run's
    /// value is not known.
    std::optional<Toggle> proposed;
    JudgedBy judgedBy = JudgedBy::Time;
    /// The user's lines that it concerns, in a recorded Python program; the most telling first.
    std::vector<SourcePlace> source;
    /// What an experiment of this toggle should time: "steps", "epoch" or "validation".
    std::string measure = "steps";
};

} // namespace advisor
