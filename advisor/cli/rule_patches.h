#pragma once

#include "advisor/change/program_patch.h"

#include <nlohmann/json.hpp>

#include <string>

/// A patch of a recorded Python program as the commands print it.
namespace advisor::cli {

/// {how, diff, command, measurable, …} of a patch of one change.
nlohmann::ordered_json patchJson(const change::ProgramPatch& patch);
/// [{file, line, end_line, …, what}] of all its changes.
nlohmann::ordered_json sourceJson(const change::ProgramPatch& patch);
/// "source, /home/u/train.py:12": how a change is made, and where.
std::string howText(const change::ChangeResult& change);

} // namespace advisor::cli
