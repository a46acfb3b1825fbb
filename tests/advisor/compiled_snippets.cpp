#include "tests/advisor/compiled_snippets.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>

namespace advisor_test {

namespace {

constexpr std::string_view kExtension = ".md";

bool isInclude(const std::string& line)
{
    return line.starts_with("#include");
}

void addFunction(std::string& source, const Snippet& snippet)
{
    const std::string place =
        "#line " + std::to_string(snippet.line) + " \"" + snippet.key + std::string(kExtension) + "\"\n";
    source += "namespace snippet_" + std::to_string(source.size()) + " {\n";
    if (!snippet.isFunction)
        source += "void f(" + snippet.given + ")\n{\n";
    source += place;
    std::istringstream lines(snippet.code);
    for (std::string line; std::getline(lines, line);)
        source += (isInclude(line) ? "" : line) + "\n"; // replaced by an empty line, so that line numbers do not change
    source += snippet.isFunction ? "}\n" : "}\n}\n";
}

} // namespace

std::string sourceOf(std::string_view preamble, const std::vector<Snippet>& snippets)
{
    std::string source;
    for (const Snippet& snippet : snippets) {
        std::istringstream lines(snippet.code);
        for (std::string line; std::getline(lines, line);)
            if (isInclude(line))
                source += line + "\n";
    }
    source += preamble;
    for (const Snippet& snippet : snippets)
        addFunction(source, snippet);
    return source;
}

Compiled compile(const std::string& command, const std::string& source)
{
    std::string path = (std::filesystem::temp_directory_path() / "stepscope-snippets-XXXXXX.cpp").string();
    const int file = ::mkstemps(path.data(), 4);
    if (file < 0)
        return {false, "no temporary file can be made", {}};
    std::ofstream(path) << source;
    Compiled result;
    const std::string whole =
        "LC_ALL=C " + command + " -x c++ -fsyntax-only -fno-diagnostics-show-caret " + path + " 2>&1";
    if (std::FILE* pipe = ::popen(whole.c_str(), "r")) {
        std::array<char, 4096> buffer{};
        while (const auto got = std::fread(buffer.data(), 1, buffer.size(), pipe))
            result.output.append(buffer.data(), got);
        const int status = ::pclose(pipe);
        result.works = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    std::fclose(::fdopen(file, "r"));
    std::filesystem::remove(path);
    std::istringstream lines(result.output);
    for (std::string line; std::getline(lines, line);) {
        const auto end = line.find(std::string(kExtension) + ":");
        if (end != std::string::npos && line.find("error:") != std::string::npos)
            result.errors.emplace_back(line.substr(0, end), line);
    }
    return result;
}

} // namespace advisor_test
