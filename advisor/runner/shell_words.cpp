#include "advisor/runner/shell_words.h"

namespace advisor::runner {

using profiler::Error;
using profiler::Result;

namespace {

std::string quoted(const std::string& word)
{
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos)
        return word;
    std::string text = "'";
    for (const char letter : word)
        text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return text + "'";
}

} // namespace

Result<std::vector<std::string>> shellWords(std::string_view line)
{
    std::vector<std::string> words;
    bool isInWord = false;
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char letter = line[i];
        const bool isBlank = letter == ' ' || letter == '\t' || letter == '\n';
        if (quote == 0 && isBlank) {
            isInWord = false;
            continue;
        }
        if (!isInWord)
            words.emplace_back();
        isInWord = true;
        if (letter == quote)
            quote = 0;
        else if (quote == 0 && (letter == '\'' || letter == '"'))
            quote = letter;
        else if (letter == '\\' && i + 1 < line.size() &&
                 (quote == 0 || (quote == '"' && (line[i + 1] == '"' || line[i + 1] == '\\'))))
            words.back() += line[++i];
        else
            words.back() += letter;
    }
    if (quote != 0)
        return profiler::fail<"launch.open_quote", "A quote in the command is not closed">(
            Error::Code::Invalid, std::string(line), std::string("add the missing ") + quote);
    return words;
}

std::string commandLine(const std::vector<std::string>& words)
{
    std::string line;
    for (const std::string& word : words)
        line += (line.empty() ? "" : " ") + quoted(word);
    return line;
}

} // namespace advisor::runner
