#pragma once

#include "advisor/tuner/tuner.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

/// What `tune` prints and writes, of a configuration and of a program alike.
namespace advisor::cli {

/// Progress, a line for each thing that it does.
class TuneLines {
public:
    explicit TuneLines(std::ostream& err) : m_err(err) {}
    void operator()(const TuneProgress& state);

private:
    std::ostream& m_err;
    std::string m_said;
};

/// The table of what was tried, each row with the reason for its verdict below it; empty without trials.
std::string trialsText(const std::vector<TuneTrial>& trials);
/// Adds the trials, the ratio, the measurement of the whole and why it ended.
void addOutcome(nlohmann::ordered_json& json, const TuneOutcome& result);

/// Makes the folder, which must be there before an hour of tuning, not after it. Nothing without a name.
profiler::Result<void> makeOutput(const std::filesystem::path& folder);
profiler::Result<void> writeText(const std::filesystem::path& path, const std::string& text);

} // namespace advisor::cli
