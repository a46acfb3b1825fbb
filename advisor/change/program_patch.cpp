#include "advisor/change/program_patch.h"

#include "advisor/change/apply.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/rule.h"
#include "advisor/runner/child_process.h"
#include "advisor/runner/shell_words.h"
#include "trainer/config/training_config.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace advisor::change {

namespace {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;
using Json = nlohmann::json;

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::string_view kFacts = "program"; // key of the trace's metadata
constexpr const char* kPatcher = "../share/stepscope/python/stepscope/change/__main__.py";

Result<fs::path> findPatcher()
{
    std::error_code failed;
    const char* chosen = std::getenv("STEPSCOPE_PROGRAMS");
    const fs::path folder =
        chosen && *chosen ? fs::path(chosen) : fs::read_symlink("/proc/self/exe", failed).parent_path();
    const fs::path patcher = (folder / kPatcher).lexically_normal();
    if (fs::is_regular_file(patcher, failed))
        return patcher;
    return profiler::fail<"patch.no_patcher", "The patcher for Python programs is missing">(
        Error::Code::NotFound, patcher.string(), "reinstall Stepscope");
}

Error notUnderstood(std::string where)
{
    return profiler::makeError<"patch.no_answer", "The patcher returned no valid answer">(
        Error::Code::Malformed, std::move(where), "choose another Python with --python");
}

/// Runs the patcher on a request.
Result<Json> ask(const Json& request, const PatcherOptions& options)
{
    const auto python = findTool(options.python);
    if (!python)
        return tl::unexpected(python.error());
    const auto patcher = options.patcher.empty() ? findPatcher() : Result<fs::path>(options.patcher);
    if (!patcher)
        return tl::unexpected(patcher.error());
    // Isolated and without site packages: nothing except the interpreter and the patcher runs.
    const auto output = runTool({.program = *python,
                                 .arguments = {"-I", "-S", patcher->string()},
                                 .file = request.dump(-1, ' ', true, Json::error_handler_t::replace),
                                 .fileOption = "--request",
                                 .extraOption = {},
                                 .joinErrors = false});
    if (!output)
        return tl::unexpected(output.error());
    if (output->status != 0)
        return tl::unexpected(notUnderstood(fmt::format("{}, exit status {}", python->string(), output->status)));
    Json answer = Json::parse(output->text, nullptr, false);
    if (!answer.is_object())
        return tl::unexpected(notUnderstood(python->string()));
    if (const auto error = answer.find("error"); error != answer.end())
        return tl::unexpected(
            Error{Error::Code::Invalid,
                  profiler::Message(error->value("id", ""), {}, error->value("text", "The request is invalid")),
                  {},
                  {}});
    return answer;
}

How howOf(std::string_view name)
{
    for (const How how : {How::Source, How::Argument, How::Hook})
        if (howName(how) == name)
            return how;
    return How::ToRead;
}

SourceSite siteOf(const Json& json)
{
    return {json.at("file").get<std::string>(), json.at("line").get<std::int64_t>(),
            json.at("column").get<std::int64_t>(), json.at("end_line").get<std::int64_t>(),
            json.at("end_column").get<std::int64_t>()};
}

std::string textOf(const Json& json)
{
    return json.is_string() ? json.get<std::string>() : std::string();
}

ChangeResult changeOf(const Json& json)
{
    ChangeResult change;
    change.key = json.at("key").get<std::string>();
    change.to = json.at("to").get<std::string>();
    if (json.at("from").is_string())
        change.from = json.at("from").get<std::string>();
    change.how = howOf(json.at("how").get<std::string>());
    change.measurable = json.at("measurable").get<bool>();
    change.proposal = textOf(json.at("proposal"));
    if (const Json& why = json.at("why_not"); why.is_object())
        change.whyNot = profiler::Message(why.at("id").get<std::string>(), {}, why.at("text").get<std::string>());
    for (const Json& site : json.at("sites"))
        change.sites.push_back(siteOf(site));
    return change;
}

/// @throws nlohmann's exceptions if the answer has another form
ProgramPatch patchOf(const Json& answer)
{
    ProgramPatch patch;
    for (const Json& change : answer.at("changes"))
        patch.changes.push_back(changeOf(change));
    for (const Json& file : answer.at("files")) {
        auto before = fromBase64(file.at("before").get<std::string>());
        auto after = fromBase64(file.at("content").get<std::string>());
        if (!before || !after)
            throw Json::other_error::create(501, "the content of a file is not Base64", nullptr);
        patch.files.push_back({file.at("path").get<std::string>(), std::move(*before), std::move(*after)});
    }
    patch.diff = answer.at("diff").get<std::string>();
    if (answer.at("command").is_array())
        patch.command = answer.at("command").get<std::vector<std::string>>();
    patch.hooks = answer.at("hooks").get<std::map<std::string, std::string>>();
    if (const Json& applied = answer.at("applied"); applied.is_object()) {
        for (const Json& change : applied.at("changes"))
            patch.applied.push_back({change.at("key").get<std::string>(), change.at("to").get<std::string>()});
        for (const Json& file : applied.at("files"))
            patch.appliedFiles.emplace_back(file.get<std::string>());
    }
    return patch;
}

Json changesJson(const std::vector<WantedChange>& changes)
{
    Json list = Json::array();
    for (const WantedChange& change : changes)
        list.push_back({{"key", change.key}, {"to", change.to}});
    return list;
}

/// The changes that were applied to the program's files, as part of the request; null: none.
Json appliedJson(const profiler::Trace& trace, const PatcherOptions& options)
{
    const auto originals = options.originals.empty() ? defaultOriginals() : Result<fs::path>(options.originals);
    Json files = Json::object();
    if (originals)
        for (const AppliedFile& file : appliedFiles(programFiles(trace), *originals))
            files[file.path.string()] = {{"original", toBase64(file.original)}, {"changes", changesJson(file.changes)}};
    return files.empty() ? Json() : Json{{"files", files}, {"without", options.without}};
}

Result<std::vector<ProgramPatch>> patches(const profiler::Trace& trace, const std::vector<WantedChange>& changes,
                                          const PatcherOptions& options, bool each)
{
    Json program = Json::parse(metadata(trace, kFacts), nullptr, false);
    if (!program.is_object())
        return profiler::fail<"patch.not_python", "The trace does not describe a Python program">(
            Error::Code::Unsupported, {},
            "record the program with this version of Stepscope, with its Python hooks enabled");
    const auto isRule = [](const std::string& key) {
        return std::ranges::any_of(allRules(), [&](const Rule& rule) { return rule.key == key; });
    };
    for (const WantedChange& change : changes)
        if (!config::findKnob(change.key) && !isRule(change.key))
            return profiler::fail<"patch.unknown_setting", "There is no such setting">(
                Error::Code::Invalid, change.key, "one of the nearest: " + config::nearestKeys(change.key));
    Json request = {{"schema", 1}, {"program", std::move(program)}, {"changes", changesJson(changes)}, {"each", each}};
    if (Json applied = appliedJson(trace, options); !applied.is_null())
        request["applied"] = std::move(applied);
    // The command as the user gave it, which may start the program through a launcher.
    const auto recorded = runner::shellWords(metadata(trace, "record.command"));
    if (!options.command.empty())
        request["argv"] = options.command;
    else if (recorded && !recorded->empty())
        request["argv"] = *recorded;
    const auto answer = ask(request, options);
    if (!answer)
        return tl::unexpected(answer.error());
    try {
        std::vector<ProgramPatch> found;
        for (const Json& one : each ? answer->at("answers") : Json::array({*answer}))
            found.push_back(patchOf(one));
        return found;
    } catch (const Json::exception& wrong) {
        return tl::unexpected(notUnderstood(wrong.what()));
    }
}

/// The change of a finding that its rule proposes.
std::optional<WantedChange> wantedOf(const RuleAdvice& row)
{
    if (row.advice.state != State::Fires || !row.advice.proposed)
        return std::nullopt;
    return WantedChange{row.advice.proposed->key, row.advice.proposed->to};
}

FindingPatch withoutPatch(const RuleAdvice& row, bool isProgram)
{
    if (row.advice.state != State::Fires)
        return {};
    if (!isProgram)
        return {{}, message<"patch.no_program", "The trace does not describe a Python program.">()};
    return {{}, message<"patch.no_setting", "The finding is not about a single setting of the program.">()};
}

} // namespace

