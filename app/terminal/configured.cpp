#include "app/terminal/configured.h"

namespace app::terminal {

using namespace advisor;

tl::expected<config::TrainingConfig, int> loadConfiguration(const std::filesystem::path& file, const Streams& streams)
{
    auto config = config::TrainingConfig::load(file);
    if (config)
        return *config;
    streams.err << config.error().message() << '\n';
    return tl::unexpected(kBadInput);
}

tl::expected<config::TrainingConfig, int>
withAssignments(config::TrainingConfig config, const std::vector<std::string>& assignments, const Streams& streams)
{
    for (const std::string& assignment : assignments)
        if (const auto set = config.setAssignment(assignment); !set) {
            streams.err << set.error().message() << '\n';
            return tl::unexpected(kWrongUsage);
        }
    return config;
}

} // namespace app::terminal
