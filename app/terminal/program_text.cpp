#include "app/terminal/program_text.h"

#include "advisor/evidence/program_facts.h"
#include "app/terminal/text_table.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>

namespace app::terminal {

using namespace advisor;
namespace {

constexpr std::size_t kMostRows = 40;
constexpr std::size_t kMostSettings = 8;
constexpr std::size_t kWidthOfSettings = 70;

/// Kinds of objects with one row per object, in this order; for calls, one row per call site.
constexpr std::array<std::string_view, 22> kKinds = {
    "trainer", "model",    "loader",     "optimizer", "scheduler",      "scaler", "autocast", "compile",
    "forward", "backward", "validation", "zero_grad", "optimizer_step", "clip",   "to",       "sync",
    "flag",    "anomaly",  "profiler",   "emit_nvtx", "save",           "log"};

std::string whereText(const ProgramFacts& facts, const std::optional<SourcePlace>& site)
{
    if (!site)
        return "-";
    const std::filesystem::path path(site->file), base(facts.workingDirectory);
    const std::filesystem::path relative = base.empty() ? path : path.lexically_relative(base);
    const bool below = !relative.empty() && *relative.begin() != "..";
    return fmt::format("{}:{}", (below ? relative : path).string(), site->line);
}

/// Settings that were passed explicitly come first, then important ones with default values.
std::string settingsText(const ProgramFacts& facts, const ProgramObject& object)
{
    std::vector<const ProgramSetting*> shown;
    for (const bool given : {true, false})
        for (const ProgramSetting& setting : object.settings)
            if (setting.given == given && !setting.value.is_null())
                shown.push_back(&setting);
    std::string text;
    for (std::size_t i = 0; i < std::min(shown.size(), kMostSettings); ++i) {
        std::string one = fmt::format("{}={}", shown[i]->name, settingText(shown[i]->value));
        if (!shown[i]->argument.empty())
            one += fmt::format(" (option {})", shown[i]->argument);
        else if (shown[i]->configuration)
            one += fmt::format(" ({})", whereText(facts, shown[i]->configuration));
        if (shownWidth(text) + shownWidth(one) > kWidthOfSettings && !text.empty()) {
            text += ", …";
            break;
        }
        text += (text.empty() ? "" : ", ") + one;
    }
    if (text.empty())
        if (const auto parameters = object.number("parameters"))
            text = fmt::format("{:.0f} parameters", *parameters);
    return text.empty() ? "-" : text;
}

/// Left-aligns text columns, because TextTable aligns all columns except the first to the right.
void padLeft(std::vector<std::vector<std::string>>& rows, std::size_t column)
{
    std::size_t width = 0;
    for (const auto& row : rows)
        width = std::max(width, shownWidth(row[column]));
    for (auto& row : rows)
        row[column].append(width - shownWidth(row[column]), ' ');
}

} // namespace

std::string programText(const profiler::Trace& trace)
{
    const ProgramDocument document = programOf(trace);
    if (!document.facts)
        return document.problem.empty() ? std::string() : "\n" + document.problem.text + "\n";
    const ProgramFacts& facts = *document.facts;
    std::vector<std::vector<std::string>> rows = {{"program", "settings", "where", "calls"}};
    std::size_t left = 0;
    for (const std::string_view kind : kKinds)
        for (const ProgramObject* object : facts.ofKind(kind)) {
            if (rows.size() > kMostRows) {
                ++left;
                continue;
            }
            std::string name(object->shortName());
            if (!object->role.empty())
                name += fmt::format(" ({})", object->role);
            else if (kind == "validation")
                name += " (validation)";
            rows.push_back({name, settingsText(facts, *object), whereText(facts, object->site),
                            object->count > 0 ? std::to_string(object->count) : "-"});
        }
    if (rows.size() == 1)
        return {};
    for (const std::size_t column : {1U, 2U})
        padLeft(rows, column);
    TextTable table(rows[0]);
    for (std::size_t row = 1; row < rows.size(); ++row)
        table.add(std::move(rows[row]));
    std::string text = "\nProgram: " + (facts.script.empty() ? facts.module : facts.script) + "\n" + table.text();
    if (left > 0)
        text += fmt::format("  {} more are in the JSON (--json).\n", left);
    return text;
}

} // namespace app::terminal
