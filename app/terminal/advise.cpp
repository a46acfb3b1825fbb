#include "app/terminal/advise.h"

#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/saving.h"
#include "advisor/runner/shell_words.h"
#include "advisor/tips.h"
#include "advisor/verdict.h"
#include "app/terminal/commands.h"
#include "app/terminal/inputs.h"
#include "app/terminal/output.h"
#include "app/terminal/summarize.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/step_repetition.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace app::terminal {

using namespace advisor;

namespace {

using Json = nlohmann::ordered_json;
using profiler::analysis::toUs;

Json evidenceJson(const profiler::Trace& trace, const std::vector<Evidence>& evidence)
{
    Json rows = Json::array();
    for (const Evidence& place : evidence)
        rows.push_back({{"track", trace.track(place.track).name},
                        {"process", trace.track(place.track).processName},
                        {"name", place.name},
                        {"begin_us", toUs(place.range.begin - trace.range().begin)},
                        {"duration_us", toUs(place.range.duration())}});
    return rows;
}

Json sourceJson(const std::vector<SourcePlace>& source)
{
    Json rows = Json::array();
    for (const SourcePlace& place : source)
        rows.push_back({{"file", place.file},
                        {"line", place.line},
                        {"end_line", place.endLine},
                        {"column", place.column},
                        {"end_column", place.endColumn},
                        {"function", place.function},
                        {"what", place.what}});
    return rows;
}

/// Code to copy for a finding.
Json codeJson(const RuleAdvice& row, const ProgramValues& values)
{
    if (row.advice.state != State::Fires || tipText(row.id).empty())
        return nullptr;
    return {{"python", tipCodeOfRun(row.id, tip_section::kPyTorch, row.advice.toggle, values)},
            {"cpp", tipCodeOfRun(row.id, tip_section::kLibTorch, row.advice.toggle, values)}};
}

/// The time that the finding claims in the analysis window: findings never claim the same time twice.
Json claimsJson(const std::vector<TimeClaim>& claims)
{
    Json rows = Json::array();
    for (const TimeClaim& claim : claims)
        rows.push_back({{"part", timePartName(claim.part)}, {"us", claim.us}});
    return rows;
}

/// "patch" and "why_no_patch"; also "source" if only the patch shows which lines the finding concerns.
void addPatch(Json& json, const change::FindingPatches& patches, const std::string& rule)
{
    const auto found = patches.find(rule);
    const change::FindingPatch* entry = found == patches.end() ? nullptr : &found->second;
    if (entry && entry->patch && json["source"].empty())
        json["source"] = terminal::sourceJson(*entry->patch);
    json["patch"] = entry && entry->patch ? patchJson(*entry->patch) : Json(nullptr);
    if (!entry || !entry->patch)
        json["why_no_patch"] = entry && !entry->whyNot.empty() ? Json(entry->whyNot.text) : Json(nullptr);
}

Json oneJson(const profiler::Trace& trace, const RuleAdvice& row, const ProgramValues& values,
             const change::FindingPatches& patches)
{
    const Advice& advice = row.advice;
    Json json = {{"id", row.id},
                 {"state", stateName(advice.state)},
                 {"title", advice.title},
                 {"reason", advice.reason.text},
                 {"evidence", evidenceJson(trace, advice.evidence)},
                 {"saving", savingJson(advice.saving)}};
    if (!advice.saving)
        json["why_no_prediction"] = advice.whyNoPrediction.empty() ? Json(nullptr) : Json(advice.whyNoPrediction.text);
    json["caveats"] = Json::array();
    for (const profiler::Message& caveat : advice.caveats)
        json["caveats"].push_back(caveat.text);
    json["toggle"] = toggleJson(advice.toggle);
    if (!advice.toggle)
        json["why_no_toggle"] = advice.whyNoToggle.empty() ? Json(nullptr) : Json(advice.whyNoToggle.text);
    json["source"] = sourceJson(advice.source);
    json["code"] = codeJson(row, values);
    json["judged_by"] = objectiveName(advice.objective);
    json["measure"] = advice.measure;
    json["reason_id"] = advice.reason.id.empty() ? Json(nullptr) : Json(advice.reason.id);
    json["need"] = advice.need.text.empty() ? Json(nullptr) : Json(advice.need.text);
    json["need_id"] = advice.need.id.empty() ? Json(nullptr) : Json(advice.need.id);
    json["parameters"] = parametersJson(advice.reason);
    json["messages"] = {{"reason", messageJson(advice.reason)},
                        {"need", messageJson(advice.need)},
                        {"caveats", messagesJson(advice.caveats)},
                        {"why_no_prediction", messageJson(advice.whyNoPrediction)},
                        {"why_no_toggle", messageJson(advice.whyNoToggle)}};
    json["claims"] = claimsJson(row.claims);
    addPatch(json, patches, row.id);
    json["shares_with"] = row.sharesWith.empty() ? Json(nullptr) : Json(row.sharesWith);
    return json;
}

constexpr std::size_t kWidth = 100;

config::Result<std::optional<config::TrainingConfig>> configurationOf(const profiler::Trace& trace,
                                                                      const std::filesystem::path& file)
{
    if (file.empty() && metadata(trace, "config").empty())
        return std::nullopt;
    auto configuration = file.empty()
                             ? config::TrainingConfig::fromJson(metadata(trace, "config"), "the trace's configuration")
                             : config::TrainingConfig::load(file);
    if (!configuration)
        return tl::unexpected(configuration.error());
    return *configuration;
}

/// The code to copy if no setting can be changed.
std::string codeText(std::string_view rule, const ProgramValues& values)
{
    const std::string whole = tipCodeOfRun(rule, tip_section::kPyTorch, {}, values);
    std::string_view code = whole;
    std::string text = code.empty() ? "" : "             In PyTorch:\n";
    while (!code.empty()) {
        const std::string_view line = code.substr(0, code.find('\n'));
        text += line.empty() ? "\n" : fmt::format("{:17}{}\n", "", line);
        code.remove_prefix(std::min(code.size(), line.size() + 1));
    }
    return text;
}

/// The user's lines that a finding concerns, one per line.
std::string sourceText(const std::vector<SourcePlace>& source)
{
    std::string text;
    for (const SourcePlace& place : source)
        text += fmt::format("             {} {}:{}{}{}\n", text.empty() ? "At" : "  ", place.file, place.line,
                            place.what.empty() ? "" : "  ", place.what);
    return text;
}

/// How the finding's change is made in the recorded program, with its diff.
std::string patchText(const change::ProgramPatch& patch)
{
    const change::ChangeResult& change = patch.changes.front();
    std::string text = wrapped("Patch: " + howText(change), kWidth, 13);
    if (!patch.command.empty())
        text += fmt::format("{:13}Command: {}\n", "", runner::commandLine(patch.command));
    std::string_view diff = change.proposal.empty() ? patch.diff : change.proposal;
    while (!diff.empty()) {
        const std::string_view line = diff.substr(0, diff.find('\n'));
        text += fmt::format("{:13}{}\n", "", line);
        diff.remove_prefix(std::min(diff.size(), line.size() + 1));
    }
    return text;
}

std::string toText(const RuleAdvice& row, const ProgramValues& values, const change::FindingPatches& patches)
{
    const Advice& advice = row.advice;
    // A title describes a finding, so it would be misleading without one.
    if (advice.state != State::Fires) {
        const std::string heading = fmt::format("{:<12} {:<27} ", stateName(advice.state), row.id);
        return heading + wrapped(reasonText(advice), kWidth, heading.size()).substr(heading.size());
    }
    std::string text = fmt::format("{:<12} {}  ({})\n", stateName(advice.state), advice.title, row.id);
    text += wrapped(reasonText(advice), kWidth, 13);
    text += wrapped(advice.saving ? savingText(*advice.saving) : "No prediction: " + advice.whyNoPrediction.text,
                    kWidth, 13);
    if (advice.toggle)
        text += fmt::format("             Change: {} = {}{}\n", advice.toggle->key, advice.toggle->to,
                            advice.toggle->from.empty() ? "" : " (now " + advice.toggle->from + ")");
    else
        text += wrapped(advice.whyNoToggle.text, kWidth, 13);
    text += sourceText(advice.source);
    const auto patch = patches.find(row.id);
    if (patch != patches.end() && patch->second.patch)
        text += patchText(*patch->second.patch);
    else if (!advice.toggle)
        text += codeText(row.id, values);
    for (const profiler::Message& caveat : advice.caveats)
        text += fmt::format("{:13}- {}", "", wrapped(caveat.text, kWidth, 15).substr(15));
    return text + '\n';
}

/// The commands that measure and make the first change of a recorded program; empty if none can be measured.
std::string nextText(const profiler::Trace& trace, const std::vector<RuleAdvice>& advice,
                     const change::FindingPatches& patches, const std::filesystem::path& file)
{
    const std::string command(metadata(trace, "record.command"));
    const auto first = std::ranges::find_if(advice, [&](const RuleAdvice& row) {
        const auto found = patches.find(row.id);
        return row.advice.toggle && found != patches.end() && found->second.patch &&
               found->second.patch->changes.front().measurable;
    });
    if (command.empty() || first == advice.end())
        return {};
    std::error_code failed;
    const std::filesystem::path folder(metadata(trace, "record.directory"));
    const bool isHere = folder.empty() || std::filesystem::equivalent(folder, ".", failed);
    const std::string path =
        runner::commandLine({isHere ? file.string() : std::filesystem::absolute(file, failed).string()});
    const std::string set = runner::commandLine({first->advice.toggle->key + '=' + first->advice.toggle->to});
    std::string text = isHere ? "\nNext:\n" : fmt::format("\nNext, in {}:\n", folder.string());
    const auto add = [&](std::string_view what, const std::string& words) {
        text += fmt::format("  # {}\n  stepscope-cli {}\n", what, words);
    };
    add("measure the first change", fmt::format("experiment --trace {} --set {} -- {}", path, set, command));
    if (!patches.at(first->id).patch->diff.empty())
        add("write it to your files", fmt::format("patch {} --set {} --apply", path, set));
    add("measure all changes one after another, and keep those that pay",
        fmt::format("tune --trace {} -- {}", path, command));
    return text;
}

profiler::Error noSuchRank(const profiler::analysis::Facts& facts, std::int64_t wanted,
                           const std::filesystem::path& file)
{
    std::string numbers;
    if (facts.rank)
        for (const auto& rank : facts.rank->all)
            numbers += (numbers.empty() ? "" : ", ") + std::to_string(rank.number);
    return {.code = profiler::Error::Code::NotFound,
            .what = profiler::message<"ranks.no_such_rank", "the trace contains no rank {rank}">(
                {{"rank", wanted, std::to_string(wanted)}}),
            .where = file.string(),
            .hint = numbers.empty() ? "leave out --rank: the trace does not contain several ranks"
                                    : "use one of its ranks: " + numbers};
}

/// The trace whose rank advice is about, and the job that it belongs to.
struct AdvisedTrace {
    std::shared_ptr<const profiler::Trace> trace;
    std::filesystem::path file;
    std::optional<profiler::job::Job> job;
    std::size_t rank = 0; ///< index into the ranks of the job
};

/// For a job: the chosen rank, otherwise the one that delays the others most.
profiler::Result<AdvisedTrace> openAdvised(const AdviseOptions& options)
{
    const auto only = profiler::job::onlyTraceIn(options.traces);
    AdvisedTrace advised{.trace = nullptr, .file = only.value_or(options.traces.front()), .job = std::nullopt};
    if (profiler::job::mayBeJob(options.traces) && !only) {
        auto job = openJob(options.traces, options.steps);
        if (!job)
            return tl::unexpected(job.error());
        advised.rank = job->analysis.slowest.value_or(0);
        if (options.rank) {
            const auto wanted = std::ranges::find(job->ranks, *options.rank, &profiler::analysis::RankDigest::rank);
            if (wanted == job->ranks.end())
                return profiler::fail<"ranks.not_in_job", "the job has no usable trace of rank {rank}">(
                    profiler::Error::Code::NotFound, options.traces.front().string(),
                    "choose another rank, or leave out --rank", {{"rank", *options.rank}});
            advised.rank = static_cast<std::size_t>(wanted - job->ranks.begin());
        }
        advised.file = job->files.files[job->fileOf[advised.rank]];
        advised.job = std::move(*job);
    }
    auto trace = openTrace(advised.file);
    if (!trace)
        return tl::unexpected(trace.error());
    advised.trace = std::move(*trace);
    return advised;
}

/// Which rank findings about a job are based on; communication is that of all ranks.
std::string jobText(const AdvisedTrace& advised)
{
    return wrapped(fmt::format("Findings about communication are about all {} ranks of the job; the others are based "
                               "on rank {}.",
                               advised.job->ranks.size(), advised.job->ranks[advised.rank].rank),
                   kWidth, 0) +
           "\n";
}

} // namespace

