#pragma once

#include "advisor/experiment/arm.h"
#include "advisor/runner/workspace.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Any Python program that trains with torch as the arm of an experiment. The program runs unmodified; Stepscope's
/// hooks (resources/python/stepscope/arm.py, which documents the protocol) let it take turns between steps.
namespace advisor {

/// Names of the files that contain the output of each arm.
inline constexpr std::string_view kBaselineLog = "baseline.log", kChangeLog = "change.log";

/// The program of one arm.
struct ProgramVariant {
    std::vector<std::string> command;
    std::vector<runner::ReplacedFile> files; ///< replacements for the user's files
    std::string hookChanges;                 ///< JSON for STEPSCOPE_CHANGES; may be empty
};

struct ProgramSetup {
    std::array<ProgramVariant, 2> arms;
    std::filesystem::path folder;         ///< working directory; absolute
    std::vector<std::string> environment; ///< NAME=VALUE, added to this process's environment
    runner::Isolation isolation = runner::Isolation::Overlay;
    runner::PythonHooks hooks;
    bool terminal = false; ///< run the program in a pseudo-terminal
    /// Seed torch, random and NumPy; seeds that the program sets are shifted, so that every start has its own.
    bool seeds = true;
    /// The losses of whole training runs are compared: a program that ends within a turn is not started again.
    bool comparesLearning = false;
    std::filesystem::path logs;              ///< folder for the arms' output: baseline.log and change.log
    std::chrono::seconds startPatience{300}; ///< maximum time without output or a completed step before the first step;
                                             ///< after this, the program counts as hanging
};

/// How a program failed.
struct ProgramFailure {
    std::size_t arm = 0;
    std::string how;                    ///< "The program exited with status 1"
    std::vector<std::string> traceback; ///< last lines; for a hang, the stacks of its threads
    std::int64_t steps = 0;             ///< maximum number of steps completed since its start
    std::size_t seed = 0;               ///< seed of this start
};

/// Observations about the two programs, over all starts.
struct ProgramReport {
    std::array<std::int64_t, 2> restarts{}; ///< because the program ended within its turn
    std::vector<std::string> seeded;        ///< libraries that Stepscope seeded: "torch"
    std::string torchVersion, pythonVersion, device;
    std::int64_t ranks = 1;
    std::optional<ProgramFailure> failure;
    bool isTooShort = false; ///< the program ends before it can be measured
    bool sumsLosses = false; ///< its loss grows with the batch, so that losses of different batches are not comparable
};

/// A Python program in two variants. Not thread-safe; the arms must be used on the same thread.
class ProgramArms final : public Arms {
public:
    explicit ProgramArms(ProgramSetup setup);
    ~ProgramArms() override;

    [[nodiscard]] std::string name(std::size_t arm) const override;
    /// "starting two copies of train.py", or "starting train.py and other.py" if the commands differ in that.
    [[nodiscard]] std::string startingText() const override;
    Outcome<std::unique_ptr<Arm>> start(std::size_t arm, std::size_t seed) override;
    /// Known once both arms have said hello.
    [[nodiscard]] std::int64_t stepsToDrop() const override;
    [[nodiscard]] std::int64_t plannedSteps(std::size_t arm, const config::protocol::Hello& hello) const override;
    Outcome<std::vector<RescaledSetting>> setLength(std::size_t arm, std::int64_t steps, std::int64_t planned) override;
    [[nodiscard]] std::vector<std::string> warmUpCauses(std::size_t arm) const override;
    [[nodiscard]] bool haveOtherBatches() const override;
    /// Compares the first loss that is known of each start.
    [[nodiscard]] bool seedsVary() const override;

    [[nodiscard]] const ProgramReport& report() const;
    /// After arm 1 has failed: whether the baseline gets as far, checked in a separate start unless it is already
    /// known.
    bool baselineGetsAsFar(const RunLimits& limits);

    struct Shared; ///< shared with its arms

private:
    std::unique_ptr<Shared> m;
};

} // namespace advisor
