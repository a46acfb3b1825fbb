#include "profiler/os/connections.h"
#include "trainer/session/session.h"

#include <CLI/CLI.hpp>
#include <cstdio>

using config::protocol::Exit;

namespace {

struct Arguments {
    std::string config, trace;
    std::vector<std::string> assignments;
    int progressDescriptor = -1;
    bool turns = false, describe = false;
};

void declare(CLI::App& app, Arguments& arguments)
{
    app.add_option("--config", arguments.config,
                   "Configuration file (JSON); without it, all settings have their "
                   "defaults");
    app.add_option("--set", arguments.assignments, "Changes one setting (key=value); can be repeated");
    app.add_option("--trace", arguments.trace, "Writes a trace to this file");
    app.add_option("--progress-fd", arguments.progressDescriptor,
                   "Reports progress as JSON lines to this file "
                   "descriptor");
    app.add_flag("--turns", arguments.turns, "Waits for turns on stdin, for experiments");
    app.add_flag("--describe", arguments.describe, "Prints the trainer's capabilities as JSON");
}

Exit fail(trainer::Progress& progress, Exit exit, const config::ConfigError& error)
{
    progress.fail(trainer::messageOf(error));
    return exit;
}

Exit train(const Arguments& arguments)
{
    if (arguments.progressDescriptor >= 0 && !profiler::os::isOpen(arguments.progressDescriptor)) {
        std::fprintf(stderr, "--progress-fd %d: this file descriptor is not open\n", arguments.progressDescriptor);
        return Exit::WrongUsage;
    }
    const auto progress = arguments.progressDescriptor >= 0
                              ? trainer::progressToDescriptor(arguments.progressDescriptor)
                              : trainer::progressToTerminal();
    trainer::Invocation invocation;
    if (!arguments.config.empty()) {
        auto loaded = config::TrainingConfig::load(arguments.config);
        if (!loaded)
            return fail(*progress, Exit::BadInput, loaded.error());
        invocation.config = std::move(*loaded);
    }
    for (const std::string& assignment : arguments.assignments)
        if (auto done = invocation.config.setAssignment(assignment); !done)
            return fail(*progress, Exit::WrongUsage, done.error());
    invocation.trace = arguments.trace;
    invocation.turns = arguments.turns;
    return trainer::runSession(invocation, *progress);
}

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("Trains a model and records where its time goes.", "stepscope-train");
    Arguments arguments;
    declare(app, arguments);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? static_cast<int>(Exit::Done) : static_cast<int>(Exit::WrongUsage);
    }
    if (arguments.describe) {
        std::fputs(config::protocol::toJson(trainer::describe()).c_str(), stdout);
        return static_cast<int>(Exit::Done);
    }
    try {
        return static_cast<int>(train(arguments));
    } catch (const std::bad_alloc&) {
        std::fputs("out of memory: use a smaller batch, fewer loader workers, or a smaller dataset\n", stderr);
        return static_cast<int>(Exit::Failed);
    }
}
