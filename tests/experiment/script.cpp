#include "tests/experiment/script.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace experiment_test {

Script::Script(std::initializer_list<std::pair<std::string, std::string>> variables)
{
    std::string path = (std::filesystem::temp_directory_path() / "stepscope-script-XXXXXX").string();
    ::close(::mkstemp(path.data()));
    m_log = path;
    set("SCRIPT_LOG", path);
    for (const auto& [name, value] : variables)
        set(name, value);
}

void Script::set(const std::string& name, const std::string& value)
{
    const char* before = std::getenv(name.c_str());
    m_before.emplace_back(name, before ? std::optional<std::string>(before) : std::nullopt);
    ::setenv(name.c_str(), value.c_str(), 1);
}

Script::~Script()
{
    for (const auto& [name, value] : m_before)
        value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    std::filesystem::remove(m_log);
}

std::vector<std::string> Script::log(const std::string& word) const
{
    std::vector<std::string> result;
    std::ifstream file(m_log);
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(word))
            result.push_back(line);
    return result;
}

std::filesystem::path scriptedTrainer()
{
    return SCRIPTED_TRAINER;
}

std::unique_ptr<advisor::TrainerProcess> startScripted(const config::TrainingConfig& config)
{
    auto trainer = advisor::TrainerProcess::start(config, {.program = scriptedTrainer(), .trace = {}, .turns = true});
    if (!trainer) {
        ADD_FAILURE() << trainer.error().message();
        std::abort();
    }
    return std::move(*trainer);
}

std::optional<advisor::TrainerExit> waitForEnd(advisor::TrainerProcess& trainer)
{
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (std::chrono::steady_clock::now() < until) {
        while (trainer.next(std::chrono::milliseconds(10))) {
        }
        if (auto exit = trainer.exited())
            return exit;
    }
    return std::nullopt;
}

advisor::ExperimentPlan scriptedPlan()
{
    advisor::ExperimentPlan plan;
    plan.trainer = scriptedTrainer();
    plan.changes = {{"loader.workers", "0", "2"}};
    return plan;
}

} // namespace experiment_test
