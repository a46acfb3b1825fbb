// libstepscope_preload.so: `stepscope-cli record` and experiments make the dynamic linker load it into every process of
// their command (LD_PRELOAD). In a Python interpreter, it prepends the folder of Stepscope's hooks to PYTHONPATH before
// the interpreter reads its environment. This way the hooks are found even if the command itself sets PYTHONPATH (`env
// PYTHONPATH=. python train.py`), which wrapper scripts and parents of child processes do, too. If the interpreter was
// started with an option to ignore PYTHONPATH, or not to import `site`, it reports that the hooks are missing.
//
// In other processes it does nothing. It is not linked with any library, so that it can be loaded with any libc; the
// functions it calls are in the libc of the process.

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace {

constexpr int kMostArguments = 4096; ///< bytes of the command line to examine: the options come first

const char* baseName(const char* path)
{
    const char* slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool isPython()
{
    char program[kMostArguments];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return false;
    program[length] = 0;
    const char* name = baseName(program);
    // python, python3, python3.12, python3.12d, pypy3.10; but not python3-config, which is a script anyway.
    return (strncmp(name, "python", 6) == 0 || strncmp(name, "pypy", 4) == 0) && !strchr(name, '-');
}

/// The first of the options I, E and S among the interpreter's own options; 0 if there is none.
char optionBlockingHooks()
{
    char line[kMostArguments];
    const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    const ssize_t length = read(file, line, sizeof line - 1);
    close(file);
    if (length <= 0)
        return 0;
    line[length] = 0;
    const char* const end = line + length;
    for (const char* word = line + strlen(line) + 1; word < end; word += strlen(word) + 1) {
        if (word[0] != '-' || word[1] == 0 || word[1] == '-') {
            if (strcmp(word, "--check-hash-based-pycs") != 0)
                return 0; // the script, or an option that makes the interpreter exit at once
            word += strlen(word) + 1;
            continue;
        }
        for (const char* letter = word + 1; *letter; ++letter) {
            if (*letter == 'I' || *letter == 'E' || *letter == 'S')
                return *letter;
            if (*letter == 'c' || *letter == 'm')
                return 0; // everything after it belongs to the program
            if (*letter == 'W' || *letter == 'X') {
                if (letter[1] == 0)
                    word += strlen(word) + 1; // its value is the next word
                break;
            }
        }
        if (word >= end)
            break;
    }
    return 0;
}

void writeAll(int file, const char* text, size_t length)
{
    if (write(file, text, length) < 0)
        return; // the error cannot be reported anywhere
}

/// To the recording's notes, as profiler::messageLine() writes a message; to standard error where there are none. Tools
/// such as uv and pip ask interpreters about themselves this way, so only the recording knows at its end whether the
/// process that trains is meant.
void reportMissingHooks(char option)
{
    char text[] =
        "Python was started with -?, which prevents loading of Stepscope's hooks: its loader waits, steps and "
        "phases are not recorded. Start it without this option.\x1frecord.hooks_kept_out\n";
    *strchr(text, '?') = option;
    const char* notes = getenv("STEPSCOPE_NOTES");
    // One write per line: O_APPEND keeps the lines of several processes apart.
    const int file = notes && *notes ? open(notes, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (file >= 0) {
        writeAll(file, text, sizeof text - 1);
        close(file);
        return;
    }
    writeAll(STDERR_FILENO, "stepscope: ", 11);
    writeAll(STDERR_FILENO, text, static_cast<size_t>(strchr(text, '\x1f') - text));
    writeAll(STDERR_FILENO, "\n", 1);
}

void prependHooks(const char* hooks)
{
    const char* before = getenv("PYTHONPATH");
    const size_t length = strlen(hooks);
    if (!before || !*before) {
        setenv("PYTHONPATH", hooks, 1);
        return;
    }
    if (strncmp(before, hooks, length) == 0 && (before[length] == 0 || before[length] == ':'))
        return;
    const size_t rest = strlen(before);
    char* const path = static_cast<char*>(malloc(length + rest + 2));
    if (!path)
        return;
    memcpy(path, hooks, length);
    path[length] = ':';
    memcpy(path + length + 1, before, rest + 1);
    setenv("PYTHONPATH", path, 1);
    free(path);
}

bool isSet(const char* variable)
{
    const char* value = getenv(variable);
    return value && *value;
}

__attribute__((constructor)) void onLoad()
{
    if (!isPython())
        return;
    const char* hooks = getenv("STEPSCOPE_PYTHON");
    if (!hooks || !*hooks || (!isSet("STEPSCOPE_RECORD") && !isSet("STEPSCOPE_ARM")))
        return;
    if (const char option = optionBlockingHooks())
        reportMissingHooks(option);
    else
        prependHooks(hooks);
}

} // namespace
