#include "app/terminal/commands.h"
#include "app/terminal/pages.h"
#include "app/terminal/remote_command.h"
#include "app/terminal/remote_record.h"
#include "profiler/model/version.h"
#include "profiler/os/connections.h"
#include "profiler/os/edit_distance.h"
#include "profiler/os/memory.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fmt/ranges.h>
#include <functional>
#include <iostream>

namespace {

using namespace app::terminal;

/// The options of all commands, filled in by the parser, and the function that runs the chosen command.
struct CommandLine {
    SummarizeOptions summarize;
    LinesOptions lines;
    QueryOptions query;
    CallsOptions calls;
    DiffOptions diff;
    ConvertOptions convert;
    AdviseOptions advise;
    PatchOptions patch;
    DescribeOptions describe;
    TrainOptions train;
    ExperimentOptions experiment;
    RecordOptions record;
    WatchOptions watch;
    TuneOptions tune;
    ReportOptions report;
    DoctorOptions doctor;
    McpOptions mcp;
    RemoteJobOptions remote;
    RemotePlace place;           ///< of a command that reads traces
    std::filesystem::path pages; ///< folder for the manual pages and the completion scripts
    std::function<int(const Streams&)> run;
};

constexpr const char* kJson = "Print JSON instead of a table";
constexpr const char* kPython =
    "Python interpreter that parses a recorded program's files; at least as new as the program's interpreter";
constexpr const char* kConfig = "Training configuration (JSON)";

/// A number that `fits`; otherwise, the error is the number followed by `why`. (CLI11's own validators print their
/// limits.)
CLI::Validator number(bool (*fits)(double), const char* why)
{
    return {[fits, why](std::string& text) {
                double value = 0;
                if (!CLI::detail::lexical_cast(text, value) || !std::isfinite(value))
                    return '"' + text + "\" is not a number";
                return fits(value) ? std::string() : text + ' ' + why;
            },
            std::string()};
}

CLI::Validator notNegative()
{
    return number([](double value) { return value >= 0; }, "is below 0");
}

CLI::Validator positive()
{
    return number([](double value) { return value > 0; }, "is not above 0");
}

/// An empty text usually comes from a variable that is not set, and would mean that there is no limit.
CLI::Validator notEmpty()
{
    return {[](std::string& text) { return text.empty() ? std::string("the value is empty") : std::string(); },
            std::string()};
}

void addSteps(CLI::App& command, StepChoice& steps)
{
    CLI::Option* range =
        command.add_option("--step-range", steps.range,
                           "Use NVTX ranges or annotations of this name as steps (default: the trace's own marks)");
    command
        .add_option_function<std::string>(
            "--steps-from", [&steps](const std::string& from) { steps.search = stepSearchOf(from); },
            "auto (default): use the trace's step marks or, if there are none, repeated work. marks: use only marks. "
            "repetition: use only repeated work. none: no steps, analyze the whole trace")
        ->check(CLI::IsMember(stepSearchNames()))
        ->excludes(range);
}

void addQuery(CLI::App& app, CommandLine& line)
{
    CLI::App* query = app.add_subcommand("query", "Run an SQL query over a trace");
    CLI::Option* trace = query->add_option("TRACE", line.query.trace, "Trace file");
    CLI::Option* sql = query->add_option("SQL", line.query.sql, "A SELECT statement; - reads it from standard input");
    addSteps(*query, line.query.steps);
    query
        ->add_option("--limit", line.query.limit,
                     "Print at most so many rows (default: 1000 in a table, 1000000 with --json or --csv)")
        ->check(positive());
    query->add_option("--timeout", line.query.timeoutSeconds, "Stop the query after so many seconds")
        ->check(positive())
        ->capture_default_str();
    CLI::Option* csv = query->add_flag("--csv", line.query.csv, "Print CSV; times are in nanoseconds, sizes in bytes");
    query->add_flag("--json", line.query.json, "Print JSON; times are in nanoseconds, sizes in bytes")->excludes(csv);
    query
        ->add_flag("--tables", line.query.tables, "List the tables with the types, units and meanings of their columns")
        ->excludes(csv);
    std::string examples = "Examples:\n";
    for (const char* example : {"SELECT name, SUM(dur), COUNT(*) FROM kernel GROUP BY name ORDER BY 2 DESC",
                                "SELECT id, ts, bytes, dur FROM memcpy WHERE src = 'pageable' AND bytes > 1e6",
                                "SELECT step, dur, data_wait, forward, backward FROM step ORDER BY dur DESC LIMIT 5"})
        examples.append("  stepscope-cli query TRACE \"").append(example).append("\"\n");
    query->footer(examples + "  stepscope-cli query --tables");
    query->callback([&line, trace, sql] {
        if (!line.query.tables && trace->count() == 0)
            throw CLI::RequiredError("TRACE");
        if (!line.query.tables && sql->count() == 0)
            throw CLI::RequiredError("SQL");
        line.run = [&line](const Streams& s) { return app::terminal::query(line.query, s); };
    });
}

void addReaders(CLI::App& app, CommandLine& line)
{
    CLI::App* summarize = app.add_subcommand("summarize", "Show what a trace contains and where step time goes");
    summarize
        ->add_option("TRACE", line.summarize.traces,
                     "Trace file. Several files, a folder or a pattern in quotes: the ranks of one job")
        ->required();
    addSteps(*summarize, line.summarize.steps);
    summarize->add_flag("--detailed,--closer", line.summarize.detailed, // --closer: its name in older versions
                        "Also run the detailed analysis, which takes longer: launch queue, critical path, copy "
                        "bandwidth, memset callers, synchronization callers, loader workers, stragglers");
    summarize->add_option("--why-step", line.summarize.whyStep,
                          "Also show why this step takes longer than the median step, by its index");
    summarize->add_flag("--scaling", line.summarize.scaling,
                        "Each TRACE is a run of the same training with another number of ranks (a folder, a pattern or "
                        "a file): show throughput, efficiency against the smallest run, and where time is lost");
    summarize->add_flag("--json", line.summarize.json, kJson);
    summarize->callback(
        [&line] { line.run = [&line](const Streams& s) { return app::terminal::summarize(line.summarize, s); }; });

    CLI::App* advise = app.add_subcommand("advise", "Show every rule's verdict on a trace, with reasons");
    advise
        ->add_option("TRACE", line.advise.traces,
                     "Trace file. Several files, a folder or a pattern in quotes: the ranks of one job")
        ->required();
    advise->add_option("--config", line.advise.config, "Configuration of the run (default: the one in the trace)");
    addSteps(*advise, line.advise.steps);
    advise->add_option("--rank", line.advise.rank,
                       "Use this rank of a trace or a job with several (default: the slowest)");
    advise->add_option("--python", line.advise.python, kPython)->capture_default_str();
    advise->add_flag("--json", line.advise.json, kJson);
    advise->callback([&line] { line.run = [&line](const Streams& s) { return adviseOn(line.advise, s); }; });

    CLI::App* lines = app.add_subcommand("lines", "Show the source lines of a recorded Python program with their time");
    lines->add_option("TRACE", line.lines.trace, "Trace file")->required();
    lines->add_option("FILE", line.lines.file, "Show only the lines of this file: its path or the end of it");
    lines->add_flag("--json", line.lines.json, kJson);
    lines->callback([&line] { line.run = [&line](const Streams& s) { return app::terminal::lines(line.lines, s); }; });

    addQuery(app, line);

    CLI::App* calls = app.add_subcommand("calls", "Show the call tree of a trace with host or device time");
    calls->add_option("TRACE", line.calls.trace, "Trace file")->required();
    calls->add_option("--by", line.calls.by, "What a call is: operator (default), python (functions) or module")
        ->check(CLI::IsMember({"operator", "python", "module"}));
    calls->add_flag("--device", line.calls.device, "Time of the kernels and copies that each call launched");
    CLI::Option* bottomUp = calls->add_flag("--bottom-up", line.calls.bottomUp, "Show the callers of each call");
    calls->add_option("--step", line.calls.step, "Only this step, by its index (default: the whole trace)");
    addSteps(*calls, line.calls.steps);
    CLI::Option* callsJson = calls->add_flag("--json", line.calls.json, kJson);
    calls
        ->add_flag("--collapsed", line.calls.collapsed,
                   "Print collapsed stacks in µs, as flamegraph.pl and speedscope read them")
        ->excludes(bottomUp)
        ->excludes(callsJson);
    calls->callback([&line] { line.run = [&line](const Streams& s) { return app::terminal::calls(line.calls, s); }; });

    CLI::App* diff =
        app.add_subcommand("diff", "Show what changed between two traces or two jobs, with spread and comparability");
    diff->add_option("A", line.diff.a, "Trace before the change. A folder or a pattern in quotes: the ranks of one job")
        ->required();
    diff->add_option("B", line.diff.b, "Trace or job after the change")->required();
    diff->add_option(
        "--step", line.diff.step,
        "Compare this step of A, by its index, with the step of B that has the same index (or, if no index "
        "is the same, the same position)");
    addSteps(*diff, line.diff.steps);
    CLI::Option* limit =
        diff->add_option(
                "--fail-if-slower", line.diff.failIfSlower,
                "Exit with status 3 if steps of B take more time by over so many percent, or cannot be compared")
            ->type_name("PERCENT")
            ->check(notNegative())
            ->excludes("--step");
    diff->add_option("--junit", line.diff.junit, "Write the result of --fail-if-slower to this file, as JUnit XML")
        ->needs(limit);
    diff->add_flag("--json", line.diff.json, kJson);
    diff->callback([&line] { line.run = [&line](const Streams& s) { return app::terminal::diff(line.diff, s); }; });

    CLI::App* convert =
        app.add_subcommand("convert", "Convert a trace to the format given by the extension of the result");
    convert->add_option("IN", line.convert.in, "Trace file")->required();
    convert->add_option("OUT", line.convert.out, "File to write: .json, .json.gz, .pftrace, .csv …")->required();
    convert->callback(
        [&line] { line.run = [&line](const Streams& s) { return app::terminal::convert(line.convert, s); }; });

    CLI::App* describe =
        app.add_subcommand("describe", "List knobs, workloads, optimizers, schedules, datasets, rules, formats, tips");
    CLI::Option* json = describe->add_flag("--json", line.describe.json, kJson);
    describe->add_flag("--tips", line.describe.tips, "Print only the table of tips, in Markdown")->excludes(json);
    describe->callback(
        [&line] { line.run = [&line](const Streams& s) { return app::terminal::describe(line.describe, s); }; });
}

void addPatch(CLI::App& app, CommandLine& line)
{
    CLI::App* patch = app.add_subcommand("patch", "Show the diff that makes changes in a recorded Python program");
    patch->add_option("TRACE", line.patch.trace, "Trace file")->required();
    patch->add_option("--set", line.patch.assignments, "A change: key=value")->take_all()->allow_extra_args(false);
    CLI::Option* apply =
        patch->add_flag("--apply", line.patch.apply, "Write the patch to the files; the originals are kept");
    CLI::Option* revert =
        patch->add_flag("--revert", line.patch.revert, "Restore the files from before --apply")->excludes(apply);
    CLI::Option* branch = patch
                              ->add_option("--branch", line.patch.branch,
                                           "Commit the patch on a new branch; the work tree does not change")
                              ->excludes(apply)
                              ->excludes(revert);
    patch->add_option("--measured", line.patch.measured, "Result of experiment --json, for the commit message")
        ->needs(branch);
    patch->add_option("--python", line.patch.python, kPython)->capture_default_str();
    patch->add_flag("--json", line.patch.json, kJson);
    patch->callback([&line] { line.run = [&line](const Streams& s) { return patchSource(line.patch, s); }; });
}

/// Adds the command after `--`, which replaces a configuration, and the options for running it.
CLI::Option* addProgram(CLI::App& app, CLI::Option& config, ProgramOptions& program)
{
    CLI::Option* command = app.add_option("COMMAND", program.command,
                                          "After --: a program that trains with PyTorch, instead of a configuration");
    command->excludes(&config);
    app.add_option("--env", program.environment, "Add a variable to the command's environment; may be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false)
        ->needs(command);
    app.add_option("--isolation", program.isolation,
                   "Where to run the command: in a private view of the file system (overlay), in a copy of its folder "
                   "(copy), or in place, where it overwrites its usual files (in-place)")
        ->check(CLI::IsMember({"overlay", "copy", "in-place"}))
        ->needs(command)
        ->capture_default_str();
    app.add_flag("--terminal", program.terminal, "Run the command in a pseudo-terminal")->needs(command);
    app.add_flag(
           "!--no-seeds", program.seeds,
           "Do not seed torch, random and NumPy, and leave the program's seeds as they are (default: each start of "
           "both arms has its own)")
        ->needs(command);
    app.add_option("--patience", program.patienceSeconds,
                   "Seconds without output or a completed step at the start after which the command counts as hanging")
        ->check(positive())
        ->needs(command)
        ->capture_default_str();
    app.add_option("--logs", program.logs, "Folder for the output of both arms (default: a temporary folder)")
        ->needs(command);
    app.positionals_at_end();
    return command;
}

void addRunners(CLI::App& app, CommandLine& line)
{
    CLI::App* train = app.add_subcommand("train", "Run and trace one training run");
    train->add_option("--config", line.train.config, kConfig)->required();
    train->add_option("--set", line.train.assignments, "Change a knob: key=value")->take_all();
    train->add_option("-o,--output", line.train.trace, "Trace file to write")->required();
    train->add_flag("--json", line.train.json, kJson);
    train->callback([&line] { line.run = [&line](const Streams& s) { return app::terminal::train(line.train, s); }; });

    CLI::App* experiment = app.add_subcommand(
        "experiment", "Measure a change against the baseline in alternating turns, with a confidence interval");
    CLI::Option* config = experiment->add_option("--config", line.experiment.config, kConfig);
    CLI::Option* command = addProgram(*experiment, *config, line.experiment);
    CLI::Option* set = experiment
                           ->add_option("--set", line.experiment.assignments,
                                        "Change for the second arm: key=value; may be repeated; none: A/A experiment")
                           ->take_all()
                           ->allow_extra_args(false);
    CLI::Option* patch = experiment
                             ->add_option("--patch", line.experiment.patch,
                                          "Unified diff for the second arm: any change of the program's files")
                             ->needs(command)
                             ->excludes(set);
    experiment->add_option("--against", line.experiment.against, "Command for the second arm, in quotes")
        ->needs(command)
        ->excludes(set)
        ->excludes(patch);
    experiment->add_option("--trace", line.experiment.trace,
                           "Recording of the baseline for the prediction (default: record a command first)");
    experiment
        ->add_option("--measure", line.experiment.measure,
                     "What to time (default: what the change affects; steps for --patch and --against)")
        ->check(CLI::IsMember({"steps", "epoch", "validation"}));
    experiment->add_option("--budget", line.experiment.budgetSeconds, "Time limit in seconds")->check(positive());
    experiment
        ->add_option("--horizon", line.experiment.horizonSeconds,
                     "For losses at equal time: seconds that both arms train per seed (default: the length of the "
                     "training run, at most 20)")
        ->check(positive());
    experiment
        ->add_option("--turn", line.experiment.turnMilliseconds,
                     "Approximate length of a turn in milliseconds; at least five steps")
        ->check(positive())
        ->capture_default_str();
    experiment->add_flag("--json", line.experiment.json, kJson);
    experiment->callback([&line] {
        if (line.experiment.config.empty() && line.experiment.command.empty())
            throw CLI::RequiredError("--config FILE or -- COMMAND");
        line.run = [&line](const Streams& s) { return app::terminal::experiment(line.experiment, s); };
    });
}

void addProof(CLI::App& app, CommandLine& line)
{
    CLI::App* tune = app.add_subcommand("tune", "Apply changes that pay, one after another, and measure each");
    CLI::Option* config = tune->add_option("--config", line.tune.config, kConfig);
    CLI::Option* command = addProgram(*tune, *config, line.tune);
    tune->add_option("--trace", line.tune.trace, "Recording of the command (default: record it first)")->needs(command);
    tune->add_option("--turn", line.tune.turnMilliseconds,
                     "Approximate length of a turn in milliseconds; at least five steps")
        ->check(positive())
        ->needs(command)
        ->capture_default_str();
    tune->add_option("--budget", line.tune.budgetSeconds,
                     "Time limit in seconds, at least 20; a running measurement is stopped")
        ->check(number([](double value) { return value >= 20; },
                       "is too short: a recording and one experiment take at least 20 s"))
        ->capture_default_str();
    tune->add_option("-o,--output", line.tune.output,
                     "Folder to write: config.json and code.md, or changes.patch and command.txt, and report.html");
    tune->add_flag("--json", line.tune.json, kJson);
    tune->callback([&line] {
        if (line.tune.config.empty() && line.tune.command.empty())
            throw CLI::RequiredError("--config FILE or -- COMMAND");
        line.run = [&line](const Streams& s) { return app::terminal::tune(line.tune, s); };
    });

    CLI::App* report = app.add_subcommand("report", "Write a self-contained HTML page about a run");
    report->add_option("TRACE", line.report.trace, "Trace file, or a folder that contains one")->required();
    report->add_option("--config", line.report.config, "Configuration of the run (default: the one in the trace)");
    report->add_option("--against", line.report.against, "Trace of a previous run to compare with");
    addSteps(*report, line.report.steps);
    report->add_option("-o,--output", line.report.output, "HTML file to write")->required();
    report->callback(
        [&line] { line.run = [&line](const Streams& s) { return app::terminal::report(line.report, s); }; });
}

void addRecorder(CLI::App& app, CommandLine& line)
{
    CLI::App* record =
        app.add_subcommand("record", "Run and record any program that uses CUDA, NVTX or PyTorch in Python");
    record->add_option(
        "-o,--output", line.record.trace,
        "Trace file to write, or a folder, in which each rank of a torchrun, mpirun or srun command gets "
        "its own file (default: the program's name with .sstrace, numbered if the file exists; for "
        "several ranks a folder of that name)");
    record
        ->add_option(
            "--level", line.record.level,
            "Detail level of GPU recording: more detail costs more; full adds the shapes of --ops operators and "
            "the exact line of each allocation. steps records only the times of steps, phases and waits of PyTorch in "
            "Python, into a folder of bounded size that watch reads; it can stay on for weeks")
        ->transform([](const std::string& level) { return level == "always-on" ? std::string(kSteps) : level; }, "")
        ->check(CLI::IsMember({kSteps, "always", "standard", "full"}))
        ->capture_default_str();
    record
        ->add_option("--capture-slow", line.record.captureSlow,
                     "With --level steps: after a step that is slower than the p99 of the last hour, record the next 5 "
                     "steps in full, at most once in so many seconds")
        ->check(positive());
    addRemotePlace(*record, line.record.place,
                   "Run and record the command on this machine, over ssh: as ssh names it, with your keys, agent and "
                   "~/.ssh/config. The trace is fetched at the end; Ctrl-C stops the command there");
    CLI::Option* ops =
        record->add_flag("--ops", line.record.operators,
                         "Also record PyTorch operators in Python; small operators become noticeably slower");
    CLI::Option* every = record
                             ->add_option("--ops-every", line.record.opsEvery,
                                          "Record operators only in a window near the start, and in one at the start "
                                          "of every so many training steps")
                             ->check(positive())
                             ->needs(ops);
    record->add_option("--ops-window", line.record.opsWindow, "Number of steps in each of these windows")
        ->check(positive())
        ->needs(every)
        ->capture_default_str();
    record->add_flag("!--no-python", line.record.python, "Do not hook into Python: no loader waits, steps and phases")
        ->excludes(ops);
    record->add_option("--env", line.record.environment, "Add a variable to the command's environment; may be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false); // in "--env A=1 -- COMMAND", only A=1 is its value
    CLI::Option* after =
        record->add_option("--after", line.record.after, "Seconds after the command's start until recording begins")
            ->check(number([](double value) { return value >= 0; }, "is below 0"));
    CLI::Option* seconds =
        record
            ->add_option("--for,--seconds", line.record.seconds, "Seconds to record (default: until the command ends)")
            ->check(positive());
    record
        ->add_option("--steps", line.record.steps,
                     "Record only these training steps of a Python program, in every rank: 10-29 (the first is 0)")
        ->type_name("FIRST-LAST")
        ->check(notEmpty())
        ->excludes(after)
        ->excludes(seconds)
        ->excludes("--no-python");
    record
        ->add_option("--ranks", line.record.ranks,
                     "Record only these ranks of a job: 0,7,64-71. The others run unrecorded")
        ->type_name("LIST")
        ->check(notEmpty());
    record
        ->add_option("--max-size", line.record.maxSize,
                     "Stop recording a rank when it has written this much: 500MB, 2GB. The program continues")
        ->type_name("SIZE")
        ->check(notEmpty());
    record
        ->add_option(
            "--patience", line.record.patience,
            "Stop a Python process that completes no training step, batch or validation for so many seconds, and "
            "print its stacks (default: no limit)")
        ->check(positive());
    record->add_option("--report", line.record.report, "Write the result of the recording to this file, as JSON");
    record->add_flag("--json", line.record.json, "Print the result of the recording as JSON to stderr");
    record->add_option("COMMAND", line.record.command, "After --: the program and its arguments")->required();
    record->positionals_at_end();
    record->callback([&line, ops] {
        const bool isAlwaysOn = line.record.level == kSteps;
        if (isAlwaysOn && (ops->count() > 0 || !line.record.python || line.record.after > 0 ||
                           line.record.seconds > 0 || line.record.patience > 0 || !line.record.steps.empty() ||
                           !line.record.ranks.empty() || !line.record.maxSize.empty()))
            throw CLI::ValidationError("--level steps excludes --ops, --no-python, --after, --for, --steps, "
                                       "--ranks, --max-size and --patience");
        if (!isAlwaysOn && line.record.captureSlow > 0)
            throw CLI::ValidationError("--capture-slow requires --level steps");
        line.run = [&line](const Streams& s) { return app::terminal::record(line.record, s); };
    });
}

void addWatch(CLI::App& app, CommandLine& line)
{
    CLI::App* watch = app.add_subcommand("watch", "Show the steps of a running recording, live");
    watch->add_option("DIR", line.watch.place, "Folder of a recording, or the trace that it writes")->required();
    watch
        ->add_option_function<double>(
            "--interval", [&line](double seconds) { line.watch.interval = std::chrono::duration<double>(seconds); },
            "Seconds between two updates (default: 1)")
        ->check(positive());
    watch->add_flag("--once", line.watch.once, "Show the state once");
    CLI::Option* json = watch->add_flag("--json", line.watch.json, "Print JSON instead, one line per update");
    CLI::Option* history =
        watch->add_flag("--history", line.watch.history, "Show the minutes of an always-on recording, once");
    CLI::Option* capture = watch
                               ->add_option("--capture", line.watch.capture,
                                            "Record the next so many steps of an always-on recording in full, and wait "
                                            "for the traces")
                               ->check(CLI::Range(1, 10000))
                               ->type_name("STEPS")
                               ->excludes(history);
    watch
        ->add_option("--prometheus", line.watch.prometheus,
                     "Write the state in Prometheus's text format to this file, which is replaced in each interval; - "
                     "prints it once to standard output")
        ->type_name("FILE")
        ->excludes(capture)
        ->excludes(history)
        ->excludes(json);
    watch->callback([&line] { line.run = [&line](const Streams& s) { return app::terminal::watch(line.watch, s); }; });
}

void addInstallation(CLI::App& app, CommandLine& line)
{
    CLI::App* doctor =
        app.add_subcommand("doctor", "Check GPU, driver, PyTorch and this installation, and show what to do");
    doctor->add_flag("--json", line.doctor.json, kJson);
    doctor->callback(
        [&line] { line.run = [&line](const Streams& s) { return app::terminal::doctor(line.doctor, s); }; });

    CLI::App* mcp =
        app.add_subcommand("mcp", "Serve assistants: the Model Context Protocol over standard input and output");
    mcp->add_flag("--allow-run", line.mcp.allowRun, "Also offer the tools that run programs: record and experiment");
    mcp->callback([&line] { line.run = [&line](const Streams& s) { return serveMcp(line.mcp, s); }; });

    CLI::App* remote = app.add_subcommand("remote", "The far side of --host");
    remote->group(""); // for the near side, not for users
    remote->add_option("--action", line.remote.action)
        ->required()
        ->check(CLI::IsMember(
            {"supervise", "follow", "files", "stop", "kill", "answer", "serve", "ranks", "merge", "bundle"}));
    remote->add_option("--job", line.remote.job);
    remote->add_option("--cache", line.remote.cache);
    remote->add_option("--ranks", line.remote.ranks)->delimiter(',');
    remote->add_option("--step", line.remote.step);
    remote->add_option("--output", line.remote.output);
    remote->add_option("--errors", line.remote.errors);
    remote->add_option("COMMAND", line.remote.command);
    remote->positionals_at_end();
    remote->callback([&line] { line.run = [&line](const Streams&) { return remoteJob(line.remote); }; });

    CLI::App* pages = app.add_subcommand("pages", "Write the manual pages and the shells' completion scripts");
    pages->group(""); // for the build, not for users
    pages->add_option("FOLDER", line.pages, "The share folder of an installation")->required();
    pages->callback(
        [&app, &line] { line.run = [&app, &line](const Streams& s) { return writePages(app, line.pages, s); }; });
}

/// Output may still be buffered: a full disk is only noticed when the buffers are written.
int statusOnceWritten(int status)
{
    errno = 0;
    std::cout.flush();
    const bool failed = std::fflush(stdout) != 0 || !std::cout || std::ferror(stdout) != 0;
    const char* why = errno != 0 ? std::strerror(errno) : "is the disk full?";
    constexpr int kStdout = 1;
    if (!failed || !profiler::os::hasReader(kStdout))
        return status;
    std::cerr << "the output could not be written: " << why << '\n';
    return status == kDone ? kBadInput : status;
}

/// "; did you mean --X?" for the option or command that is most similar to a misspelt one; empty if none is similar.
std::string suggestion(std::string_view wrong, const std::vector<std::string>& known)
{
    const auto nearest = std::ranges::min_element(
        known, {}, [&](const std::string& name) { return profiler::os::editDistance(wrong, name); });
    // Two errors are a slip of the fingers; in a short word, one.
    const std::size_t most = wrong.size() > 6 ? 2 : 1;
    return nearest != known.end() && profiler::os::editDistance(wrong, *nearest) <= most
               ? "; did you mean " + *nearest + '?'
               : std::string();
}

/// The first word that is not an option of the command, with the most similar option; empty if there is none.
std::string optionSuggestion(const CLI::App& command, const std::vector<std::string>& words)
{
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames())
            known.push_back("--" + name);
    for (const std::string& word : words) {
        const std::string name = word.substr(0, word.find('='));
        if (name == "--")
            return {};
        if (name.starts_with("--") && std::ranges::find(known, name) == known.end())
            return suggestion(name, known);
    }
    return {};
}

/// The error message for users, with where to read on: for an unknown command, it lists the known ones.
std::string textOf(const CLI::ParseError& wrong, const CLI::App& app, const std::vector<std::string>& words)
{
    const std::string first = words.empty() ? std::string() : words.front();
    std::vector<std::string> commands;
    for (const CLI::App* command : commandsOf(app)) {
        commands.push_back(command->get_name());
        if (command->get_name() == first) {
            const bool isUnknownWord = wrong.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
            return wrong.what() + (isUnknownWord ? optionSuggestion(*command, words) : std::string()) +
                   " (stepscope-cli " + first + " --help)";
        }
    }
    if (first.empty() || first.front() == '-')
        return std::string(wrong.what()) + " (stepscope-cli --help)";
    const std::string similar = suggestion(first, commands);
    return "Unknown command '" + first + '\'' +
           (similar.empty() ? ": choose one of " + fmt::format("{}", fmt::join(commands, ", ")) : similar) +
           " (stepscope-cli --help)";
}

} // namespace

int main(int argc, char** argv)
{
    // If the reader of our output (such as head) or a trainer exits, writing must fail with an error and not end this
    // process with a signal.
    std::signal(SIGPIPE, SIG_IGN);
    profiler::os::keepFreedMemory();
    CLI::App app("Stepscope on the command line: train, record, analyze and measure", "stepscope-cli");
    app.set_version_flag("--version", std::string(profiler::version()));
    app.require_subcommand(1);
    CommandLine line;
    addReaders(app, line);
    addPatch(app, line);
    addRunners(app, line);
    addProof(app, line);
    addRecorder(app, line);
    addWatch(app, line);
    addInstallation(app, line);
    addRemoteReaders(app, line.place);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& wrong) { // CLI11 uses exceptions for --help, too
        if (wrong.get_exit_code() == 0)
            return statusOnceWritten(app.exit(wrong));
        std::cerr << textOf(wrong, app, {argv + 1, argv + argc}) << '\n';
        return kWrongUsage;
    }
    const bool isWatch = app.got_subcommand("watch");
    line.watch.machine = line.place;
    if (line.place.isRemote() && !(isWatch && line.watch.isLive())) // watch() renders a remote state itself
        line.run = [&](const Streams& s) { return runRemotely(*app.get_subcommands().front(), line.place, s); };
    try {
        return statusOnceWritten(line.run({std::cout, std::cerr}));
    } catch (const std::bad_alloc&) {
        std::fputs("not enough memory: close other programs, or use a smaller trace\n", stderr);
        return kBadInput;
    }
}
