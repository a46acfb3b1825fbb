#include "trainer/config/knob_rows.h"

#include <utility>

namespace config::rows {

Knob flag(Key<bool> key, std::string_view group, std::string_view label, bool fallback, std::string_view where,
          std::string_view doc)
{
    Knob knob;
    knob.key = key.name;
    knob.group = group;
    knob.label = label;
    knob.type = KnobType::Flag;
    knob.fallback = fallback;
    knob.where = where;
    knob.doc = doc;
    return knob;
}

Knob number(Key<std::int64_t> key, std::string_view group, std::string_view label, std::int64_t fallback, double min,
            double max, std::string_view unit, std::string_view where, std::string_view doc)
{
    Knob knob = flag({key.name}, group, label, false, where, doc);
    knob.type = KnobType::Integer;
    knob.fallback = fallback;
    knob.min = min;
    knob.max = max;
    knob.unit = unit;
    return knob;
}

Knob real(Key<double> key, std::string_view group, std::string_view label, double fallback, double min, double max,
          std::string_view where, std::string_view doc)
{
    Knob knob = flag({key.name}, group, label, false, where, doc);
    knob.type = KnobType::Real;
    knob.fallback = fallback;
    knob.min = min;
    knob.max = max;
    return knob;
}

Knob choice(Key<std::string> key, std::string_view group, std::string_view label, std::vector<std::string_view> choices,
            std::string_view where, std::string_view doc)
{
    Knob knob = flag({key.name}, group, label, false, where, doc);
    knob.type = KnobType::Choice;
    knob.fallback = std::string(choices.front());
    knob.choices = std::move(choices);
    return knob;
}

Knob path(Key<std::string> key, std::string_view group, std::string_view label, PathKind kind,
          std::string_view whenEmpty, std::string_view where, std::string_view doc)
{
    Knob knob = text(key, group, label, where, doc);
    knob.type = KnobType::Path;
    knob.path = kind;
    knob.whenEmpty = whenEmpty;
    return knob;
}

Knob text(Key<std::string> key, std::string_view group, std::string_view label, std::string_view where,
          std::string_view doc)
{
    Knob knob = flag({key.name}, group, label, false, where, doc);
    knob.type = KnobType::Text;
    knob.fallback = std::string();
    return knob;
}

Knob zeroIs(std::string_view meaning, Knob knob)
{
    knob.zero = meaning;
    return knob;
}

Knob advanced(Knob knob)
{
    knob.advanced = true;
    return knob;
}

Knob gpuOnly(Knob knob)
{
    knob.needsGpu = true;
    return knob;
}

Knob withObjective(Objective objective, Knob knob)
{
    knob.objective = objective;
    return knob;
}

Knob learned(Knob knob)
{
    return lossMayChange(withObjective(Objective::LossAtEqualTime, std::move(knob)));
}

Knob lossMayChange(Knob knob)
{
    knob.mayChangeLoss = true;
    return knob;
}

Knob otherBatches(Batches how, Knob knob, std::vector<std::string_view> values)
{
    knob.batches = how;
    knob.batchValues = std::move(values);
    return lossMayChange(std::move(knob));
}

Knob otherTask(Knob knob)
{
    knob.comparableLoss = false;
    return lossMayChange(std::move(knob));
}

Knob otherTrainingSamples(Knob knob)
{
    knob.changesTrainingSamples = true;
    return lossMayChange(std::move(knob));
}

Knob scaledWithLength(Knob knob)
{
    knob.scalesWithLength = true;
    return knob;
}

Knob batchFactor(Knob knob)
{
    knob.isBatchFactor = true;
    return knob;
}

Knob batchSearch(Knob knob)
{
    knob.searchesBatch = true;
    return knob;
}

Knob ofMeasurement(Knob knob)
{
    knob.isOfMeasurement = true;
    return knob;
}

Knob warmsUp(WarmUp why, Knob knob)
{
    knob.warmUp = why;
    return knob;
}

Knob searched(ValueSearch search, Knob knob)
{
    knob.search = search;
    return knob;
}

Knob sharesMemory(Knob knob)
{
    knob.settings = "memory";
    return knob;
}

Knob onlyIf(std::string_view on, std::vector<std::string_view> values, Knob knob)
{
    knob.enabledIf.push_back({on, true, std::move(values)});
    return knob;
}

Knob unless(std::string_view on, std::vector<std::string_view> values, Knob knob)
{
    knob.enabledIf.push_back({on, false, std::move(values)});
    return knob;
}

} // namespace config::rows
