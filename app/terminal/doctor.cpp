#include "advisor/runner/machine_check.h"
#include "app/terminal/commands.h"
#include "app/terminal/output.h"
#include "profiler/model/version.h"

#include <algorithm>
#include <fmt/format.h>

namespace app::terminal {

using namespace advisor;

namespace {

using Json = nlohmann::ordered_json;
using runner::MachineCheck;

Json jsonOf(const std::vector<MachineCheck>& checks)
{
    Json rows = Json::array();
    for (const MachineCheck& check : checks)
        rows.push_back({{"id", check.id},
                        {"state", runner::stateName(check.state)},
                        {"message", messageJson(check.what)},
                        {"fix", check.fix.empty() ? Json(nullptr) : Json(check.fix)}});
    return {{"schema", 1}, {"version", profiler::version()}, {"checks", std::move(rows)}};
}

} // namespace

int doctor(const DoctorOptions& options, const Streams& streams)
{
    std::error_code gone;
    const auto checks = runner::checkMachine({.folder = std::filesystem::current_path(gone)});
    if (options.json)
        streams.out << jsonText(jsonOf(checks)) << '\n';
    else
        for (const MachineCheck& check : checks) {
            streams.out << fmt::format("{:<8} {}\n", runner::stateName(check.state), check.what.text);
            if (!check.fix.empty())
                streams.out << fmt::format("{:<8} → {}\n", "", check.fix);
        }
    const bool isUsable = std::none_of(checks.begin(), checks.end(),
                                       [](const auto& check) { return check.state == MachineCheck::State::Missing; });
    return isUsable ? kDone : kBadInput;
}

} // namespace app::terminal
