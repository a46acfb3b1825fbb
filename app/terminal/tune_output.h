#pragma once

#include "advisor/tuner/tuner.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

/// The output of `tune`, for configurations and programs.
namespace app::terminal {

/// Prints progress, one line per activity.
class TuneLines {
public:
    explicit TuneLines(std::ostream& err) : m_err(err) {}
    void operator()(const advisor::TuneProgress& state);

private:
    std::ostream& m_err;
    std::string m_said;
};

/// The table of tried changes, each with the reason for its verdict below; empty without trials.
std::string trialsText(const std::vector<advisor::TuneTrial>& trials);
/// Adds the trials, the ratio, the measurement of the total, and why tuning ended.
void addOutcome(nlohmann::ordered_json& json, const advisor::TuneOutcome& result);

/// Creates the folder before tuning, not after an hour of it. Does nothing without a name.
profiler::Result<void> makeOutput(const std::filesystem::path& folder);
profiler::Result<void> writeText(const std::filesystem::path& path, const std::string& text);

} // namespace app::terminal
