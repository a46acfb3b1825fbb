#include "app/terminal/step_difference_out.h"

#include "app/terminal/text_table.h"
#include "profiler/analysis/intervals.h"
#include "profiler/model/number_text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <string_view>

namespace app::terminal {

using namespace advisor;

namespace {

using namespace profiler::analysis;
using profiler::ActivityKind;
using Json = nlohmann::ordered_json;
using Row = StepDifference::Row;

constexpr std::size_t kMostRows = 12; ///< of each table of the text output; the JSON contains all

struct Table {
    const char* key; ///< in the JSON
    const char* heading;
    ActivityKind kind;
};
constexpr std::array<Table, 5> kTables = {{{"phases", "Phase", ActivityKind::Phase},
                                           {"ops", "Operator (self time)", ActivityKind::CpuOp},
                                           {"kernels", "Kernel", ActivityKind::Kernel},
                                           {"copies", "Copy", ActivityKind::GpuMemcpy},
                                           {"memsets", "Memset", ActivityKind::GpuMemset}}};

Json timesJson(profiler::Nanoseconds a, profiler::Nanoseconds b)
{
    return {{"a", toUs(a)}, {"b", toUs(b)}};
}

std::string changeText(profiler::Nanoseconds change)
{
    return (change.count() < 0 ? "-" : "+") + profiler::durationText(std::chrono::abs(change));
}

} // namespace

Json toJson(const StepDifference& difference, StepMatch::By matched)
{
    const auto a = difference.stepA.range.duration(), b = difference.stepB.range.duration();
    Json json = {{"schema", 1},
                 {"step", {{"a", difference.stepA.index}, {"b", difference.stepB.index}}},
                 {"matched_by", matched == StepMatch::By::Number ? "number" : "position"},
                 {"time_us", timesJson(a, b)},
                 {"delta_us", toUs(b - a)}};
    for (const Table& table : kTables) {
        Json rows = Json::array();
        for (const Row& row : difference.rows)
            if (row.kind == table.kind)
                rows.push_back({{"name", row.name},
                                {"count", {{"a", row.countA}, {"b", row.countB}}},
                                {"time_us", timesJson(row.a, row.b)},
                                {"delta_us", toUs(row.change())},
                                {"in", row.isNew()    ? "b"
                                       : row.isGone() ? "a"
                                                      : "both"}});
        json[table.key] = rows;
    }
    return json;
}

std::string toText(const StepDifference& difference)
{
    const auto a = difference.stepA.range.duration(), b = difference.stepB.range.duration();
    std::string text =
        fmt::format("Step {} of a: {}; step {} of b: {} ({})\n", difference.stepA.index, profiler::durationText(a),
                    difference.stepB.index, profiler::durationText(b), changeText(b - a));
    for (const Table& table : kTables) {
        TextTable rows({table.heading, "a", "b", "change", ""}, {false, true, true, true, false});
        std::size_t left = 0, shown = 0;
        for (const Row& row : difference.rows) {
            if (row.kind != table.kind)
                continue;
            if (shown == kMostRows) {
                ++left;
                continue;
            }
            ++shown;
            rows.add({row.name.substr(0, 70), row.isNew() ? "-" : profiler::durationText(row.a),
                      row.isGone() ? "-" : profiler::durationText(row.b), changeText(row.change()),
                      row.isNew()    ? "new"
                      : row.isGone() ? "gone"
                                     : ""});
        }
        if (rows.empty())
            continue;
        text += '\n' + rows.text();
        if (left > 0)
            text +=
                fmt::format("  {} more with smaller changes are in the JSON (--json).\n", profiler::countText(left));
    }
    return text;
}

} // namespace app::terminal
