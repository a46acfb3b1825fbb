#pragma once

#include "advisor/change/program_patch.h"

#include <nlohmann/json.hpp>

#include <string>

/// A patch of a recorded Python program, formatted for the commands.
namespace app::terminal {

/// {how, diff, command, measurable, …} for a patch of one change.
nlohmann::ordered_json patchJson(const advisor::change::ProgramPatch& patch);
/// [{file, line, end_line, …, what}] for all of its changes.
nlohmann::ordered_json sourceJson(const advisor::change::ProgramPatch& patch);
/// "edits /home/u/train.py:12": how a change is made, and where.
std::string howText(const advisor::change::ChangeResult& change);

} // namespace app::terminal
