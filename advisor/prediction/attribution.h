#pragma once

#include "advisor/rule.h"

#include <map>
#include <string>
#include <vector>

/// The single place that assigns time to findings, so that no two of them claim the same time.
namespace advisor {

/// The parts of the analysis window: on devices from DeviceFacts, whose causes divide every gap exactly once; in a run
/// on the CPU, the wait for data and the rest.
TimeParts timeParts(const RuleContext& c);

/// Step time in µs of the parts that a finding of the rule may claim: no change that it proposes saves more.
double claimableUs(const Rule& rule, const RuleContext& c);

/// Gives each finding the time that it stands for, after all rules have run: a saving per step claims its
/// Saving::claimed(), and a finding without a saving claims its share of the time. A finding takes time only from the
/// parts that its rule names (Rule::claims), specific rules before general ones, each in the given order. A finding
/// whose time is already claimed still fires, but without a saving, and names the finding that claimed the time. Claims
/// never exceed the part from which they come.
/// @param advice findings and other verdicts, best first
/// @param rules the rules with the same ids
void attributeTime(std::vector<RuleAdvice>& advice, const std::vector<Rule>& rules, const RuleContext& c);

} // namespace advisor