std::string toBase64(std::string_view bytes)
{
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i)
            group = group << 8U | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i)
            text += at + i <= bytes.size() ? kDigits[group >> (18 - 6 * i) & 63U] : '=';
    }
    return text;
}

std::optional<std::string> fromBase64(std::string_view text)
{
    if (text.size() % 4 != 0)
        return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    for (std::size_t at = 0; at < text.size(); at += 4) {
        std::uint32_t group = 0;
        std::size_t digits = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            const auto digit = kDigits.find(text[at + i]);
            const bool padding = text[at + i] == '=' && i >= 2 && at + 4 == text.size();
            if ((digit == kDigits.npos && !padding) || (digit != kDigits.npos && digits < i))
                return std::nullopt;
            group = group << 6U | (padding ? 0U : static_cast<std::uint32_t>(digit));
            digits += padding ? 0 : 1;
        }
        for (std::size_t i = 0; i + 1 < digits; ++i)
            bytes += static_cast<char>(group >> (16 - 8 * i) & 255U);
    }
    return bytes;
}

std::string_view howName(How how)
{
    switch (how) {
    case How::Source:
        return "source";
    case How::Argument:
        return "argument";
    case How::Hook:
        return "hook";
    case How::ToRead:
        break;
    }
    return "to read";
}

