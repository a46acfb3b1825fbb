#pragma once

#include "app/terminal/commands.h"

#include <filesystem>
#include <vector>

namespace CLI {
class App;
}

/// Manual pages and completion scripts for bash, zsh and fish, made from the definitions of the commands. The build
/// writes them; they are installed with the programs.
namespace app::terminal {

/// The commands for users.
std::vector<const CLI::App*> commandsOf(const CLI::App& app);

/// Writes man/man1/stepscope-cli*.1, bash-completion/completions/stepscope-cli, zsh/site-functions/_stepscope-cli and
/// fish/vendor_completions.d/stepscope-cli.fish.
/// @param folder  the share folder of an installation; its subfolders are created
int writePages(const CLI::App& app, const std::filesystem::path& folder, const Streams& streams);

} // namespace app::terminal
