#include "app/terminal/pages.h"

#include "profiler/model/version.h"
#include "profiler/os/files.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <cerrno>
#include <fmt/format.h>
#include <system_error>

namespace app::terminal {

namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "stepscope-cli";

std::vector<const CLI::Option*> optionsOf(const CLI::App& command)
{
    return command.get_options(
        [](const CLI::Option* option) { return !option->get_group().empty() && !option->get_positional(); });
}

std::vector<const CLI::Option*> positionalsOf(const CLI::App& command)
{
    return command.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

bool takesValue(const CLI::Option& option)
{
    return option.get_expected_max() > 0;
}

/// "--json", "-o".
std::vector<std::string> namesOf(const CLI::Option& option)
{
    std::vector<std::string> names;
    for (const std::string& name : option.get_lnames())
        names.push_back("--" + name);
    for (const std::string& name : option.get_snames())
        names.push_back("-" + name);
    return names;
}

/// The words that CLI::IsMember allows, which are in the name of the option's type: "TEXT:{always,standard}".
std::vector<std::string> choicesOf(const CLI::Option& option)
{
    const std::string type = option.get_type_name();
    const std::size_t from = type.find('{'), end = type.find('}');
    if (from == type.npos || end == type.npos || end < from)
        return {};
    return CLI::detail::split(type.substr(from + 1, end - from - 1), ',');
}

std::string joined(const std::vector<std::string>& words, std::string_view separator)
{
    return fmt::format("{}", fmt::join(words, separator));
}

/// Text that groff (groff_man(7)) prints unchanged.
std::string roff(std::string_view text)
{
    std::string result;
    bool isLineStart = true;
    for (const char c : text) {
        if (isLineStart && (c == '.' || c == '\''))
            result += "\\&";
        isLineStart = c == '\n';
        if (c == '\\')
            result += "\\e";
        else if (c == '-')
            result += "\\-";
        else
            result += c;
    }
    return result;
}

/// ".SH NAME": a macro, on its own line.
std::string section(std::string_view name)
{
    return fmt::format(".SH {}\n", name);
}

/// "page(1)" in bold, as in SEE ALSO.
std::string reference(const std::string& page)
{
    return fmt::format(".BR {} (1)", roff(page));
}

std::string header(const std::string& page)
{
    std::string title = page;
    for (char& c : title)
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return fmt::format(".TH {} 1 \"\" \"Stepscope {}\" \"Stepscope\"\n", roff(title), roff(profiler::version()));
}

std::string optionText(const CLI::Option& option)
{
    std::string text = fmt::format(".TP\n\\fB{}\\fR", roff(joined(namesOf(option), ", ")));
    const auto choices = choicesOf(option);
    if (takesValue(option)) {
        std::string type = option.get_type_name();
        type = type.substr(0, type.find(':'));
        text += choices.empty() ? fmt::format(" \\fI{}\\fR", roff(type)) : " " + roff(joined(choices, "|"));
    }
    text += "\n" + roff(option.get_description());
    if (!option.get_default_str().empty())
        text += roff(fmt::format(" (default: {})", option.get_default_str()));
    return text + "\n";
}

std::string synopsis(const CLI::App& command)
{
    std::string text = fmt::format("\\fB{} {}\\fR [\\fIOPTION\\fR]...", roff(kProgram), roff(command.get_name()));
    for (const CLI::Option* option : positionalsOf(command)) {
        const std::string name = fmt::format("\\fI{}\\fR", roff(option->get_name(true)));
        const bool isCommand = option->get_name(true) == "COMMAND";
        const std::string shown = (isCommand ? "\\-\\- " : "") + name + (isCommand ? "..." : "");
        text += option->get_required() ? " " + shown : " [" + shown + "]";
    }
    return text + "\n";
}

std::string pageOf(const CLI::App& command)
{
    const std::string page = fmt::format("{}-{}", kProgram, command.get_name());
    std::string text = header(page) + section("NAME") + roff(page) + " \\- " + roff(command.get_description()) + "\n" +
                       section("SYNOPSIS") + synopsis(command) + section("OPTIONS");
    for (const CLI::Option* option : positionalsOf(command))
        text += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(option->get_name(true)), roff(option->get_description()));
    for (const CLI::Option* option : optionsOf(command))
        text += optionText(*option);
    if (!command.get_footer().empty())
        text += ".PP\n.nf\n" + roff(command.get_footer()) + "\n.fi\n";
    return text + section("EXIT STATUS") +
           ".TP\n0\nThe command is done.\n.TP\n1\nThe input cannot be used; standard error says why.\n.TP\n2\nThe "
           "command line is wrong.\n.TP\n130\nCtrl\\-C ended the command.\n" +
           section("SEE ALSO") + reference(kProgram) + "\n";
}

std::string mainPage(const CLI::App& app)
{
    std::string text =
        header(kProgram) + section("NAME") + roff(kProgram) +
        " \\- find out where the time of a training step goes, and measure changes\n" + section("SYNOPSIS") +
        fmt::format("\\fB{}\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n", roff(kProgram)) + section("DESCRIPTION") +
        "Records training programs, analyzes their traces, proposes changes and measures whether they "
        "pay.\nEach command has a manual page.\n" +
        section("COMMANDS");
    for (const CLI::App* command : commandsOf(app))
        text += fmt::format(".TP\n{}\n{}\n", reference(fmt::format("{}-{}", kProgram, command->get_name())),
                            roff(command->get_description()));
    return text + section("SEE ALSO") + reference("stepscope") + "\n";
}

std::string bashScript(const CLI::App& app)
{
    std::vector<std::string> commands;
    std::string values, options;
    for (const CLI::App* command : commandsOf(app)) {
        commands.push_back(command->get_name());
        std::vector<std::string> names;
        for (const CLI::Option* option : optionsOf(*command)) {
            const auto own = namesOf(*option);
            names.insert(names.end(), own.begin(), own.end());
            for (const std::string& name : own)
                if (const auto choices = choicesOf(*option); !choices.empty())
                    values += fmt::format("    {}:{}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n",
                                          command->get_name(), name, joined(choices, " "));
        }
        options += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n", command->get_name(),
                               joined(names, " "));
    }
    return fmt::format(R"(# bash completion for stepscope-cli
_stepscope_cli()
{{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} i
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W '{} --help --version' -- "$word"))
        return
    fi
    for ((i = 2; i < COMP_CWORD; ++i)); do
        [ "${{COMP_WORDS[i]}}" != -- ] && continue
        [ "$i" -eq $((COMP_CWORD - 1)) ] && COMPREPLY=($(compgen -c -- "$word")) # the program; later words are files
        return
    done
    case ${{COMP_WORDS[1]}}:$before in
{}    esac
    [[ $word == -* ]] || return
    case ${{COMP_WORDS[1]}} in
{}    esac
}}
complete -o bashdefault -o default -F _stepscope_cli stepscope-cli
)",
                       joined(commands, " "), values, options);
}

