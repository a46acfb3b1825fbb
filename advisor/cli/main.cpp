#include "advisor/cli/commands.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <poll.h>
#include <unistd.h>

namespace {

using namespace advisor::cli;

/// A command's options, where the parser puts them, and what runs it.
struct CommandLine {
    SummarizeOptions summarize;
    LinesOptions lines;
    DiffOptions diff;
    ConvertOptions convert;
    AdviseOptions advise;
    PatchOptions patch;
    DescribeOptions describe;
    TrainOptions train;
    ExperimentOptions experiment;
    RecordOptions record;
    TuneOptions tune;
    ReportOptions report;
    std::function<int(const Streams&)> run;
};

constexpr const char* kJson = "Print JSON instead of a table";
constexpr const char* kPython = "Interpreter that parses a recorded program's files; at least as new as the program's";
constexpr const char* kConfig = "Training configuration (JSON)";

/// A number that `fits`; else the option's error is what `why` says of it. (CLI11's own write their limits out.)
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

CLI::Validator positive()
{
    return number([](double value) { return value > 0; }, "is not above 0");
}

void addSteps(CLI::App& command, StepChoice& steps)
{
    CLI::Option* range =
        command.add_option("--step-range", steps.range,
                           "NVTX ranges or annotations of this name are the steps; else the trace's own marks");
    command
        .add_option_function<std::string>(
            "--steps-from", [&steps](const std::string& from) { steps.search = stepSearchOf(from); },
            "auto (default): the trace's step marks; where it has none, its repeated work. marks: only marks. "
            "repetition: only repeated work. none: no steps, the whole trace is judged")
        ->check(CLI::IsMember(stepSearchNames()))
        ->excludes(range);
}

void addReaders(CLI::App& app, CommandLine& line)
{
    CLI::App* summarize = app.add_subcommand("summarize", "What is in a trace and where the steps' time goes");
    summarize->add_option("TRACE", line.summarize.trace, "Trace file")->required();
    addSteps(*summarize, line.summarize.steps);
    summarize->add_flag("--closer", line.summarize.closer,
                        "A closer look too, which takes longer: the device's queue, the critical path, copies, who "
                        "sets memory, who waits for the device, loader workers, stragglers");
    summarize->add_flag("--json", line.summarize.json, kJson);
    summarize->callback(
        [&line] { line.run = [&line](const Streams& s) { return advisor::cli::summarize(line.summarize, s); }; });

    CLI::App* advise = app.add_subcommand("advise", "Every rule's verdict on a trace, with reasons");
    advise->add_option("TRACE", line.advise.trace, "Trace file")->required();
    advise->add_option("--config", line.advise.config, "Configuration of the run; else the one that the trace holds");
    addSteps(*advise, line.advise.steps);
    advise->add_option("--python", line.advise.python, kPython)->capture_default_str();
    advise->add_flag("--json", line.advise.json, kJson);
    advise->callback([&line] { line.run = [&line](const Streams& s) { return adviseOn(line.advise, s); }; });

    CLI::App* lines = app.add_subcommand("lines", "The source lines of a recorded Python program, with their time");
    lines->add_option("TRACE", line.lines.trace, "Trace file")->required();
    lines->add_option("FILE", line.lines.file, "Only the lines of this file: its path, or the end of it");
    lines->add_flag("--json", line.lines.json, kJson);
    lines->callback([&line] { line.run = [&line](const Streams& s) { return advisor::cli::lines(line.lines, s); }; });

    CLI::App* diff = app.add_subcommand("diff", "What changed between two traces, with spread and comparability");
    diff->add_option("A", line.diff.a, "Trace before")->required();
    diff->add_option("B", line.diff.b, "Trace after")->required();
    addSteps(*diff, line.diff.steps);
    diff->add_flag("--json", line.diff.json, kJson);
    diff->callback([&line] { line.run = [&line](const Streams& s) { return advisor::cli::diff(line.diff, s); }; });

    CLI::App* convert =
        app.add_subcommand("convert", "Writes a trace in another format, which the extension of the result names");
    convert->add_option("IN", line.convert.in, "Trace file")->required();
    convert->add_option("OUT", line.convert.out, "Result: .json, .json.gz, .pftrace, .csv …")->required();
    convert->callback(
        [&line] { line.run = [&line](const Streams& s) { return advisor::cli::convert(line.convert, s); }; });

    CLI::App* describe =
        app.add_subcommand("describe", "Knobs, workloads, optimizers, schedules, data sets, rules, formats, tips");
    CLI::Option* json = describe->add_flag("--json", line.describe.json, kJson);
    describe->add_flag("--tips", line.describe.tips, "Only the table of tips, in Markdown")->excludes(json);
    describe->callback(
        [&line] { line.run = [&line](const Streams& s) { return advisor::cli::describe(line.describe, s); }; });
}

void addPatch(CLI::App& app, CommandLine& line)
{
    CLI::App* patch = app.add_subcommand("patch", "The diff that makes changes in a recorded Python program");
    patch->add_option("TRACE", line.patch.trace, "Trace file")->required();
    patch->add_option("--set", line.patch.assignments, "A change: key=value")->take_all()->allow_extra_args(false);
    CLI::Option* apply =
        patch->add_flag("--apply", line.patch.apply, "Write it into the files; the originals are kept");
    CLI::Option* revert =
        patch->add_flag("--revert", line.patch.revert, "Write the files back as they were before --apply")
            ->excludes(apply);
    CLI::Option* branch =
        patch->add_option("--branch", line.patch.branch, "Commit it on a new branch; the work tree stays as it is")
            ->excludes(apply)
            ->excludes(revert);
    patch->add_option("--measured", line.patch.measured, "Result of experiment --json, for the commit's message")
        ->needs(branch);
    patch->add_option("--python", line.patch.python, kPython)->capture_default_str();
    patch->add_flag("--json", line.patch.json, kJson);
    patch->callback([&line] { line.run = [&line](const Streams& s) { return patchSource(line.patch, s); }; });
}

/// The command after `--`, instead of a configuration, and the options of how it runs.
CLI::Option* addProgram(CLI::App& app, CLI::Option& config, ProgramOptions& program)
{
    CLI::Option* command = app.add_option("COMMAND", program.command,
                                          "After --: a program that trains with PyTorch, instead of a configuration");
    command->excludes(&config);
    app.add_option("--env", program.environment, "Adds a variable to the command's environment; may be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false)
        ->needs(command);
    app.add_option("--isolation", program.isolation,
                   "Where the command runs: in a private view of the file system, in a copy of its folder, or in "
                   "place, where it writes what it always writes")
        ->check(CLI::IsMember({"overlay", "copy", "in-place"}))
        ->needs(command)
        ->capture_default_str();
    app.add_flag("--terminal", program.terminal, "The command gets a pseudo-terminal")->needs(command);
    app.add_flag("!--no-seeds", program.seeds,
                 "Seed nothing: torch, random and NumPy are else seeded equally where the program does not do so")
        ->needs(command);
    app.add_option("--patience", program.patienceSeconds,
                   "Seconds without output or a step at the command's start that count as a hang")
        ->check(positive())
        ->needs(command)
        ->capture_default_str();
    app.add_option("--logs", program.logs, "Folder for what both arms print; else a temporary one")->needs(command);
    app.positionals_at_end();
    return command;
}

void addRunners(CLI::App& app, CommandLine& line)
{
    CLI::App* train = app.add_subcommand("train", "One training, traced");
    train->add_option("--config", line.train.config, kConfig)->required();
    train->add_option("--set", line.train.assignments, "Change a knob: key=value")->take_all();
    train->add_option("-o,--output", line.train.trace, "Trace file to write")->required();
    train->add_flag("--json", line.train.json, kJson);
    train->callback([&line] { line.run = [&line](const Streams& s) { return advisor::cli::train(line.train, s); }; });

    CLI::App* experiment =
        app.add_subcommand("experiment", "Baseline against change, alternately, with a confidence interval");
    CLI::Option* config = experiment->add_option("--config", line.experiment.config, kConfig);
    CLI::Option* command = addProgram(*experiment, *config, line.experiment);
    CLI::Option* set = experiment
                           ->add_option("--set", line.experiment.assignments,
                                        "What the second arm has different: key=value; may be repeated; none: A "
                                        "against A")
                           ->take_all()
                           ->allow_extra_args(false);
    CLI::Option* patch = experiment
                             ->add_option("--patch", line.experiment.patch,
                                          "A unified diff that the second arm has: any change of the program's files")
                             ->needs(command)
                             ->excludes(set);
    experiment->add_option("--against", line.experiment.against, "The second arm's command, in quotes")
        ->needs(command)
        ->excludes(set)
        ->excludes(patch);
    experiment->add_option(
        "--trace", line.experiment.trace,
        "Recording of the baseline, to predict from; a command is recorded first where none is named");
    experiment
        ->add_option("--measure", line.experiment.measure,
                     "What is timed; else where the change acts, and the steps of --patch and --against")
        ->check(CLI::IsMember({"steps", "epoch", "validation"}));
    experiment->add_option("--budget", line.experiment.budgetSeconds, "Seconds to spend at most")->check(positive());
    experiment
        ->add_option("--horizon", line.experiment.horizonSeconds,
                     "Losses at equal time: seconds that both train from each seed; else as the training, at most 20")
        ->check(positive());
    experiment
        ->add_option("--turn", line.experiment.turnMilliseconds, "Milliseconds of a turn, about; five steps at least")
        ->check(positive())
        ->capture_default_str();
    experiment->add_flag("--json", line.experiment.json, kJson);
    experiment->callback([&line] {
        if (line.experiment.config.empty() && line.experiment.command.empty())
            throw CLI::RequiredError("--config FILE or -- COMMAND");
        line.run = [&line](const Streams& s) { return advisor::cli::experiment(line.experiment, s); };
    });
}

void addProof(CLI::App& app, CommandLine& line)
{
    CLI::App* tune = app.add_subcommand("tune", "Applies what pays, one after another, each measured");
    CLI::Option* config = tune->add_option("--config", line.tune.config, kConfig);
    CLI::Option* command = addProgram(*tune, *config, line.tune);
    tune->add_option("--trace", line.tune.trace, "Recording of the command; else it is recorded first")->needs(command);
    tune->add_option("--turn", line.tune.turnMilliseconds, "Milliseconds of a turn, about; five steps at least")
        ->check(positive())
        ->needs(command)
        ->capture_default_str();
    tune->add_option("--budget", line.tune.budgetSeconds, "Seconds to spend, at least 20; what runs then is ended")
        ->check(number([](double value) { return value >= 20; },
                       "is too short: a recording and one experiment take 20 s at the least"))
        ->capture_default_str();
    tune->add_option("-o,--output", line.tune.output,
                     "Folder for config.json and code.md, or changes.patch and command.txt, and report.html");
    tune->add_flag("--json", line.tune.json, kJson);
    tune->callback([&line] {
        if (line.tune.config.empty() && line.tune.command.empty())
            throw CLI::RequiredError("--config FILE or -- COMMAND");
        line.run = [&line](const Streams& s) { return advisor::cli::tune(line.tune, s); };
    });

    CLI::App* report = app.add_subcommand("report", "One self-contained HTML file about a run");
    report->add_option("TRACE", line.report.trace, "Trace file, or a folder that holds one")->required();
    report->add_option("--config", line.report.config, "Configuration of the run; else the one that the trace holds");
    report->add_option("--against", line.report.against, "Trace of a run before, to compare with");
    addSteps(*report, line.report.steps);
    report->add_option("-o,--output", line.report.output, "HTML file to write")->required();
    report->callback(
        [&line] { line.run = [&line](const Streams& s) { return advisor::cli::report(line.report, s); }; });
}

void addRecorder(CLI::App& app, CommandLine& line)
{
    CLI::App* record = app.add_subcommand("record", "Runs any program, recorded: CUDA, NVTX, and Python's PyTorch");
    record->add_option("-o,--output", line.record.trace,
                       "Trace file to write; else the program's name with .sstrace, and a number where that is taken");
    record
        ->add_option("--level", line.record.level,
                     "How much of the GPU is recorded: more costs more; full has the shapes of --ops' operators too")
        ->check(CLI::IsMember({"always", "standard", "full"}))
        ->capture_default_str();
    CLI::Option* ops = record->add_flag("--ops", line.record.operators,
                                        "PyTorch's operators too, in Python: small ones take noticeably longer");
    CLI::Option* every =
        record
            ->add_option("--ops-every", line.record.opsEvery,
                         "Operators only in a window of steps near the start, and in one at the beginning of every so "
                         "many training steps")
            ->check(positive())
            ->needs(ops);
    record->add_option("--ops-window", line.record.opsWindow, "How many steps each of those windows has")
        ->check(positive())
        ->needs(every)
        ->capture_default_str();
    record->add_flag("!--no-python", line.record.python, "No hooks into Python: loader waits, steps and phases")
        ->excludes(ops);
    record
        ->add_option("--env", line.record.environment, "Adds a variable to the command's environment; may be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false); // of "--env A=1 -- COMMAND", only A=1 is its value
    record->add_option("--after", line.record.after, "Seconds from the command's start until recording begins")
        ->check(number([](double value) { return value >= 0; }, "is below 0"));
    record->add_option("--for", line.record.seconds, "Seconds that are recorded; else to the command's end")
        ->check(positive());
    record->add_option("--report", line.record.report, "Write what came of it into this file, as JSON");
    record->add_flag("--json", line.record.json, "Print what was recorded as JSON, on the standard error stream");
    record->add_option("COMMAND", line.record.command, "After --: the program and its arguments")->required();
    record->positionals_at_end();
    record->callback(
        [&line] { line.run = [&line](const Streams& s) { return advisor::cli::record(line.record, s); }; });
}

/// What was printed may not have arrived: that a disk is full shows when buffers are written.
int statusOnceWritten(int status)
{
    errno = 0;
    std::cout.flush();
    const bool failed = std::fflush(stdout) != 0 || !std::cout || std::ferror(stdout) != 0;
    const char* why = errno != 0 ? std::strerror(errno) : "is the disk full?";
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    const bool readerGone = failed && ::poll(&output, 1, 0) > 0 && (output.revents & (POLLERR | POLLHUP)) != 0;
    if (!failed || readerGone)
        return status;
    std::cerr << "the output could not be written: " << why << '\n';
    return status == kDone ? kBadInput : status;
}

/// What is wrong, for a person: a command that does not exist is named with those that do.
std::string textOf(const CLI::ParseError& wrong, const CLI::App& app, const std::vector<std::string>& words)
{
    const std::string first = words.empty() ? std::string() : words.front();
    std::string commands;
    bool known = first.empty() || first.front() == '-';
    for (const CLI::App* command : app.get_subcommands({})) {
        commands += (commands.empty() ? "" : ", ") + command->get_name();
        known = known || command->get_name() == first;
    }
    return known ? wrong.what() : "There is no command '" + first + "': choose one of " + commands;
}

} // namespace

int main(int argc, char** argv)
{
    // A reader of our output that is gone, as head is, or a trainer that has died ends no write with a signal.
    std::signal(SIGPIPE, SIG_IGN);
    CLI::App app("Stepscope on the command line: trains, traces, advises and measures", "stepscope-cli");
    app.set_version_flag("--version", STEPSCOPE_VERSION);
    app.require_subcommand(1);
    CommandLine line;
    addReaders(app, line);
    addPatch(app, line);
    addRunners(app, line);
    addProof(app, line);
    addRecorder(app, line);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& wrong) { // CLI11's way to say anything, --help too
        if (wrong.get_exit_code() == 0)
            return statusOnceWritten(app.exit(wrong));
        std::cerr << textOf(wrong, app, {argv + 1, argv + argc}) << " (stepscope-cli --help)\n";
        return kWrongUsage;
    }
    try {
        return statusOnceWritten(line.run({std::cout, std::cerr}));
    } catch (const std::bad_alloc&) {
        std::fputs("not enough memory: close other programs, or use a smaller trace\n", stderr);
        return kBadInput;
    }
}