Json patchJson(const change::ProgramPatch& patch)
{
    const change::ChangeResult& change = patch.changes.front();
    const std::string& diff = change.proposal.empty() ? patch.diff : change.proposal;
    return {{"how", change::howName(change.how)},
            {"diff", diff},
            {"command", patch.command.empty() ? Json(nullptr) : Json(runner::commandLine(patch.command))},
            {"arguments", patch.command.empty() ? Json(nullptr) : Json(patch.command)},
            {"measurable", change.measurable},
            {"why_not_source", change.whyNot.empty() ? Json(nullptr) : Json(change.whyNot.text)}};
}

Json sourceJson(const change::ProgramPatch& patch)
{
    Json rows = Json::array();
    for (const change::ChangeResult& change : patch.changes)
        for (const change::SourceSite& site : change.sites)
            rows.push_back({{"file", site.file},
                            {"line", site.line},
                            {"end_line", site.endLine},
                            {"column", site.column},
                            {"end_column", site.endColumn},
                            {"what", change.key}});
    return rows;
}

std::string howText(const change::ChangeResult& change)
{
    std::string text;
    switch (change.how) {
    case change::How::Source:
        text = "edits the source";
        if (!change.sites.empty())
            text = fmt::format("edits {}:{}", change.sites.front().file, change.sites.front().line);
        if (change.sites.size() > 1)
            text += fmt::format(" and {} more place{}", change.sites.size() - 1, change.sites.size() > 2 ? "s" : "");
        break;
    case change::How::Argument:
        text = "changes an option of the command";
        break;
    case change::How::Hook:
        text = "an experiment can make it inside PyTorch, without an edit";
        break;
    case change::How::ToRead:
        text = "edit the program yourself";
        break;
    }
    return change.whyNot.empty() ? text : text + ": " + change.whyNot.text;
}

