#include "trainer/config/knob_rows.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

// The knob table. The defaults describe a naive training: no workers, no pinned memory, the loss is read back in every
// step, gradients are zeroed.
namespace config {

namespace {

std::vector<Knob> makeTable()
{
    rows::Rows table;
    rows::addRun(table);
    rows::addModelAndData(table);
    rows::addLoading(table);
    rows::addOptimizer(table);
    rows::addSchedule(table);
    rows::addGradients(table);
    rows::addPrecision(table);
    rows::addMemory(table);
    rows::addTransfer(table);
    rows::addHost(table);
    rows::addParallel(table);
    rows::addRest(table);
    return table;
}

std::string bound(double value, KnobType type)
{
    return type == KnobType::Integer ? toText(static_cast<std::int64_t>(value)) : toText(value);
}

} // namespace

std::span<const Knob> knobs()
{
    static const std::vector<Knob> table = makeTable();
    return table;
}

const Knob* findKnob(std::string_view key)
{
    const auto all = knobs();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Knob& knob) { return knob.key == key; });
    return found == all.end() ? nullptr : &*found;
}

bool changesBatches(const Knob& knob, std::string_view from, std::string_view to)
{
    if (knob.batches == Batches::Same)
        return false;
    const auto isOne = [&](std::string_view value) {
        return std::find(knob.batchValues.begin(), knob.batchValues.end(), value) != knob.batchValues.end();
    };
    return knob.batchValues.empty() || from.empty() || isOne(from) || isOne(to);
}

std::string allowedText(const Knob& knob)
{
    switch (knob.type) {
    case KnobType::Flag:
        return "true or false";
    case KnobType::Integer:
        return fmt::format("an integer from {} to {}", bound(knob.min, knob.type), bound(knob.max, knob.type));
    case KnobType::Real:
        return fmt::format("a number from {} to {}", bound(knob.min, knob.type), bound(knob.max, knob.type));
    case KnobType::Choice:
        return fmt::format("one of {}", fmt::join(knob.choices, ", "));
    case KnobType::Path:
        return "a UTF-8 path";
    case KnobType::Text:
        return "a UTF-8 text";
    }
    return {};
}

} // namespace config
