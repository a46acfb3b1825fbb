#pragma once

#include "advisor/evidence/program_facts.h"
#include "advisor/rule.h"

#include <optional>
#include <string_view>
#include <vector>

/// What the facts about a recorded Python program add to the rules: an answer where the trace's slices give none, and
/// the user's lines that a finding concerns.
namespace advisor {

/// A rule's verdict from the program's settings.
/// @param own  what the rule says of the trace alone
/// @return no value: `own` stands
std::optional<Advice> verdictOnProgram(std::string_view key, const RuleContext& c, const ProgramFacts& facts,
                                       const Advice& own);

/// Proposes only what PyTorch implements for the class of the program's optimizer.
/// @param verdict  of the rule that proposes another implementation of it
void suitOptimizer(Advice& verdict, const RuleContext& c, const ProgramFacts& facts);

/// The user's lines that a rule's finding concerns, the most telling first; empty where no line of the user's does.
std::vector<SourcePlace> sourcesOf(std::string_view key, const ProgramFacts& facts);

} // namespace advisor
