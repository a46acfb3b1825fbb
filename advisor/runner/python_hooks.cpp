#include "advisor/runner/python_hooks.h"

#include "profiler/os/process.h"

#include <cstdlib>
#include <system_error>

namespace advisor::runner {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;

namespace {

fs::path programFolder()
{
    if (const char* folder = std::getenv("STEPSCOPE_PROGRAMS"); folder && *folder)
        return folder;
    std::error_code failed;
    const auto program = fs::read_symlink("/proc/self/exe", failed);
    return failed ? fs::path() : program.parent_path();
}

void putInFront(EnvironmentVariables& environment, const std::string& name, const std::string& value)
{
    std::string& list = environment[name];
    list = list.empty() ? value : value + ":" + list;
}

} // namespace

EnvironmentVariables currentEnvironment()
{
    EnvironmentVariables environment;
    for (const std::string& assignment : profiler::os::environment())
        if (const std::size_t equals = assignment.find('='); equals != std::string::npos && equals > 0)
            environment.emplace(assignment.substr(0, equals), assignment.substr(equals + 1));
    return environment;
}

Result<fs::path> findNearProgram(std::initializer_list<const char*> places, std::string_view what)
{
    for (const char* place : places)
        if (const auto path = (programFolder() / place).lexically_normal(); fs::exists(path))
            return path;
    return profiler::fail<"record.incomplete", "{what} is missing">(
        Error::Code::NotFound, programFolder().string(),
        "reinstall Stepscope, or build the target stepscope_inject (it needs the CUDA headers)", {{"what", what}});
}

Result<PythonHooks> findPythonHooks()
{
    const auto startup = findNearProgram({"../share/stepscope/python/startup"}, "the Python module");
    if (!startup)
        return tl::unexpected(startup.error());
    PythonHooks hooks{*startup, {}};
    const auto preload = findNearProgram({"../lib/libstepscope_preload.so", "../lib/stepscope/libstepscope_preload.so"},
                                         "the library for Python's path");
    if (preload && preload->string().find_first_of(": ") == std::string::npos) // separators between its entries
        hooks.preload = *preload;
    return hooks;
}

void addHooks(EnvironmentVariables& environment, const PythonHooks& hooks)
{
    putInFront(environment, "PYTHONPATH", hooks.startup.string());
    environment["STEPSCOPE_PYTHON"] = hooks.startup.string();
    if (!hooks.preload.empty())
        putInFront(environment, "LD_PRELOAD", hooks.preload.string());
}

} // namespace advisor::runner