/// In single quotes, for zsh and fish.
std::string quoted(std::string_view text, std::string_view quote)
{
    std::string result = "'";
    for (const char c : text)
        c == '\'' ? result.append(quote) : result.append(1, c);
    return result + "'";
}

/// A description inside of the brackets of zsh's _arguments.
std::string bracketed(std::string_view text)
{
    std::string result;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\')
            result += '\\';
        result += c;
    }
    return result;
}

std::string zshScript(const CLI::App& app)
{
    constexpr std::string_view kQuote = "'\\''";
    std::string commands, cases;
    for (const CLI::App* command : commandsOf(app)) {
        commands += "    " + quoted(command->get_name() + ":" + command->get_description(), kQuote) + "\n";
        cases += fmt::format("{})\n    _arguments \\\n", command->get_name());
        for (const CLI::Option* option : optionsOf(*command))
            for (const std::string& name : namesOf(*option)) {
                std::string spec = name + "[" + bracketed(option->get_description()) + "]";
                const auto choices = choicesOf(*option);
                if (takesValue(*option))
                    spec += choices.empty() ? ":value:_files" : ":value:(" + joined(choices, " ") + ")";
                cases += "        " + quoted(spec, kQuote) + " \\\n";
            }
        cases += "        '*:file:_files' ;;\n";
    }
    return fmt::format(R"(#compdef stepscope-cli
local -a commands=(
{})
if (( CURRENT == 2 )); then
    _describe command commands
    return
fi
local command=$words[2]
shift words
(( CURRENT-- ))
case $command in
{}esac
)",
                       commands, cases);
}

std::string fishScript(const CLI::App& app)
{
    constexpr std::string_view kQuote = "\\'";
    std::string text = "# fish completion for stepscope-cli\n";
    for (const CLI::App* command : commandsOf(app)) {
        text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", kProgram, command->get_name(),
                            quoted(command->get_description(), kQuote));
        for (const CLI::Option* option : optionsOf(*command)) {
            text += fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'", kProgram, command->get_name());
            for (const std::string& name : option->get_lnames())
                text += " -l " + name;
            for (const std::string& name : option->get_snames())
                text += " -s " + name;
            if (takesValue(*option))
                text += " -r";
            if (const auto choices = choicesOf(*option); !choices.empty())
                text += " -f -a '" + joined(choices, " ") + "'";
            text += " -d " + quoted(option->get_description(), kQuote) + "\n";
        }
    }
    return text;
}

/// @return why the file could not be written; empty: it was
std::string write(const fs::path& path, const std::string& text)
{
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    if (failed)
        return failed.message();
    auto file = profiler::os::ReplacementFile::create(path);
    int number = file ? file->write(text) : errno;
    number = number == 0 ? file->commit() : number;
    return number == 0 ? std::string() : std::generic_category().message(number);
}

} // namespace

std::vector<const CLI::App*> commandsOf(const CLI::App& app)
{
    return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

int writePages(const CLI::App& app, const fs::path& folder, const Streams& streams)
{
    std::vector<std::pair<fs::path, std::string>> files = {
        {fmt::format("man/man1/{}.1", kProgram), mainPage(app)},
        {fmt::format("bash-completion/completions/{}", kProgram), bashScript(app)},
        {fmt::format("zsh/site-functions/_{}", kProgram), zshScript(app)},
        {fmt::format("fish/vendor_completions.d/{}.fish", kProgram), fishScript(app)}};
    for (const CLI::App* command : commandsOf(app))
        files.emplace_back(fmt::format("man/man1/{}-{}.1", kProgram, command->get_name()), pageOf(*command));
    for (const auto& [name, text] : files)
        if (const std::string why = write(folder / name, text); !why.empty()) {
            streams.err << "the file could not be written: " << why << " (" << (folder / name).string() << ")\n";
            return kBadInput;
        }
    return kDone;
}

} // namespace app::terminal
