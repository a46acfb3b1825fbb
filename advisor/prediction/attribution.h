#pragma once

#include "advisor/rule.h"

#include <map>
#include <string>
#include <vector>

/// The single place that gives time to findings, so that no two of them claim the same.
namespace advisor {

/// The parts of the judged time: on devices from DeviceFacts, whose causes divide every gap once; in a run on the CPU
/// the wait for data and the rest.
TimeParts timeParts(const RuleContext& c);

/// µs of a step of the parts that a finding of the rule may claim: no change that it proposes saves more.
double claimableUs(const Rule& rule, const RuleContext& c);

/// Gives each finding the time that it stands for, once all rules have judged: a saving per step claims its
/// Saving::claimed(), a finding without a saving the share of the time that it concerns. A finding takes from the
/// parts that its rule names (Rule::claims), specific rules before general ones, each in the given order. A finding
/// whose time is claimed already keeps firing without a saving, and names the finding that has it. Claims never exceed
/// the part that they come from.
/// @param advice  that fire and that do not, best first
/// @param rules   of the same ids
void shareOutTime(std::vector<RuleAdvice>& advice, const std::vector<Rule>& rules, const RuleContext& c);

} // namespace advisor