std::string_view stateName(State state)
{
    switch (state) {
    case State::Fires:
        return "fires";
    case State::Silent:
        return "silent";
    case State::CannotTell:
        return "cannot tell";
    }
    return "cannot tell";
}

std::string_view objectiveName(Objective by)
{
    switch (by) {
    case Objective::Time:
        return "time";
    case Objective::Memory:
        return "memory";
    case Objective::LossAtEqualTime:
        return "convergence";
    }
    return "time";
}

std::string_view savingUnitName(SavingUnit unit)
{
    switch (unit) {
    case SavingUnit::UsPerStep:
        return "us_per_step";
    case SavingUnit::UsPerEpoch:
        return "us_per_epoch";
    case SavingUnit::UsPerValidation:
        return "us_per_validation";
    case SavingUnit::Bytes:
        return "bytes";
    }
    return "us_per_step";
}

Json savingJson(const std::optional<Saving>& saving)
{
    if (!saving)
        return nullptr;
    return {{"unit", savingUnitName(saving->unit)},
            {"low", saving->low},
            {"mid", saving->mid},
            {"high", saving->high},
            {"of_us", saving->ofUs > 0 ? Json(saving->ofUs) : Json(nullptr)},
            {"kind", saving->kind == SavingKind::UpperBound ? "upper bound" : "estimate"},
            {"coverage",
             saving->kind == SavingKind::Estimate && saving->coverage > 0 ? Json(saving->coverage) : Json(nullptr)}};
}

