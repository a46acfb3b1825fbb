#pragma once

#include "advisor/experiment/arm.h"
#include "advisor/experiment/trainer_process.h"

#include <array>
#include <filesystem>
#include <memory>
#include <string>

namespace advisor {

/// A resident trainer that takes turns.
class TrainerArm final : public Arm {
public:
    static Outcome<std::unique_ptr<Arm>> start(const std::filesystem::path& program,
                                               const config::TrainingConfig& config, std::string name);

    Outcome<config::protocol::Hello> hello(const RunLimits& limits) override;
    Outcome<config::protocol::TurnResult> take(const config::protocol::Turn& turn, const RunLimits& limits,
                                               std::chrono::seconds patience) override;
    void finish() override;
    [[nodiscard]] std::vector<std::int64_t> processes() const override { return {m_process->pid()}; }

private:
    TrainerArm() = default;
    Interruption died();
    template <class Record>
    Outcome<Record> waitFor(const RunLimits& limits, std::chrono::seconds patience);

    std::unique_ptr<TrainerProcess> m_process;
    std::string m_name;
};

/// Our own trainer with two configurations.
class TrainerArms final : public Arms {
public:
    /// @param names the names of the arms in errors
    TrainerArms(std::filesystem::path program, std::array<config::TrainingConfig, 2> configs,
                std::array<std::string, 2> names);

    [[nodiscard]] std::string name(std::size_t arm) const override { return m_names.at(arm); }
    [[nodiscard]] std::string startingText() const override { return "starting the trainers"; }
    Outcome<std::unique_ptr<Arm>> start(std::size_t arm, std::size_t seed) override;
    [[nodiscard]] std::int64_t stepsToDrop() const override;
    [[nodiscard]] std::int64_t plannedSteps(std::size_t arm, const config::protocol::Hello& hello) const override;
    Outcome<std::vector<RescaledSetting>> setLength(std::size_t arm, std::int64_t steps, std::int64_t planned) override;
    [[nodiscard]] std::vector<std::string> warmUpCauses(std::size_t arm) const override;

private:
    std::filesystem::path m_program;
    std::array<config::TrainingConfig, 2> m_configs;
    std::array<std::string, 2> m_names;
};

/// The configuration of an arm in the n-th start of an experiment: its own seed in the first start, then the following
/// seeds, so that both arms use the same one.
config::TrainingConfig withSeedOfStart(config::TrainingConfig config, std::size_t start);

} // namespace advisor
