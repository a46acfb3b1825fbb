#pragma once

#include "advisor/evidence/program_facts.h"
#include "advisor/rule.h"

#include <optional>
#include <string_view>
#include <vector>

/// Adds the facts about a recorded Python program to the rules: an answer if the trace's slices give none, and the
/// user's lines that a finding concerns.
namespace advisor {

/// A rule's verdict from the program's settings.
/// @param own the rule's verdict from the trace alone
/// @return no value: `own` remains
std::optional<Advice> verdictOnProgram(std::string_view key, const RuleContext& c, const ProgramFacts& facts,
                                       const Advice& own);

/// Limits proposals to the implementations that PyTorch has for the class of the program's optimizer.
/// @param verdict of the rule that proposes another implementation
void suitOptimizer(Advice& verdict, const RuleContext& c, const ProgramFacts& facts);

/// Replaces the proposal to keep workers by one to keep the loader, if the program constructs it again for each epoch.
/// @param verdict of the rule about persistent workers
void suitLoader(Advice& verdict, const ProgramFacts& facts);

/// The user's lines that a rule's finding concerns, most relevant first; empty if it concerns none.
std::vector<SourcePlace> sourcesOf(std::string_view key, const ProgramFacts& facts);

} // namespace advisor
