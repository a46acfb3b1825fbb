#include "advisor/live_advice.h"

#include <algorithm>
#include <utility>

namespace advisor {

namespace {

/// Rank of a state: a stronger state replaces a weaker one.
int strength(State state)
{
    return state == State::Fires ? 2 : state == State::Silent ? 1 : 0;
}

int group(State state)
{
    return state == State::Fires ? 0 : state == State::CannotTell ? 1 : 2;
}

bool belongsBefore(const RuleAdvice& risen, const RuleAdvice& other)
{
    const int groups = group(risen.advice.state) - group(other.advice.state);
    return groups != 0 ? groups < 0 : risen.impact > other.impact;
}

} // namespace

std::vector<RuleAdvice> mergeLiveAdvice(std::vector<RuleAdvice> said, std::vector<RuleAdvice> ofLastSteps)
{
    std::vector<RuleAdvice> risen;
    for (RuleAdvice& now : ofLastSteps) {
        const auto before =
            std::find_if(said.begin(), said.end(), [&](const RuleAdvice& advice) { return advice.id == now.id; });
        const int more = before == said.end() ? 1 : strength(now.advice.state) - strength(before->advice.state);
        if (more < 0 || now.advice.state == State::CannotTell)
            continue;
        if (more == 0) {
            *before = std::move(now);
            continue;
        }
        if (before != said.end())
            said.erase(before);
        risen.push_back(std::move(now));
    }
    for (RuleAdvice& now : risen) {
        const auto place =
            std::find_if(said.begin(), said.end(), [&](const RuleAdvice& other) { return belongsBefore(now, other); });
        said.insert(place, std::move(now));
    }
    return said;
}

} // namespace advisor