bool describesProgram(const profiler::Trace& trace)
{
    return !metadata(trace, kFacts).empty();
}

Result<ProgramPatch> patchProgram(const profiler::Trace& trace, const std::vector<WantedChange>& changes,
                                  const PatcherOptions& options)
{
    auto found = patches(trace, changes, options, false);
    if (!found)
        return tl::unexpected(found.error());
    return std::move(found->front());
}

Result<std::vector<ProgramPatch>> patchProgramByEach(const profiler::Trace& trace,
                                                     const std::vector<WantedChange>& changes,
                                                     const PatcherOptions& options)
{
    if (changes.empty())
        return std::vector<ProgramPatch>();
    return patches(trace, changes, options, true);
}

FindingPatches patchFindings(const profiler::Trace& trace, std::vector<RuleAdvice>& advice,
                             const PatcherOptions& options)
{
    const bool isProgram = describesProgram(trace);
    FindingPatches patches;
    std::vector<WantedChange> changes;
    std::vector<RuleAdvice*> rows;
    for (RuleAdvice& row : advice) {
        const auto wanted = isProgram ? wantedOf(row) : std::nullopt;
        if (wanted) {
            changes.push_back(*wanted);
            rows.push_back(&row);
        } else
            patches[row.id] = withoutPatch(row, isProgram);
    }
    auto found = patchProgramByEach(trace, changes, options);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        FindingPatch& entry = patches[rows[i]->id];
        if (!found || i >= found->size() || (*found)[i].changes.empty()) {
            entry.whyNot = found ? profiler::Message() : found.error().asMessage();
            continue;
        }
        ProgramPatch& made = (*found)[i];
        const ChangeResult& change = made.changes.front();
        Advice& finding = rows[i]->advice;
        if (change.measurable && !finding.toggle) {
            finding.toggle = Toggle{change.key, change.from.value_or(std::string()), change.to};
            finding.whyNoToggle = {};
        }
        if (change.measurable || !change.proposal.empty() || !made.diff.empty() || !made.command.empty())
            entry.patch = std::move(made);
        else
            entry.whyNot = change.whyNot;
    }
    return patches;
}

} // namespace advisor::change