Json toggleJson(const std::optional<Toggle>& toggle)
{
    if (!toggle)
        return nullptr;
    return {{"key", toggle->key}, {"from", toggle->from}, {"to", toggle->to}};
}

Json adviceJson(const profiler::Trace& trace, const std::vector<RuleAdvice>& advice,
                const config::TrainingConfig* config, const change::FindingPatches& patches)
{
    const ProgramValues values = programValues(trace, config);
    Json rows = Json::array();
    for (const RuleAdvice& row : advice)
        rows.push_back(oneJson(trace, row, values, patches));
    return {{"schema", 1}, {"advice", rows}};
}

int adviseOn(const AdviseOptions& options, const Streams& streams)
{
    const auto advised = openAdvised(options);
    if (!advised) {
        streams.err << advised.error().message() << '\n';
        return kBadInput;
    }
    const auto* trace = &advised->trace;
    const auto configuration = configurationOf(**trace, options.config);
    if (!configuration) {
        streams.err << configuration.error().message() << '\n';
        return kBadInput;
    }
    auto steps = chosenSteps(**trace, options.steps, advised->file);
    if (!steps) {
        streams.err << steps.error().message() << '\n';
        return kBadInput;
    }
    const auto rank = advised->job ? std::nullopt : options.rank;
    const auto facts = profiler::analysis::analyse(**trace, std::move(*steps), {}, rank);
    if (rank && !(facts.rank && facts.rank->chosen)) {
        streams.err << noSuchRank(facts, *rank, advised->file).message() << '\n';
        return kBadInput;
    }
    std::optional<profiler::analysis::JobFacts> job;
    if (advised->job)
        job.emplace(profiler::analysis::JobFacts{advised->job->ranks, advised->job->analysis});
    const config::TrainingConfig* config = *configuration ? &**configuration : nullptr;
    auto advice = advise(**trace, facts, config, {}, job ? &*job : nullptr);
    if (const auto missing = (*trace)->unread(); missing.slices + missing.samples > 0) {
        streams.err << "part of the trace can no longer be read, so there is no advice: " << missing.why << '\n';
        return kBadInput;
    }
    const auto patches = change::patchFindings(**trace, advice, {.python = options.python});
    const bool inferred = profiler::analysis::areInferred(facts.steps);
    if (options.json) {
        auto json = adviceJson(**trace, advice, config, patches);
        json["steps"] = {{"count", facts.statistics.count},
                         {"from", facts.steps.empty()            ? nlohmann::ordered_json(nullptr)
                                  : inferred                     ? nlohmann::ordered_json("repetition")
                                  : !options.steps.range.empty() ? nlohmann::ordered_json("range")
                                                                 : nlohmann::ordered_json("marks")}};
        if (advised->job)
            json["job"] = {{"ranks", advised->job->ranks.size()}, {"rank", advised->job->ranks[advised->rank].rank}};
        streams.out << jsonText(json) << '\n';
        return kDone;
    }
    if (advised->job)
        streams.out << jobText(*advised);
    if (inferred)
        streams.out << wrapped(fmt::format("The trace marks no steps. {} steps were inferred from repeated work, and "
                                           "figures per step refer to them (--steps-from marks turns this off).",
                                           facts.statistics.count),
                               kWidth, 0)
                    << '\n';
    const ProgramValues values = programValues(**trace, config);
    for (const RuleAdvice& row : advice)
        streams.out << toText(row, values, patches);
    streams.out << nextText(**trace, advice, patches, advised->file);
    return kDone;
}

} // namespace app::terminal
