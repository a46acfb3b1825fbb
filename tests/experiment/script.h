#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/experiment/trainer_process.h"

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace experiment_test {

/// Sets the behaviour of scripted trainers that are started during its lifetime: variables of scripted_trainer.cpp. It
/// keeps their log.
class Script {
public:
    Script(std::initializer_list<std::pair<std::string, std::string>> variables = {});
    ~Script();
    Script(const Script&) = delete;
    Script& operator=(const Script&) = delete;

    /// Lines that begin with `word`, from all trainers, in order.
    [[nodiscard]] std::vector<std::string> log(const std::string& word) const;

private:
    void set(const std::string& name, const std::string& value);

    std::vector<std::pair<std::string, std::optional<std::string>>> m_before;
    std::filesystem::path m_log;
};

std::filesystem::path scriptedTrainer();

/// A running scripted trainer; fails the test if it cannot be started.
std::unique_ptr<advisor::TrainerProcess> startScripted(const config::TrainingConfig& config = {});
/// The next record of this type within five seconds; others are skipped.
template <class Record>
std::optional<Record> waitFor(advisor::TrainerProcess& trainer)
{
    while (const auto progress = trainer.next(std::chrono::seconds(5)))
        if (const auto* record = std::get_if<Record>(&*progress))
            return *record;
    return std::nullopt;
}
/// Its exit within five seconds.
std::optional<advisor::TrainerExit> waitForEnd(advisor::TrainerProcess& trainer);

/// loader.workers=2 compared with 0, with scripted trainers.
advisor::ExperimentPlan scriptedPlan();

} // namespace experiment_test
